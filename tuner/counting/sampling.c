// See sass.h. CUPTI's PC sampling: every 2^period cycles, each scheduler picks one of its warps, and records this
// warp's current instruction and what the warp waits for. CUPTI lists each reason twice, as
// "smsp__pcsamp_warps_issue_stalled_X" and as "..._X_not_issued" for the cycles in which the scheduler issued nothing
// at all. Only the first kind is read, so that samples are not counted twice.
#include "tuner/counting/sass.h"

#include "tuner/libraries/cupti_library.h"

// Like CUPTI_PARAMS, for structs with a different naming scheme.
#define SAMPLING_PARAMS(type, ...)                            \
    (type##Params)                                            \
    {                                                         \
        .size = type##ParamsSize, .ctx = context, __VA_ARGS__ \
    }

enum { MOST_REASONS = 128, HARDWARE_BUFFER = 64 << 20, SCRATCH_BUFFER = 16 << 20 };

// CUPTI writes into these until sampling_close.
static struct {
    CUpti_PCSamplingData data;
    CUpti_PCSamplingPCData *instructions;
    CUpti_PCSamplingStallReason *reasons; // stall_count for each instruction
    size_t stall_count;
    uint32_t index[MOST_REASONS]; // CUPTI's numbers
    int column[MOST_REASONS];     // the listing's column, or -1
} buffer;

int sampling_open(void *context, struct error *err)
{
    if (cupti_library_load(err)) return SASS_FAILED;
    CUPTI_TRY(cuptiPCSamplingEnable, &SAMPLING_PARAMS(CUpti_PCSamplingEnable, .pPriv = NULL));
    return 0;
}

static void release_buffer(void)
{
    free(buffer.instructions);
    free(buffer.reasons);
    memset(&buffer, 0, sizeof buffer);
}

void sampling_close(void *context)
{
    cupti.cuptiPCSamplingDisable(&SAMPLING_PARAMS(CUpti_PCSamplingDisable, .pPriv = NULL));
    release_buffer();
}

// Makes the listing's columns from CUPTI's names for the reasons, shortened.
static int find_reasons(void *context, struct sass_listing *out, struct error *err)
{
    char text[MOST_REASONS][CUPTI_STALL_REASON_STRING_SIZE], *names[MOST_REASONS];
    for (size_t i = 0; i < MOST_REASONS; i++) names[i] = text[i];
    size_t count = 0;
    CUPTI_TRY(cuptiPCSamplingGetNumStallReasons,
              &SAMPLING_PARAMS(CUpti_PCSamplingGetNumStallReasons, .numStallReasons = &count));
    if (count > MOST_REASONS)
        return error_set(err, "CUPTI has %zu stall reasons; %d were expected at most", count, MOST_REASONS);
    CUPTI_TRY(cuptiPCSamplingGetStallReasons,
              &SAMPLING_PARAMS(CUpti_PCSamplingGetStallReasons, .numStallReasons = count,
                               .stallReasonIndex = buffer.index, .stallReasons = names));
    buffer.stall_count = count;
    out->reason_count = 0;
    for (size_t i = 0; i < count; i++) {
        static const char *const prefixes[] = {"smsp__pcsamp_warps_issue_stalled_", "smsp__pcsamp_", NULL};
        const char *name = names[i], *end = strstr(name, "_not_issued");
        buffer.column[i] = -1;
        if (end && !end[11]) continue;
        if (strstr(name, "sample_buffer_full") || strstr(name, "samples_data_dropped") || strstr(name, "sample_count"))
            continue;
        for (size_t k = 0; prefixes[k]; k++)
            if (!strncmp(name, prefixes[k], strlen(prefixes[k]))) name += strlen(prefixes[k]);
        if (out->reason_count == SASS_REASONS || strlen(name) >= SASS_REASON_LENGTH)
            return error_set(err, "CUPTI's stall reason '%s' is one of more than %d, or longer than %d letters", name,
                             SASS_REASONS, SASS_REASON_LENGTH - 1);
        buffer.column[i] = (int)out->reason_count;
        snprintf(out->reasons[out->reason_count++], SASS_REASON_LENGTH, "%s", name);
    }
    return 0;
}

static int configure(void *context, unsigned period, size_t instructions, struct error *err)
{
    size_t room = instructions + 4096; // room for other kernels of the same context
    buffer.instructions = memory_try(room, sizeof *buffer.instructions, err);
    buffer.reasons = memory_try(room, buffer.stall_count * sizeof *buffer.reasons, err);
    if (!buffer.instructions || !buffer.reasons) return -1;
    for (size_t i = 0; i < room; i++) {
        buffer.instructions[i].size = sizeof *buffer.instructions;
        buffer.instructions[i].stallReason = buffer.reasons + i * buffer.stall_count;
    }
    buffer.data =
        (CUpti_PCSamplingData){.size = sizeof buffer.data, .collectNumPcs = room, .pPcData = buffer.instructions};
    CUpti_PCSamplingConfigurationInfo info[] = {
        {.attributeType = CUPTI_PC_SAMPLING_CONFIGURATION_ATTR_TYPE_COLLECTION_MODE,
         .attributeData.collectionModeData.collectionMode = CUPTI_PC_SAMPLING_COLLECTION_MODE_CONTINUOUS},
        {.attributeType = CUPTI_PC_SAMPLING_CONFIGURATION_ATTR_TYPE_SAMPLING_PERIOD,
         .attributeData.samplingPeriodData.samplingPeriod = period},
        {.attributeType = CUPTI_PC_SAMPLING_CONFIGURATION_ATTR_TYPE_STALL_REASON,
         .attributeData.stallReasonData = {.stallReasonCount = buffer.stall_count, .pStallReasonIndex = buffer.index}},
        {.attributeType = CUPTI_PC_SAMPLING_CONFIGURATION_ATTR_TYPE_SCRATCH_BUFFER_SIZE,
         .attributeData.scratchBufferSizeData.scratchBufferSize = SCRATCH_BUFFER},
        {.attributeType = CUPTI_PC_SAMPLING_CONFIGURATION_ATTR_TYPE_HARDWARE_BUFFER_SIZE,
         .attributeData.hardwareBufferSizeData.hardwareBufferSize = HARDWARE_BUFFER},
        {.attributeType = CUPTI_PC_SAMPLING_CONFIGURATION_ATTR_TYPE_ENABLE_START_STOP_CONTROL,
         .attributeData.enableStartStopControlData.enableStartStopControl = 1},
        {.attributeType = CUPTI_PC_SAMPLING_CONFIGURATION_ATTR_TYPE_SAMPLING_DATA_BUFFER,
         .attributeData.samplingDataBufferData.samplingDataBuffer = &buffer.data},
    };
    CUpti_PCSamplingConfigurationInfoParams params = {.size = CUpti_PCSamplingConfigurationInfoParamsSize,
                                                      .ctx = context,
                                                      .numAttributes = sizeof info / sizeof *info,
                                                      .pPCSamplingConfigurationInfo = info};
    CUPTI_TRY(cuptiPCSamplingSetConfigurationAttribute, &params);
    return 0;
}

static void add_samples(const char *symbol, struct sass_listing *out)
{
    for (size_t i = 0; i < buffer.data.totalNumPcs && i < buffer.data.collectNumPcs; i++) {
        const CUpti_PCSamplingPCData *pc = &buffer.instructions[i];
        size_t index = pc->pcOffset / SASS_BYTES;
        if (!pc->functionName || strcmp(pc->functionName, symbol) || index >= out->count)
            continue; // the names still belong to CUPTI, because entries share them
        for (size_t k = 0; k < pc->stallReasonCount; k++) {
            for (size_t r = 0; r < buffer.stall_count; r++) {
                if (buffer.index[r] != pc->stallReason[k].pcSamplingStallReasonIndex || buffer.column[r] < 0) continue;
                out->list[index].samples[buffer.column[r]] += pc->stallReason[k].samples;
                out->list[index].value[SASS_SAMPLES] += pc->stallReason[k].samples;
            }
        }
    }
}

int sampling_measure(void *context, const char *symbol, unsigned period, sass_launch *launch, void *user,
                     struct sass_listing *out, struct error *err)
{
    release_buffer();
    if (find_reasons(context, out, err) || configure(context, period, out->count, err)) return SASS_FAILED;
    CUPTI_TRY(cuptiPCSamplingStart, &SAMPLING_PARAMS(CUpti_PCSamplingStart, .pPriv = NULL));
    if (launch(user)) return SASS_LAUNCH_FAILED;
    CUPTI_TRY(cuptiPCSamplingStop, &SAMPLING_PARAMS(CUpti_PCSamplingStop, .pPriv = NULL));
    // Stopping fills the configured buffer; samples that did not fit are fetched below.
    do {
        add_samples(symbol, out);
        out->dropped += buffer.data.droppedSamples;
        if (buffer.data.totalNumPcs && !buffer.data.remainingNumPcs) break;
        buffer.data.totalNumPcs = 0;
        CUPTI_TRY(cuptiPCSamplingGetData, &SAMPLING_PARAMS(CUpti_PCSamplingGetData, .pcSamplingData = &buffer.data));
    } while (buffer.data.totalNumPcs);
    out->known[SASS_SAMPLES] = true;
    return 0;
}
