// The final of a job with objective "each". There are several winners: the fewest kernels that stay within the job's
// regret on every problem (search/model/kernel_set.h). The final is between the ones that the search's times would
// choose and the fastest of each problem, and its own times choose among them again.
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "search/model/kernel_set.h"
#include "tuner/base/memory.h"
#include "tuner/base/stats.h"
#include "tuner/base/text.h"
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
    int64_t *sizes = memory_new(job->tuned_count * job->size_count, sizeof *sizes);
    for (size_t p = 0; p < job->tuned_count; p++) {
        holdout[p] = job->problems[p].holdout;
        memcpy(sizes + p * job->size_count, job->problems[p].sizes, job->size_count * sizeof *sizes);
    }
    int failed = kernel_set_find(times, count, job->tuned_count, holdout, sizes, job->size_count, relative_times,
                                 job->regret, set);
    free(sizes);
    return failed;
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
    if (store_each(f->with.store, true, 0, add_row, &m, &err) < 0)
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
                    problems, f->with.job->regret);
    }
    free(m.trials);
    free(m.configs);
    free(m.times);
    return (int)(f->with.policy->queue.count - before);
}

static void tell_kernels(struct final_run *f, const struct kernel_set *set, const int64_t *trials)
{
    json_t *kernels = json_array(), *problems = json_array();
    for (size_t k = 0; k < set->count; k++) {
        struct trial trial;
        struct error err;
        bool known = !store_get(f->with.store, trials[set->chosen[k]], &trial, &err);
        json_array_append_new(kernels, json_pack("{s:I, s:s}", "trial", (json_int_t)trials[set->chosen[k]], "config",
                                                 known ? trial.config : ""));
    }
    for (size_t p = 0; p < f->with.job->tuned_count; p++)
        json_array_append_new(problems, json_pack("{s:s, s:I, s:o, s:o, s:b}", "problem", f->with.job->problems[p].name,
                                                  "kernel", (json_int_t)set->kernel[p], "time",
                                                  json_real_or_null(set->best[p] * (1 + set->regret[p])), "regret",
                                                  json_real_or_null(set->regret[p]), "held_back",
                                                  (int)f->with.job->problems[p].holdout));
    final_event(f, "kernels",
                json_pack("{s:o, s:o, s:o}", "kernels", kernels, "problems", problems, "regret",
                          json_real_or_null(set->worst)));
}

static void summarise_each(struct final_run *f, const struct kernel_set *set, const int64_t *trials)
{
    const struct job *job = f->with.job;
    display_log(f->with.display, "%zu kernels, largest regret %.4f, held back %.4f", set->count, set->worst,
                set->worst_holdout);
    if (f->with.events) {
        tell_kernels(f, set, trials);
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
        char shown[32];
        double time = set->best[p] * (1 + set->regret[p]);
        printf("  %s: kernel %zu, %s, %.1f%% over the best%s\n", job->problems[p].name, set->kernel[p],
               text_show_duration(time, shown, sizeof shown), 100 * set->regret[p],
               job->problems[p].holdout ? " (held back)" : "");
    }
    printf("  largest regret %.1f%%", 100 * set->worst);
    if (isfinite(set->worst_holdout)) printf(", on problems held back %.1f%%", 100 * set->worst_holdout);
    printf("\n");
}

// What an entry did on a problem; NULL where it cannot do it.
static const json_t *final_problem(const json_t *entry, size_t problem)
{
    const json_t *one;
    size_t i;
    json_array_foreach(json_object_get(entry, "problems"), i, one)
    {
        if (json_get_integer(one, "problem", (int64_t)i) == (int64_t)problem) return one;
    }
    return NULL;
}

size_t final_objectives(const struct final_run *f, const json_t *entry, double **out)
{
    const json_t *lists[JOB_MAX_PROBLEMS];
    size_t rounds = f->with.job->tuned_count ? SIZE_MAX : 0;
    for (size_t p = 0; p < f->with.job->tuned_count; p++) {
        lists[p] = json_object_get(final_problem(entry, p), "times");
        if (json_array_size(lists[p]) < rounds) rounds = json_array_size(lists[p]);
    }
    *out = memory_new(rounds, sizeof **out);
    for (size_t i = 0; i < rounds; i++) {
        double times[JOB_MAX_PROBLEMS];
        for (size_t p = 0; p < f->with.job->tuned_count; p++) {
            const json_t *time = json_array_get(lists[p], i);
            times[p] = json_is_number(time) ? json_number_value(time) : NAN;
        }
        (*out)[i] = job_objective(f->with.job, times);
    }
    return rounds;
}

