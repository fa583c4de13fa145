// Runs CUDA C++ kernels on a CPU, to test them where no GPU is: the same source, one fiber a thread.
//
// A block's threads run one after the other until each waits at a barrier (or for its warp); warps
// take turns in a random order, and so do blocks. Shared memory is filled with NaNs before every
// block, so what is read before it was written shows, and a missing barrier with it. A barrier or
// a shuffle that some thread never reaches ends the program with a message. Bounds are the
// address sanitizer's to check: shared and private arrays and every buffer have red zones.
//
// With TW_CUDA_HEADERS, CUDA's own headers say what its types are; kernels that use CUTLASS need
// them. `shadow` has what stands in for that library's headers of instructions (`warp.h`).
#pragma once

#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <ucontext.h>

#ifdef TW_CUDA_HEADERS
#include <signal.h>
#include <sys/mman.h>
#include <unistd.h>
#include <algorithm>
#include <cuda_runtime.h>
using std::max;
using std::min;
#undef __shared__
#undef __launch_bounds__
#undef __grid_constant__
#else
#define __global__
#define __device__
#define __forceinline__ inline
#define __constant__ static const
#define __align__(n) __attribute__((aligned(n)))

struct float2 { float x, y; };
struct alignas(16) float4 { float x, y, z, w; };
struct int2 { int x, y; };
struct alignas(16) int4 { int x, y, z, w; };
inline float2 make_float2(float x, float y) { return {x, y}; }
inline float4 make_float4(float x, float y, float z, float w) { return {x, y, z, w}; }
inline int2 make_int2(int x, int y) { return {x, y}; }
inline int4 make_int4(int x, int y, int z, int w) { return {x, y, z, w}; }
#endif
inline float __int_as_float(int bits) { float f; memcpy(&f, &bits, 4); return f; }
#define __launch_bounds__(...)
#define __grid_constant__
#define __shared__ static __attribute__((section("tw_shared")))

