// The output of compare for programs (compare.h); docs/json.md describes it.

#include "tuner/base/table.h"
#include "tuner/cli/compare.h"
#include "tuner/setup/sanitize.h"
#include "tuner/trial/trial_field.h"

int64_t compare_judged(const struct comparison *c, const struct final_entry *entry)
{
    struct trial trial;
    bool known = entry->trial > 0 && !store_get(c->session->store, entry->trial, &trial, NULL);
    return entry->launches_judged + (known ? trial.launches_judged : 0);
}

static json_t *entry_json(const struct comparison *c, const struct final_entry *entry, size_t p)
{
    const struct final_problem *problem = &entry->problems[p];
    const struct work_bounds *w = &c->work[p];
    double time = problem->time.value;
    struct final_error_ratios errors = {NAN, NAN};
    if (is_baseline(entry)) errors = final_error_ratios(&c->final, entry, p);
    json_t *energy = problem->energy ? record_write(&energy_record, problem->energy) : json_null();
    json_t *json = json_pack(
        "{s:s, s:o, s:b, s:b, s:s, s:s, s:o, s:I, s:o, s:o, s:o, s:o, s:o, s:o, s:I, s:o}", "name", entry->name,
        "trial", entry->trial ? json_integer(entry->trial) : json_null(), "winner", entry == final_choice(&c->final, p),
        "ok", entry->ok, "reason", entry->reason, "detail", entry->detail, "time", json_interval(&problem->time),
        "rounds", (json_int_t)problem->rounds, "ratio", json_interval(&problem->ratio), "flops_per_second",
        json_real(w->flops / time), "bytes_per_second", json_real(w->bytes / time), "ceiling_percent",
        json_real(100 * w->floor / time), "error_max", json_real(problem->error_max), "error_rms",
        json_real(problem->error_rms), "launches_judged", (json_int_t)compare_judged(c, entry), "energy", energy);
    json_object_set_new(json, "error_max_ratio", json_real(errors.max));
    json_object_set_new(json, "error_rms_ratio", json_real(errors.rms));
    return json;
}

// All figures that the search measured for the final's trials.
static json_t *json_trials(const struct comparison *c)
{
    json_t *trials = json_array();
    for (size_t i = 0; i < c->final.entry_count; i++) {
        struct trial trial;
        int64_t id = c->final.entries[i].trial;
        if (!id || store_get(c->session->store, id, &trial, NULL)) continue;
        json_t *figures = trial_json(FIELD_TRIAL, &trial);
        json_object_set_new(figures, "trial", json_integer((json_int_t)id));
        json_t *sanitized = store_get_document(c->session->store, id, SANITIZED_DOCUMENT, NULL, NULL);
        json_object_set_new(figures, "sanitizers", sanitized ? sanitized : json_null());
        json_array_append_new(trials, figures);
    }
    return trials;
}

static json_t *json_pipe(const struct comparison *c)
{
    const struct work_bounds *w = c->work;
    if (!w->pipe) return json_null();
    autofree char *words = work_ceiling_text(c->ceilings, w->pipe);
    return json_pack("{s:s, s:s, s:o, s:s}", "name", w->pipe->name, "unit", w->pipe->unit, "ceiling",
                     json_real(w->ceiling), "measured", words);
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
            json_object_set_new(problem, "regret", json_real(c->final.regret[p]));
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
    json_object_set_new(root, "within", json_real(c->final.document.decision.within));
    json_object_set_new(root, "minimize",
                        json_string(*c->final.document.decision.minimize ? c->final.document.decision.minimize
                                                                         : minimize_text[MINIMIZE_TIME]));
    json_object_set_new(root, "pipe", json_pipe(c));
    json_object_set_new(root, "by_process", by_process);
    json_object_set(root, "nvcc", c->builds ? c->builds : json_null());
    json_object_set_new(root, "compute", job_compute_class(job) ? json_string(job_compute_class(job)) : json_null());
    json_object_set_new(root, "trials", json_trials(c));
    return root;
}

static const struct row_column csv_columns[] = {COLUMN("job"),
                                                COLUMN("device"),
                                                COLUMN("problem"),
                                                COLUMN_OF("entry", "name"),
                                                COLUMN("trial"),
                                                COLUMN("winner"),
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
                                                COLUMN_OF("joules", "energy.joules.0"),
                                                COLUMN_OF("watts", "energy.watts"),
                                                {0}};

// One entry's result on one problem, with the job and the device.
static json_t *csv_row(const json_t *document, const json_t *problem, const json_t *entry)
{
    json_t *row = json_copy((json_t *)(uintptr_t)entry);
    const char *reason = json_get_string(entry, "reason", "");
    json_object_set(row, "job", json_object_get(document, "job"));
    json_object_set(row, "device", json_object_get(document, "device"));
    json_object_set(row, "problem", json_object_get(problem, "problem"));
    json_object_set_new(row, "winner", json_integer(json_get_bool(entry, "winner", false)));
    json_object_set_new(row, "status",
                        json_string(json_get_bool(entry, "ok", false) ? "ok"
                                    : *reason                         ? reason
                                                                      : "failed"));
    return row;
}

void compare_print_csv(const json_t *documents)
{
    autojson json_t *rows = json_array();
    json_array_each(documents, i, document)
        json_array_each(json_object_get(document, "problems"), p, problem)
            json_array_each(json_object_get(problem, "entries"), k, entry)
                json_array_append_new(rows, csv_row(document, problem, entry));
    rows_print(rows, csv_columns, true, stdout);
}
