// The output of compare for people (compare.h).

#include "kernels/operation.h"
#include "tuner/base/table.h"
#include "tuner/cli/compare.h"
#include "tuner/final/builds_summary.h"
#include "tuner/setup/sanitize.h"

static const char about_ratios[] = "Ratio: the baseline's time over the tuned kernel's (above 1: the tuned kernel is "
                                   "faster); median of paired rounds with its 95% interval.\n";

// The baselines of all documents, in the order in which they first appear: {"cublas":{}, ..}.
static json_t *baselines_of(const json_t *documents)
{
    json_t *names = json_object();
    json_array_each(documents, i, document)
        json_array_each(json_object_get(document, "problems"), p, problem)
            json_array_each(json_object_get(problem, "entries"), e, entry)
                if (!json_get_integer(entry, "trial", 0))
                    json_object_set_new(names, json_get_string(entry, "name", "?"), json_object());
    return names;
}

static const json_t *find_entry(const json_t *problem, const char *baseline)
{
    json_array_each(json_object_get(problem, "entries"), i, entry)
        if (baseline ? !json_get_integer(entry, "trial", 0) && !strcmp(json_get_string(entry, "name", ""), baseline)
                     : json_get_bool(entry, "winner", false))
            return entry;
    return NULL;
}

// Adds the line for one problem of a document or, if `problem` is NULL, the line with the mean over all problems.
// `one`: the table is for a single job.
static void add_line(struct table *table, const json_t *document, const json_t *problem, json_t *baselines, bool one)
{
    const json_t *ours = find_entry(problem, NULL);
    struct interval time = json_get_interval(ours, "time");
    double flops = json_get_number(ours, "flops_per_second", NAN),
           bytes = json_get_number(ours, "bytes_per_second", NAN);
    bool arithmetic = isfinite(flops) && !(flops / bytes < work_balance);
    table_texts(table, one ? "" : json_get_string(document, "job", ""),
                one ? "" : json_get_string(document, "device", ""));
    table_cell(table, "%s%s", problem ? json_get_string(problem, "problem", "") : "geometric mean",
               json_get_bool(problem, "holdout", false) ? " (held back)" : "");
    table_number(table, "%.0f", one ? json_get_number(problem, "kernel", NAN) : NAN);
    table_number(table, "%.1f%%", one ? 100 * json_get_number(problem, "regret", NAN) : NAN);
    table_cell(table, "%s", show_interval(&time, TEXT_ROOM));
    json_object_each(baselines, name, unused) {
        const json_t *theirs = find_entry(problem, name);
        struct interval their_time = json_get_interval(theirs, "time"),
                        ratio = problem ? json_get_interval(theirs, "ratio")
                                        : json_get_interval(json_object_get(document, "geometric_mean_ratio"), name);
        table_cell(table, "%s", isfinite(their_time.value) ? show_time(their_time.value, TEXT_ROOM) : "");
        table_cell(table, "%s", show_ratio(&ratio, TEXT_ROOM));
    }
    table_number(table, arithmetic ? "%.2f TFLOP/s" : "%.0f GB/s", arithmetic ? flops / 1e12 : bytes / 1e9);
    table_number(table, "%.1f%%", json_get_number(ours, "ceiling_percent", NAN));
}

// Prints the times and ratios of documents, with a line for each problem. Each baseline has two columns.
static void print_times(const json_t *documents, bool one)
{
    autojson json_t *baselines = baselines_of(documents);
    autofree const char **titles = memory_new(2 * json_object_size(baselines) + 9, sizeof *titles);
    size_t count = 0;
    autorelease(arena_release) struct arena memory = {NULL};
    static const char *const before[] = {"job", "device", "problem", ">kernel", ">regret", ">tuned"};
    for (size_t i = 0; i < sizeof before / sizeof *before; i++) titles[count++] = before[i];
    json_object_each(baselines, name, unused) {
        titles[count++] = arena_format(&memory, ">%s", name);
        titles[count++] = arena_format(&memory, ">ratio to %s", name);
    }
    titles[count++] = ">rate";
    titles[count++] = ">of ceiling";
    struct table *table = table_new(titles);
    json_array_each(documents, i, document) {
        const json_t *problems = json_object_get(document, "problems");
        json_array_each(problems, p, problem) add_line(table, document, problem, baselines, one);
        if (json_array_size(problems) > 1) add_line(table, document, NULL, baselines, one);
    }
    table_print(table, stdout);
    table_free(table);
}

