// See counters.h. The calls that CUPTI requires:
//
//     counters_open      a host object, which knows the chip's metrics and turns a list of them into a config image
//     begin_session      a range profiler on the context, and a counter-data image for MAX_RANGES ranges
//     measure            for each pass: start; every candidate, each stage in its own range; stop. Then decode the
//                        passes into the image, and let the host object compute metrics from it
//
// User replay and user ranges: we launch every pass ourselves, after restoring the buffers, and one range holds
// whatever a stage launches. (With kernel replay, CUPTI would save and restore all memory that a kernel may write, and
// a library call with several kernels would have several ranges.)
//
// Costs with set `basic` (H200, CUDA 13.0): opening takes 0.9 s the first time in a process. A session takes 0.2 s,
// mostly in its first pass, and another 20 ms to close. A pass takes 15 ms (11 to start, 4 to stop), plus 0.9 ms for
// each range. DRAM and L2 counters are expensive: with only SM metrics, a pass takes 2.5 ms. So candidates share
// passes: each candidate takes 32 ms on its own, 11 ms if four share a pass, 5.2 ms if sixteen do, and 3.7 ms if 64 do.
// Of each of these times, the test kernels themselves take 1 ms.
//
// A list with one unknown name makes the host object unusable: it refuses every later list. So each list is tried with
// a new host object.
#include "tuner/counting/counters.h"

#include "tuner/libraries/cupti_library.h"

// Candidates share a pass if they have at most this many stages in total.
enum { MAX_RANGES = 64 };

typedef CUpti_Profiler_Host_Object host_object;

struct counter_plan {
    host_object *host;  // knows the metrics of `names`
    const char **names; // of the metrics that the chip has; `count` of them
    size_t *columns;    // their columns
    size_t count;
    uint8_t *image; // the config image
    size_t image_size;
    size_t passes;
};

struct counters {
    CUcontext context;
    char chip[32];
    struct error reason;          // "" if counting works
    char *note;                   // NULL if nothing is missing
    const struct metric **metric; // the columns
    size_t count;
    uint8_t *availability; // what may be counted on this device and by this user, according to CUPTI
    struct counter_plan plan;
    double *row; // scratch: one value for each metric of the plan

    CUpti_RangeProfiler_Object *session; // NULL if none is open
    uint8_t *data;                       // its counter-data image, for MAX_RANGES ranges
    size_t data_size;
    bool invalid; // a pass was aborted: the profiler would continue with partial data and return wrong values
};

// The data of one call to counters_measure().
struct counter_batch {
    counters_launch *launch;
    counters_reset *reset;
    void *user;
    const size_t *stages; // of every candidate
    size_t first, end;    // the candidates that share the current passes
    struct error *err;
};

// `availability` NULL: assumes that none of the device's counters is switched off.
static int make_host(host_object **host, const char *chip, const uint8_t *availability, struct error *err)
{
    CUpti_Profiler_Host_Initialize_Params params =
        CUPTI_PARAMS(CUpti_Profiler_Host_Initialize, .profilerType = CUPTI_PROFILER_TYPE_RANGE_PROFILER,
                     .pChipName = chip, .pCounterAvailabilityImage = availability);
    CUptiResult result = cupti.cuptiProfilerHostInitialize(&params);
    if (result != CUPTI_SUCCESS) {
        cupti_library_fail(err, "cuptiProfilerHostInitialize", result);
        return error_prefix(err, "chip %s", chip);
    }
    *host = params.pHostObject;
    return 0;
}

static void drop_host(host_object *host)
{
    if (host) cupti.cuptiProfilerHostDeinitialize(&CUPTI_PARAMS(CUpti_Profiler_Host_Deinitialize, .pHostObject = host));
}

static CUptiResult add_metrics(host_object *host, const char **names, size_t count)
{
    return cupti.cuptiProfilerHostConfigAddMetrics(&CUPTI_PARAMS(
        CUpti_Profiler_Host_ConfigAddMetrics, .pHostObject = host, .ppMetricNames = names, .numMetrics = count));
}

