// A libcuda.so.1 without a GPU: device memory is host memory, a kernel is a function of a shared
// library. What a driver demands is demanded here: a context current in the calling thread, no copy
// on a stream that is captured; captured work runs with its graph only.
//
// The image of a module is the path of a library with `void call_NAME(const int* grid, int x, int y,
// int shared, void** arguments)`, `int count_NAME` (of pointers among the arguments) and
// `int ints_NAME` (of the structure after them) for every kernel, `int maps_NAME` where tensor
// maps are between both, and `int sizes_NAME` where numbers are behind all. Calls are counted:
// `calls("cuGraphLaunch")`. A kernel has more than 48 KiB of shared memory only when it was asked
// for before.
#include <dlfcn.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <functional>
#include <map>
#include <string>
#include <vector>

enum { SUCCESS = 0, INVALID_VALUE = 1, OUT_OF_MEMORY = 2, NO_BINARY = 209, INVALID_CONTEXT = 201,
       HOPPER = 1 << 18,  // shared bytes of kernels with tensor maps: no T4 has these
       NOT_FOUND = 500, ILLEGAL_ADDRESS = 700, CAPTURE_UNSUPPORTED = 900 };
using Kernel = void (*)(const int*, int, int, int, void**);

// What the emulation's kernels take (`runtime/emulation/instructions.h`).
struct TensorMap { const char* first; int bytes, shape[3]; long long strides[3]; int rows, columns; };
struct Function { Kernel call; int count, ints, maps, sizes, shared; };
struct Launch { Function* f; int grid[3], x, y, shared; std::vector<uint64_t> values;
                std::vector<TensorMap> maps; std::vector<int> last, sizes; };
using Graph = std::vector<std::function<void()>>;

static std::map<std::string, int> counts;
static std::map<uint64_t, size_t> memory;
static Graph* captured = nullptr;
static thread_local bool current = false;
static int context, streams[2], made, pool;
static void* capturing = nullptr;

// The last are the two default streams, which have numbers.
static bool known(void* s) {
    return s == &streams[0] || s == &streams[1] || s == (void*)1 || s == (void*)2;
}

// Work runs at once, or with its graph.
static int enqueue(void* s, std::function<void()> work) {
    if (!known(s)) return INVALID_VALUE;
    if (s == capturing) captured->push_back(work); else work();
    return SUCCESS;
}

static bool allocated(uint64_t at, size_t size) {
    auto found = memory.upper_bound(at);
    if (found == memory.begin()) return false;
    --found;
    return at + size <= found->first + found->second;
}

static void run(Launch& launch) {
    std::vector<void*> pointers;
    for (auto& value : launch.values) pointers.push_back(&value);
    for (auto& map : launch.maps) pointers.push_back(&map);
    if (launch.f->ints) pointers.push_back(launch.last.data());
    for (auto& size : launch.sizes) pointers.push_back(&size);
    launch.f->call(launch.grid, launch.x, launch.y, launch.shared, pointers.data());
}

