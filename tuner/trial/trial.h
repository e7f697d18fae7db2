// A trial: one configuration, its outcome, and every known figure about it.
//
// The rows of trial_figures.h list the figures, and define the members of these structs for them. Unknown values are
// NaN for a real, -1 for an integer, and "" for a string. trial_clear (trial_field.h) sets all figures to unknown.
#pragma once

#include "tuner/base/base.h"
#include "tuner/base/protocol.h"
#include "tuner/trial/trial_figures.h"

struct trial_problem { // one per problem, tuned or only verified
    PROBLEM_FIGURES(FIGURE_MEMBER)
    size_t sample_count; // samples kept here; the worker sends at most ten
};

struct trial_stage { // one per launch
    STAGE_FIGURES(FIGURE_MEMBER)
};

struct trial_counter {
    int problem, stage; // indices in the trial
    const char *key;    // "icache_misses"
    double value;       // NaN: not available
};

// The compiler's facts about a candidate; if it has several stages, the facts of the worst stage. NaN if unknown.
struct static_facts {
#define FACT_MEMBER(member, ...) double member;
    FACT_FIGURES(FACT_MEMBER)
#undef FACT_MEMBER
};

struct trial {
    int64_t id; // given by the store; > 0. The store fills in `finished` if it is 0 or NaN
    TRIAL_FIGURES(FIGURE_MEMBER)
    struct static_facts facts;
    size_t problem_count, stage_count, counter_count;
    const struct trial_problem *problems;
    const struct trial_stage *stages;
    const struct trial_counter *counters;
};

// Returns the facts of a candidate with these stages. Each fact is that of the worst stage: the largest number of
// registers, spills, shared memory and code, and the lowest occupancy. A figure that is unknown for all stages is NaN.
struct static_facts static_facts_of(const struct trial_stage *stages, size_t count);
// The reverse of static_facts_of: makes a stage for a recording, as a compiler would report it. All spills are assumed
// to be loads. All shared memory is assumed to be dynamic, so that the launch determines its size.
struct trial_stage static_facts_stage(const struct static_facts *);
