// How candidates are verified and measured: the settings of a job file that the driver hands to GPU workers. One table
// for each group: the job's reader takes names, defaults and ranges from it, the driver writes the "verify" and
// "measure" of a "job" request by it, and the worker reads them by it.
#ifndef SWEETSPOT_SETTINGS_H
#define SWEETSPOT_SETTINGS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "tuner/base/error.h"
#include "tuner/base/json.h"

struct verify_settings {
    bool enabled;
    double tolerance;          // multiplies the operation's bound
    double absolute, relative; // the bound without an operation
    bool exact;                // no error at all is allowed
    bool deterministic;        // two runs must agree bit by bit
    int64_t guard_bytes;
};

struct measure_settings {
    bool cold;      // L2 flushed before every launch
    int64_t warmup; // launches
    int64_t min_samples, max_samples;
    double precision;   // relative half-width of the median's 95% interval that is enough
    double max_time;    // s, a problem
    double graph_below; // s: kernels shorter than this are timed many at once, in a CUDA graph
    double rest;        // s the device idles before each sample that is timed alone; 0: samples follow each other
    bool rest_given;    // the job sets it; `profile` has its own default
    double slow_factor; // a first launch slower than this times the best is cut off
    double early_stop;  // what is certainly slower than this times the best ends after few launches
    // The driver's alone:
    double timeout; // s, a trial on the GPU
    int64_t final_candidates, final_rounds;
    int64_t final_processes; // of the GPU worker, which share the rounds
    double tie;              // relative difference that is a tie in the final
};

enum setting_kind {
    SETTING_BOOL,
    SETTING_CHOICE,   // bool, by two words
    SETTING_INTEGER,  // int64_t
    SETTING_NUMBER,   // double
    SETTING_DURATION, // double; in job files also "20us"
};

enum setting_place {
    SETTING_SHARED, // in job files and in requests
    SETTING_JOB,    // in job files alone
    SETTING_FIXED,  // in requests alone: always the default
};

struct setting {
    const char *name; // NULL ends a table
    enum setting_kind kind;
    enum setting_place location;
    size_t offset;              // of the member
    double fallback, low, high; // of a bool: 0 or 1
    const char *words[3];       // of a choice: for true and false, and NULL
    const char *meaning;        // one line without a full stop
};

extern const struct setting verify_table[], measure_table[];
// The group "final" of "measure", SETTING_JOB alone.
extern const struct setting final_table[];

// The members of a table that belong in requests, as an object (new reference), and back: what is missing gets its
// default; -1 with the name of what is of the wrong type or out of range.
json_t *settings_write(const struct setting *table, const void *from);
int settings_read(const struct setting *table, const json_t *object, void *to, struct error *err);

// Sets one member, whatever its type; of a bool, 0 or 1.
void setting_set(const struct setting *setting, void *to, double value);

#endif
