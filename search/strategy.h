// Search strategies behind one ask/tell interface.
//
// The driver asks for proposals, several of which may be outstanding, compiles and measures them, and tells the results
// in whatever order they come. A strategy is deterministic in (space, seed, options, sequence of asks and tells). One
// file a strategy, one descriptor, one line in strategies.c. Strategies know no CUDA, no files, no clock.
#ifndef SWEETSPOT_STRATEGY_H
#define SWEETSPOT_STRATEGY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "search/space.h"

// What came of a configuration. Everything but OUTCOME_OK and OUTCOME_SLOW has no objective.
enum outcome {
    OUTCOME_OK,      // measured and verified; objective is valid
    OUTCOME_SLOW,    // cut off: objective is one short sample, a lower-quality figure, far worse than the best
    OUTCOME_PRUNED,  // compiled, but cannot launch or was not worth launching (known without running it)
    OUTCOME_INVALID, // did not compile, crashed, wrong result, timeout...: infeasible
};

struct observation {
    const uint16_t *config; // space_parameter_count indices; borrowed during the call
    enum outcome outcome;
    double objective; // lower is better (seconds); NaN unless OK or SLOW
    // One a criterion where there are several (NaN: none for that one); NULL: `objective` for each.
    const double *objectives;
};

struct strategy_options {
    uint64_t seed;
    uint64_t budget;  // evaluations in all, 0 = unknown (time decides)
    size_t criteria;  // objectives that are searched for side by side; 0 = 1
    const char *text; // "key=value,..." for this strategy, or NULL
};

struct strategy; // an instance

struct strategy_class {
    const char *name;
    const char *summary; // one line for --help
    size_t state_size;   // bytes of private state, zeroed before init
    int (*init)(void *state, const struct space *, const struct strategy_options *, struct error *);
    // Writes the next configuration to evaluate: valid, never one proposed or told before. False: nothing to propose,
    // either for now (results of outstanding proposals are awaited) or for good (when none are outstanding).
    bool (*ask)(void *state, uint16_t *config);
    // A result. May be unasked for (an earlier run's, another job's): then it is information all the same, and not
    // proposed again.
    void (*tell)(void *state, const struct observation *);
    void (*release)(void *state);
};

extern const struct strategy_class *const strategy_classes[]; // NULL-terminated, `default` first
const struct strategy_class *strategy_find(const char *name); // or NULL
const char *strategy_nearest(const char *name);               // for "did you mean", or NULL

// The instance: owns the private state, keeps the set of configurations proposed or told so that no strategy proposes
// one twice even if its own code would (such a proposal is skipped), and counts what is outstanding. With several
// criteria (a kernel for each of many shapes) it holds one private state for each: they propose in turn, and each is
// told every result by its own criterion.
struct strategy *strategy_new(const struct strategy_class *, const struct space *, const struct strategy_options *,
                              struct error *);
void strategy_free(struct strategy *);
bool strategy_ask(struct strategy *, uint16_t *config);
void strategy_tell(struct strategy *, const struct observation *);
size_t strategy_outstanding(const struct strategy *);
bool strategy_exhausted(const struct strategy *);                    // nothing outstanding and the last ask said no
bool strategy_seen(const struct strategy *, const uint16_t *config); // proposed or told

#endif
