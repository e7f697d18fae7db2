// What compare prints for programs (compare.h), which docs/formats.md describes.
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tuner/base/memory.h"
#include "tuner/base/text.h"
#include "tuner/cli/compare.h"
#include "tuner/explain/sanitized.h"
#include "tuner/final/builds_summary.h"
#include "tuner/header/header_section.h"
#include "tuner/setup/sanitize.h"
#include "tuner/trial/trial_field.h"

static void csv_number(struct table *table, double value)
{
    char text[32];
    table_cell(table, "%s", isfinite(value) ? text_show_number(value, text, sizeof text) : "");
}

// The figures of a trial that csv has columns for: those that are recorded and are one number.
static bool is_csv_figure(const struct trial_field *f)
{
    return f->flags & FIELD_RECORDED && (f->kind == FIELD_REAL || f->kind == FIELD_INTEGER || f->kind == FIELD_COUNT);
}

// The search's figures of the entry's trial and of the problem; empty for a baseline.
static void csv_figures(struct table *table, const struct comparison *c, const struct final_entry *entry, size_t p)
{
    size_t count;
    const struct trial_field *fields = trial_fields(&count);
    struct trial trial;
    bool known = entry->trial && !store_get(c->session->store, entry->trial, &trial, NULL);
    for (size_t i = 0; i < count; i++) {
        const void *record = fields[i].level == FIELD_TRIAL ? (const void *)&trial : NULL;
        if (known && fields[i].level == FIELD_PROBLEM && p < trial.problem_count) record = &trial.problems[p];
        if (!is_csv_figure(&fields[i])) continue;
        json_t *value = known && record ? field_json(&fields[i], record) : NULL;
        csv_number(table, json_is_number(value) ? json_number_value(value) : NAN);
        json_decref(value);
    }
}

// The line for nvcc's build of the winner; its ratio is its time over that of NVRTC's build.
static void csv_build(struct table *table, const struct comparison *c, size_t p)
{
    const json_t *problem = json_array_get(json_object_get(c->builds, "problems"), p);
    struct interval time = json_get_interval(problem, PROTOCOL_NVCC), ratio = json_get_interval(problem, "ratio");
    size_t count;
    const struct trial_field *fields = trial_fields(&count);
    if (!problem) return;
    table_cell(table, "%s", c->session->job->name);
    table_cell(table, "%s", c->session->environment.device);
    table_cell(table, "%s", c->session->job->problems[p].name);
    const char *texts[] = {json_get_string(c->builds, "compiler", ""), "", "0", "ok"};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) table_cell(table, "%s", texts[i]);
    const double times[] = {time.value,
                            time.low,
                            time.high,
                            NAN,
                            ratio.value,
                            ratio.low,
                            ratio.high,
                            c->work[p].flops / time.value,
                            c->work[p].bytes / time.value,
                            100 * c->work[p].floor / time.value,
                            NAN,
                            NAN};
    for (size_t i = 0; i < sizeof times / sizeof *times; i++) csv_number(table, times[i]);
    table_cell(table, "%s", "");
    for (size_t i = 0; i < count; i++)
        if (is_csv_figure(&fields[i])) table_cell(table, "%s", "");
}

static const char *const csv_titles[] = {"job",
                                         "device",
                                         "problem",
                                         "entry",
                                         "trial",
                                         "winner",
                                         "status",
                                         "time",
                                         "time_low",
                                         "time_high",
                                         "rounds",
                                         "ratio",
                                         "ratio_low",
                                         "ratio_high",
                                         "flops_per_second",
                                         "bytes_per_second",
                                         "ceiling_percent",
                                         "error_max",
                                         "error_rms",
                                         "sanitizers"};
enum { CSV_TITLES = sizeof csv_titles / sizeof *csv_titles };

// The columns are the same for every job: the final's results, then the trial's figures from the search.
struct table *compare_csv(void)
{
    size_t count, used = CSV_TITLES;
    const struct trial_field *fields = trial_fields(&count);
    const char **titles = memory_new(CSV_TITLES + count + 1, sizeof *titles);
    memcpy(titles, csv_titles, sizeof csv_titles);
    for (size_t i = 0; i < count; i++)
        if (is_csv_figure(&fields[i])) titles[used++] = text_format("trial_%s", fields[i].name);
    struct table *table = table_new(titles);
    for (size_t i = CSV_TITLES; i < used; i++) free((char *)(uintptr_t)titles[i]);
    free(titles);
    return table;
}

void compare_csv_add(struct table *table, const struct comparison *c)
{
    const struct job *job = c->session->job;
    for (size_t p = 0; p < job->tuned_count; p++) {
        for (size_t i = 0; i < c->final.entry_count; i++) {
            const struct final_entry *entry = &c->final.entries[i];
            const struct final_problem *problem = &entry->problems[p];
            double time = problem->time.value;
            table_cell(table, "%s", job->name);
            table_cell(table, "%s", c->session->environment.device);
            table_cell(table, "%s", job->problems[p].name);
            table_cell(table, "%s", entry->name);
            if (entry->trial)
                table_cell(table, "%" PRId64, entry->trial);
            else
                table_cell(table, "%s", "");
            table_cell(table, "%d", entry == final_choice(&c->final, p));
            table_cell(table, "%s", entry->ok ? "ok" : entry->reason[0] ? entry->reason : "failed");
            const double numbers[] = {time, problem->time.low, problem->time.high};
            for (size_t k = 0; k < 3; k++) csv_number(table, numbers[k]);
            table_cell(table, "%zu", problem->rounds);
            const double more[] = {problem->ratio.value,    problem->ratio.low,      problem->ratio.high,
                                   c->work[p].flops / time, c->work[p].bytes / time, 100 * c->work[p].floor / time,
                                   problem->error_max,      problem->error_rms};
            for (size_t k = 0; k < sizeof more / sizeof *more; k++) csv_number(table, more[k]);
            json_t *sanitized = session_trial_document(c->session, entry->trial, SANITIZED_DOCUMENT);
            char *words = sanitized_text(sanitized);
            table_cell(table, "%s", words ? words : "");
            free(words);
            json_decref(sanitized);
            csv_figures(table, c, entry, p);
        }
        csv_build(table, c, p);
    }
}

