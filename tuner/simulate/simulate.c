// See simulate.h.
#include "tuner/simulate/simulate.h"

#include <errno.h>

#include "tuner/policy/simulation.h"

enum { MOST_TIMES_THE_BUDGET = 4 };

// The options' text ---------------------------------------------------------------------------------------------------

static int parse_count(const char *name, const char *value, size_t *count, struct error *err)
{
    char *end;
    errno = 0;
    long long n = strtoll(value, &end, 10);
    if (end == value || *end || errno || n < 1 || n > SIMULATE_MAX_WORKERS)
        return error_set(err, "%s must be a whole number from 1 to %d, not '%s'", name, SIMULATE_MAX_WORKERS, value);
    *count = (size_t)n;
    return 0;
}

static int parse_seconds(const char *name, const char *value, double *seconds, struct error *err)
{
    *seconds = NAN;
    if (!strcmp(value, "recorded")) return 0;
    if (text_duration(value, seconds) || !isfinite(*seconds) || *seconds <= 0)
        return error_set(err, "%s must be 'recorded' or a time, such as 0.3 or 15ms, not '%s'", name, value);
    return 0;
}

int simulate_parse(const char *text, struct simulate_settings *settings, struct error *err)
{
    static const char *const names[] = {"compilers", "compile", "gpu", "gpus", NULL};
    *settings = (struct simulate_settings){.gpus = 1};
    bool given[4] = {false};
    int status = 0;
    for (const char *at = text; *at && !status;) {
        size_t length = strcspn(at, ","), word = strcspn(at, "=,"), i = 0;
        autofree char *name = text_format("%.*s", (int)word, at);
        autofree char *value =
            at[word] == '=' ? text_format("%.*s", (int)(length - word - 1), at + word + 1) : text_copy("");
        while (names[i] && strcmp(names[i], name)) i++;
        if (!names[i]) {
            autofree char *unknown = text_unknown("setting", name, names);
            status = error_set(err, "%s", unknown);
        } else if (given[i]) {
            status = error_set(err, "%s is given twice", name);
        } else if (i == 0 || i == 3) {
            status = parse_count(name, value, i ? &settings->gpus : &settings->compilers, err);
        } else {
            status = parse_seconds(name, value, i == 1 ? &settings->compile : &settings->gpu, err);
        }
        if (names[i]) given[i] = true;
        at += length + (at[length] == ',');
    }
    for (size_t i = 0; i < 3 && !status; i++)
        if (!given[i]) status = error_set(err, "%s is missing: compilers, compile and gpu are needed", names[i]);
    return status ? error_prefix(err, "--timeline") : 0;
}

// Times of a recording ------------------------------------------------------------------------------------------------

struct durations {
    double *compile, *gpu; // s, by trial
};

// Fills in unknown times. Returns -1 if all are unknown.
static int complete(double *seconds, size_t count)
{
    autofree double *known = memory_new(count, sizeof *known);
    size_t n = 0;
    for (size_t i = 0; i < count; i++)
        if (isfinite(seconds[i]) && seconds[i] >= 0) known[n++] = seconds[i];
    stats_sort(known, n);
    double median = n ? known[n / 2] : NAN;
    for (size_t i = 0; i < count; i++)
        if (!(isfinite(seconds[i]) && seconds[i] >= 0)) seconds[i] = median;
    return n ? 0 : -1;
}

static int find_durations(struct durations *d, const struct recorded *r, const struct simulate_settings *s,
                          const char *path, struct error *err)
{
    d->compile = memory_new(r->trial_count, sizeof *d->compile);
    d->gpu = memory_new(r->trial_count, sizeof *d->gpu);
    for (size_t i = 0; i < r->trial_count; i++) {
        d->compile[i] = isnan(s->compile) ? r->trials[i].compile_seconds : s->compile;
        d->gpu[i] = isnan(s->gpu) ? r->trials[i].gpu_seconds : s->gpu;
    }
    if (complete(d->compile, r->trial_count))
        return error_set(err, "%s: it has no compile times: give compile=SECONDS", path);
    if (complete(d->gpu, r->trial_count)) return error_set(err, "%s: it has no GPU times: give gpu=SECONDS", path);
    return 0;
}

