// See run_limit.h.
#include "tuner/watch/run_limit.h"

#include <math.h>
#include <stdlib.h>

#include "tuner/base/text.h"

static const double busy_enough = 0.9;     // of the GPUs: nothing limits
static const double compilers_full = 0.85; // from here on more of them would help

const char *run_limit_text(enum run_limit limit)
{
    static const char *const words[LIMIT_COUNT] = {"",         "compiling",  "asking", "the driver",
                                                   "counting", "setting up", "losses", "the end of the search"};
    return words[limit];
}

void limit_begin(struct limit_meter *m, double now)
{
    *m = (struct limit_meter){.at = now};
}

static enum run_limit lacks(const struct limit_view *v, enum driver_activity doing)
{
    if (v->ending) return LIMIT_ENDING;
    if (v->compilers && v->compiling >= v->compilers) return LIMIT_COMPILING;
    if (doing == DRIVER_ASKING) return LIMIT_ASKING;
    if (doing == DRIVER_WORKING) return LIMIT_DRIVER;
    return v->compilable && !v->no_proposal ? LIMIT_COMPILING : LIMIT_ASKING;
}

void limit_stretch(struct limit_meter *m, const struct limit_view *v, enum driver_activity doing, double now)
{
    double seconds = now - m->at;
    if (!(seconds > 0)) return;
    m->at = now;
    m->seconds += seconds;
    m->gpu += seconds * (double)(v->idle + v->measuring + v->counting + v->setting_up + v->gone);
    m->measuring += seconds * (double)v->measuring;
    m->lost[lacks(v, doing)] += seconds * (double)v->idle;
    m->lost[LIMIT_COUNTING] += seconds * (double)v->counting;
    m->lost[LIMIT_SETTING_UP] += seconds * (double)v->setting_up;
    m->lost[LIMIT_LOST] += seconds * (double)v->gone;
    m->compilers += seconds * (double)v->compilers;
    m->compiling += seconds * (double)v->compiling;
    if (doing == DRIVER_ASKING) m->asking += seconds;
    if (doing == DRIVER_WORKING) m->working += seconds;
}

void limit_answered(struct limit_meter *m, double seen, double took)
{
    m->unread += seen - took;
}

struct limit_meter limit_settled(const struct limit_meter *m)
{
    struct limit_meter out = *m;
    double unread = fmin(fmax(m->unread, 0), m->measuring), driver = m->asking + m->working;
    out.unread = 0;
    if (!(driver > 0)) return out; // it waits for answers alone, and reads them at once
    out.measuring -= unread;
    out.lost[LIMIT_ASKING] += unread * m->asking / driver;
    out.lost[LIMIT_DRIVER] += unread * m->working / driver;
    return out;
}

static double share_of(double part, double whole)
{
    return whole > 0 ? fmin(1, part / whole) : (double)NAN;
}

double limit_busy_share(const struct limit_meter *m)
{
    return share_of(m->measuring, m->gpu);
}

double limit_compiler_share(const struct limit_meter *m)
{
    return share_of(m->compiling, m->compilers);
}

enum run_limit limit_of(const struct limit_meter *m)
{
    enum run_limit most = LIMIT_NONE;
    if (!(limit_busy_share(m) < busy_enough)) return LIMIT_NONE;
    for (int i = LIMIT_NONE + 1; i < LIMIT_COUNT; i++)
        if (m->lost[i] > m->lost[most]) most = (enum run_limit)i;
    return most;
}

double limit_share(const struct limit_meter *m)
{
    enum run_limit limit = limit_of(m);
    return limit ? share_of(m->lost[limit], m->gpu) : (double)NAN;
}

// What is known about the limit, and what would help.
static char *explain(const struct limit_meter *m, enum run_limit limit, const char *setting)
{
    double compilers = 100 * limit_compiler_share(m);
    switch (limit) {
    case LIMIT_COMPILING:
        if (limit_compiler_share(m) >= compilers_full)
            return text_format("compilers were busy %.0f%%; more cores or a higher %s would help", compilers, setting);
        return text_format("GPUs waited for compilers, which were busy %.0f%%: a compilation takes long for the "
                           "candidates that are under way",
                           compilers);
    case LIMIT_ASKING:
        return text_format("the strategy took %.0f%% of the driver's time; fewer GPUs, or a strategy that answers "
                           "faster, would waste less",
                           100 * share_of(m->asking, m->seconds));
    case LIMIT_DRIVER:
        return text_format("the driver was busy %.0f%% with storing and passing on results",
                           100 * share_of(m->working, m->seconds));
    case LIMIT_COUNTING:
        return text_copy("hardware counters; --no-counters, or a smaller set of metrics, would leave more time");
    case LIMIT_SETTING_UP:
        return text_copy("workers that start and compute references; a longer search would make less of it");
    case LIMIT_LOST:
        return text_copy("GPUs that were set aside, or lost with their nodes; the log says why");
    default:
        return text_copy("the last candidates left GPUs without work; a longer search would make less of it");
    }
}

char *limit_words(const struct limit_meter *m, const char *setting)
{
    double busy = 100 * limit_busy_share(m);
    enum run_limit limit = limit_of(m);
    if (!limit) return text_format("GPUs were busy with candidates %.0f%% of the time", busy);
    char *why = explain(m, limit, setting);
    char *words = text_format("GPUs were busy with candidates %.0f%% of the time; the limit was %s (%.0f%%): %s", busy,
                              run_limit_text(limit), 100 * limit_share(m), why);
    free(why);
    return words;
}