// All figures that the search has of the final's trials.
static json_t *json_trials(const struct comparison *c)
{
    json_t *trials = json_array();
    for (size_t i = 0; i < c->final.entry_count; i++) {
        struct trial trial;
        int64_t id = c->final.entries[i].trial;
        if (!id || store_get(c->session->store, id, &trial, NULL)) continue;
        json_t *figures = trial_json(FIELD_TRIAL, &trial);
        json_object_set_new(figures, "trial", json_integer((json_int_t)id));
        json_t *sanitized = session_trial_document(c->session, id, SANITIZED_DOCUMENT);
        json_object_set_new(figures, "sanitizers", sanitized ? sanitized : json_null());
        json_array_append_new(trials, figures);
    }
    return trials;
}

static json_t *json_pipe(const struct comparison *c)
{
    const struct work_bounds *w = c->work;
    if (!w->pipe) return json_null();
    char *words = work_ceiling_text(c->ceilings, w->pipe);
    json_t *pipe = json_pack("{s:s, s:s, s:o, s:s}", "name", w->pipe->name, "unit", w->pipe->unit, "ceiling",
                             json_real_or_null(w->ceiling), "measured", words);
    free(words);
    return pipe;
}

json_t *compare_json(const struct comparison *c)
{
    const struct environment *environment = &c->session->environment;
    const struct job *job = c->session->job;
    json_t *ties = json_array(), *problems = json_array(), *overall = json_object(), *by_process = json_array();
    for (size_t i = 0; i < c->final.tie_count; i++) json_array_append_new(ties, json_integer(c->final.ties[i]));
    for (size_t p = 0; p < job->tuned_count; p++) {
        json_t *entries = json_array();
        for (size_t i = 0; i < c->final.entry_count; i++) {
            const struct final_entry *entry = &c->final.entries[i];
            const struct final_problem *problem = &entry->problems[p];
            double time = problem->time.value;
            json_array_append_new(
                entries,
                json_pack("{s:s, s:o, s:b, s:b, s:s, s:o, s:I, s:o, s:o, s:o, s:o, s:o, s:o}", "name", entry->name,
                          "trial", entry->trial ? json_integer(entry->trial) : json_null(), "winner",
                          entry == final_choice(&c->final, p), "ok", entry->ok, "reason", entry->reason, "time",
                          json_interval(&problem->time), "rounds", (json_int_t)problem->rounds, "ratio",
                          json_interval(&problem->ratio), "flops_per_second",
                          json_real_or_null(c->work[p].flops / time), "bytes_per_second",
                          json_real_or_null(c->work[p].bytes / time), "ceiling_percent",
                          json_real_or_null(100 * c->work[p].floor / time), "error_max",
                          json_real_or_null(problem->error_max), "error_rms", json_real_or_null(problem->error_rms)));
        }
        json_t *problem = json_pack("{s:s, s:b, s:o}", "problem", job->problems[p].name, "holdout",
                                    job->problems[p].holdout, "entries", entries);
        if (c->final.kernel_count) {
            json_object_set_new(problem, "kernel", json_integer((json_int_t)c->final.dispatch[p]));
            json_object_set_new(problem, "regret", json_real_or_null(c->final.regret[p]));
        }
        json_array_append_new(problems, problem);
    }
    for (size_t i = 0; i < c->final.entry_count; i++)
        if (c->final.entries[i].by_process)
            json_array_append_new(by_process, is_baseline(&c->final.entries[i])
                                                  ? json_string(c->final.entries[i].name)
                                                  : json_integer((json_int_t)c->final.entries[i].trial));
    for (size_t i = 0; i < c->final.entry_count; i++)
        if (is_baseline(&c->final.entries[i]))
            json_object_set_new(overall, c->final.entries[i].name, json_interval(&c->final.entries[i].ratio));
    json_t *root = json_pack("{s:s, s:s, s:s, s:s, s:f, s:I, s:b, s:I, s:s, s:o, s:o, s:o}", "job", job->name, "device",
                             environment->device, "driver", environment->driver, "compiler", environment->compiler,
                             "when", c->final.when, "rounds", (json_int_t)c->final.rounds, "replayed",
                             c->final.replayed, "winner", (json_int_t)c->final.winner, "configuration", c->config,
                             "ties", ties, "problems", problems, "geometric_mean_ratio", overall);
    json_object_set_new(root, "pipe", json_pipe(c));
    json_object_set_new(root, "by_process", by_process);
    json_object_set(root, "nvcc", c->builds ? c->builds : json_null());
    json_object_set_new(root, "compute", job_compute_class(job) ? json_string(job_compute_class(job)) : json_null());
    json_object_set_new(root, "trials", json_trials(c));
    return root;
}
