// See launch_check.h.
#include "tuner/setup/launch_check.h"

#include "search/space/fn.h"

int64_t blocks_per_sm(const struct device_limits *d, int64_t threads, int64_t registers, int64_t shared)
{
    if (threads < 1 || threads > d->max_threads) return 0;
    int64_t warps = (threads + d->warp_size - 1) / d->warp_size, blocks = d->blocks_per_sm;
    int64_t by_warps = d->threads_per_sm / d->warp_size / warps;
    if (by_warps < blocks) blocks = by_warps;
    if (registers > 0) {
        // Each of the four partitions of an SM has a quarter of the registers and allocates them to whole warps.
        int64_t warp_registers = fn_round_up(registers * d->warp_size, 256);
        int64_t by_registers = d->registers_per_sm / 4 / warp_registers * 4 / warps;
        if (by_registers < blocks) blocks = by_registers;
    }
    int64_t block_shared = fn_round_up(shared, 128) + (d->compute >= 80 ? 1024 : 0);
    int64_t by_shared = block_shared > 0 ? d->shared_per_sm / block_shared : blocks;
    return by_shared < blocks ? by_shared : blocks;
}

double theoretical_occupancy(const struct device_limits *d, int64_t threads, int64_t registers, int64_t shared)
{
    int64_t warps = (threads + d->warp_size - 1) / d->warp_size, most = d->threads_per_sm / d->warp_size;
    return (double)(blocks_per_sm(d, threads, registers, shared) * warps) / (double)most;
}

static int check_dimension(const char *what, int i, int64_t value, int64_t most, struct error *reason)
{
    if (value >= 1 && value <= most) return 0;
    return error_set(reason, "%s dimension %d is %" PRId64 "; it must be between 1 and %" PRId64, what, i, value, most);
}

int launch_check(const struct device_limits *d, const struct launch_shape *l, int64_t registers, int64_t shared_static,
                 struct error *reason)
{
    static const int64_t grid_limits[3] = {INT32_MAX, 65535, 65535}, block_limits[3] = {1024, 1024, 64};
    int64_t threads = 1, cluster = 1, shared;
    for (int i = 0; i < 3; i++) {
        if (check_dimension("grid", i, l->grid[i], grid_limits[i], reason) ||
            check_dimension("block", i, l->block[i], block_limits[i], reason) ||
            check_dimension("cluster", i, l->cluster[i], 16, reason))
            return -1;
        if (l->grid[i] % l->cluster[i])
            return error_set(reason,
                             "grid dimension %d, %" PRId64 " blocks, is not a multiple of the cluster's %" PRId64, i,
                             l->grid[i], l->cluster[i]);
        threads *= l->block[i];
        cluster *= l->cluster[i];
    }
    if (threads > d->max_threads)
        return error_set(reason, "block of %" PRId64 " threads; the device allows %" PRId64, threads, d->max_threads);
    if (cluster > 1 && cluster > d->max_cluster)
        return error_set(reason, "cluster of %" PRId64 " blocks; the device allows %" PRId64, cluster, d->max_cluster);
    if (__builtin_add_overflow(l->shared, shared_static > 0 ? shared_static : 0, &shared)) shared = INT64_MAX;
    if (l->shared < 0 || shared > d->max_shared)
        return error_set(reason, "%" PRId64 " bytes of shared memory per block; the device allows %" PRId64, shared,
                         d->max_shared);
    if (!blocks_per_sm(d, threads, registers, shared))
        return error_set(reason,
                         "%" PRId64 " threads of %" PRId64 " registers do not fit the device's %" PRId64 " registers",
                         threads, registers, d->registers_per_sm);
    return 0;
}