// Whether the chip has every metric of the list.
static int try_metrics(const char **names, size_t count, const char *chip, const uint8_t *availability, bool *known,
                       struct error *err)
{
    host_object *host = NULL;
    if (make_host(&host, chip, availability, err)) return -1;
    *known = add_metrics(host, names, count) == CUPTI_SUCCESS;
    drop_host(host);
    return 0;
}

// Puts the metrics that the chip has into names and columns. Nearly always the chip has all of them, so that is tried
// first.
static int find_known(struct counter_plan *plan, const struct metric *const *metric, size_t count, const char *chip,
                      const uint8_t *availability, struct error *err)
{
    for (size_t i = 0; i < count; i++) {
        plan->names[i] = metric[i]->name;
        plan->columns[i] = i;
    }
    plan->count = count;
    bool all;
    if (try_metrics(plan->names, count, chip, availability, &all, err)) return -1;
    if (all) return 0;

    plan->count = 0;
    for (size_t i = 0; i < count; i++) {
        bool known;
        const char *name = metric[i]->name;
        if (try_metrics(&name, 1, chip, availability, &known, err)) return -1;
        if (!known) continue;
        plan->names[plan->count] = name;
        plan->columns[plan->count++] = i;
    }
    return 0;
}

static void plan_release(struct counter_plan *plan)
{
    drop_host(plan->host);
    free(plan->names);
    free(plan->columns);
    free(plan->image);
    *plan = (struct counter_plan){0};
}

// Fills `plan` with the metrics that the chip has. On failure the caller releases it.
static int plan_make(struct counter_plan *plan, const struct metric *const *metric, size_t count, const char *chip,
                     const uint8_t *availability, struct error *err)
{
    plan->names = memory_try(count, sizeof *plan->names, err);
    plan->columns = memory_try(count, sizeof *plan->columns, err);
    if (!plan->names || !plan->columns) return -1;
    if (find_known(plan, metric, count, chip, availability, err)) return -1;
    if (!plan->count) return error_set(err, "chip %s has none of the set's metrics", chip);

    if (make_host(&plan->host, chip, availability, err)) return -1;
    CUptiResult result = add_metrics(plan->host, plan->names, plan->count);
    if (result != CUPTI_SUCCESS) return cupti_library_fail(err, "cuptiProfilerHostConfigAddMetrics", result);

    CUpti_Profiler_Host_GetConfigImageSize_Params size =
        CUPTI_PARAMS(CUpti_Profiler_Host_GetConfigImageSize, .pHostObject = plan->host);
    CUPTI_TRY(cuptiProfilerHostGetConfigImageSize, &size);
    plan->image_size = size.configImageSize;
    plan->image = memory_try(plan->image_size, 1, err);
    if (!plan->image) return -1;
    CUPTI_TRY(cuptiProfilerHostGetConfigImage,
              &CUPTI_PARAMS(CUpti_Profiler_Host_GetConfigImage, .pHostObject = plan->host,
                            .configImageSize = plan->image_size, .pConfigImage = plan->image));
    CUpti_Profiler_Host_GetNumOfPasses_Params passes = CUPTI_PARAMS(
        CUpti_Profiler_Host_GetNumOfPasses, .configImageSize = plan->image_size, .pConfigImage = plan->image);
    CUPTI_TRY(cuptiProfilerHostGetNumOfPasses, &passes);
    plan->passes = passes.numOfPasses;
    return 0;
}

// The metrics of `set` that are meant for `chip` or, if `chip` is "", for every chip. The caller frees the list.
static const struct metric **select_metrics(const struct metric_set *set, const char *chip, size_t *count,
                                            struct error *err)
{
    size_t room = 0;
    while (set->metrics[room].key) room++;
    const struct metric **list = memory_try(room, sizeof *list, err);
    if (!list) return NULL;
    *count = 0;
    for (size_t i = 0; i < room; i++)
        if (metric_applies(&set->metrics[i], chip)) list[(*count)++] = &set->metrics[i];
    return list;
}

