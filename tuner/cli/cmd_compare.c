// sweetspot compare: the winner of the newest final against every baseline that ran in it, from the rounds' paired
// times.
//
// Nothing here is measured: what the store holds is read and put side by side. The "ceilings" document, where there is
// one, gives what the device can do at most; the percentage is the time that the problem's work needs at the ceilings
// (tuner/run/work_bounds.h) over the time taken.
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "kernels/operation.h"
#include "tuner/base/memory.h"
#include "tuner/base/protocol.h"
#include "tuner/base/text.h"
#include "tuner/cli/commands.h"
#include "tuner/cli/options.h"
#include "tuner/cli/session.h"
#include "tuner/output/builds_summary.h"
#include "tuner/output/finals.h"
#include "tuner/output/header_section.h"
#include "tuner/output/sanitized.h"
#include "tuner/output/table.h"
#include "tuner/run/sanitize.h"
#include "tuner/run/work_bounds.h"
#include "tuner/run/work_check.h"
#include "tuner/store/builds.h"
#include "tuner/trial/trial_field.h"

struct comparison {
    struct session session;
    struct final final;
    struct work_bounds *work; // a tuned problem
    json_t *ceilings;         // the store's, or NULL
    char *config;             // of the winner
    json_t *builds;           // of the race of its builds (builds_summary.h); NULL: there was none
};

static int read_work(struct comparison *c)
{
    const struct job *job = c->session.job;
    struct error err = {""};
    c->ceilings = session_document(&c->session, "ceilings", NULL);
    c->work = memory_new(job->tuned_count, sizeof *c->work);
    for (size_t p = 0; p < job->tuned_count; p++) {
        if (!work_bounds(job, p, c->ceilings, &c->work[p], &err)) continue;
        fprintf(stderr, "%s: %s\n", job->path, err.message);
        return EXIT_USAGE;
    }
    return 0;
}

// A final that came after what is shown and did not say who wins.
static void mention_open_final(struct comparison *c, double decided)
{
    double when = 0;
    char text[32];
    json_t *document = session_document(&c->session, "open_final", &when);
    if (document && when > decided)
        fprintf(stderr, "sweetspot: the newest final, of %s, is not decided: %s\n",
                show_moment(when, text, sizeof text), json_get_string(document, "reason", ""));
    json_decref(document);
}

static int read_final(struct comparison *c)
{
    struct error err = {""};
    struct trial trial;
    double when = 0;
    json_t *document = session_document(&c->session, "final", &when);
    mention_open_final(c, when);
    if (!document) {
        char *tune = session_command(&c->session, "tune");
        fprintf(stderr,
                "sweetspot: the winner of %s has not been decided in a final yet; a run ends with one: %s (it goes on "
                "where it stopped)\n",
                c->session.job->name, tune);
        free(tune);
        return EXIT_NOTHING;
    }
    int status = final_read(&c->final, document, c->session.job->tuned_count, &err);
    json_decref(document);
    if (!status) status = store_get(c->session.store, c->final.winner, &trial, &err);
    if (status) {
        fprintf(stderr, "sweetspot: %s: %s\n", c->session.store_path,
                status > 0 ? "the final's winner is not among the trials" : err.message);
        return EXIT_NOTHING;
    }
    for (size_t p = 0; p < c->session.job->tuned_count; p++) {
        const char *name = c->session.job->problems[p].name;
        if (p < trial.problem_count && trial.problems[p].tuned && !strcmp(trial.problems[p].name, name)) continue;
        fprintf(stderr, "sweetspot: the final was about other problems than %s now has (%s): tune it again\n",
                c->session.job->path, name);
        return EXIT_NOTHING;
    }
    c->config = text_copy(trial.config);
    json_t *builds = session_document(&c->session, BUILDS_DOCUMENT, NULL);
    c->builds = builds_summary(builds, &c->final, c->session.job);
    json_decref(builds);
    return 0;
}

static bool is_baseline(const struct final_entry *entry)
{
    return !entry->trial;
}

