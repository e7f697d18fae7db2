// See metrics.h. Metrics are grouped into sets according to the passes that they need, because every pass launches all
// candidates twice. Passes were counted with CUPTI 13.0 on GH100; times are from an H200:
//
// - sm__icc_* competes for counters with sm__warps_active.avg.pct_of_peak_sustained_active: instruction cache and
//   occupancy take two passes together. `basic` has the metrics that fit into these two passes. Four stall reasons
//   besides no_instruction fit; a fifth would need a third pass, as would bank conflicts of cp.async (op_ldgsts).
// - Metrics with _sass_ in their names are counted in patched code, in a pass that no other metric can share and in
//   which a kernel is slower. ffma_threads by itself raised the cost of `basic` from 3.7 to 4.6 ms per candidate, but
//   fma_instructions costs nothing extra.
// - The `throughput` metrics take 5 to 8 passes. They are in `full`, which is for one candidate at a time.
#include "tuner/trial/metrics.h"

#define STALL(reason, what)                                                                                            \
    {                                                                                                                  \
        "stall_" #reason, "smsp__average_warps_issue_stalled_" #reason "_per_issue_active.ratio", "warps/issue", what, \
            NULL                                                                                                       \
    }
#define CONFLICTS "l1tex__data_bank_conflicts_pipe_lsu_mem_shared"

#define STALL_NO_INSTRUCTION STALL(no_instruction, "warps waiting for an instruction fetch or a cache miss of it")
#define STALL_LONG_SCOREBOARD STALL(long_scoreboard, "warps waiting for data from global, local or texture memory")
#define STALL_SHORT_SCOREBOARD STALL(short_scoreboard, "warps waiting for data from shared memory or special functions")
#define STALL_MIO_THROTTLE STALL(mio_throttle, "warps waiting for room in the queue of shared-memory instructions")
#define STALL_BARRIER STALL(barrier, "warps waiting at a block's barrier")

static const struct metric basic_metrics[] = {
    {"icache_requests", "sm__icc_requests.sum", "requests",
     "requests to the multiprocessors' instruction caches (none while a loop fits into the L0 caches)", NULL},
    {"icache_misses", "sm__icc_requests_lookup_miss.sum", "requests",
     "of these, misses (a fetch that waits for a line already on its way counts too)", NULL},
    {"icache_l15_misses", "gcc__cache_requests_type_instruction_lookup_miss.sum", "requests",
     "instruction misses of the next level, which several multiprocessors share", NULL},
    {"occupancy", "sm__warps_active.avg.pct_of_peak_sustained_active", "%",
     "achieved occupancy: resident warps as a share of the maximum, while a multiprocessor is active", NULL},
    {"bank_conflicts_load", CONFLICTS "_op_ld.sum", "conflicts", "shared-memory bank conflicts of loads", NULL},
    {"bank_conflicts_store", CONFLICTS "_op_st.sum", "conflicts",
     "shared-memory bank conflicts of stores (those of cp.async are in set `shared`)", NULL},
    STALL_NO_INSTRUCTION,
    STALL_LONG_SCOREBOARD,
    STALL_SHORT_SCOREBOARD,
    STALL_MIO_THROTTLE,
    STALL_BARRIER,
    {"dram_bytes", "dram__bytes.sum", "bytes", "bytes read from and written to device memory", NULL},
    {"dram_read_bytes", "dram__bytes_read.sum", "bytes", "bytes read from device memory", NULL},
    {"l2_sectors", "lts__t_sectors.sum", "sectors", "sectors of 32 bytes that L2 looked up", NULL},
    {"instructions", "smsp__inst_issued.sum", "instructions", "warp instructions issued", NULL},
    {"fma_instructions", "sm__inst_executed_pipe_fma.sum", "instructions",
     "warp instructions of the FMA pipes: FP32 and packed FP16 add, multiply and fma, integer multiply-add", NULL},
    {"cycles_active", "sm__cycles_active.avg", "cycles",
     "cycles in which a multiprocessor had a warp, averaged over the multiprocessors", NULL},
    {"cycles_active_max", "sm__cycles_active.max", "cycles",
     "the same for the busiest multiprocessor: far above the average where the work is spread unevenly", NULL},
    {0},
};

