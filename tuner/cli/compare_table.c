// What compare prints for people (compare.h).
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "kernels/operation.h"
#include "tuner/base/memory.h"
#include "tuner/base/table.h"
#include "tuner/base/text.h"
#include "tuner/cli/compare.h"
#include "tuner/explain/sanitized.h"
#include "tuner/final/builds_summary.h"
#include "tuner/setup/sanitize.h"

static const char about_ratios[] = "Ratio: the baseline's time over the tuned one's, above 1 the tuned kernel is "
                                   "faster; median of paired rounds with its 95% interval.\n";

// The rate, and the share of the ceiling in percent.
static void rate_cells(struct table *table, double flops_per_second, double bytes_per_second, double share)
{
    if (isfinite(flops_per_second) && !(flops_per_second / bytes_per_second < work_balance))
        table_cell(table, "%.2f TFLOP/s", flops_per_second / 1e12);
    else if (isfinite(bytes_per_second))
        table_cell(table, "%.0f GB/s", bytes_per_second / 1e9);
    else
        table_cell(table, "%s", "");
    if (isfinite(share))
        table_cell(table, "%.1f%%", share);
    else
        table_cell(table, "%s", "");
}

// Explains the percentages.
static void print_ceilings(const struct comparison *c)
{
    const struct work_bounds *w = c->work;
    bool known = false;
    for (size_t p = 0; p < c->session->job->tuned_count; p++) known |= isfinite(w[p].floor);
    if (!known) return;
    char *memory = work_ceiling_text(c->ceilings, &execution_units[UNIT_READ]),
         *arithmetic = w->pipe ? work_ceiling_text(c->ceilings, w->pipe) : text_copy("");
    printf("Of ceiling: the least time that the work takes at the measured ceilings, over the tuned time: %s%s%s.\n",
           arithmetic, *arithmetic && *memory ? "; " : "", memory);
    free(memory);
    free(arithmetic);
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
    const struct job *job = c->session->job;
    char text[96], other[32], *device = session_device(c->session);
    printf("%s on %s, final of %s, %" PRId64 " round%s%s\n", job->name, device,
           show_moment(final->when, text, sizeof text), final->rounds, final->rounds == 1 ? "" : "s",
           final->replayed ? ", replayed from a recording" : "");
    free(device);
    if (!final->kernel_count) printf("winner: trial %" PRId64 "  %s\n", final->winner, c->config);
    for (size_t k = 0; k < final->kernel_count; k++) {
        struct trial trial;
        bool known = !store_get(c->session->store, final->kernels[k], &trial, NULL);
        printf("kernel %zu: trial %" PRId64 "  %s\n", k, final->kernels[k], known ? trial.config : "");
    }
    for (size_t i = 0; i < final->tie_count; i++) {
        struct trial trial;
        bool known = !store_get(c->session->store, final->ties[i], &trial, NULL);
        printf("%s trial %" PRId64 "  %s\n", i ? "       " : "tie with", final->ties[i], known ? trial.config : "");
    }
    if (job_compute_class(job)) {
        const struct operation *op = job_operation(job);
        printf("compute class: %s%s\n", job_compute_class(job),
               strcmp(job_compute_class(job), op->classes[0]) ? "; do not compare with results of other classes" : "");
    }
    // The titles depend on the baselines, which have at most two columns each.
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
        rate_cells(table, flops / time, bytes / time, share);
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
    printf("\n%s", about_ratios);
    print_ceilings(c);
    print_processes(c);
}

// A kernel may be faster because it is less exact: a note says so if its largest error is more than twice a library's.
static void print_larger_errors(const struct comparison *c)
{
    for (size_t i = 0; i < c->final.entry_count; i++) {
        const struct final_entry *library = &c->final.entries[i];
        for (size_t p = 0; p < c->session->job->tuned_count && is_baseline(library); p++) {
            double ratio = final_choice(&c->final, p)->problems[p].error_max / library->problems[p].error_max;
            if (isfinite(ratio) && ratio > 2)
                printf("The tuned kernel's largest error is %.1f times that of %s: %s\n", ratio, library->name,
                       c->session->job->problems[p].name);
        }
    }
}

static void print_errors(const struct comparison *c)
{
    const struct job *job = c->session->job;
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
        json_t *document = session_trial_document(c->session, final->kernel_count ? final->kernels[k] : final->winner,
                                                  SANITIZED_DOCUMENT);
        const json_t *tools = json_object_get(document, "tools"), *tool;
        char *words = sanitized_text(document);
        size_t i;
        if (words && final->kernel_count) printf("\nkernel %zu, %s\n", k, words);
        if (words && !final->kernel_count) printf("\n%s\n", words);
        json_array_foreach(tools, i, tool)
        {
            if (!strcmp(json_get_string(tool, "status", ""), "clean")) continue;
            char *line = sanitized_tool_text(tool);
            printf("  %s: %s\n", json_get_string(tool, "tool", "?"), line);
            free(line);
        }
        free(words);
        json_decref(document);
    }
}