// One run -------------------------------------------------------------------------------------------------------------

struct simulated_candidate {
    struct queued_task queued; // first
    size_t trial;
};

struct simulated_search {
    struct simulation simulation; // first
    const struct recorded *recorded;
    const struct durations *durations;
    struct strategy *strategy;
    int64_t evaluations;
    size_t compiled, measured; // candidates given to a compiler, and to a GPU
    double best;               // s
    double began;              // when a GPU got its first work; NaN: not yet
    struct error *err;
    bool failed;
};

static double objective_of(const struct simulated_search *s, size_t trial)
{
    const struct trial *t = &s->recorded->trials[trial];
    return t->status == STATUS_OK ? t->objective : NAN;
}

static void propose(struct simulation *simulation)
{
    struct simulated_search *s = (struct simulated_search *)simulation;
    uint16_t config[SPACE_MAX_PARAMETERS];
    if (!strategy_ask(s->strategy, config)) {
        policy_no_proposal(&simulation->policy, strategy_exhausted(s->strategy));
        return;
    }
    int64_t trial = recorded_find(s->recorded, config);
    if (trial < 0) {
        s->failed = true;
        error_set(s->err, "it proposed a configuration that is not valid");
        policy_no_proposal(&simulation->policy, true);
        return;
    }
    struct simulated_candidate *c = memory_new(1, sizeof *c);
    c->trial = (size_t)trial;
    policy_add(&simulation->policy, &c->queued, TASK_TRIAL, TASK_UNKNOWN);
}

static void forget(struct simulation *simulation, struct queued_task *t)
{
    policy_remove(&simulation->policy, t);
    free(t);
}

static void tell(struct simulated_search *s, struct queued_task *t)
{
    size_t trial = ((struct simulated_candidate *)t)->trial;
    struct observation observation = recorded_observation(s->recorded, trial);
    strategy_tell(s->strategy, &observation);
    policy_reported(&s->simulation.policy, objective_of(s, trial));
    s->best = fmin(s->best, objective_of(s, trial));
    s->evaluations++;
    forget(&s->simulation, t);
}

static double compile(struct simulation *simulation, struct queued_task *t)
{
    struct simulated_search *s = (struct simulated_search *)simulation;
    s->compiled++;
    return s->durations->compile[((struct simulated_candidate *)t)->trial];
}

static void compiled(struct simulation *simulation, struct queued_task *t)
{
    struct simulated_search *s = (struct simulated_search *)simulation;
    enum trial_status status = s->recorded->trials[((struct simulated_candidate *)t)->trial].status;
    if (status == STATUS_COMPILE_ERROR || status == STATUS_COMPILE_TIMEOUT || status == STATUS_PRUNED) {
        s->measured++; // this candidate has its result
        tell(s, t);
    } else {
        policy_compiled(&simulation->policy, t);
    }
}

static double begin(struct simulation *simulation, const struct policy_request *request)
{
    struct simulated_search *s = (struct simulated_search *)simulation;
    s->measured++;
    if (isnan(s->began)) s->began = simulation->now;
    return s->durations->gpu[((struct simulated_candidate *)request->tasks[0])->trial];
}

static void answered(struct simulation *simulation, const struct policy_request *request, bool lost)
{
    (void)lost; // simulated workers are never lost
    tell((struct simulated_search *)simulation, request->tasks[0]);
}

static const uint16_t *config_of(const struct simulated_search *s, const struct queued_task *t)
{
    return s->recorded->configs + ((const struct simulated_candidate *)t)->trial * s->recorded->parameter_count;
}

static void gone(struct simulation *simulation, const struct policy_action *action)
{
    struct simulated_search *s = (struct simulated_search *)simulation;
    if (action->kind == POLICY_FORGET) strategy_forget(s->strategy, config_of(s, action->task));
    forget(simulation, action->task);
}

