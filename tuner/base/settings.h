// How candidates are verified and measured: the settings of a job file that the driver hands to GPU workers. Each group
// has one table. The job's reader takes names, defaults and ranges from these tables. The driver and the worker use
// them to write and read "verify" and "measure" of a "job" request.
#pragma once

#include "tuner/base/json.h"

// Each setting is one row here, which defines a member of the struct and a row of the table:
//
//     x(kind, place, member, name, fallback, low, high, meaning)
//
// `kind` and `place` are from the enums below. Durations are in seconds.
// clang-format off
#define VERIFY_SETTINGS(x) \
    x(BOOL, SHARED, enabled, "enabled", 1, 0, 1, \
      "results are compared with the reference; with `false` even a wrong kernel can win") \
    x(NUMBER, FIXED, tolerance, "tolerance", 1, 1e-6, 1e9, "multiplies the error bound") \
    x(NUMBER, SHARED, absolute, "absolute", 0, 0, 1e300, "allowed error, added to the bound of an operation") \
    x(NUMBER, SHARED, relative, "relative", 0, 0, 1e9, \
      "allowed error as a share of the expected value, added to the bound of an operation") \
    x(BOOL, SHARED, exact, "exact", 0, 0, 1, \
      "no error is allowed: every bit must match, as is usual for integers and copies") \
    x(NUMBER, SHARED, error_ratio, "error_ratio", 0, 0, 1e9, \
      "a winner's root mean square error is at most this many times that of a library; 0: no limit") \
    x(BOOL, SHARED, deterministic, "deterministic", 1, 0, 1, \
      "two runs must give the same bits; `false` is for kernels that add in any order") \
    x(INTEGER, FIXED, guard_bytes, "guard_bytes", 4096, 0, 1 << 30, \
      "bytes of the guard bands before and after every buffer, which detect stray writes")
#define MEASURE_SETTINGS(x) \
    x(CHOICE, SHARED, cold, "cache", 1, 0, 1, "the L2 before each launch: empty, or as the last launch left it") \
    x(INTEGER, SHARED, warmup, "warmup", 2, 0, 10000, "launches before the first sample") \
    x(INTEGER, SHARED, min_samples, "min_samples", 7, 3, 100000, \
      "samples of a candidate that may be near the best; other candidates get only three") \
    x(INTEGER, SHARED, max_samples, "max_samples", 100, 3, 100000, \
      "largest number of samples of a candidate, at least `min_samples`") \
    x(NUMBER, FIXED, precision, "precision", 0.01, 1e-5, 1, \
      "sampling ends when half the width of the median's 95% interval is at most this share of the median") \
    x(DURATION, SHARED, max_time, "max_time", 0.5, 0, INFINITY, \
      "longest time for the samples of one problem, even if the interval is still wide") \
    x(DURATION, SHARED, graph_below, "graph_below", 20e-6, 0, INFINITY, \
      "kernels shorter than this are timed inside a CUDA graph, without gaps between launches; 0: never") \
    x(DURATION, SHARED, rest, "rest", 0, 0, INFINITY, \
      "idle time of the device before each launch that is timed separately") \
    x(NUMBER, SHARED, slow_factor, "slow_factor", 3, 1, 1e9, \
      "a candidate this many times slower than the best ends after one launch, with the status `slow`") \
    x(NUMBER, SHARED, early_stop, "race", 1.1, 1, 1e9, \
      "a candidate that is certainly this many times slower ends early") \
    x(DURATION, JOB, timeout, "timeout", 30, 0, INFINITY, "a candidate that takes longer in total counts as hung")
#define FINAL_SETTINGS(x) \
    x(INTEGER, JOB, final_candidates, "candidates", 12, 1, FINAL_CANDIDATES_MAX, \
      "largest number of candidates that take part") \
    x(INTEGER, JOB, final_rounds, "rounds", 40, 5, FINAL_ROUNDS_MAX, \
      "number of planned rounds; every entry runs once per round") \
    x(INTEGER, JOB, final_processes, "processes", 3, 1, FINAL_PROCESSES_MAX, \
      "largest number of GPU workers that share the rounds, one after another")
// clang-format on

#define SETTING_MEMBER_BOOL(member) bool member;
#define SETTING_MEMBER_CHOICE(member) bool member;
#define SETTING_MEMBER_INTEGER(member) int64_t member;
#define SETTING_MEMBER_NUMBER(member) double member;
#define SETTING_MEMBER_DURATION(member) double member;
#define SETTING_MEMBER(kind, place, member, ...) SETTING_MEMBER_##kind(member)

struct verify_settings {
    VERIFY_SETTINGS(SETTING_MEMBER)
};

struct measure_settings {
    MEASURE_SETTINGS(SETTING_MEMBER)
    FINAL_SETTINGS(SETTING_MEMBER)
    bool rest_given; // whether the job sets `rest`; otherwise `profile` uses its own default
};

enum setting_kind {
    SETTING_BOOL,
    SETTING_CHOICE,   // bool, as "cold" (true) or "warm"
    SETTING_INTEGER,  // int64_t
    SETTING_NUMBER,   // double
    SETTING_DURATION, // double; in job files also "20us"
};

enum setting_place {
    SETTING_SHARED, // in job files and in requests
    SETTING_JOB,    // only in job files
    SETTING_FIXED,  // only in requests, always with the default
};

struct setting {
    const char *name; // NULL ends a table
    enum setting_kind kind;
    enum setting_place location;
    size_t offset;              // of the member
    double fallback, low, high; // for a bool, 0 or 1
    const char *const *words;   // for a choice: the words for true and false, and NULL
    const char *meaning;        // one line without a full stop
};

extern const struct setting verify_table[], measure_table[];
// The group "final" of "measure". All of its settings are SETTING_JOB.
extern const struct setting final_table[];

// settings_write() writes the settings that belong in requests as an object (new reference), and settings_read() reads
// them back. Missing settings get their default. -1 with a message that names a setting whose type is wrong or whose
// value is out of range.
json_t *settings_write(const struct setting *table, const void *from);
int settings_read(const struct setting *table, const json_t *object, void *to, struct error *err);

// Sets one member, whatever its type; for a bool, 0 or 1.
void setting_set(const struct setting *setting, void *to, double value);
