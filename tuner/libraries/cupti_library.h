// libcupti, opened at run time. This is the only file that includes CUPTI's headers and lists its functions. Three
// modules of tuner/counting call them: counters.c (range profiler), sass.c (SASS metrics) and sampling.c (PC sampling).
// To call another function, add it to the list.
#pragma once

#include <cupti_pcsampling.h>
#include <cupti_profiler_host.h>
#include <cupti_profiler_target.h>
#include <cupti_range_profiler.h>
#include <cupti_result.h>
#include <cupti_sass_metrics.h>
#include <cupti_target.h>
#include <cupti_version.h>

#include "tuner/libraries/library.h"

// clang-format off
#define CUPTI_FUNCTIONS(F) \
    F(cuptiGetResultString) F(cuptiDeviceGetChipName) \
    F(cuptiProfilerInitialize) F(cuptiProfilerDeviceSupported) F(cuptiProfilerGetCounterAvailability) \
    F(cuptiProfilerHostInitialize) F(cuptiProfilerHostDeinitialize) F(cuptiProfilerHostGetBaseMetrics) \
    F(cuptiProfilerHostGetMetricProperties) F(cuptiProfilerHostConfigAddMetrics) \
    F(cuptiProfilerHostGetConfigImageSize) F(cuptiProfilerHostGetConfigImage) F(cuptiProfilerHostGetNumOfPasses) \
    F(cuptiProfilerHostEvaluateToGpuValues) \
    F(cuptiRangeProfilerEnable) F(cuptiRangeProfilerDisable) F(cuptiRangeProfilerSetConfig) \
    F(cuptiRangeProfilerStart) F(cuptiRangeProfilerStop) F(cuptiRangeProfilerPushRange) \
    F(cuptiRangeProfilerPopRange) F(cuptiRangeProfilerDecodeData) F(cuptiRangeProfilerGetCounterDataSize) \
    F(cuptiRangeProfilerCounterDataImageInitialize) F(cuptiRangeProfilerGetCounterDataInfo) \
    F(cuptiSassMetricsGetProperties) F(cuptiSassMetricsSetConfig) F(cuptiSassMetricsEnable) \
    F(cuptiSassMetricsDisable) F(cuptiSassMetricsGetDataProperties) F(cuptiSassMetricsFlushData) \
    F(cuptiPCSamplingEnable) F(cuptiPCSamplingDisable) F(cuptiPCSamplingGetNumStallReasons) \
    F(cuptiPCSamplingGetStallReasons) F(cuptiPCSamplingSetConfigurationAttribute) F(cuptiPCSamplingStart) \
    F(cuptiPCSamplingStop) F(cuptiPCSamplingGetData)
// clang-format on

struct cupti_functions {
    CUPTI_FUNCTIONS(LIBRARY_MEMBER)
};
extern struct cupti_functions cupti; // all NULL until loaded

// Opens the library and finds all functions, once per process. The library is never closed, because it hooks itself
// into the driver. The message of a failure says how to fix it.
int cupti_library_load(struct error *err);

// "function: what CUPTI says (number); what to do about it". Returns -1.
int cupti_library_fail(struct error *err, const char *function, CUptiResult result);

// For functions that return 0 or -1 and have an `err`: returns with CUPTI's message if the call fails.
#define CUPTI_TRY(function, params)                                                       \
    do {                                                                                  \
        CUptiResult result_ = cupti.function(params);                                     \
        if (result_ != CUPTI_SUCCESS) return cupti_library_fail(err, #function, result_); \
    } while (0)

// A parameter block with its size set, as most calls require: CUPTI_PARAMS(CUpti_X, .member = value).
#define CUPTI_PARAMS(type, ...)                              \
    (type##_Params)                                          \
    {                                                        \
        .structSize = type##_Params_STRUCT_SIZE, __VA_ARGS__ \
    }