#define API(name, ...)                          \
    extern "C" int name(__VA_ARGS__) {          \
        ++counts[#name];
#define IN_CONTEXT if (!current) return INVALID_CONTEXT;

extern "C" int calls(const char* name) { return counts[name]; }
extern "C" int live() { return memory.size(); }

API(cuInit, unsigned) return SUCCESS; }
API(cuDriverGetVersion, int* v) *v = 13000; return SUCCESS; }
API(cuDeviceGetCount, int* n) *n = 1; return SUCCESS; }
API(cuDeviceGet, int* d, int ordinal) *d = ordinal; return SUCCESS; }
API(cuDeviceGetName, char* s, int n, int) strncpy(s, "NVIDIA Fake T4", n); return SUCCESS; }
API(cuDeviceGetAttribute, int* v, int what, int)
    static const std::map<int, int> facts = {{16, 40}, {75, 7}, {76, 5}, {10, 32}, {1, 1024},
                                             {8, 49152}, {12, 65536}, {38, 4 << 20},
                                             {97, 65536}, {81, 65536}, {39, 1024},
                                             {82, 65536}, {106, 16}};
    auto found = facts.find(what);
    if (found == facts.end()) return INVALID_VALUE;
    *v = found->second;
    return SUCCESS;
}
API(cuDevicePrimaryCtxRetain, void** c, int) *c = &context; return SUCCESS; }
API(cuCtxSetCurrent, void* c) current = c == &context; return SUCCESS; }
API(cuStreamCreate, void** s, unsigned flags)
    IN_CONTEXT
    if (made == 2 || (int)flags != made) return INVALID_VALUE;
    *s = &streams[made++];
    return SUCCESS;
}
API(cuStreamSynchronize, void* s)
    IN_CONTEXT
    return s == capturing ? CAPTURE_UNSUPPORTED : known(s) ? SUCCESS : INVALID_VALUE;
}
API(cuDeviceGetDefaultMemPool, void** p, int) *p = &pool; return SUCCESS; }
API(cuMemPoolSetAttribute, void* p, int what, void* value)
    return p == &pool && what == 4 && *(uint64_t*)value == UINT64_MAX ? SUCCESS : INVALID_VALUE;
}
API(cuMemAllocAsync, uint64_t* at, size_t size, void* s)
    IN_CONTEXT
    if (size == 0 || !known(s)) return INVALID_VALUE;
    if (size > (size_t)1 << 30) return OUT_OF_MEMORY;
    *at = (uint64_t)aligned_alloc(512, (size + 511) / 512 * 512);
    memset((void*)*at, 0xff, size);
    memory[*at] = size;
    return SUCCESS;
}
API(cuMemFreeAsync, uint64_t at, void*)
    if (!memory.erase(at)) return INVALID_VALUE;
    free((void*)at);
    return SUCCESS;
}
API(cuMemcpyHtoDAsync, uint64_t to, const void* from, size_t size, void* s)
    IN_CONTEXT
    if (s == capturing) return CAPTURE_UNSUPPORTED;
    if (!allocated(to, size)) return ILLEGAL_ADDRESS;
    memcpy((void*)to, from, size);
    return SUCCESS;
}
API(cuMemcpyDtoHAsync, void* to, uint64_t from, size_t size, void* s)
    IN_CONTEXT
    if (s == capturing) return CAPTURE_UNSUPPORTED;
    if (!allocated(from, size)) return ILLEGAL_ADDRESS;
    memcpy(to, (const void*)from, size);
    return SUCCESS;
}
API(cuMemcpyDtoDAsync, uint64_t to, uint64_t from, size_t size, void* s)
    IN_CONTEXT
    if (!allocated(to, size) || !allocated(from, size)) return ILLEGAL_ADDRESS;
    return enqueue(s, [=] { memcpy((void*)to, (void*)from, size); });
}
API(cuMemsetD8Async, uint64_t to, unsigned char value, size_t size, void* s)
    IN_CONTEXT
    if (!allocated(to, size)) return ILLEGAL_ADDRESS;
    return enqueue(s, [=] { memset((void*)to, value, size); });
}
API(cuModuleLoadData, void** m, const void* image)
    IN_CONTEXT
    *m = dlopen((const char*)image, RTLD_NOW | RTLD_LOCAL);
    return *m ? SUCCESS : NO_BINARY;
}
API(cuModuleUnload, void* m) return m ? SUCCESS : INVALID_VALUE; }
API(cuModuleGetFunction, void** f, void* m, const char* name)
    auto call = (Kernel)dlsym(m, (std::string("call_") + name).c_str());
    if (!call) return NOT_FOUND;
    auto number = [&](const char* what) { return *(int*)dlsym(m, (std::string(what) + name).c_str()); };
    int maps = dlsym(m, (std::string("maps_") + name).c_str()) ? number("maps_") : 0;
    int sizes = dlsym(m, (std::string("sizes_") + name).c_str()) ? number("sizes_") : 0;
    *f = new Function{call, number("count_"), number("ints_"), maps, sizes, maps ? HOPPER : 49152};
    return SUCCESS;
}
API(cuFuncSetAttribute, void* f, int what, int value)
    IN_CONTEXT
    if (what != 8 || value > 65536) return INVALID_VALUE;
    ((Function*)f)->shared = value;
    return SUCCESS;
}
API(cuLaunchKernel, void* f, unsigned blocks, unsigned by, unsigned bz, unsigned x, unsigned y,
    unsigned z, unsigned shared, void* s, void** arguments, void** extra)
    IN_CONTEXT
    if (z != 1 || extra || !blocks || !by || !bz) return INVALID_VALUE;
    if ((int)shared > ((Function*)f)->shared) return INVALID_VALUE;
    Launch launch{(Function*)f, {(int)blocks, (int)by, (int)bz}, (int)x, (int)y, (int)shared, {}, {}, {}, {}};
    for (int i = 0; i < launch.f->count; ++i) {
        launch.values.push_back(*(uint64_t*)arguments[i]);
        if (!allocated(launch.values.back(), 1)) return ILLEGAL_ADDRESS;
    }
    for (int i = 0; i < launch.f->maps; ++i)
        launch.maps.push_back(*(TensorMap*)arguments[launch.f->count + i]);
    if (launch.f->ints) {
        int* first = (int*)arguments[launch.f->count + launch.f->maps];
        launch.last.assign(first, first + launch.f->ints);
    }
    int behind = launch.f->count + launch.f->maps + !!launch.f->ints;
    for (int i = 0; i < launch.f->sizes; ++i) launch.sizes.push_back(*(int*)arguments[behind + i]);
    return enqueue(s, [launch]() mutable { run(launch); });
}
API(cuTensorMapEncodeTiled, void* map, int kind, unsigned rank, void* first, const uint64_t* shape,
    const uint64_t* strides, const unsigned* box, const unsigned* steps, int interleave, int swizzle,
    int promotion, int fill)
    enum { FLOAT16 = 6, BFLOAT16 = 9, SWIZZLE_128B = 3 };
    bool aligned = !((uint64_t)map % 64 || (uint64_t)first % 16 || strides[0] % 16 || strides[1] % 16);
    bool half = kind == FLOAT16 || kind == BFLOAT16;
    bool usual = half && rank == 3 && !interleave && swizzle == SWIZZLE_128B && !fill;
    if (!aligned || !usual || promotion < 0 || promotion > 3) return INVALID_VALUE;
    if (box[0] * 2 != 128 || box[1] > 256 || box[2] != 1) return INVALID_VALUE;
    for (int d = 0; d < 3; ++d) if (!shape[d] || steps[d] != 1) return INVALID_VALUE;
    if (!allocated((uint64_t)first, (shape[2] - 1) * strides[1] + (shape[1] - 1) * strides[0] + 2 * shape[0]))
        return ILLEGAL_ADDRESS;
    *(TensorMap*)map = {(const char*)first, 2, {(int)shape[2], (int)shape[1], (int)shape[0]},
                        {(long long)strides[1], (long long)strides[0], 2}, (int)box[1], (int)box[0]};
    return SUCCESS;
}
API(cuStreamBeginCapture, void* s, int mode)
    IN_CONTEXT
    if (captured || mode != 2 || s != &streams[1]) return INVALID_VALUE;
    captured = new Graph;
    capturing = s;
    return SUCCESS;
}
API(cuStreamEndCapture, void* s, void** graph)
    if (s != capturing) return INVALID_VALUE;
    *graph = captured;
    captured = nullptr;
    capturing = nullptr;
    return SUCCESS;
}
API(cuGraphInstantiateWithFlags, void** made, void* graph, unsigned long long flags)
    if (flags || ((Graph*)graph)->empty()) return INVALID_VALUE;
    *made = new Graph(*(Graph*)graph);
    return SUCCESS;
}
API(cuGraphDestroy, void* graph) delete (Graph*)graph; return SUCCESS; }
API(cuGraphExecDestroy, void* graph) delete (Graph*)graph; return SUCCESS; }
API(cuGraphLaunch, void* graph, void* s)
    IN_CONTEXT
    if (s != &streams[0]) return INVALID_VALUE;
    for (auto& work : *(Graph*)graph) work();
    return SUCCESS;
}
API(cuEventCreate, void** e, unsigned) IN_CONTEXT *e = new timespec; return SUCCESS; }
API(cuEventRecord, void* e, void* s)
    if (s == capturing) return CAPTURE_UNSUPPORTED;
    return enqueue(s, [=] { clock_gettime(CLOCK_MONOTONIC, (timespec*)e); });
}
API(cuStreamWaitEvent, void* s, void* e, unsigned flags)
    IN_CONTEXT
    return known(s) && e && !flags ? SUCCESS : INVALID_VALUE;
}
API(cuPointerGetAttribute, void* value, int what, uint64_t at)
    IN_CONTEXT
    if (what != 9 || !allocated(at, 1)) return INVALID_VALUE;
    *(int*)value = 0;
    return SUCCESS;
}
API(cuEventDestroy, void* e) delete (timespec*)e; return SUCCESS; }
API(cuEventElapsedTime, float* ms, void* a, void* b)
    auto *s = (timespec*)a, *t = (timespec*)b;
    *ms = 1e3 * (t->tv_sec - s->tv_sec) + 1e-6 * (t->tv_nsec - s->tv_nsec);
    return SUCCESS;
}
// How the bindings find all the others.
extern "C" int cuGetProcAddress_v2(const char* name, void** found, int, uint64_t, int* status) {
    bool itself = !strcmp(name, "cuGetProcAddress");
    *found = dlsym(RTLD_DEFAULT, itself ? "cuGetProcAddress_v2" : name);
    if (status) *status = *found ? 0 : 1;
    return SUCCESS;
}
