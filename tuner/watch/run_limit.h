// What kept the GPUs of a search from being busy with candidates. Pure: clock and workers' states are passed in.
//
// The search is cut into stretches in which no worker changes its state and the driver does one thing. In each, every
// GPU spends the stretch on something: a candidate, counting, being set up, being gone; or it has nothing to do, and
// then the stretch is charged to what it lacks:
//
//     the search has ended, or its last candidates are on their way   its end
//     every compiler is busy                                          compiling
//     the driver asks, tells or ranks                                 asking
//     the driver does anything else (storing results, reading)        the driver
//     the driver waits, and the strategy has nothing to propose       asking
//     the driver waits for what is being compiled                     compiling
//
// An answer that the driver has not read yet looks like a candidate that is still measured. What was seen beyond the
// time that workers say they took is charged to asking and to the driver, as they shared the driver's time.
//
// The limit is what most GPU seconds went to besides candidates. There is none where candidates had nine tenths.
#ifndef SWEETSPOT_RUN_LIMIT_H
#define SWEETSPOT_RUN_LIMIT_H

#include <stdbool.h>
#include <stddef.h>

enum run_limit {
    LIMIT_NONE,
    LIMIT_COMPILING,
    LIMIT_ASKING,
    LIMIT_DRIVER,
    LIMIT_COUNTING,
    LIMIT_SETTING_UP,
    LIMIT_LOST,
    LIMIT_ENDING,
    LIMIT_COUNT
};
const char *run_limit_text(enum run_limit); // "compiling"; of NONE ""

enum driver_activity { DRIVER_WAITING, DRIVER_ASKING, DRIVER_WORKING };

// What the workers do, and what waits, during a stretch.
struct limit_view {
    size_t idle, measuring, counting, setting_up, gone; // GPUs; those in the final are none of them
    size_t compilers, compiling;                        // there; busy
    bool compilable;                                    // candidates are compiled, or wait for a compiler
    bool no_proposal;                                   // the strategy has none before the next result
    bool ending;                                        // there will be no more candidates
};

struct limit_meter {
    double at;                   // until when all is accounted for
    double seconds;              // of search
    double gpu, measuring;       // GPU seconds: all, and with candidates
    double lost[LIMIT_COUNT];    // GPU seconds by what they went to
    double compilers, compiling; // seconds of compilers: all, and busy
    double asking, working;      // s of the driver
    double unread;               // GPU seconds in `measuring` for which answers waited; less than 0 counts as 0
};

void limit_begin(struct limit_meter *, double now);
void limit_stretch(struct limit_meter *, const struct limit_view *, enum driver_activity, double now);

// A GPU was seen with a candidate for so long (s), and says that it took so long.
void limit_answered(struct limit_meter *, double seen, double took);
// With the time of unread answers where it belongs; the functions below take such a one.
struct limit_meter limit_settled(const struct limit_meter *);

double limit_busy_share(const struct limit_meter *);     // GPUs with candidates; NaN: no time has passed
double limit_compiler_share(const struct limit_meter *); // NaN: there were none
enum run_limit limit_of(const struct limit_meter *);
// What the limit's share of GPU time was; NaN where there is no limit.
double limit_share(const struct limit_meter *);
// "GPUs were busy with candidates 71% of the time; the limit was compiling (25%): ...". malloc'ed. `setting`: what
// raises the number of compilers.
char *limit_words(const struct limit_meter *, const char *setting);

#endif
