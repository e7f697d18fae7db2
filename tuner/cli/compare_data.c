// What compare prints for programs (compare.h), which docs/formats.md describes.

#include "tuner/base/arena.h"
#include "tuner/base/base.h"
#include "tuner/base/rows.h"
#include "tuner/cli/compare.h"
#include "tuner/explain/sanitized.h"
#include "tuner/final/builds_summary.h"
#include "tuner/header/header_section.h"
#include "tuner/setup/sanitize.h"
#include "tuner/trial/trial_field.h"

// The time of an entry on a problem, and what follows from it.
static void add_time(json_t *to, const struct work_bounds *w, const struct interval *time, json_t *rounds,
                     const struct interval *ratio)
{
    json_t *figures = json_pack(
        "{s:o, s:o, s:o, s:o, s:o, s:o}", "time", json_interval(time), "rounds", rounds, "ratio", json_interval(ratio),
        "flops_per_second", json_real_or_null(w->flops / time->value), "bytes_per_second",
        json_real_or_null(w->bytes / time->value), "ceiling_percent", json_real_or_null(100 * w->floor / time->value));
    json_object_update(to, figures);
    json_decref(figures);
}

int64_t compare_judged(const struct comparison *c, const struct final_entry *entry)
{
    struct trial trial;
    bool known = entry->trial > 0 && !store_get(c->session->store, entry->trial, &trial, NULL);
    return entry->launches_judged + (known ? trial.launches_judged : 0);
}

static json_t *entry_json(const struct comparison *c, const struct final_entry *entry, size_t p)
{
    const struct final_problem *problem = &entry->problems[p];
    json_t *json = json_pack("{s:s, s:o, s:b, s:b, s:s}", "name", entry->name, "trial",
                             entry->trial ? json_integer(entry->trial) : json_null(), "winner",
                             entry == final_choice(&c->final, p), "ok", entry->ok, "reason", entry->reason);
    add_time(json, &c->work[p], &problem->time, json_integer((json_int_t)problem->rounds), &problem->ratio);
    json_object_set_new(json, "error_max", json_real_or_null(problem->error_max));
    json_object_set_new(json, "error_rms", json_real_or_null(problem->error_rms));
    json_object_set_new(json, "launches_judged", json_integer(compare_judged(c, entry)));
    return json;
}

// The document about the sanitizers, as words; null where there is none.
static json_t *sanitizers_text(const struct comparison *c, int64_t trial)
{
    json_t *sanitized = session_trial_document(c->session, trial, SANITIZED_DOCUMENT);
    char *words = sanitized_text(sanitized);
    json_t *text = words ? json_string(words) : json_null();
    free(words);
    json_decref(sanitized);
    return text;
}

// A line of csv: where it belongs, and what `entry` has. Takes the entry.
static void add_row(json_t *rows, const struct comparison *c, size_t p, bool winner, const char *status, json_t *entry)
{
    json_t *row =
        json_pack("{s:s, s:s, s:s, s:i, s:s}", "job", c->session->job->name, "device", c->session->environment.device,
                  "problem", c->session->job->problems[p].name, "won", (int)winner, "status", status);
    json_object_update(row, entry);
    json_decref(entry);
    json_array_append_new(rows, row);
}

// The line for nvcc's build of the winner; its ratio is its time over that of NVRTC's build.
static void add_build(json_t *rows, const struct comparison *c, size_t p)
{
    const json_t *problem = json_array_get(json_object_get(c->builds, "problems"), p);
    struct interval time = json_get_interval(problem, PROTOCOL_NVCC), ratio = json_get_interval(problem, "ratio");
    if (!problem) return;
    json_t *entry = json_pack("{s:s}", "name", json_get_string(c->builds, "compiler", ""));
    add_time(entry, &c->work[p], &time, NULL, &ratio);
    add_row(rows, c, p, false, "ok", entry);
}

void compare_add_rows(json_t *rows, const struct comparison *c)
{
    for (size_t p = 0; p < c->session->job->tuned_count; p++) {
        for (size_t i = 0; i < c->final.entry_count; i++) {
            const struct final_entry *entry = &c->final.entries[i];
            json_t *json = entry_json(c, entry, p);
            struct trial trial;
            bool known = entry->trial && !store_get(c->session->store, entry->trial, &trial, NULL);
            json_t *figures = known ? trial_json(FIELD_TRIAL, &trial) : json_object();
            json_object_set(json, "problem_figures", json_array_get(json_object_get(figures, "problems"), p));
            json_object_set_new(json, "trial_figures", figures);
            json_object_set_new(json, "sanitizers", sanitizers_text(c, entry->trial));
            add_row(rows, c, p, entry == final_choice(&c->final, p),
                    entry->ok          ? "ok"
                    : entry->reason[0] ? entry->reason
                                       : "failed",
                    json);
        }
        add_build(rows, c, p);
    }
}

