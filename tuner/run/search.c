// See search.h.
#include "tuner/run/search.h"

#include "tuner/recorded/recorded.h"
#include "tuner/setup/task.h"

// The best ------------------------------------------------------------------------------------------------------------

// Forgets the best result, but not the baseline.
static void forget_best(struct incumbent *b)
{
    free(b->config);
    b->config = NULL;
    b->trial = 0;
    b->objective = INFINITY;
    for (size_t p = 0; p < JOB_MAX_PROBLEMS; p++) b->times[p] = INFINITY;
}

void incumbent_init(struct incumbent *b)
{
    *b = (struct incumbent){.baseline = NAN};
    forget_best(b);
}

void incumbent_release(struct incumbent *b)
{
    free(b->config);
    free(b->baseline_name);
    incumbent_init(b);
}

// With a kernel for each problem, the best is the combination of the best kernels of all problems.
static bool take_each(struct incumbent *b, const struct job *job, const double *times, size_t *problem)
{
    *problem = job->tuned_count;
    for (size_t p = job->tuned_count; p-- > 0;) {
        if (!(times[p] < b->times[p])) continue;
        b->times[p] = times[p];
        *problem = p;
    }
    if (*problem == job->tuned_count) return false;
    b->objective = job_objective(job, b->times);
    return true;
}

static bool take_one(struct incumbent *b, const struct job *job, double objective, const double *times)
{
    if (!(objective < b->objective)) return false;
    b->objective = objective;
    memcpy(b->times, times, job->tuned_count * sizeof *times);
    return true;
}

bool incumbent_take(struct incumbent *b, const struct job *job, double objective, const double *times,
                    const char *config, int64_t trial, size_t *problem)
{
    if (!(job->search.objective == OBJECTIVE_EACH ? take_each(b, job, times, problem)
                                                  : take_one(b, job, objective, times)))
        return false;
    free(b->config);
    b->config = text_copy(config);
    b->trial = trial;
    return true;
}

double incumbent_together(const struct incumbent *b, const struct job *job, double objective, const double *times)
{
    double best[JOB_MAX_PROBLEMS];
    if (job->search.objective != OBJECTIVE_EACH || !isfinite(b->objective)) return objective;
    for (size_t p = 0; p < job->tuned_count; p++) best[p] = fmin(times[p], b->times[p]);
    return job_objective(job, best);
}

void incumbent_set_baseline(struct incumbent *b, const char *name, double objective)
{
    free(b->baseline_name);
    b->baseline_name = text_copy(name);
    b->baseline = objective;
}

// The search ----------------------------------------------------------------------------------------------------------

void search_init(struct search *s, const struct job *job, struct policy *policy)
{
    *s = (struct search){.job = job, .policy = policy};
    incumbent_init(&s->incumbent);
}

void search_release(struct search *s)
{
    strategy_free(s->strategy);
    for (size_t i = 0; i < s->priors.count; i++) prior_free(s->priors.list[i]); // the strategy used them
    free(s->reported.list);
    hash_index_release(&s->reported.index);
    incumbent_release(&s->incumbent);
}

void search_begin(struct search *s, uint64_t seed)
{
    const struct strategy_options options = {.seed = seed,
                                             .criteria =
                                                 s->job->search.objective == OBJECTIVE_EACH ? s->job->tuned_count : 1,
                                             .prior_count = s->priors.count,
                                             .priors = (const struct prior *const *)s->priors.list};
    s->strategy = strategy_new(s->strategy_class, s->job->space, &options);
    s->policy->settings.ranks = strategy_ranks(s->strategy);
}

bool search_propose(struct search *s, uint16_t *config)
{
    if (s->starts.next < s->starts.count) {
        memcpy(config, s->starts.configs[s->starts.next++], sizeof s->starts.configs[0]);
        return !strategy_seen(s->strategy, config);
    }
    if (strategy_ask(s->strategy, config)) return true;
    policy_no_proposal(s->policy, strategy_exhausted(s->strategy));
    return false;
}

void search_rank(struct search *s)
{
    size_t count;
    autofree struct queued_task **waiting = policy_waiting(s->policy, &count);
    autofree const uint16_t **configs = memory_new(count, sizeof *configs);
    autofree double *acquisition = memory_new(count, sizeof *acquisition);
    for (size_t i = 0; i < count; i++) configs[i] = ((const struct task *)waiting[i])->config;
    strategy_rank(s->strategy, configs, count, acquisition);
    for (size_t i = 0; i < count; i++) // the header needs the fallback's result
        waiting[i]->acquisition = job_is_fallback(s->job, configs[i]) ? INFINITY : acquisition[i];
}

