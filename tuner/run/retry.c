// Before the final, candidates that crashed once are measured again if they may be among the finalists. The candidate
// may not be to blame: the previous candidate may have damaged the worker, or the driver or the device may have failed.
// A candidate that is wrongly recorded as crashed could never win.
//
// The time that such a candidate would take is predicted by trees (search/model/prior.h) that are grown on all results
// except the crashes. The candidate is tried again if that time is at most the last finalist's time plus an allowance.
// The allowance is needed because trees predict that an unseen configuration's time lies between its neighbours'.
#include "search/model/prior.h"
#include "tuner/base/stats.h"
#include "tuner/recorded/transfer.h"
#include "tuner/run/search.h"
#include "tuner/setup/task.h"

static const double allowance = 0.1; // e-folds

struct crashed {
    int64_t trial;
    uint16_t config[SPACE_MAX_PARAMETERS];
    double slowdown; // expected
};

struct results {
    const struct space *space;
    struct transfer transfer;
    size_t crashed_count, valid_count, valid_room;
    struct crashed *crashed;
    double *valid; // objectives of valid candidates
};

static int visit(void *user, const struct trial *trial)
{
    struct results *s = user;
    struct crashed c = {.trial = trial->id};
    if (space_parse(s->space, trial->config, c.config, NULL) || space_index(s->space, c.config) < 0) return 0;
    if (trial->status != STATUS_CRASHED) {
        transfer_add(&s->transfer, trial->config, trial->status, trial->objective);
        if (trial->status != STATUS_OK) return 0;
        s->valid = memory_room(s->valid, &s->valid_room, s->valid_count + 1, sizeof *s->valid);
        s->valid[s->valid_count++] = trial->objective;
        return 0;
    }
    memory_add(s->crashed, s->crashed_count) = c;
    return 0;
}

static int by_slowdown(const void *a, const void *b)
{
    const struct crashed *x = a, *y = b;
    if (x->slowdown != y->slowdown) return x->slowdown < y->slowdown ? -1 : 1;
    return (x->trial > y->trial) - (x->trial < y->trial);
}

static int add_tasks(struct search *search, const struct results *s, double limit, struct display *display,
                     struct error *err)
{
    int added = 0;
    for (size_t i = 0; i < s->crashed_count && s->crashed[i].slowdown <= limit && added < SEARCH_RETRIES; i++) {
        int judged = store_decided(search->store, s->crashed[i].trial, err); // by a second try, or in a final
        if (judged < 0) return -1;
        if (judged) continue;
        struct task *t = task_add(search->policy, s->space, s->crashed[i].config, TASK_TRIAL, TASK_UNKNOWN);
        t->trial = s->crashed[i].trial;
        t->queued.retry = true;
        display_log(display, "trial %" PRId64 " crashed once and may be among the finalists: it is tried again: %s",
                    t->trial, t->text);
        added++;
    }
    return added;
}

int search_retry(struct search *search, size_t places, struct display *display, struct error *err)
{
    struct results s = {.space = search->job->space};
    transfer_init(&s.transfer, s.space);
    int added = store_scan(search->store, visit, &s, err) < 0 ? -1 : 0;
    struct error ignored; // without a model no candidate is tried again
    struct prior *model = added < 0 || !s.crashed_count ? NULL : transfer_prior(&s.transfer, &ignored);
    if (model) {
        stats_sort(s.valid, s.valid_count);
        double limit = s.valid_count < places ? INFINITY : slowdown_of(s.valid[places - 1], s.valid[0]) + allowance;
        for (size_t i = 0; i < s.crashed_count; i++) s.crashed[i].slowdown = prior_slowdown(model, s.crashed[i].config);
        qsort(s.crashed, s.crashed_count, sizeof *s.crashed, by_slowdown);
        added = add_tasks(search, &s, limit, display, err);
    }
    prior_free(model);
    transfer_release(&s.transfer);
    free(s.crashed);
    free(s.valid);
    return added;
}