static void rank(struct simulation *simulation)
{
    struct simulated_search *s = (struct simulated_search *)simulation;
    size_t count;
    autofree struct queued_task **waiting = policy_waiting(&simulation->policy, &count);
    autofree const uint16_t **configs = memory_new(count, sizeof *configs);
    autofree double *acquisition = memory_new(count, sizeof *acquisition);
    for (size_t i = 0; i < count; i++) configs[i] = config_of(s, waiting[i]);
    strategy_rank(s->strategy, configs, count, acquisition);
    for (size_t i = 0; i < count; i++) waiting[i]->acquisition = acquisition[i];
}

static const struct simulation_calls calls = {.propose = propose,
                                              .compile = compile,
                                              .compiled = compiled,
                                              .begin = begin,
                                              .answered = answered,
                                              .gone = gone,
                                              .rank = rank};

struct simulated_runs {
    const struct simulate_options *o;
    struct durations *durations;      // by file
    struct simulate_figures *figures; // by run
};

struct progress {
    size_t next_budget, next_time;
    double quality; // so far
};

// Adds up how busy the workers have been so far.
static void count_workers(struct simulate_figures *f, const struct simulated_search *s)
{
    size_t gpus = s->simulation.policy.settings.gpus;
    double now = s->simulation.now, busy = 0, whole = (now - s->began) * (double)gpus;
    for (size_t g = 0; g < gpus; g++) {
        double left = s->simulation.answered_at[g] - now; // of its current task
        busy += s->simulation.busy[g] - (isfinite(left) ? left : 0);
    }
    f->idle = whole > 0 ? 1 - busy / whole : 0;
    f->compiled_per_measured = s->measured ? (double)s->compiled / (double)s->measured : NAN;
}

// Called after a step: `quality` is valid from this time on.
static void note(struct simulate_figures *f, struct progress *p, const struct simulate_options *o,
                 const struct simulated_search *s, double quality)
{
    double now = s->simulation.now;
    while (p->next_time < o->time_count && o->times[p->next_time] < now) f->at_time[p->next_time++] = p->quality;
    while (p->next_budget < o->bench.budget_count && o->bench.budgets[p->next_budget] <= s->evaluations) {
        f->at_budget[p->next_budget++] = quality;
        if (p->next_budget == o->bench.budget_count) count_workers(f, s);
    }
    if (f->reached_95 == 0) {
        f->seconds_to_95 = now;
        f->evaluations_to_95 = (double)s->evaluations;
        f->reached_95 = quality >= 0.95;
    }
    if (f->reached_99 == 0) {
        f->seconds_to_99 = now;
        f->reached_99 = quality >= 0.99;
    }
    p->quality = quality;
}

static bool is_complete(const struct progress *p, const struct simulate_options *o)
{
    return p->next_budget == o->bench.budget_count && p->next_time == o->time_count;
}

static int run_one(const struct simulated_runs *runs, const struct strategy_class *class, size_t file, uint64_t seed,
                   struct simulate_figures *f, struct error *err)
{
    const struct simulate_options *o = runs->o;
    const struct recorded *r = o->bench.files[file];
    double optimum = r->trials[r->best].objective;
    int64_t last = o->bench.budgets[o->bench.budget_count - 1];
    struct simulated_search s = {
        .recorded = r, .durations = &runs->durations[file], .best = INFINITY, .began = NAN, .err = err};
    struct strategy_options options = bench_strategy_options(&o->bench, file, seed);
    s.strategy = strategy_new(class, r->space, &options);
    simulation_init(&s.simulation,
                    &(struct policy_settings){.compilers = o->settings.compilers,
                                              .gpus = o->settings.gpus,
                                              .ranks = strategy_ranks(s.strategy)},
                    &calls);
    struct progress p = {0};
    while (simulation_decide(&s.simulation) && simulation_step(&s.simulation)) {
        note(f, &p, o, &s, optimum / s.best);
        if (is_complete(&p, o) && (f->reached_99 > 0 || s.evaluations >= MOST_TIMES_THE_BUDGET * last)) break;
    }
    if (p.next_budget < o->bench.budget_count) count_workers(f, &s); // the space is used up
    while (p.next_budget < o->bench.budget_count) f->at_budget[p.next_budget++] = p.quality;
    while (p.next_time < o->time_count) f->at_time[p.next_time++] = p.quality;
    for (size_t i = 0; i < s.simulation.policy.queue.count; i++) free(s.simulation.policy.queue.tasks[i]);
    simulation_release(&s.simulation);
    strategy_free(s.strategy);
    return s.failed ? error_prefix(err, "strategy '%s'", class->name) : 0;
}