static const struct row_column csv_columns[] = {COLUMN("job"),
                                                COLUMN("device"),
                                                COLUMN("problem"),
                                                COLUMN_OF("entry", "name"),
                                                COLUMN("trial"),
                                                COLUMN_OF("winner", "won"),
                                                COLUMN("status"),
                                                COLUMN_OF("time", "time.0"),
                                                COLUMN_OF("time_low", "time.1"),
                                                COLUMN_OF("time_high", "time.2"),
                                                COLUMN("rounds"),
                                                COLUMN_OF("ratio", "ratio.0"),
                                                COLUMN_OF("ratio_low", "ratio.1"),
                                                COLUMN_OF("ratio_high", "ratio.2"),
                                                COLUMN("flops_per_second"),
                                                COLUMN("bytes_per_second"),
                                                COLUMN("ceiling_percent"),
                                                COLUMN("error_max"),
                                                COLUMN("error_rms"),
                                                COLUMN("launches_judged"),
                                                COLUMN("sanitizers")};
enum { CSV_COLUMNS = sizeof csv_columns / sizeof *csv_columns };

// The columns are the same for every job: the final's results, then the figures of the search that are recorded and
// are one number.
void compare_print_csv(const json_t *rows, FILE *out)
{
    static const char *const levels[FIELD_LEVELS] = {"trial_figures", "problem_figures", "stage_figures"};
    size_t count, used = CSV_COLUMNS;
    const struct trial_field *fields = trial_fields(&count);
    struct row_column *columns = memory_new(CSV_COLUMNS + count + 1, sizeof *columns);
    struct arena memory = {NULL};
    memcpy(columns, csv_columns, sizeof csv_columns);
    for (const struct trial_field *f = fields; f < fields + count; f++)
        if (f->flags & FIELD_RECORDED && (f->kind == FIELD_REAL || f->kind == FIELD_INTEGER || f->kind == FIELD_COUNT))
            columns[used++] = (struct row_column)COLUMN_OF(arena_format(&memory, "trial_%s", f->name),
                                                           arena_format(&memory, "%s.%s", levels[f->level], f->name));
    struct table *table = rows_table(rows, columns);
    table_print_csv(table, out);
    table_free(table);
    arena_release(&memory);
    free(columns);
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
        for (size_t i = 0; i < c->final.entry_count; i++)
            json_array_append_new(entries, entry_json(c, &c->final.entries[i], p));
        json_t *problem = json_pack("{s:s, s:b, s:o}", "problem", job->problems[p].name, "holdout",
                                    job->problems[p].holdout, "entries", entries);
        if (c->final.kernel_count) {
            json_object_set_new(problem, "kernel", json_integer((json_int_t)c->final.dispatch[p]));
            json_object_set_new(problem, "regret", json_real_or_null(c->final.regret[p]));
        }
        json_array_append_new(problems, problem);
    }
    for (size_t i = 0; i < c->final.entry_count; i++) {
        const struct final_entry *entry = &c->final.entries[i];
        if (entry->by_process)
            json_array_append_new(by_process,
                                  is_baseline(entry) ? json_string(entry->name) : json_integer(entry->trial));
        if (is_baseline(entry)) json_object_set_new(overall, entry->name, json_interval(&entry->ratio));
    }
    json_t *root = json_pack("{s:s, s:s, s:s, s:s, s:f, s:I, s:b, s:I, s:s, s:o, s:o, s:o}", "job", job->name, "device",
                             environment->device, "driver", environment->driver, "compiler", environment->compiler,
                             "when", c->final.when, "rounds", (json_int_t)c->final.rounds, "replayed",
                             c->final.replayed, "winner", (json_int_t)c->final.winner, "configuration", c->config,
                             "ties", ties, "problems", problems, "geometric_mean_ratio", overall);
    json_object_set_new(root, "verified", json_boolean(!job_unverified(job)));
    json_object_set_new(root, "certainty", json_string(c->final.document.decision.certainty));
    json_object_set_new(root, "within", json_real_or_null(c->final.document.decision.within));
    json_object_set_new(root, "pipe", json_pipe(c));
    json_object_set_new(root, "by_process", by_process);
    json_object_set(root, "nvcc", c->builds ? c->builds : json_null());
    json_object_set_new(root, "compute", job_compute_class(job) ? json_string(job_compute_class(job)) : json_null());
    json_object_set_new(root, "trials", json_trials(c));
    return root;
}
