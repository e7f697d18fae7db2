// Search strategies with one ask/tell interface.
//
// The driver asks for proposals, several of which may be outstanding, compiles and measures them, and tells the results
// in whatever order they come. A strategy is deterministic in (space, seed, sequence of asks and tells). One file per
// strategy, one descriptor, one line in strategies.c: `sweetspot list strategies` then shows it. Strategies know no
// CUDA, no files, no clock.
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "search/model/history.h"
#include "search/model/prior.h"
#include "search/space/space.h"

// The conditions of an instance.
struct strategy_options {
    uint64_t seed;
    size_t criteria; // objectives that are searched for side by side; 0 = 1
    // Knowledge from elsewhere about the same space; borrowed for the instance's life. At most PRIOR_MOST.
    size_t prior_count;
    const struct prior *const *priors;
};

struct strategy; // an instance

// All that a strategy works with for one criterion. The instance makes it and keeps it up to date.
struct strategy_state {
    const struct space *space;
    size_t width;           // parameters
    struct history history; // what was proposed and told
    struct random rng;      // for all that is random
    size_t prior_count;
    const struct prior *const *priors;
    struct arena memory; // for what lives as long as the state; freed by the instance
    void *own;           // state_size bytes, zeroed before init
};

struct strategy_class {
    const char *name;
    const char *summary;                   // one line
    size_t state_size;                     // bytes of its own part of the state
    void (*init)(struct strategy_state *); // NULL: nothing to do
    // Writes the next configuration to evaluate: valid and without a row in the history, where the instance then
    // enters it, unless the strategy has. False: nothing to propose, either for now (while proposals are outstanding)
    // or for good (when none are outstanding).
    bool (*ask)(struct strategy_state *, uint16_t *config);
    // A result, which the history has in `row`. It may be for a configuration that was never proposed (from an earlier
    // run or another job), and it may correct an earlier one. NULL: the history is enough.
    void (*tell)(struct strategy_state *, size_t row);
    void (*release)(struct strategy_state *); // NULL: it owns nothing but `memory`
    // NULL: it cannot say. The present promise of each of `count` configurations that wait for their measurement:
    // higher is better; below 0 it is no longer worth measuring, compared with what could be proposed instead. The
    // history forgets a proposal that will not be measured, and the strategy may propose it again.
    void (*rank)(struct strategy_state *, const uint16_t *const *configs, size_t count, double *acquisition);
};

extern const struct strategy_class *const strategy_classes[]; // NULL-terminated, `default` first
// NULL with a message that suggests the nearest name and lists all of them, or says what replaces a removed name.
const struct strategy_class *strategy_choose(const char *name, struct error *);
char *strategy_names(void); // "default, trees, ..."; malloc'ed

// The instance: owns the state, keeps the set of configurations proposed or told so that no strategy proposes one twice
// even if its own code would (such a proposal is skipped), and counts what is outstanding. With several criteria (a
// kernel for each of many shapes) it holds one state for each: they propose in turn, and each is told every result by
// its own criterion.
struct strategy *strategy_new(const struct strategy_class *, const struct space *, const struct strategy_options *);
void strategy_free(struct strategy *);
bool strategy_ask(struct strategy *, uint16_t *config);
void strategy_tell(struct strategy *, const struct observation *);
// Whether it can rank waiting configurations (without `rank` they are measured in order).
bool strategy_ranks(const struct strategy *);
// As the class's function; with several criteria the one that promises most counts. What the strategy did not propose
// is always to be measured: INFINITY.
void strategy_rank(struct strategy *, const uint16_t *const *configs, size_t count, double *acquisition);
// A proposal will not be measured.
void strategy_forget(struct strategy *, const uint16_t *config);
bool strategy_exhausted(const struct strategy *); // nothing is outstanding and the last ask gave nothing
bool strategy_seen(const struct strategy *, const uint16_t *config); // proposed or told

// Helpers that several strategies use.
// Changes `changes` parameters with more than one value at random and repairs the result.
void kit_perturb(struct strategy_state *, uint16_t *config, int changes);
// Makes `config` one without a row: itself, else a configuration near it, else any. False when none is left.
bool kit_make_new(struct strategy_state *, uint16_t *config);