// All runs ------------------------------------------------------------------------------------------------------------

static int run(void *user, size_t strategy, size_t file, size_t seed, struct error *err)
{
    const struct simulated_runs *runs = user;
    const struct bench_options *o = &runs->o->bench;
    return run_one(runs, o->strategies[strategy], file, (uint64_t)o->first_seed + seed,
                   &runs->figures[bench_run_number(o, strategy, file, seed)], err);
}

// Rows ---------------------------------------------------------------------------------------------------------------

#define FIGURE(member) .place = offsetof(struct simulate_figures, member)
#define REACHED(member) .reached = offsetof(struct simulate_figures, member)
// The columns of each file other than the qualities.
static const struct bench_column columns[] = {
    {">s to 95%", "%.4g", FIGURE(seconds_to_95), REACHED(reached_95)},
    {">s to 99%", "%.4g", FIGURE(seconds_to_99), REACHED(reached_99)},
    {">n to 95%", "%.4g", FIGURE(evaluations_to_95), REACHED(reached_95)},
    {">reached 95%", "%.2f", FIGURE(reached_95)},
    {">reached 99%", "%.2f", FIGURE(reached_99)},
    {">compiled/measured", "%.3f", FIGURE(compiled_per_measured)},
    {">GPU idle", "%.3f", FIGURE(idle)},
};

static void add_columns(struct bench_rows *r, const struct simulate_options *o)
{
    r->kind = "sweetspot-simulation";
    r->budgets = " or simulated seconds";
    r->legend = "s and n\nto 95%: mean seconds and evaluations ('>': some runs ended before).";
    size_t n = 0;
    for (size_t i = 0; i < o->bench.budget_count; i++, n++) {
        r->columns[n] = (struct bench_column){.format = "%.4f", FIGURE(at_budget[i])};
        snprintf(r->columns[n].title, sizeof r->columns[n].title, ">@%lld", (long long)o->bench.budgets[i]);
    }
    for (size_t i = 0; i < o->time_count; i++, n++) {
        r->columns[n] = (struct bench_column){.format = "%.4f", FIGURE(at_time[i])};
        snprintf(r->columns[n].title, sizeof r->columns[n].title, ">@%gs", o->times[i]);
    }
    memcpy(r->columns + n, columns, sizeof columns);
    r->column_count = n + sizeof columns / sizeof *columns;
}

int simulate_run(struct bench_rows *rows, const struct simulate_options *options, struct error *err)
{
    const struct bench_options *o = &options->bench;
    size_t bytes = bench_runs(o) * sizeof(struct simulate_figures), seeds = (size_t)o->seeds;
    if (bench_open(rows, o, sizeof(struct simulate_figures), err)) return -1;
    struct simulated_runs runs = {.o = options, .durations = memory_new(o->file_count, sizeof *runs.durations)};
    int status = 0;
    for (size_t f = 0; f < o->file_count && !status; f++)
        status = find_durations(&runs.durations[f], o->files[f], &options->settings, o->paths[f], err);
    if (!status && !(runs.figures = bench_shared(bytes, err))) status = -1;
    if (!status) status = bench_deal(o, run, &runs, err);
    for (size_t i = 0; i < bench_runs(o) && !status; i++)
        bench_add((struct simulate_figures *)rows->cells + i / seeds, &runs.figures[i], rows->size, 1 / (double)seeds);
    bench_average(rows);
    add_columns(rows, options);
    bench_unshare(runs.figures, bytes);
    for (size_t f = 0; f < o->file_count; f++) {
        free(runs.durations[f].compile);
        free(runs.durations[f].gpu);
    }
    free(runs.durations);
    if (status) bench_release(rows);
    return status;
}