// What the percentages are of.
static void print_ceilings(const struct comparison *c)
{
    const struct work_bounds *w = c->work;
    bool known = false;
    for (size_t p = 0; p < c->session.job->tuned_count; p++) known |= isfinite(w[p].floor);
    if (!known) return;
    char *memory = work_ceiling_words(c->ceilings, &pipes[PIPE_READ]),
         *arithmetic = w->pipe ? work_ceiling_words(c->ceilings, w->pipe) : text_copy("");
    printf(
        "Of ceiling: the least time of the work at what the device was measured to do, over the tuned one: %s%s%s.\n",
        arithmetic, *arithmetic && *memory ? "; " : "", memory);
    free(memory);
    free(arithmetic);
}

static json_t *json_pipe(const struct comparison *c)
{
    const struct work_bounds *w = c->work;
    if (!w->pipe) return json_null();
    char *words = work_ceiling_words(c->ceilings, w->pipe);
    json_t *pipe = json_pack("{s:s, s:s, s:o, s:s}", "name", w->pipe->name, "unit", w->pipe->unit, "ceiling",
                             json_real_or_null(w->ceiling), "measured", words);
    free(words);
    return pipe;
}

static void print_processes(const struct comparison *c)
{
    char text[32];
    for (size_t i = 0; i < c->final.entry_count; i++) {
        const struct final_entry *entry = &c->final.entries[i];
        if (!entry->by_process) continue;
        if (is_baseline(entry))
            printf("%s", entry->name);
        else
            printf("trial %" PRId64, entry->trial);
        printf(" takes one of two times, depending on the process that runs it:");
        for (size_t k = 0; k < entry->process_count; k++)
            printf("%s %s", k ? "," : "", show_time(entry->process_medians[k], text, sizeof text));
        printf("\n");
    }
}