static const struct metric stall_metrics[] = {
    STALL_NO_INSTRUCTION,
    STALL_LONG_SCOREBOARD,
    STALL_SHORT_SCOREBOARD,
    STALL_MIO_THROTTLE,
    STALL_BARRIER,
    STALL(math_pipe_throttle, "warps waiting for an arithmetic pipe"),
    STALL(lg_throttle, "warps waiting for room in the queue of global and local memory instructions"),
    STALL(tex_throttle, "warps waiting for room in the queue of texture instructions"),
    STALL(wait, "warps waiting for a fixed-latency result"),
    STALL(not_selected, "warps ready to issue while another one was chosen"),
    STALL(dispatch_stall, "warps held back by the dispatcher"),
    STALL(branch_resolving, "warps waiting for a branch target"),
    STALL(imc_miss, "warps waiting for an immediate constant"),
    STALL(membar, "warps waiting at a memory fence"),
    STALL(drain, "warps that ended, waiting for their stores"),
    STALL(sleeping, "warps asleep in nanosleep"),
    {"stall_gmma", "smsp__average_warps_issue_stalled_gmma_per_issue_active.ratio", "warps/issue",
     "warps waiting for wgmma", "GH"},
    {0},
};

static const struct metric shared_metrics[] = {
    {"bank_conflicts", CONFLICTS ".sum", "conflicts", "shared-memory bank conflicts, all kinds", NULL},
    {"bank_conflicts_load", CONFLICTS "_op_ld.sum", "conflicts", "of these, of loads", NULL},
    {"bank_conflicts_store", CONFLICTS "_op_st.sum", "conflicts", "of these, of stores", NULL},
    {"bank_conflicts_async", CONFLICTS "_op_ldgsts.sum", "conflicts", "of these, of cp.async", NULL},
    {"bank_conflicts_atomic", CONFLICTS "_op_atom.sum", "conflicts", "of these, of atomics", NULL},
    {"bank_conflicts_gmma", CONFLICTS "_op_gmma.sum", "conflicts", "of these, of wgmma", "GH"},
    {"shared_wavefronts", "l1tex__data_pipe_lsu_wavefronts_mem_shared.sum", "wavefronts",
     "cycles in which shared-memory instructions used the data banks", NULL},
    {0},
};

#define PIPE(key, name, what)                                                                            \
    {                                                                                                    \
        "pipe_" key, "sm__inst_executed_pipe_" name ".avg.pct_of_peak_sustained_active", "%", what, NULL \
    }
#define GLOBAL_SECTORS "l1tex__t_sectors_pipe_lsu_mem_global_op_"
#define GLOBAL_REQUESTS "l1tex__t_requests_pipe_lsu_mem_global_op_"
#define LOCAL_SECTORS "l1tex__t_sectors_pipe_lsu_mem_local_op_"

// Metrics that `profile` shows in addition to the sets that `full` includes.
static const struct metric full_metrics[] = {
    {"duration", "gpu__time_duration.sum", "ns",
     "time of the launch while it was counted, including about 11 us for the range around it", NULL},
    {"sm_throughput", "sm__throughput.avg.pct_of_peak_sustained_elapsed", "%",
     "the busiest unit of the multiprocessors, of its peak", NULL},
    {"memory_throughput", "gpu__compute_memory_throughput.avg.pct_of_peak_sustained_elapsed", "%",
     "the busiest unit on the way to memory, of its peak", NULL},
    {"l1_throughput", "l1tex__throughput.avg.pct_of_peak_sustained_active", "%",
     "the L1 cache and shared memory, of peak", NULL},
    {"l2_throughput", "lts__throughput.avg.pct_of_peak_sustained_elapsed", "%", "the L2 cache, of peak", NULL},
    {"dram_throughput", "dram__throughput.avg.pct_of_peak_sustained_elapsed", "%", "device memory, of peak", NULL},
    {"issue_active", "smsp__issue_active.avg.pct_of_peak_sustained_active", "%", "cycles in which a scheduler issued",
     NULL},
    {"warps_eligible", "smsp__warps_eligible.avg.per_cycle_active", "warps",
     "warps ready to issue, per cycle and scheduler", NULL},
    {"executed", "smsp__inst_executed.sum", "instructions", "warp instructions executed", NULL},
    {"threads_per_instruction", "smsp__thread_inst_executed_per_inst_executed.ratio", "threads",
     "active threads per warp instruction", NULL},
    {"threads_predicated_on", "smsp__thread_inst_executed_pred_on_per_inst_executed.ratio", "threads",
     "of these, those whose predicate was true", NULL},
    PIPE("fma", "fma", "the FMA pipes, of peak"),
    PIPE("alu", "alu", "the ALU pipe (integer, logic, comparisons), of peak"),
    PIPE("fp64", "fp64", "the FP64 pipe, of peak"),
    PIPE("lsu", "lsu", "the load-store pipe, of peak"),
    PIPE("xu", "xu", "the pipe of special functions and conversions, of peak"),
    PIPE("tensor", "tensor", "the tensor pipe, of peak"),
    PIPE("uniform", "uniform", "the uniform datapath, of peak"),
    {"icache_l15_requests", "gcc__cache_requests_type_instruction.sum", "requests",
     "instruction requests to the next level", NULL},
    {"shared_load_wavefronts", "l1tex__data_pipe_lsu_wavefronts_mem_shared_op_ld.sum", "wavefronts",
     "cycles of the data banks for shared-memory loads", NULL},
    {"shared_store_wavefronts", "l1tex__data_pipe_lsu_wavefronts_mem_shared_op_st.sum", "wavefronts",
     "cycles of the data banks for shared-memory stores", NULL},
    {"global_load_sectors", GLOBAL_SECTORS "ld.sum", "sectors",
     "sectors of 32 bytes that global loads asked the L1 for", NULL},
    {"global_load_requests", GLOBAL_REQUESTS "ld.sum", "requests", "requests of global loads, one per warp instruction",
     NULL},
    {"global_store_sectors", GLOBAL_SECTORS "st.sum", "sectors", "sectors of 32 bytes that global stores wrote", NULL},
    {"global_store_requests", GLOBAL_REQUESTS "st.sum", "requests",
     "requests of global stores, one per warp instruction", NULL},
    {"local_load_sectors", LOCAL_SECTORS "ld.sum", "sectors",
     "sectors that local-memory loads (spills) asked the L1 for", NULL},
    {"local_store_sectors", LOCAL_SECTORS "st.sum", "sectors", "sectors that local-memory stores (spills) wrote", NULL},
    {"l1_hit_rate", "l1tex__t_sector_hit_rate.pct", "%", "sectors found in the L1", NULL},
    {"l2_hit_rate", "lts__t_sector_hit_rate.pct", "%", "sectors found in the L2", NULL},
    {"dram_write_bytes", "dram__bytes_write.sum", "bytes", "bytes written to device memory", NULL},
    {"cycles_active_min", "sm__cycles_active.min", "cycles", "active cycles of the least busy multiprocessor", NULL},
    {0},
};

