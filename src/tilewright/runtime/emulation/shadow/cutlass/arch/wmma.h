// CUTLASS's kernels of the older instructions, of which the templates have none: they need CUDA's
// own header.
#pragma once
