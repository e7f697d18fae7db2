// The hardware counters that the program knows by name, grouped into sets: data only, no CUPTI.
//
// A metric has a key and a name. Its value is stored, shown and exported under the key, which is short. The name is
// that of CUPTI and `ncu --metrics`. Keys are in the store, so a key never changes its meaning: a better metric gets a
// new key. If a metric's name differs between chips, a set contains one row for each name. These rows have the same
// key, and each row is for different chips.
#pragma once

#include "tuner/base/base.h"

struct metric {
    const char *key;         // "icache_misses"; NULL ends a table
    const char *name;        // CUPTI's, with its roll-up: "sm__icc_requests_lookup_miss.sum"
    const char *unit;        // "requests", "%", "bytes"
    const char *description; // one line
    const char *chips;       // prefixes of chip names, separated by spaces ("GH GB10"); NULL: every chip
};

struct metric_set {
    const char *name;    // "basic"
    const char *summary; // one line, with the number of passes on GH100
    const struct metric *metrics;
    const char *includes; // names of sets that it includes, separated by spaces; NULL: none
};

// Every set, NULL-terminated. A new set needs a table, a descriptor and an entry in this list.
extern const struct metric_set *const metric_sets[];

// The set with this name, or NULL.
const struct metric_set *metrics_find(const char *set_name);
// The first row with this key in any set, or NULL.
const struct metric *metrics_find_key(const char *key);

// Whether the metric is meant for this chip. `chip` is CUPTI's name for the chip ("GH100"). counters_open() finds out
// which metrics this CUPTI has, and leaves out the others.
bool metric_applies(const struct metric *metric, const char *chip);

// Whether a job may ask for `name`: a set, or a hardware metric with its roll-up (only CUPTI knows whether a chip has
// it). 0, or -1 with a message that lists the sets.
int metrics_check(const char *name, struct error *err);