void compare_print(const struct comparison *c)
{
    print_table(c);
    print_errors(c);
    print_sanitized(c);
    builds_print(c->builds, c->session->environment.compiler);
}

// The baselines of all documents, in the order in which they first appear: {"cublas":{}, ..}.
static json_t *baselines_of(const json_t *documents)
{
    json_t *names = json_object();
    const json_t *document, *problem, *entry;
    size_t i, p, e;
    json_array_foreach(documents, i, document) json_array_foreach(json_object_get(document, "problems"), p, problem)
        json_array_foreach(json_object_get(problem, "entries"), e, entry)
    {
        if (!json_get_integer(entry, "trial", 0))
            json_object_set_new(names, json_get_string(entry, "name", "?"), json_object());
    }
    return names;
}

static const json_t *find_entry(const json_t *problem, const char *baseline)
{
    const json_t *entry;
    size_t i;
    json_array_foreach(json_object_get(problem, "entries"), i, entry)
    {
        if (baseline ? !json_get_integer(entry, "trial", 0) && !strcmp(json_get_string(entry, "name", ""), baseline)
                     : json_get_bool(entry, "winner", false))
            return entry;
    }
    return NULL;
}

static void job_cells(struct table *table, const json_t *document)
{
    table_cell(table, "%s", json_get_string(document, "job", ""));
    table_cell(table, "%s", json_get_string(document, "device", ""));
}

static void add_mean(struct table *table, const json_t *document, json_t *baselines)
{
    const json_t *means = json_object_get(document, "geometric_mean_ratio");
    const char *name;
    json_t *unused;
    char text[96];
    job_cells(table, document);
    table_cell(table, "geometric mean");
    table_cell(table, "%s", "");
    json_object_foreach(baselines, name, unused)
    {
        struct interval ratio = json_get_interval(means, name);
        table_cell(table, "%s", "");
        table_cell(table, "%s", show_ratio(&ratio, text, sizeof text));
    }
    rate_cells(table, NAN, NAN, NAN);
}

static void add_problem(struct table *table, const json_t *document, const json_t *problem, json_t *baselines)
{
    const json_t *ours = find_entry(problem, NULL), *theirs;
    struct interval time = json_get_interval(ours, "time");
    const char *name;
    json_t *unused;
    char text[96];
    job_cells(table, document);
    table_cell(table, "%s%s", json_get_string(problem, "problem", ""),
               json_get_bool(problem, "holdout", false) ? " (held back)" : "");
    table_cell(table, "%s", show_interval(&time, text, sizeof text));
    json_object_foreach(baselines, name, unused)
    {
        theirs = find_entry(problem, name);
        struct interval their_time = json_get_interval(theirs, "time"), ratio = json_get_interval(theirs, "ratio");
        table_cell(table, "%s", isfinite(their_time.value) ? show_time(their_time.value, text, sizeof text) : "");
        table_cell(table, "%s", show_ratio(&ratio, text, sizeof text));
    }
    rate_cells(table, json_get_number(ours, "flops_per_second", NAN), json_get_number(ours, "bytes_per_second", NAN),
               json_get_number(ours, "ceiling_percent", NAN));
}

void compare_print_all(const json_t *documents)
{
    json_t *baselines = baselines_of(documents), *unused;
    const json_t *document, *problem;
    const char *name;
    size_t room = 2 * json_object_size(baselines) + 7, count = 0, i, p;
    char **titles = memory_new(room, sizeof *titles);
    static const char *const before[] = {"job", "device", "problem", ">tuned"}, *const after[] = {">rate",
                                                                                                  ">of ceiling"};
    for (i = 0; i < 4; i++) titles[count++] = text_copy(before[i]);
    json_object_foreach(baselines, name, unused)
    {
        titles[count++] = text_format(">%s", name);
        titles[count++] = text_format(">ratio to %s", name);
    }
    for (i = 0; i < 2; i++) titles[count++] = text_copy(after[i]);
    struct table *table = table_new((const char *const *)titles);
    json_array_foreach(documents, i, document)
    {
        const json_t *problems = json_object_get(document, "problems");
        json_array_foreach(problems, p, problem)
        {
            add_problem(table, document, problem, baselines);
        }
        if (json_array_size(problems) > 1) add_mean(table, document, baselines);
    }
    table_print(table, stdout);
    printf("\n%sMore about one job: sweetspot compare JOB\n", about_ratios);
    table_free(table);
    while (count) free(titles[--count]);
    free(titles);
    json_decref(baselines);
}
