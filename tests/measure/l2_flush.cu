// Measures how much data stays in the L2 after a flush. A kernel reads some memory three times, the L2 is flushed in
// one of several ways, and a kernel with the same code, `timed`, reads the memory again. tests/measure/l2_flush.sh runs
// the program under ncu, which counts the bytes that `timed` reads from DRAM. Without ncu, the program only prints
// times.
#include <cstdio>
#include <cstdlib>
#include <vector>

#include "kernels/support.cu"

#define CHECK(call)                                                          \
    do {                                                                     \
        cudaError_t status_ = (call);                                        \
        if (status_ != cudaSuccess) {                                        \
            fprintf(stderr, "%s: %s\n", #call, cudaGetErrorString(status_)); \
            exit(1);                                                         \
        }                                                                    \
    } while (0)

enum way { BY_READING, BY_THE_PROGRAM };
static const char *const way_names[] = {"reading twice the L2's size", "support_flush and support_yield"};

template <bool LAST> static __device__ void read_all(const uint4 *data, i64 n, u32 *sink)
{
    u32 sum = 0;
    u64 policy;
    asm("createpolicy.fractional.L2::evict_last.b64 %0, 1.0;" : "=l"(policy));
    for (i64 i = (i64)blockIdx.x * blockDim.x + threadIdx.x; i < n; i += (i64)gridDim.x * blockDim.x) {
        uint4 x = {0, 0, 0, 0};
        if (LAST)
            asm volatile("ld.global.L2::cache_hint.v4.u32 {%0, %1, %2, %3}, [%4], %5;"
                         : "=r"(x.x), "=r"(x.y), "=r"(x.z), "=r"(x.w)
                         : "l"(data + i), "l"(policy));
        else
            x = data[i];
        sum |= x.x | x.y | x.z | x.w;
    }
    if (sum == 1) *sink = sum;
}

template <bool LAST> __global__ void before(const uint4 *data, i64 n, u32 *sink)
{
    read_all<LAST>(data, n, sink);
}

template <bool LAST, int WAY> __global__ void timed(const uint4 *data, i64 n, u32 *sink)
{
    read_all<LAST>(data, n, sink);
}

struct memory {
    uint4 *data, *flush;
    u32 *sink;
    size_t l2;
    int blocks;
};

static void empty(const struct memory *m, enum way way)
{
    if (way == BY_READING) {
        before<false><<<m->blocks, 512>>>(m->flush, (i64)(2 * m->l2 / 16), m->sink);
        return;
    }
    i64 n = (i64)(m->l2 / 4 * 5 / 16); // as in tuner/gpu/support.c
    support_flush<<<m->blocks * 2, 256>>>(m->flush, n, m->sink);
    support_yield<<<m->blocks * 2, 256>>>(m->flush, n, m->sink);
}

template <bool LAST, int WAY> static void run(const struct memory *m, size_t mib)
{
    i64 n = (i64)(mib << 20) / 16;
    cudaEvent_t begin, end;
    float ms;
    CHECK(cudaEventCreate(&begin));
    CHECK(cudaEventCreate(&end));
    for (int i = 0; i < 3; i++) before<LAST><<<m->blocks, 512>>>(m->data, n, m->sink);
    empty(m, (enum way)WAY);
    CHECK(cudaEventRecord(begin));
    timed<LAST, WAY><<<m->blocks, 512>>>(m->data, n, m->sink);
    CHECK(cudaEventRecord(end));
    CHECK(cudaDeviceSynchronize());
    CHECK(cudaEventElapsedTime(&ms, begin, end));
    printf("%2zu MiB, %-10s, emptied by %s: %.2f us\n", mib, LAST ? "evict last" : "plain", way_names[WAY], 1e3 * ms);
}

int main(void)
{
    struct memory m;
    cudaDeviceProp device;
    CHECK(cudaGetDeviceProperties(&device, 0));
    m.l2 = (size_t)device.l2CacheSize;
    m.blocks = 4 * device.multiProcessorCount;
    std::vector<u32> words(2 * m.l2 / 4); // not zeros, because zeros could be compressed
    for (size_t i = 0; i < words.size(); i++) words[i] = (u32)i * 2654435761u + 2;
    CHECK(cudaMalloc(&m.flush, 2 * m.l2));
    CHECK(cudaMalloc(&m.data, 48 << 20));
    CHECK(cudaMalloc(&m.sink, sizeof *m.sink));
    CHECK(cudaMemcpy(m.flush, words.data(), 2 * m.l2, cudaMemcpyHostToDevice));
    CHECK(cudaMemcpy(m.data, words.data(), 48 << 20, cudaMemcpyHostToDevice));
    for (size_t mib : {4, 16, 48}) {
        run<false, BY_READING>(&m, mib);
        run<true, BY_READING>(&m, mib);
        run<false, BY_THE_PROGRAM>(&m, mib);
        run<true, BY_THE_PROGRAM>(&m, mib);
    }
    return 0;
}
