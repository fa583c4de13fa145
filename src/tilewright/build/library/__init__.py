"""A network as one shared library with its weights, and a C header.

    save(Path("resnet50.so"), "resnet50", [LibraryNetwork(artifact, kernels, constants)])

    resnet50.so     the network's code and its kernels', the weights in read-only data, a C
                    interface (`library.c`), and a description for `tilewright.load_library`
    resnet50.h      that interface (`model.h`), every name beginning with `resnet50_`

Several programs make one library for several input shapes. A C compiler for the target compiles the
interface and the pool of threads (`runtime/c`), and links. Weights go through the assembler as they
are (`.incbin`). The library needs libc, libm, and libmvec where kernels call vector math.
"""

from tilewright.build.library.save import LibraryNetwork, linker_for, save

__all__ = ["LibraryNetwork", "linker_for", "save"]