static void print_table(const struct comparison *c)
{
    const struct final *final = &c->final;
    const struct job *job = c->session.job;
    char text[96], other[32], *device = session_device(&c->session);
    printf("%s on %s, final of %s, %" PRId64 " round%s%s\n", job->name, device,
           show_moment(final->when, text, sizeof text), final->rounds, final->rounds == 1 ? "" : "s",
           final->replayed ? ", replayed from a recording" : "");
    free(device);
    if (!final->kernel_count) printf("winner: trial %" PRId64 "  %s\n", final->winner, c->config);
    for (size_t k = 0; k < final->kernel_count; k++) {
        struct trial trial;
        bool known = !store_get(c->session.store, final->kernels[k], &trial, NULL);
        printf("kernel %zu: trial %" PRId64 "  %s\n", k, final->kernels[k], known ? trial.config : "");
    }
    for (size_t i = 0; i < final->tie_count; i++) {
        struct trial trial;
        bool known = !store_get(c->session.store, final->ties[i], &trial, NULL);
        printf("%s trial %" PRId64 "  %s\n", i ? "       " : "tie with", final->ties[i], known ? trial.config : "");
    }
    if (job_compute_class(job)) {
        const struct operation *op = operation_find(job->reference.operation, NULL);
        printf("compute class: %s%s\n", job_compute_class(job),
               strcmp(job_compute_class(job), op->classes[0]) ? ", not to be compared with results of others" : "");
    }
    // Titles depend on the baselines: at most two columns each.
    const char **titles = memory_new(2 * final->entry_count + 9, sizeof *titles);
    char **made = memory_new(2 * final->entry_count, sizeof *made);
    size_t count = 0, made_count = 0;
    titles[count++] = "problem";
    if (final->kernel_count) titles[count++] = ">kernel";
    if (final->kernel_count) titles[count++] = ">regret";
    titles[count++] = ">tuned";
    for (size_t i = 0; i < final->entry_count; i++) {
        if (!is_baseline(&final->entries[i])) continue;
        titles[count++] = made[made_count++] = text_format(">%s", final->entries[i].name);
        titles[count++] = made[made_count++] = text_format(">ratio to %s", final->entries[i].name);
    }
    titles[count++] = ">rate";
    titles[count++] = ">of ceiling";
    struct table *table = table_new(titles);
    for (size_t p = 0; p < job->tuned_count; p++) {
        const struct final_problem *ours = &final_choice(final, p)->problems[p];
        double time = ours->time.value, flops = c->work[p].flops, bytes = c->work[p].bytes,
               share = 100 * c->work[p].floor / time;
        table_cell(table, "%s%s", job->problems[p].name, job->problems[p].holdout ? " (held back)" : "");
        if (final->kernel_count) {
            table_cell(table, "%zu", final->dispatch[p]);
            table_cell(table, "%.1f%%", 100 * final->regret[p]);
        }
        table_cell(table, "%s", show_interval(&ours->time, text, sizeof text));
        for (size_t i = 0; i < final->entry_count; i++) {
            const struct final_entry *entry = &final->entries[i];
            if (!is_baseline(entry)) continue;
            table_cell(table, "%s",
                       isfinite(entry->problems[p].time.value)
                           ? show_time(entry->problems[p].time.value, other, sizeof other)
                           : "");
            table_cell(table, "%s", show_ratio(&entry->problems[p].ratio, text, sizeof text));
        }
        if (isfinite(flops / time) && !(flops / bytes < work_balance))
            table_cell(table, "%.2f TFLOP/s", flops / time / 1e12);
        else if (isfinite(bytes / time))
            table_cell(table, "%.0f GB/s", bytes / time / 1e9);
        else
            table_cell(table, "%s", "");
        if (isfinite(share))
            table_cell(table, "%.1f%%", share);
        else
            table_cell(table, "%s", "");
    }
    if (job->tuned_count > 1) {
        table_cell(table, "geometric mean");
        for (int i = 0; i < 2 && final->kernel_count; i++) table_cell(table, "%s", "");
        table_cell(table, "%s", "");
        for (size_t i = 0; i < final->entry_count; i++) {
            if (!is_baseline(&final->entries[i])) continue;
            table_cell(table, "%s", "");
            table_cell(table, "%s", show_ratio(&final->entries[i].ratio, text, sizeof text));
        }
        table_cell(table, "%s", "");
        table_cell(table, "%s", "");
    }
    printf("\n");
    table_print(table, stdout);
    table_free(table);
    for (size_t i = 0; i < made_count; i++) free(made[i]);
    free(made);
    free(titles);
    printf("\nRatio: the baseline's time over the tuned one's, above 1 the tuned kernel is faster; median of paired "
           "rounds with its 95%% interval.\n");
    print_ceilings(c);
    print_processes(c);
}

// A kernel may be faster because it is less exact: where its largest error is more than twice a library's, that is
// said.
static void print_larger_errors(const struct comparison *c)
{
    for (size_t i = 0; i < c->final.entry_count; i++) {
        const struct final_entry *library = &c->final.entries[i];
        for (size_t p = 0; p < c->session.job->tuned_count && is_baseline(library); p++) {
            double ratio = final_choice(&c->final, p)->problems[p].error_max / library->problems[p].error_max;
            if (isfinite(ratio) && ratio > 2)
                printf("The tuned kernel's largest error is %.1f times that of %s: %s\n", ratio, library->name,
                       c->session.job->problems[p].name);
        }
    }
}

static void print_errors(const struct comparison *c)
{
    const struct job *job = c->session.job;
    struct table *table =
        table_new((const char *[]){"error against fp64", "problem", ">largest", ">root mean square", NULL});
    bool any = false;
    for (size_t i = 0; i < c->final.entry_count; i++) {
        const struct final_entry *entry = &c->final.entries[i];
        for (size_t p = 0; p < job->tuned_count; p++) {
            const struct final_problem *problem = &entry->problems[p];
            if (!is_baseline(entry) && entry != final_choice(&c->final, p)) continue;
            if (isnan(problem->error_max) && isnan(problem->error_rms)) continue;
            table_cell(table, "%s", is_baseline(entry) ? entry->name : "tuned");
            table_cell(table, "%s", job->problems[p].name);
            if (isnan(problem->error_max))
                table_cell(table, "%s", "");
            else
                table_cell(table, "%.2e", problem->error_max);
            if (isnan(problem->error_rms))
                table_cell(table, "%s", "");
            else
                table_cell(table, "%.2e", problem->error_rms);
            any = true;
        }
    }
    if (any) {
        printf("\n");
        table_print(table, stdout);
        print_larger_errors(c);
    }
    table_free(table);
}

