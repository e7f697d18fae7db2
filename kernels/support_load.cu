// Other work on the device that runs while a candidate is launched. It occupies multiprocessors and memory bandwidth,
// so that blocks start late and at different times, and wait longer for their data.

static __device__ u64 device_nanoseconds()
{
    u64 time;
    asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(time));
    return time;
}

// Each block reads memory at its own pace and ends after a time of its own, from `least` to `longest` ns. The sum is
// never `impossible`, since the memory holds zeros. If `open` is not 0, the blocks only wait, and `open` of those on
// the multiprocessor `chosen` end immediately. `counter` starts at 0.
// At most 32 registers, so that blocks fill a multiprocessor.
extern "C" __global__ void __launch_bounds__(1024, 2)
    support_load(const uint4 *memory, i64 n, u64 key, u32 least, u32 longest, u32 impossible, u32 chosen, u32 open,
                 u32 *counter)
{
    const u64 begin = device_nanoseconds(),
              mine = least + digest(key + blockIdx.x * 0x9e3779b97f4a7c15ull) % (longest - least + 1);
    i64 at = (i64)(digest(key ^ (blockIdx.x + 1) * 0xd1342543de82ef95ull) % (u64)n);
    u32 sum = 0, here;
    if (open) {
        __shared__ bool ends;
        asm volatile("mov.u32 %0, %%smid;" : "=r"(here));
        if (threadIdx.x == 0) ends = here == chosen && atomicAdd(counter, 1u) < open;
        __syncthreads();
        while (!ends && device_nanoseconds() - begin < mine) __nanosleep(500);
        return;
    }
    do {
        for (int k = 0; k < 4; k++) {
            const uint4 *from = memory + (at + threadIdx.x) % n;
            u32 a, b, c, d;
            asm volatile("ld.global.cg.v4.u32 {%0, %1, %2, %3}, [%4];"
                         : "=r"(a), "=r"(b), "=r"(c), "=r"(d)
                         : "l"(from));
            sum |= a | b | c | d;
            at = (at + 4099 * (i64)blockDim.x) % n;
        }
    } while (device_nanoseconds() - begin < mine);
    if (sum == impossible) *counter = sum;
}

// Delays the work that is enqueued after it.
extern "C" __global__ void support_hold(u32 nanoseconds)
{
    const u64 begin = device_nanoseconds();
    while (device_nanoseconds() - begin < nanoseconds) {
    }
}
