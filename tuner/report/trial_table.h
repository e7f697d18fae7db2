// All trials of an environment: what a report counts, sorts and draws, in about thirty bytes per trial plus its values.
//
// Configurations are parsed from their texts, so that a store can be read without its job file, or with one that
// has changed since. A parameter has the values that were tried, in the order of their numbers, followed by words. If
// it has more than REPORT_GROUPS values, consecutive values form groups with about as many trials each.
#pragma once

#include "tuner/base/hash_index.h"
#include "tuner/job/job.h"
#include "tuner/store/store.h"

enum { REPORT_GROUPS = 60 };

struct tried_parameter {
    char *name;
    size_t count;   // values, or groups of them
    char **values;  // "128", or of a group "1 to 17"
    size_t grouped; // the number of values in the groups; 0: no groups
};

struct tried {
    int64_t id;
    double time;     // objective, s; NaN where it is missing, not positive or not finite
    double finished; // Unix time
    enum trial_status status;
    uint32_t reason; // if neither ok nor slow: index into `words`
};

struct trial_table {
    size_t count, room, value_room, parameter_count;
    struct tried *rows;       // by id, ascending
    uint16_t *values;         // parameter_count a trial
    struct string_pool words; // reasons, every number in them replaced by #
    struct tried_parameter *parameters;
    size_t timed;  // trials with a time
    size_t *order; // these, fastest first
};

// Reads the current environment of the store. -1 with a message.
int trial_table_read(struct trial_table *, struct store *, struct error *);
void trial_table_release(struct trial_table *);

static inline uint16_t trial_value(const struct trial_table *t, size_t trial, size_t parameter)
{
    return t->values[trial * t->parameter_count + parameter];
}

// Whether this status means that a candidate cannot be used.
static inline bool trial_failed(enum trial_status status)
{
    return status != STATUS_OK && status != STATUS_SLOW;
}
