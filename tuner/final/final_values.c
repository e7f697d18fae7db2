#include "tuner/final/final_values.h"

#include "search/space/value_use.h"

enum { LEAST = 20 }; // advice needs at least this many candidates with a time

struct values_scan {
    struct value_use use;
    size_t count;
};

static int add_trial(void *user, const struct trial *trial)
{
    struct values_scan *s = user;
    uint16_t config[SPACE_MAX_PARAMETERS];
    bool measured = trial->status == STATUS_OK || trial->status == STATUS_SLOW;
    if (!measured || space_parse(s->use.space, trial->config, config, NULL)) return 0;
    value_use_add(&s->use, config, trial->objective);
    s->count++;
    return 0;
}

struct final_values final_values_find(struct store *store, const struct job *job, int64_t winner, double best)
{
    uint16_t config[SPACE_MAX_PARAMETERS];
    struct trial trial;
    struct values_scan scan = {0};
    struct final_values values = {NULL, NULL};
    struct error err;
    if (job->search.objective == OBJECTIVE_EACH || store_get(store, winner, &trial, &err) ||
        space_parse(job->space, trial.config, config, NULL))
        return values;
    value_use_begin(&scan.use, job->space, best);
    if (!store_scan(store, add_trial, &scan, &err) && scan.count >= LEAST) {
        autofree char *edges = value_use_edges(job->space, config), *idle = value_use_idle(&scan.use);
        if (edges) values.edges = text_format("the winner has %s: values beyond these may be faster", edges);
        if (idle) values.idle = text_format("no candidate within 5%% of the best has %s", idle);
    }
    value_use_release(&scan.use);
    return values;
}

void final_values_release(struct final_values *v)
{
    free(v->edges);
    free(v->idle);
}