// Explains the percentages.
static void print_ceilings(const struct comparison *c)
{
    const struct work_bounds *w = c->work;
    bool known = false;
    for (size_t p = 0; p < c->session->job->tuned_count; p++) known |= isfinite(w[p].floor);
    if (!known) return;
    autofree char *memory = work_ceiling_text(c->ceilings, &execution_units[UNIT_READ]),
                  *arithmetic = w->pipe ? work_ceiling_text(c->ceilings, w->pipe) : text_copy("");
    printf("Of ceiling: the work's shortest possible time at the measured ceilings, over the tuned time: %s%s%s.\n",
           arithmetic, *arithmetic && *memory ? "; " : "", memory);
}

// Prints which library algorithm, or which user function, the baselines used.
static void print_details(const struct comparison *c)
{
    for (size_t i = 0; i < c->final.entry_count; i++) {
        const struct final_entry *entry = &c->final.entries[i];
        if (is_baseline(entry) && *entry->detail) printf("%s: %s\n", entry->name, entry->detail);
    }
}

static void print_processes(const struct comparison *c)
{
    for (size_t i = 0; i < c->final.entry_count; i++) {
        const struct final_entry *entry = &c->final.entries[i];
        if (!entry->by_process) continue;
        if (is_baseline(entry))
            printf("%s", entry->name);
        else
            printf("trial %" PRId64, entry->trial);
        printf(" runs at one of two speeds, depending on the process that runs it:");
        for (size_t k = 0; k < entry->process_count; k++)
            printf("%s %s", k ? "," : "", show_time(entry->process_medians[k], TEXT_ROOM));
        printf("\n");
    }
}

static void print_table(const struct comparison *c)
{
    const struct final *final = &c->final;
    const struct job *job = c->session->job;
    autofree char *device = session_device(c->session);
    printf("%s on %s, final of %s, %" PRId64 " round%s%s\n", job->name, device, show_moment(final->when, TEXT_ROOM),
           final->rounds, final->rounds == 1 ? "" : "s", final->replayed ? ", replayed from a recording" : "");
    const struct final_decision *d = &final->document.decision;
    if (!final->kernel_count) printf("winner: trial %" PRId64 "  %s\n", final->winner, c->config);
    if (*d->minimize) printf("decided by %s\n", d->minimize);
    if (!strcmp(d->certainty, "undecided"))
        printf("undecided: another candidate may be %s by up to %.2g%%\n", *d->minimize ? "lower" : "faster",
               100 * d->within);
    if (job_unverified(job)) printf("%s\n", job_unverified(job));
    if (*d->warning) printf("warning: %s\n", d->warning);
    for (size_t k = 0; k < final->kernel_count; k++) {
        struct trial trial;
        bool known = !store_get(c->session->store, final->kernels[k], &trial, NULL);
        printf("kernel %zu: trial %" PRId64 "  %s\n", k, final->kernels[k], known ? trial.config : "");
    }
    for (size_t i = 0; i < final->tie_count; i++) {
        struct trial trial;
        bool known = !store_get(c->session->store, final->ties[i], &trial, NULL);
        printf("%s trial %" PRId64 "  %s\n", i ? "        " : "tie with", final->ties[i], known ? trial.config : "");
    }
    if (job_compute_class(job)) {
        const struct operation *op = job_operation(job);
        printf("compute class: %s%s\n", job_compute_class(job),
               strcmp(job_compute_class(job), op->classes[0]) ? "; do not compare with results of other classes" : "");
    }
    autojson json_t *documents = json_pack("[o]", compare_json(c));
    printf("\n");
    print_times(documents, true);
    printf("\n%s", about_ratios);
    print_ceilings(c);
    print_details(c);
    print_processes(c);
}

// A kernel may be faster because it is less accurate. Prints a note if the tuned kernel's largest error is more than
// twice a library's.
static void print_larger_errors(const struct comparison *c)
{
    for (size_t i = 0; i < c->final.entry_count; i++) {
        const struct final_entry *library = &c->final.entries[i];
        for (size_t p = 0; p < c->session->job->tuned_count && is_baseline(library); p++) {
            double ratio = final_error_ratios(&c->final, library, p).max;
            if (isfinite(ratio) && ratio > 2)
                printf("The tuned kernel's largest error is %.1f times that of %s: %s\n", ratio, library->name,
                       c->session->job->problems[p].name);
        }
    }
}