// The second opinion on the winner, or on each kernel.
static void print_sanitized(const struct comparison *c)
{
    const struct final *final = &c->final;
    for (size_t k = 0; k < (final->kernel_count ? final->kernel_count : 1); k++) {
        json_t *document = session_trial_document(&c->session, final->kernel_count ? final->kernels[k] : final->winner,
                                                  SANITIZED_DOCUMENT);
        const json_t *tools = json_object_get(document, "tools"), *tool;
        char *words = sanitized_words(document);
        size_t i;
        if (words && final->kernel_count) printf("\nkernel %zu, %s\n", k, words);
        if (words && !final->kernel_count) printf("\n%s\n", words);
        json_array_foreach(tools, i, tool)
        {
            if (!strcmp(json_get_string(tool, "status", ""), "clean")) continue;
            char *line = sanitized_tool_words(tool);
            printf("  %s: %s\n", json_get_string(tool, "tool", "?"), line);
            free(line);
        }
        free(words);
        json_decref(document);
    }
}

static void csv_number(struct table *table, double value)
{
    if (isfinite(value))
        table_cell(table, "%.9g", value);
    else
        table_cell(table, "%s", "");
}

// A trial's figures that a line of csv has room for: what is recorded and is one number.
static bool is_csv_figure(const struct trial_field *f)
{
    return f->flags & FIELD_RECORDED && (f->kind == FIELD_REAL || f->kind == FIELD_INTEGER || f->kind == FIELD_COUNT);
}

// What the search knew of the entry's trial: its figures, and those of the problem; empty for a baseline.
static void csv_figures(struct table *table, const struct comparison *c, const struct final_entry *entry, size_t p)
{
    size_t count;
    const struct trial_field *fields = trial_fields(&count);
    struct trial trial;
    bool known = entry->trial && !store_get(c->session.store, entry->trial, &trial, NULL);
    for (size_t i = 0; i < count; i++) {
        const void *record = fields[i].level == FIELD_TRIAL ? (const void *)&trial : NULL;
        if (known && fields[i].level == FIELD_PROBLEM && p < trial.problem_count) record = &trial.problems[p];
        if (!is_csv_figure(&fields[i])) continue;
        json_t *value = known && record ? field_json(&fields[i], record) : NULL;
        csv_number(table, json_is_number(value) ? json_number_value(value) : NAN);
        json_decref(value);
    }
}