struct wanted_trial {
    const int64_t *list;
    int64_t trial;
};

static bool is_wanted(const void *wanted, size_t number)
{
    const struct wanted_trial *w = wanted;
    return w->list[number] == w->trial;
}

bool search_has_reported(const struct search *s, int64_t trial)
{
    const struct wanted_trial wanted = {s->reported.list, trial};
    return hash_index_find(&s->reported.index, hash_mix(0, (uint64_t)trial), is_wanted, &wanted) >= 0;
}

static void mark_reported(struct search *s, int64_t trial)
{
    struct reported_trials *r = &s->reported;
    if (search_has_reported(s, trial)) return;
    hash_index_add(&r->index, hash_mix(0, (uint64_t)trial), r->count);
    r->list = memory_room(r->list, &r->room, r->count + 1, sizeof *r->list);
    r->list[r->count++] = trial;
}

static void tell(struct search *s, const struct search_result *x)
{
    struct observation o = observation_of(x->config, x->status, x->objective);
    if (s->job->search.objective == OBJECTIVE_EACH && (o.outcome == OUTCOME_OK || o.outcome == OUTCOME_SLOW))
        o.objectives = x->times;
    strategy_tell(s->strategy, &o);
    policy_reported(s->policy,
                    o.outcome == OUTCOME_OK ? incumbent_together(&s->incumbent, s->job, x->objective, x->times) : NAN);
}

bool search_take(struct search *s, const struct search_result *x, size_t *problem)
{
    if (!x->retry)
        tell(s, x);
    else if (s->counts[STATUS_CRASHED]) // 0 if the crash was reported in an earlier run
        s->counts[STATUS_CRASHED]--;
    s->counts[x->status]++;
    mark_reported(s, x->trial);
    return x->status == STATUS_OK &&
           incumbent_take(&s->incumbent, s->job, x->objective, x->times, x->text, x->trial, problem);
}

static bool is_valid(const struct search *s, const struct trial *trial, uint16_t *config)
{
    return !space_parse(s->job->space, trial->config, config, NULL) && space_index(s->job->space, config) >= 0;
}

bool search_read(const struct search *s, const struct trial *trial, struct search_result *x, uint16_t *config,
                 double *times)
{
    for (size_t p = 0; p < s->job->tuned_count; p++)
        times[p] = p < trial->problem_count ? trial->problems[p].time : NAN;
    *x = (struct search_result){config, trial->config, trial->id, trial->status, trial->objective, times, false};
    return is_valid(s, trial, config);
}

static int take_best(void *user, const struct trial *trial)
{
    struct search *s = user;
    struct search_result x;
    uint16_t config[SPACE_MAX_PARAMETERS];
    double times[JOB_MAX_PROBLEMS];
    size_t problem;
    if (!search_read(s, trial, &x, config, times)) return 0;
    incumbent_take(&s->incumbent, s->job, x.objective, times, x.text, x.trial, &problem);
    return s->job->search.objective != OBJECTIVE_EACH; // unless "each", stop at the first one, which is the best
}

int search_find_best(struct search *s, struct error *err)
{
    forget_best(&s->incumbent);
    return store_each(s->store, true, 0, STORE_PROBLEMS, take_best, s, err) < 0 ? -1 : 0;
}

struct valid_count {
    const struct search *search;
    uint64_t count;
};

static int count_valid(void *user, const struct trial *trial)
{
    struct valid_count *v = user;
    uint16_t config[SPACE_MAX_PARAMETERS];
    v->count += is_valid(v->search, trial, config);
    return 0;
}

int search_knows_all(struct search *s, struct error *err)
{
    struct valid_count valid = {.search = s};
    int64_t counts[STATUS_COUNT];
    uint64_t stored = 0, size = space_size(s->job->space);
    if (store_counts(s->store, counts, err)) return -1;
    for (int i = 0; i < STATUS_COUNT; i++) stored += (uint64_t)counts[i];
    if (stored >= size && store_scan(s->store, count_valid, &valid, err) < 0) return -1;
    return valid.count >= size;
}