static void print_errors(const struct comparison *c)
{
    const struct job *job = c->session->job;
    struct table *table = table_new((const char *[]){"error against fp64", "problem", ">largest", ">root mean square",
                                                     ">ratio of largest", ">ratio of root mean square", NULL});
    bool any = false;
    for (size_t i = 0; i < c->final.entry_count; i++) {
        const struct final_entry *entry = &c->final.entries[i];
        for (size_t p = 0; p < job->tuned_count; p++) {
            const struct final_problem *problem = &entry->problems[p];
            if (!is_baseline(entry) && entry != final_choice(&c->final, p)) continue;
            if (isnan(problem->error_max) && isnan(problem->error_rms)) continue;
            table_texts(table, is_baseline(entry) ? entry->name : "tuned", job->problems[p].name);
            table_number(table, "%.2e", problem->error_max);
            table_number(table, "%.2e", problem->error_rms);
            struct final_error_ratios ratios = {NAN, NAN};
            if (is_baseline(entry)) ratios = final_error_ratios(&c->final, entry, p);
            table_number(table, "%.2f", ratios.max);
            table_number(table, "%.2f", ratios.rms);
            any = true;
        }
    }
    if (any) {
        printf("\n");
        table_print(table, stdout);
        printf("Ratio of errors: the tuned kernel's error over the baseline's.\n");
        print_larger_errors(c);
    }
    table_free(table);
}

// Prints the energy of the winner and the baselines.
static void print_energy(const struct comparison *c)
{
    const struct job *job = c->session->job;
    bool any = false;
    for (size_t i = 0; i < c->final.entry_count; i++) {
        const struct final_entry *entry = &c->final.entries[i];
        for (size_t p = 0; p < job->tuned_count; p++) {
            const struct energy_figures *energy = entry->problems[p].energy;
            if (!energy || (!is_baseline(entry) && entry != final_choice(&c->final, p))) continue;
            printf("%s%s, %s: %s\n", any ? "" : "\nenergy of one execution\n",
                   is_baseline(entry) ? entry->name : "tuned", job->problems[p].name, show_energy(energy, TEXT_ROOM));
            any = true;
        }
    }
}

// Prints the remaining risk that the results of the winner, or of each kernel, are wrong.
static void print_risk(const struct comparison *c)
{
    const struct final *final = &c->final;
    char text[96];
    for (size_t i = 0; i < final->entry_count; i++) {
        const struct final_entry *e = &final->entries[i];
        bool chosen = e->trial && e->trial == final->winner;
        for (size_t k = 0; k < final->kernel_count; k++) chosen |= e->trial == final->kernels[k];
        if (chosen && *show_remaining_risk(compare_judged(c, e), text, sizeof text))
            printf("\ntrial %" PRId64 ": %s\n", e->trial, text);
    }
}

// Prints the results of compute-sanitizer for the winner, or for each kernel.
static void print_sanitized(const struct comparison *c)
{
    const struct final *final = &c->final;
    for (size_t k = 0; k < (final->kernel_count ? final->kernel_count : 1); k++) {
        autojson json_t *document = store_get_document(
            c->session->store, final->kernel_count ? final->kernels[k] : final->winner, SANITIZED_DOCUMENT, NULL, NULL);
        const json_t *tools = json_object_get(document, "tools");
        autofree char *words = sanitized_text(document);
        if (words && final->kernel_count) printf("\nkernel %zu, %s\n", k, words);
        if (words && !final->kernel_count) printf("\n%s\n", words);
        json_array_each(tools, i, tool) {
            if (!strcmp(json_get_string(tool, "status", ""), "clean")) continue;
            autofree char *name = sanitized_tool_name(tool), *line = sanitized_tool_text(tool);
            printf("  %s: %s\n", name, line);
        }
    }
}

void compare_print(const struct comparison *c)
{
    print_table(c);
    print_energy(c);
    print_errors(c);
    print_risk(c);
    print_sanitized(c);
    builds_print(c->builds, c->session->environment.compiler);
}

void compare_print_all(const json_t *documents)
{
    print_times(documents, false);
    printf("\n%sMore about one job: sweetspot compare JOB\n", about_ratios);
}
