// Runs CUDA C++ kernels on a CPU, to test them where no GPU is: the same source, one fiber a thread.
//
// A block's threads run one after the other until each waits at a barrier (or for its warp); warps
// take turns in a random order, and so do blocks. Shared memory is filled with NaNs before every
// block, so what is read before it was written shows, and a missing barrier with it. A barrier or
// a shuffle that some thread never reaches ends the program with a message. Bounds are the
// address sanitizer's to check: shared and private arrays and every buffer have red zones.
#pragma once

#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <ucontext.h>

#define __global__
#define __device__
#define __forceinline__ inline
#define __launch_bounds__(...)
#define __constant__ static const
#define __shared__ static __attribute__((section("tw_shared")))
#define __align__(n) __attribute__((aligned(n)))

struct float2 { float x, y; };
struct alignas(16) float4 { float x, y, z, w; };
struct int2 { int x, y; };
struct alignas(16) int4 { int x, y, z, w; };
inline float2 make_float2(float x, float y) { return {x, y}; }
inline float4 make_float4(float x, float y, float z, float w) { return {x, y, z, w}; }
inline int2 make_int2(int x, int y) { return {x, y}; }
inline int4 make_int4(int x, int y, int z, int w) { return {x, y, z, w}; }
inline float __int_as_float(int bits) { float f; memcpy(&f, &bits, 4); return f; }

namespace tw {

constexpr int WARP = 32;
constexpr int MOST_THREADS = 1024;
constexpr int MOST_BUFFERS = 1024;
constexpr size_t STACK_BYTES = 64 * 1024;
enum class State { READY, BARRIER, SHUFFLE, DONE };

struct Index { int x, y; };

struct Fiber {
    ucontext_t context;
    char* stack;
    State state;
    Index thread;
    int number;
    int shuffles;  // how many so far: consecutive ones use alternating slots
};

inline Fiber* current = nullptr;
inline Index block_index{};
inline ucontext_t scheduler;
inline Fiber* fibers = nullptr;
inline int fiber_count = 0;
inline double* slots = nullptr;  // two for each thread
inline void (*body)(void*) = nullptr;
inline void* body_data = nullptr;
inline uint64_t random_state = 1;

extern "C" char __start_tw_shared[] __attribute__((weak));
extern "C" char __stop_tw_shared[] __attribute__((weak));

[[noreturn]] inline void fail(const char* what) {
    fprintf(stderr, "emulation: block %d: %s\n", block_index.x, what);
    exit(3);
}

// A number below n; xorshift.
inline int random_below(int n) {
    random_state ^= random_state << 13;
    random_state ^= random_state >> 7;
    random_state ^= random_state << 17;
    return (int)((random_state >> 16) % (uint64_t)n);
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

template <class T>
T shuffle_xor(T value, int lanes) {
    Fiber* me = current;
    double* mine = &slots[(me->shuffles++ % 2) * fiber_count];
    memcpy(&mine[me->number], &value, sizeof value);
    int other = (me->number / WARP) * WARP + ((me->number % WARP) ^ lanes);
    if (other >= fiber_count) fail("a shuffle reaches for a thread that is not there");
    wait(State::SHUFFLE);
    T found;
    memcpy(&found, &mine[other], sizeof found);
    return found;
}

// Run the threads of one warp until none of them can go on alone.
inline void run_warp(int first, int last) {
    for (;;) {
        int shuffling = 0;
        for (int i = first; i < last; ++i) {
            Fiber& f = fibers[i];
            if (f.state == State::READY) {
                current = &f;
                swapcontext(&scheduler, &f.context);
            }
            shuffling += f.state == State::SHUFFLE;
        }
        if (shuffling == 0) return;
        if (shuffling != last - first) fail("not every thread of a warp takes part in a shuffle");
        for (int i = first; i < last; ++i)
            if (fibers[i].state == State::SHUFFLE) fibers[i].state = State::READY;
    }
}

__attribute__((no_sanitize("address"))) inline void poison_shared() {
    // quiet NaNs of float and of half, -1 of the integers
    for (volatile char* p = __start_tw_shared; p < __stop_tw_shared; ++p) *p = (char)0xff;
}

inline void run_block(int x, int y) {
    int count = x * y;
    poison_shared();
    for (int i = 0; i < count; ++i) {
        Fiber& f = fibers[i];
        f.state = State::READY;
        f.thread = {i % x, i / x};
        f.number = i;
        f.shuffles = 0;
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
        int waiting = 0;
        for (int i = 0; i < count; ++i) waiting += fibers[i].state == State::BARRIER;
        if (waiting == 0) return;
        if (waiting != count) fail("not every thread of the block comes to a barrier");
        for (int i = 0; i < count; ++i) fibers[i].state = State::READY;
    }
}

// `kernel` is a callable that calls the kernel with its arguments. Prints the seconds it takes.
template <class Kernel>
void launch(int blocks, int x, int y, Kernel kernel) {
    if (x * y > MOST_THREADS) fail("more threads than a block can have");
    fiber_count = x * y;
    fibers = static_cast<Fiber*>(calloc(fiber_count, sizeof(Fiber)));
    slots = static_cast<double*>(calloc(2 * fiber_count, sizeof(double)));
    for (int i = 0; i < fiber_count; ++i)
        fibers[i].stack = static_cast<char*>(malloc(STACK_BYTES));
    body = [](void* data) { (*static_cast<Kernel*>(data))(); };
    body_data = &kernel;
    timespec begun, ended;
    clock_gettime(CLOCK_MONOTONIC, &begun);
    int* order = static_cast<int*>(calloc(blocks, sizeof(int)));
    for (int i = 0; i < blocks; ++i) order[i] = i;
    shuffle(order, blocks);
    for (int i = 0; i < blocks; ++i) {
        block_index = {order[i], 0};
        run_block(x, y);
    }
    clock_gettime(CLOCK_MONOTONIC, &ended);
    printf("%.9f\n", ended.tv_sec - begun.tv_sec + 1e-9 * (ended.tv_nsec - begun.tv_nsec));
    for (int i = 0; i < fiber_count; ++i) free(fibers[i].stack);
    free(fibers);
    free(slots);
    free(order);
}

// A buffer as whatever pointer a kernel takes.
struct Argument {
    void* at;
    template <class T> operator T*() const { return static_cast<T*>(at); }
};

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
            char* memory = static_cast<char*>(malloc(size));
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
        for (int i = 0; i < count; ++i) free(data[i]);
    }
    Argument operator()(int position) const { return {data[position]}; }
    Argument part(int position, int64_t offset) const { return {data[position] + offset}; }
};

}  // namespace tw

#define threadIdx (tw::current->thread)
#define blockIdx (tw::block_index)
#define __syncthreads() tw::wait(tw::State::BARRIER)
#define tw_shuffle_xor(value, lanes) tw::shuffle_xor(value, lanes)