namespace tw {

constexpr int WARP = 32;
constexpr int MOST_THREADS = 1024;
constexpr int MOST_BUFFERS = 1024;
#ifdef TW_CUDA_HEADERS
constexpr size_t STACK_BYTES = 512 * 1024;  // fragments of whole tiles
#else
constexpr size_t STACK_BYTES = 64 * 1024;
#endif
constexpr int SLOT_BYTES = 32;  // what a thread shows its warp at a time
enum class State { READY, BARRIER, SHUFFLE, PHASE, DONE };

struct Index { int x, y, z; };

struct alignas(16) Slot { char bytes[SLOT_BYTES]; };

struct Fiber {
    ucontext_t context;
    char* stack;
    State state;
    Index thread;
    int number;
    int shuffles;  // how many so far: consecutive ones use alternating slots
    int barriers;  // how many so far
};

inline Fiber* current = nullptr;
inline Index block_index{}, block_size{}, grid_size{};
inline ucontext_t scheduler;
inline Fiber* fibers = nullptr;
inline int fiber_count = 0;
inline Slot* slots = nullptr;  // two for each thread
inline void (*body)(void*) = nullptr;
inline void* body_data = nullptr;
inline uint64_t random_state = 1;
inline char* dynamic_shared = nullptr;  // of the block that runs
inline size_t dynamic_bytes = 0;
inline int fault = 0;  // the barrier of every block that is left out, from 1; 0: none is
inline int short_waits = 0;  // by how many groups of copies every wait falls short

extern "C" char __start_tw_shared[] __attribute__((weak));
extern "C" char __stop_tw_shared[] __attribute__((weak));

[[noreturn]] inline void fail(const char* what) {
    fprintf(stderr, "emulation: block %d, %d, %d: %s\n", block_index.x, block_index.y,
            block_index.z, what);
    exit(3);
}

// A number below n; xorshift.
inline int random_below(int n) {
    random_state ^= random_state << 13;
    random_state ^= random_state >> 7;
    random_state ^= random_state << 17;
    return (int)((random_state >> 16) % (uint64_t)n);
}

// What is left out on purpose, to see that it is noticed: TW_FAULT_BARRIER is the number of a barrier.
inline void read_faults() {
    if (const char* text = getenv("TW_FAULT_BARRIER")) fault = atoi(text);
    if (const char* text = getenv("TW_FAULT_WAITS")) short_waits = atoi(text);
}

inline void shuffle(int* numbers, int count) {
    for (int i = count - 1; i > 0; --i) {
        int j = random_below(i + 1), kept = numbers[i];
        numbers[i] = numbers[j];
        numbers[j] = kept;
    }
}

inline void wait(State state) {
    current->state = state;
    swapcontext(&current->context, &scheduler);
}

inline void enter() {
    body(body_data);
    current->state = State::DONE;
    swapcontext(&current->context, &scheduler);
}

inline void barrier() {
    if (++current->barriers != fault) wait(State::BARRIER);
}

// Show a value to the warp; returns what all of its threads show, the first one's at 0.
template <class T>
Slot* exchange(T const& value) {
    static_assert(sizeof(T) <= SLOT_BYTES, "too much for one exchange");
    Fiber* me = current;
    Slot* round = &slots[(me->shuffles++ % 2) * fiber_count];
    memcpy(&round[me->number], &value, sizeof value);
    wait(State::SHUFFLE);
    return &round[(me->number / WARP) * WARP];
}

template <class T>
T shown(Slot const* warp, int lane) {
    T found;
    memcpy(&found, &warp[lane], sizeof found);
    return found;
}

template <class T>
T shuffle_xor(T value, int lanes) {
    int other = (current->number % WARP) ^ lanes;
    if (current->number / WARP * WARP + other >= fiber_count)
        fail("a shuffle reaches for a thread that is not there");
    return shown<T>(exchange(value), other);
}

inline bool (*phase_over)(Fiber*) = nullptr;  // whether what a thread waits for has come
inline bool (*anything_later)() = nullptr;  // does something that was begun, if there is anything

// Run the threads of one warp until none of them can go on alone.
inline void run_warp(int first, int last) {
    for (;;) {
        int shuffling = 0, waiting = 0;
        for (int i = first; i < last; ++i) {
            Fiber& f = fibers[i];
            if (f.state == State::READY) {
                current = &f;
                swapcontext(&scheduler, &f.context);
            }
            shuffling += f.state == State::SHUFFLE;
            waiting += f.state == State::PHASE;
        }
        if (shuffling == 0 || waiting != 0) return;
        if (shuffling != last - first) fail("not every thread of a warp takes part in a shuffle");
        for (int i = first; i < last; ++i)
            if (fibers[i].state == State::SHUFFLE) fibers[i].state = State::READY;
    }
}

__attribute__((no_sanitize("address"))) inline void poison_shared() {
    // quiet NaNs of float and of half, -1 of the integers
    for (volatile char* p = __start_tw_shared; p < __stop_tw_shared; ++p) *p = (char)0xff;
    if (dynamic_bytes) memset(dynamic_shared, 0xff, dynamic_bytes);
}

inline void (*on_block)() = nullptr;  // called before every block

inline void run_block(int x, int y) {
    int count = x * y;
    poison_shared();
    if (on_block) on_block();
    for (int i = 0; i < count; ++i) {
        Fiber& f = fibers[i];
        f.state = State::READY;
        f.thread = {i % x, i / x, 0};
        f.number = i;
        f.shuffles = f.barriers = 0;
        getcontext(&f.context);
        f.context.uc_stack.ss_sp = f.stack;
        f.context.uc_stack.ss_size = STACK_BYTES;
        f.context.uc_link = nullptr;
        makecontext(&f.context, enter, 0);
    }
    int warp_count = (count + WARP - 1) / WARP;
    int warps[MOST_THREADS / WARP];
    for (int i = 0; i < warp_count; ++i) warps[i] = i;
    for (;;) {
        shuffle(warps, warp_count);
        for (int i = 0; i < warp_count; ++i) {
            int first = warps[i] * WARP;
            run_warp(first, first + WARP < count ? first + WARP : count);
        }
        int phases = 0, over = 0;
        for (int i = 0; i < count; ++i) {
            if (fibers[i].state != State::PHASE) continue;
            ++phases;
            if (!phase_over(&fibers[i])) continue;
            ++over;
            fibers[i].state = State::READY;
        }
        if (phases) {
            // what others begin may come late, not never
            if (!(over && random_below(2)) && !anything_later() && !over)
                fail("threads wait for a phase that nobody ends");
            continue;
        }
        int waiting = 0;
        for (int i = 0; i < count; ++i) waiting += fibers[i].state == State::BARRIER;
        if (waiting == 0) {
            if (anything_later && anything_later()) fail("a block ends while a copy is on its way");
            return;
        }
        if (waiting != count) fail("not every thread of the block comes to a barrier");
        for (int i = 0; i < count; ++i) fibers[i].state = State::READY;
    }
}

#ifdef TW_CUDA_HEADERS
constexpr size_t PAGE = 4096;

// An address of shared memory has 32 bits, and kernels of CUTLASS store it in so many. What lies
// behind the block's bytes cannot be read.
inline void take_shared(size_t bytes) {
    dynamic_bytes = bytes;
    if (!bytes) return;
    size_t whole = (bytes + PAGE - 1) / PAGE * PAGE;
    void* at = mmap(nullptr, whole + PAGE, PROT_READ | PROT_WRITE,
                    MAP_PRIVATE | MAP_ANONYMOUS | MAP_32BIT, -1, 0);
    if (at == MAP_FAILED) fail("no memory below 4 GB");
    mprotect(static_cast<char*>(at) + whole, PAGE, PROT_NONE);
    // the end of what the block has is the end of what can be read, as far as alignment allows
    dynamic_shared = static_cast<char*>(at) + (whole - bytes) / 128 * 128;
}

inline void give_shared() {
    if (!dynamic_bytes) return;
    size_t whole = (dynamic_bytes + PAGE - 1) / PAGE * PAGE;
    munmap(dynamic_shared - (whole - dynamic_bytes) / 128 * 128, whole + PAGE);
}
#else
// The address sanitizer knows where it ends.
inline void take_shared(size_t bytes) {
    void* at = nullptr;
    if (bytes && posix_memalign(&at, 1024, bytes)) fail("no memory");
    dynamic_bytes = bytes;
    dynamic_shared = static_cast<char*>(at);
}

inline void give_shared() { free(dynamic_shared); }
#endif

// `kernel` is a callable that calls the kernel with its arguments. Prints the seconds it takes.
template <class Kernel>
void launch(Index grid, int x, int y, size_t shared_bytes, Kernel kernel) {
    if (x * y > MOST_THREADS) fail("more threads than a block can have");
    block_size = {x, y, 1};
    grid_size = grid;
    fiber_count = x * y;
    fibers = static_cast<Fiber*>(calloc(fiber_count, sizeof(Fiber)));
    slots = static_cast<Slot*>(aligned_alloc(alignof(Slot), 2 * fiber_count * sizeof(Slot)));
    take_shared(shared_bytes);
    for (int i = 0; i < fiber_count; ++i)
        fibers[i].stack = static_cast<char*>(malloc(STACK_BYTES));
    body = [](void* data) { (*static_cast<Kernel*>(data))(); };
    body_data = &kernel;
    timespec begun, ended;
    clock_gettime(CLOCK_MONOTONIC, &begun);
    int blocks = grid.x * grid.y * grid.z;
    int* order = static_cast<int*>(calloc(blocks, sizeof(int)));
    for (int i = 0; i < blocks; ++i) order[i] = i;
    shuffle(order, blocks);
    for (int i = 0; i < blocks; ++i) {
        block_index = {order[i] % grid.x, order[i] / grid.x % grid.y, order[i] / grid.x / grid.y};
        run_block(x, y);
    }
    clock_gettime(CLOCK_MONOTONIC, &ended);
    printf("%.9f\n", ended.tv_sec - begun.tv_sec + 1e-9 * (ended.tv_nsec - begun.tv_nsec));
    for (int i = 0; i < fiber_count; ++i) free(fibers[i].stack);
    free(fibers);
    free(slots);
    free(order);
    give_shared();
}

// A buffer as whatever pointer a kernel takes.
struct Argument {
    void* at;
    template <class T> operator T*() const { return static_cast<T*>(at); }
};

#ifdef TW_CUDA_HEADERS
// Memory that ends where no more can be read, as far as alignment allows; NaNs are between. What
// is far beyond cannot be read either.
constexpr size_t ALIGNED = 64, BEYOND = size_t(64) << 20;

inline char* take(size_t size) {
    size_t used = (size + ALIGNED - 1) / ALIGNED * ALIGNED;
    size_t whole = (used + PAGE - 1) / PAGE * PAGE;
    void* at = mmap(nullptr, whole + 2 * BEYOND, PROT_NONE,
                    MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (at == MAP_FAILED) fail("no memory");
    char* first = static_cast<char*>(at) + BEYOND;
    if (whole && mprotect(first, whole, PROT_READ | PROT_WRITE)) fail("no memory");
    memset(first, 0xff, whole);
    return first + whole - used;
}
inline void give(char*) {}

inline void outside(int) {
    static const char text[] = "emulation: a thread reads or writes outside of all memory\n";
    if (write(2, text, sizeof text - 1)) {}
    _exit(3);
}
inline const bool watched = [] {
    static char stack[64 * 1024];
    stack_t other{stack, 0, sizeof stack};
    sigaltstack(&other, nullptr);
    struct sigaction action{};
    action.sa_handler = outside;
    action.sa_flags = SA_ONSTACK;
    sigaction(SIGSEGV, &action, nullptr);
    return true;
}();
#else
inline char* take(size_t size) { return static_cast<char*>(malloc(size)); }
inline void give(char* memory) { free(memory); }
#endif

// The buffers of a call, read from a file and written back: for each its size, then its bytes.
struct Buffers {
    int count = 0;
    int64_t sizes[MOST_BUFFERS];
    char* data[MOST_BUFFERS];
    void read(const char* path) {
        FILE* file = fopen(path, "rb");
        int64_t size;
        if (!file) fail("cannot open the file of the buffers");
        while (fread(&size, sizeof size, 1, file) == 1) {
            char* memory = take(size);
            if (fread(memory, 1, size, file) != (size_t)size) fail("the buffers are cut short");
            if (count == MOST_BUFFERS) fail("too many buffers");
            sizes[count] = size;
            data[count++] = memory;
        }
        fclose(file);
    }
    void write(const char* path) {
        FILE* file = fopen(path, "wb");
        if (!file) fail("cannot write the buffers");
        for (int i = 0; i < count; ++i) fwrite(data[i], 1, sizes[i], file);
        fclose(file);
        for (int i = 0; i < count; ++i) give(data[i]);
    }
    Argument operator()(int position) const { return {data[position]}; }
    Argument part(int position, int64_t offset) const { return {data[position] + offset}; }
};

}  // namespace tw

#define threadIdx (tw::current->thread)
#define blockIdx (tw::block_index)
#define blockDim (tw::block_size)
#define gridDim (tw::grid_size)
#define __syncthreads() tw::barrier()
#define tw_dynamic_shared(name) unsigned char* const name = (unsigned char*)tw::dynamic_shared
#define tw_shuffle_xor(value, lanes) tw::shuffle_xor(value, lanes)