static const struct metric_set full = {"full", "everything that `sweetspot profile` shows", full_metrics,
                                       "basic stalls shared"};
static const struct metric_set basic = {
    "basic", "instruction cache, occupancy, bank conflicts, main stalls, DRAM (2 passes)", basic_metrics, NULL};
static const struct metric_set stalls = {"stalls", "every reason why warps wait (6 passes)", stall_metrics, NULL};
static const struct metric_set shared = {"shared", "shared-memory bank conflicts by kind (3 passes)", shared_metrics,
                                         NULL};

const struct metric_set *const metric_sets[] = {&basic, &stalls, &shared, &full, NULL};

const struct metric_set *metrics_find(const char *set_name)
{
    for (size_t i = 0; metric_sets[i]; i++)
        if (!strcmp(metric_sets[i]->name, set_name)) return metric_sets[i];
    return NULL;
}

bool metric_applies(const struct metric *metric, const char *chip)
{
    if (!metric->chips) return true;
    for (const char *prefix = metric->chips; *prefix;) {
        size_t length = strcspn(prefix, " ");
        if (!strncmp(chip, prefix, length)) return true;
        prefix += length;
        prefix += strspn(prefix, " ");
    }
    return false;
}

const struct metric *metrics_find_key(const char *key)
{
    for (size_t i = 0; metric_sets[i]; i++)
        for (const struct metric *metric = metric_sets[i]->metrics; metric->key; metric++)
            if (!strcmp(metric->key, key)) return metric;
    return NULL;
}

// The names of all sets, NULL-terminated; the caller frees the array.
static const char **set_names(void)
{
    size_t count = sizeof metric_sets / sizeof *metric_sets;
    const char **names = memory_new(count, sizeof *names);
    for (size_t i = 0; metric_sets[i]; i++) names[i] = metric_sets[i]->name;
    return names;
}

int metrics_check(const char *name, struct error *err)
{
    const struct metric *known = metrics_find_key(name);
    if (metrics_find(name)) return 0;
    if (known)
        return error_set(err, "'%s' is the key of a metric; ask for one of the sets that have it, or for '%s'", name,
                         known->name);
    if (strstr(name, "__")) // as in all names of hardware metrics (unit__quantity.roll-up)
        return strchr(name, '.') ? 0 : error_set(err, "metric '%s' needs a roll-up: %s.sum, for instance", name, name);
    autofree const char **names = set_names();
    autofree char *text = text_unknown("metric set", name, names);
    error_set(err, "%s; a single metric has a hardware name such as sm__icc_requests.sum", text);
    return -1;
}