static int probe_device(struct counters *c, int device, struct error *err)
{
    if (cupti_library_load(err)) return -1;
    CUPTI_TRY(cuptiProfilerInitialize, &CUPTI_PARAMS(CUpti_Profiler_Initialize, .pPriv = NULL));

    CUpti_Device_GetChipName_Params chip = CUPTI_PARAMS(CUpti_Device_GetChipName, .deviceIndex = (size_t)device);
    CUPTI_TRY(cuptiDeviceGetChipName, &chip);
    if ((size_t)snprintf(c->chip, sizeof c->chip, "%s", chip.pChipName) >= sizeof c->chip) {
        *c->chip = '\0';
        return error_set(err, "the chip's name '%s' is too long", chip.pChipName);
    }

    CUpti_Profiler_DeviceSupported_Params support =
        CUPTI_PARAMS(CUpti_Profiler_DeviceSupported, .cuDevice = device, .api = CUPTI_PROFILER_RANGE_PROFILING);
    CUPTI_TRY(cuptiProfilerDeviceSupported, &support);
    if (support.isSupported != CUPTI_PROFILER_CONFIGURATION_SUPPORTED) {
        const struct {
            CUpti_Profiler_Support_Level level;
            const char *why;
        } causes[] = {
            {support.architecture, "its architecture is too old"},
            {support.sli, "SLI is on"},
            {support.vGpu, "the virtual GPU's profiling is not enabled"},
            {support.confidentialCompute, "confidential computing is on"},
            {support.cmp, "it is a mining processor"},
            {support.wsl, "this WSL does not support it"},
        };
        const char *why = "no reason given";
        for (size_t i = 0; i < sizeof causes / sizeof *causes; i++)
            if (causes[i].level != CUPTI_PROFILER_CONFIGURATION_SUPPORTED) why = causes[i].why;
        return error_set(err, "CUPTI cannot profile this device: %s", why);
    }

    // A missing permission is detected here.
    CUpti_Profiler_GetCounterAvailability_Params image =
        CUPTI_PARAMS(CUpti_Profiler_GetCounterAvailability, .ctx = c->context);
    CUPTI_TRY(cuptiProfilerGetCounterAvailability, &image);
    c->availability = memory_try(image.counterAvailabilityImageSize, 1, err);
    if (!c->availability) return -1;
    image.pCounterAvailabilityImage = c->availability;
    CUPTI_TRY(cuptiProfilerGetCounterAvailability, &image);
    return 0;
}

// While the session is open, neither the size of the counter-data image nor the profiler's number of ranges can change:
// ranges in excess of the number that was set when the first pass started are lost without an error.
static int make_data(struct counters *c, struct error *err)
{
    CUpti_RangeProfiler_GetCounterDataSize_Params size = CUPTI_PARAMS(
        CUpti_RangeProfiler_GetCounterDataSize, .pRangeProfilerObject = c->session, .pMetricNames = c->plan.names,
        .numMetrics = c->plan.count, .maxNumOfRanges = MAX_RANGES, .maxNumRangeTreeNodes = MAX_RANGES);
    CUPTI_TRY(cuptiRangeProfilerGetCounterDataSize, &size);
    c->data_size = size.counterDataSize;
    c->data = memory_try(c->data_size, 1, err);
    return c->data ? 0 : -1;
}

int counters_begin_session(struct counters *c, struct error *err)
{
    if (*c->reason.message || c->session) return 0;
    CUpti_RangeProfiler_Enable_Params enable = CUPTI_PARAMS(CUpti_RangeProfiler_Enable, .ctx = c->context);
    CUPTI_TRY(cuptiRangeProfilerEnable, &enable);
    c->session = enable.pRangeProfilerObject;
    c->invalid = false;
    int status = make_data(c, err);
    if (status) counters_end_session(c);
    return status;
}

