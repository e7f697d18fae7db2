// The ask/tell interface that all search strategies implement.
//
// The driver asks for proposals, several of which may be outstanding, compiles and measures them, and tells the results
// in the order of their arrival. A strategy's proposals depend only on the space, the seed, and the sequence of asks
// and tells. A strategy is one file with one descriptor, and one line in strategies.c; `sweetspot list strategies` then
// shows it. Strategies use no CUDA, no files and no clock.
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "search/model/history.h"
#include "search/model/prior.h"
#include "search/space/space.h"

// The options of an instance.
struct strategy_options {
    uint64_t seed;
    size_t criteria; // objectives that are optimised side by side; 0 means 1
    // Knowledge from elsewhere about the same space; at most PRIOR_MOST priors, borrowed for the instance's life.
    size_t prior_count;
    const struct prior *const *priors;
};

struct strategy; // an instance

// Everything that a strategy works with for one criterion. The instance creates it and keeps it up to date.
struct strategy_state {
    const struct space *space;
    size_t width;           // parameters
    struct history history; // everything proposed and reported
    struct random rng;      // for all random choices
    size_t prior_count;
    const struct prior *const *priors;
    struct arena memory; // for data that lives as long as the state; freed by the instance
    void *own;           // state_size bytes, zeroed before init
};

struct strategy_class {
    const char *name;
    const char *summary;                   // one line
    size_t state_size;                     // bytes of the strategy's own part of the state
    void (*init)(struct strategy_state *); // NULL: nothing to do
    // Writes the next configuration to evaluate, which is valid and has no row in the history. The instance then enters
    // it there, unless the strategy has already done so. Returns false if there is nothing to propose: for now if
    // proposals are outstanding, for good if none are.
    bool (*ask)(struct strategy_state *, uint16_t *config);
    // Receives the result in this row of the history. It may be for a configuration that was never proposed (from an
    // earlier run or another job), and it may correct an earlier result. NULL: the history is enough.
    void (*tell)(struct strategy_state *, size_t row);
    void (*release)(struct strategy_state *); // NULL: the strategy owns only `memory`
    // NULL: the strategy cannot rank. Rates each of `count` configurations that wait to be measured; higher is better.
    // A rating below 0 says that new proposals are more promising than this configuration, so it should not be measured
    // now. The history then forgets it, and the strategy may propose it again.
    void (*rank)(struct strategy_state *, const uint16_t *const *configs, size_t count, double *acquisition);
};

extern const struct strategy_class *const strategy_classes[]; // NULL-terminated, `default` first
// Finds a strategy by name. Returns NULL with a message that suggests the nearest name and lists all of them, or names
// the replacement for a removed strategy.
const struct strategy_class *strategy_choose(const char *name, struct error *);
char *strategy_names(void); // "default, trees, ..."; malloc'ed

// The instance owns the state and counts the outstanding proposals. It also remembers all configurations proposed or
// reported and skips repeated proposals, so that no configuration is proposed twice, even if the strategy's own code
// repeats one. With several criteria (a kernel for each of many shapes) it holds one state per criterion. The states
// propose in turn, and each is told every result, judged by its own criterion.
struct strategy *strategy_new(const struct strategy_class *, const struct space *, const struct strategy_options *);
void strategy_free(struct strategy *);
bool strategy_ask(struct strategy *, uint16_t *config);
void strategy_tell(struct strategy *, const struct observation *);
// Whether the strategy can rank waiting configurations (without `rank` they are measured in order).
bool strategy_ranks(const struct strategy *);
// Like the class's `rank`; with several criteria, a configuration gets its highest rating. Configurations that the
// strategy did not propose get INFINITY, so that they are always measured.
void strategy_rank(struct strategy *, const uint16_t *const *configs, size_t count, double *acquisition);
// Tells the strategy that a proposal will not be measured.
void strategy_forget(struct strategy *, const uint16_t *config);
bool strategy_exhausted(const struct strategy *); // nothing is outstanding and the last ask gave nothing
bool strategy_seen(const struct strategy *, const uint16_t *config); // proposed or reported

// Helpers that several strategies use.
// Picks `changes` random parameters among those with more than one value, gives each a different random value, and
// repairs the result.
void kit_perturb(struct strategy_state *, uint16_t *config, int changes);
// If `config` has a row, replaces it with a configuration that has no row: one near `config` if possible, otherwise
// any. Returns false if none is left.
bool kit_make_new(struct strategy_state *, uint16_t *config);
