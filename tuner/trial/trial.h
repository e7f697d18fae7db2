// A trial: one configuration, its outcome, and every figure that is known of it.
//
// What figures there are is said once, in the table of trial_field.c: their names, units, meanings, and where they are
// in these structs. The store's columns, the workers' answers, recorded spaces and the reports all follow that table.
// Unknown is NaN for a real, -1 for an integer, "" for a text: trial_field.h clears a struct to that.
#ifndef SWEETSPOT_TRIAL_H
#define SWEETSPOT_TRIAL_H

#include "tuner/base/base.h"
#include "tuner/base/protocol.h"

struct trial_problem { // one a problem, tuned or only verified
    const char *name;  // "M=4096,N=4096,K=4096"
    bool tuned;
    double time, low, high; // s
    size_t sample_count;    // samples kept here; the worker sends at most ten
    const double *samples;  // s
    int64_t samples_taken;
    double error;  // worst element's error over its bound; NaN where not verified
    double power;  // W
    double energy; // J, of one execution
};

struct trial_stage { // one a launch
    const char *name;
    int64_t registers, spill_loads, spill_stores, shared_static, shared_dynamic, stack, code_bytes;
    double occupancy;     // theoretical, 0..1
    const char *warnings; // ptxas C75xx etc., lines
};

struct trial_counter {
    int problem, stage; // indices in the trial
    const char *key;    // "icache_misses"
    double value;       // NaN: not available
};

// What is known of a candidate after compiling alone: of its worst stage where it has several (static_facts.c). NaN
// where unknown.
struct static_facts {
    double registers;    // a thread
    double spill_bytes;  // loads + stores
    double shared_bytes; // a block, static + dynamic
    double code_bytes;
    double occupancy; // theoretical, 0..1
};

struct trial {
    int64_t id;         // given by the store; > 0
    const char *config; // canonical text, space_format
    enum trial_status status;
    const char *reason; // "" when ok
    double objective;   // s; NaN unless ok or slow
    double compile_seconds, gpu_busy, gpu_seconds;
    const char *device_id; // uuid
    double clock_mhz, temperature;
    bool compile_cached;
    bool counted; // counters were taken (or found to be unavailable)
    struct static_facts facts;
    size_t problem_count, stage_count, counter_count;
    const struct trial_problem *problems;
    const struct trial_stage *stages;
    const struct trial_counter *counters;
    double finished; // Unix time; filled in by the store when 0 or NaN
};

// The facts of a candidate with these stages. The worst stage decides: the most registers, spills, shared memory and
// code, the lowest occupancy. A figure that no stage knows is NaN.
struct static_facts static_facts_of(const struct trial_stage *stages, size_t count);
// The reverse: a stage as a compiler would report it, for a recording. Spills are taken to be loads, and all shared
// memory to be dynamic, so that the launch says how much it is.
struct trial_stage static_facts_stage(const struct static_facts *);

#endif