void counters_end_session(struct counters *c)
{
    if (!c->session) return;
    cupti.cuptiRangeProfilerDisable(&CUPTI_PARAMS(CUpti_RangeProfiler_Disable, .pRangeProfilerObject = c->session));
    c->session = NULL;
    free(c->data);
    c->data = NULL;
}

// Empties the counter-data image, and configures the profiler to fill it from the first pass on.
static int prepare(struct counters *c, struct error *err)
{
    CUPTI_TRY(cuptiRangeProfilerCounterDataImageInitialize,
              &CUPTI_PARAMS(CUpti_RangeProfiler_CounterDataImage_Initialize, .pRangeProfilerObject = c->session,
                            .counterDataSize = c->data_size, .pCounterData = c->data));
    CUPTI_TRY(cuptiRangeProfilerSetConfig,
              &CUPTI_PARAMS(CUpti_RangeProfiler_SetConfig, .pRangeProfilerObject = c->session,
                            .configSize = c->plan.image_size, .pConfig = c->plan.image,
                            .counterDataImageSize = c->data_size, .pCounterDataImage = c->data,
                            .range = CUPTI_UserRange, .replayMode = CUPTI_UserReplay, .maxRangesPerPass = MAX_RANGES,
                            .numNestingLevels = 1, .minNestingLevel = 1, .passIndex = 0, .targetNestingLevel = 1));
    return 0;
}

// Opens and closes an empty session. After the device has been queried, kernels run slower, as they do during a session
// (62.0 us instead of 60.35 us); opening and closing a session restores their speed. The empty session also shows
// whether counting is possible, because every obstacle is reported when a pass is started, if not earlier.
static int try_session(struct counters *c, struct error *err)
{
    if (counters_begin_session(c, err)) return -1;
    int status = prepare(c, err);
    CUptiResult started = CUPTI_SUCCESS;
    if (!status) {
        started =
            cupti.cuptiRangeProfilerStart(&CUPTI_PARAMS(CUpti_RangeProfiler_Start, .pRangeProfilerObject = c->session));
        cupti.cuptiRangeProfilerStop(&CUPTI_PARAMS(CUpti_RangeProfiler_Stop, .pRangeProfilerObject = c->session));
    }
    counters_end_session(c);
    return started == CUPTI_SUCCESS ? status : cupti_library_fail(err, "cuptiRangeProfilerStart", started);
}

// Names the missing metrics, if there are any.
static void write_note(struct counters *c)
{
    struct text note = {0};
    if (c->plan.count == c->count) return;
    text_add(&note, "chip %s lacks", c->chip);
    for (size_t column = 0, have = 0; column < c->count; column++) {
        if (have < c->plan.count && c->plan.columns[have] == column)
            have++;
        else
            text_add(&note, "%s %s (%s)", column == have ? "" : ",", c->metric[column]->key, c->metric[column]->name);
    }
    c->note = note.text;
}

int counters_open(struct counters **out, void *context, int device, const struct metric_set *set, struct error *err)
{
    struct counters *c = *out = memory_try(1, sizeof *c, err);
    if (!c) return -1;
    c->context = context;
    bool works = !probe_device(c, device, &c->reason);
    c->metric = select_metrics(set, c->chip, &c->count, err);
    c->row = memory_try(c->count, sizeof *c->row, err);
    if (!c->metric || !c->row) return -1;
    works = works && !plan_make(&c->plan, c->metric, c->count, c->chip, c->availability, &c->reason);
    works = works && !try_session(c, &c->reason);
    if (works)
        write_note(c);
    else
        plan_release(&c->plan);
    return 0;
}

void counters_close(struct counters *c)
{
    if (!c) return;
    counters_end_session(c);
    plan_release(&c->plan);
    free(c->metric);
    free(c->availability);
    free(c->row);
    free(c->note);
    free(c);
}

struct counters_facts counters_facts(const struct counters *c)
{
    if (!c) return (struct counters_facts){.reason = "no counters were requested", .chip = ""};
    return (struct counters_facts){.reason = *c->reason.message ? c->reason.message : NULL,
                                   .note = c->note,
                                   .chip = c->chip,
                                   .metrics = c->metric,
                                   .count = c->count,
                                   .passes = c->plan.passes};
}