// A finalist's relative time on each tuned problem; alike where it cannot be told.
static void find_wave_model(struct final_run *f, int64_t trial, struct wave_model *model)
{
    struct trial found;
    struct error err;
    if (!store_get(f->with.store, trial, &found, &err) &&
        !wave_model_find(f->with.job, &f->with.pool->limits, &found, model, &err))
        return;
    display_log(f->with.display, "the launch of trial %" PRId64 " cannot be worked out: %s", trial, err.message);
    model->stage = -1;
    for (size_t p = 0; p < f->with.job->tuned_count; p++) model->of[p] = 1;
}

// What the header's selector needs of each kernel: [{"stage": name, "at_once": blocks}], null where unknown.
static json_t *describe_selector(const struct final_run *f, const struct kernel_set *set,
                                 const struct wave_model *models)
{
    json_t *list = json_array();
    for (size_t k = 0; k < set->count; k++) {
        const struct wave_model *model = &models[set->chosen[k]];
        json_array_append_new(list, model->stage < 0
                                        ? json_null()
                                        : json_pack("{s:s, s:I}", "stage", f->with.job->stages[model->stage].name,
                                                    "at_once", (json_int_t)model->at_once));
    }
    return list;
}

// The median over processes of each process's median.
static double median_time(const json_t *samples, const unsigned char *process, size_t known)
{
    size_t n = 0, total = json_array_size(samples);
    double *values = memory_new(total, sizeof *values);
    unsigned char *of = memory_new(total, 1);
    for (size_t i = 0; i < total; i++) {
        const json_t *time = json_array_get(samples, i);
        if (!json_is_number(time)) continue;
        of[n] = i < known ? process[i] : 0;
        values[n++] = json_number_value(time);
    }
    double median = stats_clustered_median(values, of, n, 0.95, 1).value;
    free(values);
    free(of);
    return median;
}

static bool stand(struct final_run *f, const struct kernel_set *set, const int64_t *trials)
{
    int64_t chosen[sizeof set->chosen / sizeof *set->chosen];
    for (size_t k = 0; k < set->count; k++) chosen[k] = trials[set->chosen[k]];
    return !final_sanitize(f, chosen, set->count);
}

json_t *final_decide_each(struct final_run *f, const json_t *list)
{
    unsigned char *process;
    size_t known = final_processes(f, &process);
    const json_t *entry;
    json_t *document = NULL;
    size_t problems = f->with.job->tuned_count, count = 0, rounds = 0, i;
    double *times = memory_new(json_array_size(list) * problems, sizeof *times);
    double *relative_times = memory_new(json_array_size(list) * problems, sizeof *relative_times);
    int64_t *trials = memory_new(json_array_size(list), sizeof *trials);
    struct wave_model *models = memory_new(json_array_size(list), sizeof *models);
    struct kernel_set set;
    json_array_foreach(list, i, entry)
    {
        if (!json_get_integer(entry, "trial", 0)) continue;
        if (status_find(json_get_string(entry, "status", "")) != STATUS_OK) continue;
        for (size_t p = 0; p < problems; p++) {
            const json_t *samples = json_object_get(final_problem(entry, p), "times");
            times[count * problems + p] = median_time(samples, process, known);
            if (json_array_size(samples) > rounds) rounds = json_array_size(samples);
        }
        find_wave_model(f, json_get_integer(entry, "trial", 0), &models[count]);
        for (size_t p = 0; p < problems; p++) relative_times[count * problems + p] = models[count].of[p];
        trials[count++] = json_get_integer(entry, "trial", 0);
    }
    if (count && !choose_set(f, times, count, relative_times, &set) && stand(f, &set, trials)) {
        json_t *kernels = json_array(), *dispatch = json_array(), *regrets = json_array();
        for (size_t k = 0; k < set.count; k++) json_array_append_new(kernels, json_integer(trials[set.chosen[k]]));
        for (size_t p = 0; p < problems; p++) {
            json_array_append_new(dispatch, json_integer((json_int_t)set.kernel[p]));
            json_array_append_new(regrets, json_real(set.regret[p]));
        }
        document = json_pack("{s:I, s:I, s:[], s:o, s:o, s:o, s:o}", "rounds", (json_int_t)rounds, "winner",
                             (json_int_t)trials[set.chosen[0]], "ties", "kernels", kernels, "dispatch", dispatch,
                             "regret", regrets, "selector", describe_selector(f, &set, models));
        summarise_each(f, &set, trials);
    }
    free(times);
    free(relative_times);
    free(models);
    free(trials);
    free(process);
    return document;
}
