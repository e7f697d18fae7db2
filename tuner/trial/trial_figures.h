// The figures of trials, their problems and their stages, one row per figure. The members of their structs (trial.h)
// and the table of fields (trial_field.c) are made from these rows. The store, its views, the workers' answers,
// recorded spaces, reports and their documents follow the table.
//
//     x(kind, member, unit, flags, answer, meaning)
//
// `kind` is from enum field_kind. The member's name is also the figure's. `flags` and `answer` are explained in
// trial_field.h.
#pragma once

// clang-format off
#define TRIAL_FIGURES(x) \
    x(TEXT, config, "", 0, NULL, "the configuration: NAME=VALUE,...") \
    x(STATUS, status, "", FIELD_RECORDED | FIELD_JUDGED, NULL, "the outcome: ok, or another status") \
    x(TEXT, reason, "", FIELD_RECORDED | FIELD_JUDGED, NULL, "why it is not ok") \
    x(REAL, objective, "s", 0, NULL, "what is minimised, over the problems' times") \
    x(REAL, compile_seconds, "s", FIELD_RECORDED, NULL, \
      "compile time; for a cached cubin, the time of the original compilation") \
    x(BOOL, compile_cached, "", 0, NULL, "whether the compile cache had it") \
    x(REAL, gpu_busy, "s", FIELD_GPU, "busy", "time for which the GPU executed its kernels") \
    x(REAL, gpu_seconds, "s", FIELD_GPU | FIELD_RECORDED, "wall", \
      "time for which it occupied a GPU: loading, verifying, measuring; not counting") \
    x(TEXT, device_id, "", 0, NULL, "uuid of the GPU that measured it") \
    x(REAL, clock_mhz, "MHz", FIELD_GPU | FIELD_RECORDED, "clock_mhz", "SM clock after measuring") \
    x(REAL, temperature, "C", FIELD_GPU | FIELD_RECORDED, "temperature", "of the GPU after measuring") \
    x(COUNT, launches_judged, "", FIELD_GPU, "launches_judged", "launches whose results were compared") \
    x(BOOL, counted, "", 0, NULL, "whether counters were taken or found unavailable") \
    x(REAL, finished, "s", 0, NULL, "when it was stored: Unix time")

// Figures of the worst stage, computed from the stages (struct static_facts): x(member, name, unit, meaning).
#define FACT_FIGURES(x) \
    x(registers, "registers", "", "registers per thread, of the worst stage") \
    x(spill_bytes, "spill_bytes", "bytes", "spill loads and stores, of the worst stage") \
    x(shared_bytes, "shared_bytes", "bytes", "shared memory per block, of the worst stage") \
    x(code_bytes, "code_bytes", "bytes", "machine code, of the worst stage") \
    x(occupancy, "theoretical_occupancy", "", "theoretical occupancy of the worst stage, 0 to 1")

#define PROBLEM_FIGURES(x) \
    x(TEXT, name, "", 0, NULL, "the problem's sizes, or its name in the job") \
    x(BOOL, tuned, "", 0, NULL, "whether it is measured; otherwise only verified") \
    x(REAL, time, "s", FIELD_GPU | FIELD_RECORDED | FIELD_MEASURED, "time", "median of the samples") \
    x(REAL, low, "s", FIELD_GPU | FIELD_RECORDED | FIELD_MEASURED, "low", "lower end of the median's 95% interval") \
    x(REAL, high, "s", FIELD_GPU | FIELD_RECORDED | FIELD_MEASURED, "high", "upper end of the median's 95% interval") \
    x(SAMPLES, samples, "s", FIELD_GPU | FIELD_RECORDED | FIELD_MEASURED, "samples", "some of the measured times") \
    x(COUNT, samples_taken, "", FIELD_GPU | FIELD_RECORDED, "count", "how many times were measured") \
    x(REAL, error, "", FIELD_GPU | FIELD_RECORDED, "error", "the worst element's error divided by its bound") \
    x(REAL, power, "W", FIELD_GPU | FIELD_RECORDED, "power", \
      "mean power of the board during the measurement, by its sensor") \
    x(REAL, energy, "J", FIELD_GPU | FIELD_RECORDED, "energy", \
      "power times time, where the measurement took 0.1 s or longer")

#define STAGE_FIGURES(x) \
    x(TEXT, name, "", 0, NULL, "the stage's name in the job") \
    x(INTEGER, registers, "", FIELD_COMPILER, "registers", "registers per thread") \
    x(INTEGER, spill_loads, "bytes", FIELD_COMPILER, "spill_loads", "spilled registers read back, per thread") \
    x(INTEGER, spill_stores, "bytes", FIELD_COMPILER, "spill_stores", \
      "registers spilled to local memory, per thread") \
    x(INTEGER, shared_static, "bytes", FIELD_COMPILER, "shared", "static shared memory per block") \
    x(INTEGER, shared_dynamic, "bytes", 0, NULL, "dynamic shared memory per block") \
    x(INTEGER, stack, "bytes", FIELD_COMPILER, "stack", "stack frame per thread") \
    x(INTEGER, code_bytes, "bytes", FIELD_COMPILER, "code_bytes", "machine code") \
    x(REAL, occupancy, "", FIELD_GPU | FIELD_SHARE, "occupancy", "theoretical occupancy, 0 to 1") \
    x(TEXT, warnings, "", 0, NULL, "the compiler's warnings about performance")
// clang-format on

// The member for a figure of each kind. The number of samples is a separate member.
#define FIGURE_TEXT(member) const char *member;
#define FIGURE_STATUS(member) enum trial_status member;
#define FIGURE_BOOL(member) bool member;
#define FIGURE_COUNT(member) int64_t member;
#define FIGURE_INTEGER(member) int64_t member;
#define FIGURE_REAL(member) double member;
#define FIGURE_SAMPLES(member) const double *member;
#define FIGURE_MEMBER(kind, member, ...) FIGURE_##kind(member)