static int candidate_failed(struct counter_batch *b, size_t candidate, const char *what)
{
    error_set(b->err, "candidate %zu of the batch: %s failed while counting", candidate, what);
    return COUNTERS_LAUNCH_FAILED;
}

static int run_in_range(struct counters *c, struct counter_batch *b, size_t candidate, size_t stage, size_t range)
{
    struct error *err = b->err;
    char name[24]; // with leading zeros, so that the order of names is the order of ranges
    snprintf(name, sizeof name, "%06zu", range);
    CUPTI_TRY(cuptiRangeProfilerPushRange,
              &CUPTI_PARAMS(CUpti_RangeProfiler_PushRange, .pRangeProfilerObject = c->session, .pRangeName = name));
    int failed = b->launch(b->user, candidate, stage);
    CUptiResult popped = cupti.cuptiRangeProfilerPopRange(
        &CUPTI_PARAMS(CUpti_RangeProfiler_PopRange, .pRangeProfilerObject = c->session));
    if (failed) return candidate_failed(b, candidate, "launch");
    return popped == CUPTI_SUCCESS ? 0 : cupti_library_fail(err, "cuptiRangeProfilerPopRange", popped);
}

// Runs a candidate twice: first outside any range, so that the instruction caches hold this candidate and not the
// previous one, and then inside its ranges.
static int run_candidate(struct counters *c, struct counter_batch *b, size_t candidate, size_t range)
{
    if (b->reset && b->reset(b->user, candidate)) return candidate_failed(b, candidate, "reset");
    for (size_t stage = 0; stage < b->stages[candidate]; stage++)
        if (b->launch(b->user, candidate, stage)) return candidate_failed(b, candidate, "launch");
    if (b->reset && b->reset(b->user, candidate)) return candidate_failed(b, candidate, "reset");
    int status = 0;
    for (size_t stage = 0; stage < b->stages[candidate] && !status; stage++)
        status = run_in_range(c, b, candidate, stage, range + stage);
    return status;
}

static int run_passes(struct counters *c, struct counter_batch *b)
{
    struct error *err = b->err;
    bool all_done = false;
    for (size_t pass = 0; !all_done; pass++) {
        if (pass == c->plan.passes) return error_set(err, "CUPTI needs more than the %zu passes planned", pass);
        CUPTI_TRY(cuptiRangeProfilerStart,
                  &CUPTI_PARAMS(CUpti_RangeProfiler_Start, .pRangeProfilerObject = c->session));
        int status = 0;
        size_t range = 0;
        for (size_t i = b->first; i < b->end && !status; range += b->stages[i++])
            status = run_candidate(c, b, i, range);
        CUpti_RangeProfiler_Stop_Params stop =
            CUPTI_PARAMS(CUpti_RangeProfiler_Stop, .pRangeProfilerObject = c->session);
        CUptiResult stopped = cupti.cuptiRangeProfilerStop(&stop);
        if (status) return status;
        if (stopped != CUPTI_SUCCESS) return cupti_library_fail(err, "cuptiRangeProfilerStop", stopped);
        all_done = stop.isAllPassSubmitted;
    }
    return 0;
}

