// The final of a job with objective "each". There are several winners: the fewest kernels that stay within the job's
// regret on every problem (search/model/kernel_set.h). The final measures the kernels that the search's times would
// choose, and the fastest kernel for each problem. It then chooses among these kernels by its own times.
#include "tuner/final/final.h"
#include "tuner/setup/wave_model.h"

// The search's times: a row for each trial, a column for each tuned problem.
struct matrix {
    struct final_run *f;
    size_t count, room;
    int64_t *trials;
    uint16_t (*configs)[SPACE_MAX_PARAMETERS];
    double *times;
};

static int add_row(void *user, const struct trial *trial)
{
    struct matrix *m = user;
    const struct job *job = m->f->with.job;
    if (m->count == m->room) {
        m->room = 2 * m->room + 256;
        m->trials = memory_grow(m->trials, m->room, sizeof *m->trials);
        m->configs = memory_grow(m->configs, m->room, sizeof *m->configs);
        m->times = memory_grow(m->times, m->room, job->tuned_count * sizeof *m->times);
    }
    if (space_parse(job->space, trial->config, m->configs[m->count], NULL) ||
        space_index(job->space, m->configs[m->count]) < 0)
        return 0;
    for (size_t p = 0; p < job->tuned_count; p++)
        m->times[m->count * job->tuned_count + p] = p < trial->problem_count ? trial->problems[p].time : NAN;
    m->trials[m->count++] = trial->id;
    return 0;
}

static int choose_set(const struct final_run *f, const double *times, size_t count, const double *relative_times,
                      struct kernel_set *set)
{
    const struct job *job = f->with.job;
    bool holdout[JOB_MAX_PROBLEMS];
    autofree int64_t *sizes = memory_new(job->tuned_count * job->names.size_count, sizeof *sizes);
    for (size_t p = 0; p < job->tuned_count; p++) {
        holdout[p] = job->problems[p].holdout;
        memcpy(sizes + p * job->names.size_count, job->problems[p].sizes, job->names.size_count * sizeof *sizes);
    }
    const struct kernel_times all = {count, job->tuned_count, job->names.size_count, times, holdout,
                                     sizes, relative_times};
    return kernel_set_find(&all, job->search.regret, set);
}

static void add_finalist(struct final_run *f, const struct matrix *m, size_t row)
{
    if (!final_find(f, m->trials[row])) final_add(f, m->configs[row], m->trials[row]);
}

int final_begin_each(struct final_run *f)
{
    struct matrix m = {.f = f};
    struct kernel_set set;
    struct error err;
    size_t problems = f->with.job->tuned_count, before = f->with.policy->queue.count;
    if (store_each(f->with.store, true, 0, STORE_WHOLE, add_row, &m, &err) < 0)
        fatal_error_set(f->with.failure, EXIT_ENVIRONMENT, &err);
    if (!f->with.failure->set && m.count && !choose_set(f, m.times, m.count, NULL, &set)) {
        for (size_t i = 0; i < set.count; i++) add_finalist(f, &m, set.chosen[i]);
        for (size_t p = 0; p < problems; p++)
            for (size_t c = 0; c < m.count; c++) {
                if (m.times[c * problems + p] > set.best[p]) continue;
                add_finalist(f, &m, c);
                break;
            }
        display_log(f->with.display, "%zu kernels suffice for %zu problems within a regret of %.3g", set.count,
                    problems, f->with.job->search.regret);
    }
    free(m.trials);
    free(m.configs);
    free(m.times);
    return (int)(f->with.policy->queue.count - before);
}

static void summarise_each(struct final_run *f, const struct kernel_set *set, const int64_t *trials)
{
    const struct job *job = f->with.job;
    display_log(f->with.display, "%zu kernels, largest regret %.4f", set->count, set->worst);
    if (isfinite(set->worst_holdout)) display_log(f->with.display, "held back: %.4f", set->worst_holdout);
    if (f->with.events) {
        final_event_kernels(f, set, trials);
        return;
    }
    display_clear(f->with.display);
    printf("%zu kernel%s for %zu problems%s\n", set->count, set->count == 1 ? "" : "s", job->tuned_count,
           set->exact ? "" : " (perhaps fewer suffice)");
    for (size_t k = 0; k < set->count; k++) {
        struct trial trial;
        struct error err;
        if (!store_get(f->with.store, trials[set->chosen[k]], &trial, &err))
            printf("  kernel %zu: trial %" PRId64 "  %s\n", k, trial.id, trial.config);
    }
    for (size_t p = 0; p < job->tuned_count; p++) {
        double time = set->best[p] * (1 + set->regret[p]);
        printf("  %s: kernel %zu, %s, %.1f%% over the best%s\n", job->problems[p].name, set->kernel[p],
               text_show_duration(time, TEXT_ROOM), 100 * set->regret[p],
               job->problems[p].holdout ? " (held back)" : "");
    }
    printf("  largest regret %.1f%%", 100 * set->worst);
    if (isfinite(set->worst_holdout)) printf(", on problems held back %.1f%%", 100 * set->worst_holdout);
    printf("\n");
}

