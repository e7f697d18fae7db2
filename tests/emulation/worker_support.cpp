// The GPU worker's own kernels for tests/emulated_gpu.c: launched by name on host memory.
#include <functional>
#include <string>
#include <utility>

#include "support.h"

#define SUPPORT_F32
#define SUPPORT_F64
#include "support.cu"
#undef TYPED

namespace
{

std::function<void()> body;

template <class... A, size_t... I> void call(void (*kernel)(A...), void **args, std::index_sequence<I...>)
{
    kernel(*(std::remove_const_t<A> *)args[I]...);
}

// The kernels loop over the whole grid, so that a few threads can do the work of many, in less time.
enum threads { ONE_THREAD = 1, WITH_BARRIERS = 8, AS_LAUNCHED = 0 };

template <class... A> int run(void (*kernel)(A...), threads few, const unsigned grid[3], unsigned block, void **args)
{
    const unsigned width = few ? 1 : grid[0], threads = few ? few : block;
    blockDim = {threads, 1, 1};
    for (unsigned z = 0; z < grid[2]; z++) {
        body = [=] {
            blockIdx.z = z;
            call(kernel, args, std::index_sequence_for<A...>());
        };
        if (few != ONE_THREAD) emulation::launch(width, grid[1], threads, [] { body(); });
        for (unsigned y = 0; y < grid[1] && few == ONE_THREAD; y++) {
            gridDim = {1, grid[1], grid[2]};
            threadIdx = {0, 0, 0};
            blockIdx = {0, y, z};
            body();
        }
    }
    return 1;
}

} // namespace

// Returns 0 if there is no such kernel.
extern "C" int emulate_support(const char *name, const unsigned grid[3], unsigned block, void **args)
{
    const std::string n = name;
#define KERNEL(kernel, threads) \
    if (n == #kernel) return run(kernel, threads, grid, block, args);
#define TYPED(name)                               \
    KERNEL(support_fill_##name, ONE_THREAD)       \
    KERNEL(support_compare_##name, WITH_BARRIERS) \
    KERNEL(support_disturb_##name, ONE_THREAD)    \
    KERNEL(support_judge_##name, ONE_THREAD)      \
    KERNEL(support_widen_##name, ONE_THREAD)      \
    KERNEL(support_sums_##name, WITH_BARRIERS)
    if (n.find("support_sums_") == 0 && n != "support_sums_join")
        std::memset(*(void **)args[4], 0, grid[0] * sizeof(sums));
    KERNEL(support_checksums, WITH_BARRIERS)
    KERNEL(support_mask, ONE_THREAD)
    KERNEL(support_restore, ONE_THREAD)
    KERNEL(support_guards, ONE_THREAD)
    KERNEL(support_narrow_up, ONE_THREAD)
    KERNEL(support_to_integer, ONE_THREAD)
    KERNEL(support_row_sizes, WITH_BARRIERS)
    KERNEL(support_sums_join, ONE_THREAD)
    KERNEL(support_product, AS_LAUNCHED)
    KERNEL(support_drop, ONE_THREAD)
    TYPED(f32)
    TYPED(f64)
    // These kernels change nothing that a kernel of tests/emulated_gpu.c could see.
    return n == "support_flush" || n == "support_yield" || n == "support_poison" || n == "support_load" ||
           n == "support_hold";
}