static int read_values(struct counters *c, size_t ranges, double *values, struct error *err)
{
    CUpti_RangeProfiler_DecodeData_Params decode =
        CUPTI_PARAMS(CUpti_RangeProfiler_DecodeData, .pRangeProfilerObject = c->session);
    CUPTI_TRY(cuptiRangeProfilerDecodeData, &decode);
    CUpti_RangeProfiler_GetCounterDataInfo_Params info = CUPTI_PARAMS(
        CUpti_RangeProfiler_GetCounterDataInfo, .pCounterDataImage = c->data, .counterDataImageSize = c->data_size);
    CUPTI_TRY(cuptiRangeProfilerGetCounterDataInfo, &info);
    if (decode.numOfRangeDropped || info.numTotalRanges != ranges)
        return error_set(err, "CUPTI counted %zu of %zu ranges (%zu dropped)", info.numTotalRanges, ranges,
                         decode.numOfRangeDropped);
    for (size_t range = 0; range < ranges; range++) {
        CUPTI_TRY(cuptiProfilerHostEvaluateToGpuValues,
                  &CUPTI_PARAMS(CUpti_Profiler_Host_EvaluateToGpuValues, .pHostObject = c->plan.host,
                                .pCounterDataImage = c->data, .counterDataImageSize = c->data_size, .rangeIndex = range,
                                .ppMetricNames = c->plan.names, .numMetrics = c->plan.count, .pMetricValues = c->row));
        for (size_t i = 0; i < c->plan.count; i++) values[range * c->count + c->plan.columns[i]] = c->row[i];
    }
    return 0;
}

static int measure_together(struct counters *c, struct counter_batch *b, size_t ranges, double *values)
{
    if (c->invalid) counters_end_session(c);
    if (counters_begin_session(c, b->err)) return COUNTERS_FAILED;
    int status = prepare(c, b->err);
    if (!status) status = run_passes(c, b);
    if (!status) status = read_values(c, ranges, values, b->err);
    c->invalid = status;
    return status;
}

int counters_measure(struct counters *c, size_t candidates, const size_t *stages, counters_launch *launch,
                     counters_reset *reset, void *user, double *values, struct error *err)
{
    size_t rows = 0;
    for (size_t i = 0; i < candidates; i++) rows += stages[i];
    for (size_t i = 0; i < rows * c->count; i++) values[i] = NAN;
    if (*c->reason.message) return 0;

    struct counter_batch b = {.launch = launch, .reset = reset, .user = user, .stages = stages, .err = err};
    while (b.end < candidates) {
        size_t ranges = 0;
        for (b.first = b.end; b.end < candidates && ranges + stages[b.end] <= MAX_RANGES; b.end++)
            ranges += stages[b.end];
        if (b.first == b.end) return error_set(err, "a candidate of more than %d stages cannot be counted", MAX_RANGES);
        int status = measure_together(c, &b, ranges, values);
        if (status) return status;
        values += ranges * c->count;
    }
    return 0;
}

static int list_kind(host_object *host, CUpti_MetricType type, const char *kind, counters_each *each, void *user,
                     struct error *err)
{
    CUpti_Profiler_Host_GetBaseMetrics_Params base =
        CUPTI_PARAMS(CUpti_Profiler_Host_GetBaseMetrics, .pHostObject = host, .metricType = type);
    CUPTI_TRY(cuptiProfilerHostGetBaseMetrics, &base);
    for (size_t i = 0; i < base.numMetrics; i++) {
        CUpti_Profiler_Host_GetMetricProperties_Params about = CUPTI_PARAMS(
            CUpti_Profiler_Host_GetMetricProperties, .pHostObject = host, .pMetricName = base.ppMetricNames[i]);
        bool known = cupti.cuptiProfilerHostGetMetricProperties(&about) == CUPTI_SUCCESS;
        each(user, base.ppMetricNames[i], kind, known && about.pDescription ? about.pDescription : "",
             known && about.pDimUnit ? about.pDimUnit : "");
    }
    return 0;
}

int counters_list(const char *chip, counters_each *each, void *user, struct error *err)
{
    if (cupti_library_load(err)) return -1;
    host_object *host = NULL;
    if (make_host(&host, chip, NULL, err)) return -1;
    int status = list_kind(host, CUPTI_METRIC_TYPE_COUNTER, "counter", each, user, err);
    if (!status) status = list_kind(host, CUPTI_METRIC_TYPE_RATIO, "ratio", each, user, err);
    if (!status) status = list_kind(host, CUPTI_METRIC_TYPE_THROUGHPUT, "throughput", each, user, err);
    drop_host(host);
    return status;
}