// A finalist's relative time on each tuned problem; 1 on all of them if it is unknown.
static void find_wave_model(struct final_run *f, int64_t trial, struct wave_model *model)
{
    struct trial found;
    struct error err;
    if (!store_get(f->with.store, trial, &found, &err) &&
        !wave_model_find(f->with.job, &f->with.pool->first.limits, &found, model, &err))
        return;
    display_log(f->with.display, "the launch of trial %" PRId64 " cannot be computed: %s", trial, err.message);
    model->stage = -1;
    for (size_t p = 0; p < f->with.job->tuned_count; p++) model->of[p] = 1;
}

static bool stand(struct final_run *f, const struct kernel_set *set, const int64_t *trials)
{
    int64_t chosen[sizeof set->chosen / sizeof *set->chosen];
    for (size_t k = 0; k < set->count; k++) chosen[k] = trials[set->chosen[k]];
    return !final_sanitize(f, chosen, set->count);
}

static void describe(struct final_run *f, const struct kernel_set *set, const int64_t *trials,
                     const struct wave_model *models)
{
    struct final_decision *d = &f->decision;
    size_t problems = f->with.job->tuned_count;
    int64_t *kernels = arena_new(&f->decided, set->count * sizeof *kernels),
            *dispatch = arena_new(&f->decided, problems * sizeof *dispatch);
    double *regret = arena_new(&f->decided, problems * sizeof *regret);
    struct final_selector *selector = arena_new(&f->decided, set->count * sizeof *selector);
    for (size_t k = 0; k < set->count; k++) {
        const struct wave_model *model = &models[set->chosen[k]];
        kernels[k] = trials[set->chosen[k]];
        if (model->stage < 0) continue;
        selector[k].stage = arena_copy(&f->decided, f->with.job->stages[model->stage].name);
        selector[k].at_once = model->at_once;
    }
    for (size_t p = 0; p < problems; p++) {
        dispatch[p] = (int64_t)set->kernel[p];
        regret[p] = set->regret[p];
    }
    d->winner = kernels[0];
    d->kernels = kernels;
    d->dispatch = dispatch;
    d->regret = regret;
    d->selector = selector;
    d->kernel_count = d->selector_count = set->count;
    d->dispatch_count = d->regret_count = problems;
}

bool final_decide_each(struct final_run *f, const struct final_entries *entries)
{
    size_t problems = f->with.job->tuned_count, count = 0;
    int64_t rounds = 0;
    autofree double *times = memory_new(entries->count * problems, sizeof *times);
    autofree double *relative_times = memory_new(entries->count * problems, sizeof *relative_times);
    autofree int64_t *trials = memory_new(entries->count, sizeof *trials);
    autofree struct wave_model *models = memory_new(entries->count, sizeof *models);
    struct kernel_set set;
    for (size_t i = 0; i < entries->count; i++) {
        const struct final_entry_answer *e = &entries->list[i].answer;
        if (!e->trial || !final_passed(e)) continue;
        find_wave_model(f, e->trial, &models[count]);
        for (size_t p = 0; p < problems; p++) {
            const struct final_times *samples = final_entry_times(e, p);
            size_t used;
            times[count * problems + p] = final_median(samples, f->processes.of, 1, &used).value;
            relative_times[count * problems + p] = models[count].of[p];
            if (samples && (int64_t)samples->time_count > rounds) rounds = (int64_t)samples->time_count;
        }
        trials[count++] = e->trial;
    }
    bool decided = count && !choose_set(f, times, count, relative_times, &set) && stand(f, &set, trials);
    if (decided) {
        f->decision.rounds = rounds;
        describe(f, &set, trials, models);
        summarise_each(f, &set, trials);
    }
    return decided;
}