// The line of nvcc's build of the winner: its ratio is its own time over that of NVRTC's build.
static void csv_build(struct table *table, const struct comparison *c, size_t p)
{
    const json_t *problem = json_array_get(json_object_get(c->builds, "problems"), p);
    struct interval time = header_interval(problem, PROTOCOL_NVCC), ratio = header_interval(problem, "ratio");
    size_t count;
    const struct trial_field *fields = trial_fields(&count);
    if (!problem) return;
    table_cell(table, "%s", c->session.job->problems[p].name);
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

static const char *const csv_titles[] = {"problem",
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

// One line a problem and entry, so that the columns are the same for every job. Behind what the final says are the
// trial's figures from the search.
static void print_csv(const struct comparison *c)
{
    const struct job *job = c->session.job;
    size_t count, used = CSV_TITLES;
    const struct trial_field *fields = trial_fields(&count);
    const char **titles = memory_new(CSV_TITLES + count + 1, sizeof *titles);
    memcpy(titles, csv_titles, sizeof csv_titles);
    for (size_t i = 0; i < count; i++)
        if (is_csv_figure(&fields[i])) titles[used++] = text_format("trial_%s", fields[i].name);
    struct table *table = table_new(titles);
    for (size_t p = 0; p < job->tuned_count; p++) {
        for (size_t i = 0; i < c->final.entry_count; i++) {
            const struct final_entry *entry = &c->final.entries[i];
            const struct final_problem *problem = &entry->problems[p];
            double time = problem->time.value;
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
            json_t *sanitized = session_trial_document(&c->session, entry->trial, SANITIZED_DOCUMENT);
            char *words = sanitized_words(sanitized);
            table_cell(table, "%s", words ? words : "");
            free(words);
            json_decref(sanitized);
            csv_figures(table, c, entry, p);
        }
        csv_build(table, c, p);
    }
    table_print_csv(table, stdout);
    table_free(table);
    for (size_t i = CSV_TITLES; i < used; i++) free((char *)(uintptr_t)titles[i]);
    free(titles);
}

static json_t *json_interval(const struct interval *interval)
{
    return json_pack("[o, o, o]", json_real_or_null(interval->value), json_real_or_null(interval->low),
                     json_real_or_null(interval->high));
}

// Every figure that the search knew of the final's trials.
static json_t *json_trials(const struct comparison *c)
{
    json_t *trials = json_array();
    for (size_t i = 0; i < c->final.entry_count; i++) {
        struct trial trial;
        int64_t id = c->final.entries[i].trial;
        if (!id || store_get(c->session.store, id, &trial, NULL)) continue;
        json_t *figures = trial_json(FIELD_TRIAL, &trial);
        json_object_set_new(figures, "trial", json_integer((json_int_t)id));
        json_t *sanitized = session_trial_document(&c->session, id, SANITIZED_DOCUMENT);
        json_object_set_new(figures, "sanitizers", sanitized ? sanitized : json_null());
        json_array_append_new(trials, figures);
    }
    return trials;
}

static void print_json(const struct comparison *c)
{
    const struct environment *environment = &c->session.environment;
    const struct job *job = c->session.job;
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
    json_dumpf(root, stdout, JSON_INDENT(2) | JSON_REAL_PRECISION(9));
    putchar('\n');
    json_decref(root);
}

static void warn_work(struct comparison *c)
{
    struct error warning;
    for (size_t p = 0; p < c->session.job->tuned_count; p++) {
        const struct final_entry *entry = final_choice(&c->final, p);
        if (!work_is_doubtful(c->session.job, p, entry->problems[p].time.value, c->ceilings, &warning)) continue;
        fprintf(stderr, "sweetspot: warning: %s\n", warning.message);
        break;
    }
}

static void warn_failed(const struct comparison *c)
{
    for (size_t i = 0; i < c->final.entry_count; i++) {
        const struct final_entry *entry = &c->final.entries[i];
        if (is_baseline(entry) && !entry->ok)
            fprintf(stderr, "sweetspot: no time of %s: %s\n", entry->name,
                    entry->reason[0] ? entry->reason : "it failed in the final");
    }
}

int cmd_compare(int argc, char **argv)
{
    struct {
        const char *job, *store;
        int format;
    } o = {0};
    const struct option_spec specs[] = {OPTION_JOB(&o.job), OPTION_STORE(&o.store), OPTION_FORMAT(&o.format),
                                        OPTION_END};
    int status = options_parse(
        specs,
        "Compares the winner with the baselines that ran beside it in the newest final: times, ratios with their 95% "
        "intervals, rates, and errors against a computation in double precision. Exit status 1 when there is no final "
        "yet.",
        argc, argv);
    if (status >= 0) return status;
    struct comparison c = {0};
    if ((status = session_open(&c.session, o.job, o.store)) || (status = session_build_space(&c.session)) ||
        (status = read_final(&c)) || (status = read_work(&c)))
        goto out;
    warn_failed(&c);
    warn_work(&c);
    if (o.format == FORMAT_CSV) {
        print_csv(&c);
    } else if (o.format == FORMAT_JSON) {
        print_json(&c);
    } else {
        print_table(&c);
        print_errors(&c);
        print_sanitized(&c);
        builds_print(c.builds, c.session.environment.compiler);
    }
out:
    free(c.work);
    json_decref(c.ceilings);
    free(c.config);
    json_decref(c.builds);
    final_release(&c.final);
    session_close(&c.session);
    return status;
}
