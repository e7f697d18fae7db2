// See sass.h. Uses the SASS metrics of cupti_sass_metrics.h. A list of metrics is set for the device. Each measurement
// then enables these metrics (kernels are patched at their first launch), launches, flushes the counts, and disables
// the metrics. Metrics that the chip lacks are left out, and their columns are marked as unknown.
#include "tuner/counting/sass.h"

#include "tuner/libraries/cupti_library.h"

const char *const sass_column_names[SASS_COLUMNS] = {
    "instructions",   "threads",      "shared_wavefronts", "shared_ideal",
    "global_sectors", "global_ideal", "local_sectors",     "samples",
};

static const char *const metric_names[SASS_COLUMNS] = {
    [SASS_INSTRUCTIONS] = "smsp__sass_inst_executed",
    [SASS_THREADS] = "smsp__sass_thread_inst_executed",
    [SASS_SHARED_WAVEFRONTS] = "smsp__sass_l1tex_pipe_lsu_wavefronts_mem_shared",
    [SASS_SHARED_IDEAL] = "smsp__sass_l1tex_pipe_lsu_wavefronts_mem_shared_ideal",
    [SASS_GLOBAL_SECTORS] = "smsp__sass_sectors_mem_global",
    [SASS_GLOBAL_IDEAL] = "smsp__sass_sectors_mem_global_ideal",
    [SASS_LOCAL_SECTORS] = "smsp__sass_sectors_mem_local",
};

// The metrics that are counted in one launch.
struct metrics {
    size_t count;
    enum sass_column column[SASS_COLUMNS];
    CUpti_SassMetrics_Config config[SASS_COLUMNS];
};
static struct metrics configured; // on the process's one device; count 0: not yet

int sass_listing_init(struct sass_listing *l, size_t code_bytes, struct error *err)
{
    *l = (struct sass_listing){.count = code_bytes / SASS_BYTES};
    l->list = memory_try(l->count, sizeof *l->list, err);
    return l->list ? 0 : -1;
}

void sass_listing_release(struct sass_listing *l)
{
    free(l->list);
    *l = (struct sass_listing){0};
}

// The columns that this chip can count.
static int find_metrics(int device, struct metrics *m, struct error *err)
{
    CUPTI_TRY(cuptiProfilerInitialize, &CUPTI_PARAMS(CUpti_Profiler_Initialize, .pPriv = NULL));
    CUpti_Device_GetChipName_Params chip = CUPTI_PARAMS(CUpti_Device_GetChipName, .deviceIndex = (size_t)device);
    CUPTI_TRY(cuptiDeviceGetChipName, &chip);
    m->count = 0;
    for (int i = 0; i < SASS_COLUMNS; i++) {
        if (!metric_names[i]) continue;
        CUpti_SassMetrics_GetProperties_Params p =
            CUPTI_PARAMS(CUpti_SassMetrics_GetProperties, .pChipName = chip.pChipName, .pMetricName = metric_names[i]);
        if (cupti.cuptiSassMetricsGetProperties(&p) != CUPTI_SUCCESS) continue;
        m->column[m->count] = (enum sass_column)i;
        m->config[m->count++] = (CUpti_SassMetrics_Config){
            .metricId = p.metric.metricId, .outputGranularity = CUPTI_SASS_METRICS_OUTPUT_GRANULARITY_GPU};
    }
    return m->count ? 0 : error_set(err, "CUPTI knows no SASS metrics for the chip %s", chip.pChipName);
}

static void add_record(const struct metrics *m, const CUpti_SassMetrics_Data *record, size_t values,
                       struct sass_listing *out)
{
    size_t index = record->pcOffset / SASS_BYTES;
    for (size_t i = 0; i < values && index < out->count; i++)
        for (size_t k = 0; k < m->count; k++)
            if (m->config[k].metricId == record->pInstanceValues[i].metricId)
                out->list[index].value[m->column[k]] += (double)record->pInstanceValues[i].value;
}

static int read_data(CUcontext context, const struct metrics *m, const char *symbol, struct sass_listing *out,
                     struct error *err)
{
    CUpti_SassMetricsGetDataProperties_Params about = CUPTI_PARAMS(CUpti_SassMetricsGetDataProperties, .ctx = context);
    CUPTI_TRY(cuptiSassMetricsGetDataProperties, &about);
    size_t records = about.numOfPatchedInstructionRecords, values = about.numOfInstances * m->count;
    if (!records || !values) return error_set(err, "CUPTI counted no instruction of '%s'", symbol);
    autofree CUpti_SassMetrics_Data *data = memory_try(records, sizeof *data, err);
    autofree CUpti_SassMetrics_InstanceValue *value = memory_try(records, values * sizeof *value, err);
    if (!data || !value) return -1;
    for (size_t i = 0; i < records; i++) {
        data[i].structSize = sizeof *data;
        data[i].pInstanceValues = value + i * values;
    }
    CUptiResult result = cupti.cuptiSassMetricsFlushData(
        &CUPTI_PARAMS(CUpti_SassMetricsFlushData, .ctx = context, .numOfPatchedInstructionRecords = records,
                      .numOfInstances = about.numOfInstances, .pMetricsData = data));
    for (size_t i = 0; i < records && result == CUPTI_SUCCESS; i++)
        if (data[i].functionName && !strcmp(data[i].functionName, symbol)) add_record(m, &data[i], values, out);
    return result == CUPTI_SUCCESS ? 0 : cupti_library_fail(err, "cuptiSassMetricsFlushData", result);
}

static int count_enabled(CUcontext context, const struct metrics *m, const char *symbol, sass_launch *launch,
                         void *user, struct sass_listing *out, struct error *err)
{
    CUPTI_TRY(cuptiSassMetricsEnable, &CUPTI_PARAMS(CUpti_SassMetricsEnable, .ctx = context, .enableLazyPatching = 1));
    int failed = launch(user) ? SASS_LAUNCH_FAILED : 0;
    if (failed) return failed; // the context is lost: nothing more may be called
    failed = read_data(context, m, symbol, out, err);
    CUptiResult result = cupti.cuptiSassMetricsDisable(&CUPTI_PARAMS(CUpti_SassMetricsDisable, .ctx = context));
    if (!failed && result != CUPTI_SUCCESS) failed = cupti_library_fail(err, "cuptiSassMetricsDisable", result);
    return failed;
}

// Done once per process: after a configuration has been unset, CUPTI 13.0 refuses any other ("out of memory").
static int configure(int device, struct error *err)
{
    if (configured.count) return 0;
    struct metrics m;
    if (find_metrics(device, &m, err)) return -1;
    CUPTI_TRY(cuptiSassMetricsSetConfig, &CUPTI_PARAMS(CUpti_SassMetricsSetConfig, .numOfMetricConfig = m.count,
                                                       .pConfigs = m.config, .deviceIndex = (uint32_t)device));
    configured = m;
    return 0;
}

int sass_measure(void *context, int device, const char *symbol, sass_launch *launch, void *user,
                 struct sass_listing *out, struct error *err)
{
    if (cupti_library_load(err) || configure(device, err)) return SASS_FAILED;
    int failed = count_enabled(context, &configured, symbol, launch, user, out, err);
    for (size_t i = 0; i < configured.count && !failed; i++) out->known[configured.column[i]] = true;
    return failed;
}
