// CUDA's execution model on the CPU, as far as the templates' tests need it. Blocks run one after another, and a
// block's threads are coroutines that take turns at barriers. There are shared memory and asynchronous copies, which
// arrive only when a thread waits for them. Clusters are not emulated. Of tensor cores and warps in lockstep, only the
// parts in mma.h are emulated. A kernel's results can thus be checked without a GPU, but not its speed or races between
// barriers.
#pragma once

#include <setjmp.h>
#include <ucontext.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <vector>

#define __global__
#define __device__
#define __host__
#define __forceinline__ inline
#define __restrict__
#define __launch_bounds__(...)
#define __shared__ static // blocks run one after another

struct float2 {
    float x, y;
};
struct alignas(16) float4 {
    float x, y, z, w;
};
inline float2 make_float2(float x, float y)
{
    return {x, y};
}
inline float4 make_float4(float x, float y, float z, float w)
{
    return {x, y, z, w};
}
using std::max;
using std::min;

struct emulated_index {
    unsigned x, y, z;
};
static emulated_index threadIdx, blockIdx, gridDim;

namespace emulation
{

struct copy {
    unsigned to;
    const void *from;
    unsigned bytes, valid; // zeros after the first `valid`
};

struct thread {
    ucontext_t context; // where it begins
    jmp_buf at;         // where it waits: unlike swapcontext, _longjmp makes no system call
    std::vector<char> stack;
    std::vector<copy> open;                // not committed yet
    std::vector<std::vector<copy>> groups; // committed, not waited for
    unsigned barriers;                     // how many of the block's barriers it has reached
    bool begun, ended;
};

alignas(128) static char shared[228 * 1024];
[[maybe_unused]] static std::vector<const float *> prefetched; // the addresses of L2 prefetches
static jmp_buf scheduler;
static std::vector<thread> threads;
static unsigned current;
static void (*body)();

[[noreturn]] inline void fail(const char *what)
{
    std::printf("block %u, thread %u: %s\n", blockIdx.x, current, what);
    std::fflush(stdout);
    std::_Exit(1); // exit would free the stack that this thread runs on
}

inline unsigned address(const void *p)
{
    return (unsigned)(static_cast<const char *>(p) - shared);
}

inline void copy_async_or_zero(unsigned to, const void *from, unsigned bytes, unsigned valid)
{
    if (to % bytes || (valid && reinterpret_cast<size_t>(from) % bytes) || to + bytes > sizeof shared || valid > bytes)
        fail("a copy is not aligned, or leaves shared memory");
    threads[current].open.push_back({to, from, bytes, valid});
}

inline void copy_async(unsigned to, const void *from, unsigned bytes)
{
    copy_async_or_zero(to, from, bytes, bytes);
}

inline void commit()
{
    threads[current].groups.push_back(std::move(threads[current].open));
    threads[current].open.clear();
}

inline void arrive(const std::vector<copy> &copies)
{
    for (const copy &c : copies) {
        if (c.valid) std::memcpy(shared + c.to, c.from, c.valid);
        std::memset(shared + c.to + c.valid, 0, c.bytes - c.valid);
    }
}

inline void wait(size_t pending)
{
    auto &groups = threads[current].groups;
    while (groups.size() > pending) {
        arrive(groups.front());
        groups.erase(groups.begin());
    }
}

// Lets every other thread run once before this one continues.
inline void yield()
{
    if (!_setjmp(threads[current].at)) _longjmp(scheduler, 1);
}

inline void run_thread()
{
    body();
    threads[current].ended = true;
    _longjmp(scheduler, 1);
}

// Runs a thread until it yields or ends.
inline void turn(thread &one)
{
    if (_setjmp(scheduler)) return;
    if (one.begun) _longjmp(one.at, 1);
    one.begun = true;
    setcontext(&one.context);
}

// Shared memory begins as NaN, and stays NaN where asynchronous copies have not arrived in time.
inline void launch(unsigned grid_x, unsigned grid_y, unsigned block, void (*kernel)())
{
    body = kernel;
    gridDim = {grid_x, grid_y, 1};
    if (threads.size() < block) threads.resize(block);
    for (unsigned b = 0; b < grid_x * grid_y; b++) {
        blockIdx = {b % grid_x, b / grid_x, 0};
        std::memset(shared, 0xff, sizeof shared);
        for (unsigned t = 0; t < block; t++) {
            thread &one = threads[t];
            one.stack.resize(128 * 1024);
            one.open.clear();
            one.groups.clear();
            one.barriers = 0;
            one.begun = one.ended = false;
            getcontext(&one.context);
            one.context.uc_stack.ss_sp = one.stack.data();
            one.context.uc_stack.ss_size = one.stack.size();
            makecontext(&one.context, run_thread, 0);
        }
        for (unsigned left = block; left;) {
            left = 0;
            for (unsigned t = 0; t < block; t++) {
                if (threads[t].ended) continue;
                left++;
                current = t;
                threadIdx = {t, 0, 0};
                turn(threads[t]);
            }
        }
    }
}

} // namespace emulation

inline void __syncthreads()
{
    const unsigned barriers = ++emulation::threads[emulation::current].barriers;
    do emulation::yield();
    while (std::any_of(emulation::threads.begin(), emulation::threads.end(),
                       [=](const emulation::thread &t) { return !t.ended && t.barriers < barriers; }));
}
inline void __syncwarp()
{
    emulation::yield();
}
inline void __threadfence()
{
}
template <class T> inline T __ldcg(const T *p)
{
    return *p;
}
template <class T> inline T __ldcs(const T *p)
{
    return *p;
}
template <class T> inline void __stcg(T *p, T v)
{
    *p = v;
}
template <class T> inline void __stcs(T *p, T v)
{
    *p = v;
}
inline unsigned atomicInc(unsigned *p, unsigned limit)
{
    unsigned old = *p;
    *p = old >= limit ? 0 : old + 1;
    return old;
}
