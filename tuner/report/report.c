// A job's entry in the report. Each of its environments becomes a RESULT, which consists of the parts in the other
// files.
#include "tuner/report/report.h"

#include "tuner/base/clock.h"
#include "tuner/final/final_values.h"
#include "tuner/report/report_parts.h"
#include "tuner/trial/trial_field.h"

enum { REPORT_VERSION = 4, POINTS_MOST = 2000, POINTS_LEAST = 300, POINTS_TOGETHER = 24000 };

size_t report_points_of(size_t jobs)
{
    size_t share = POINTS_TOGETHER / (jobs ? jobs : 1);
    return share > POINTS_MOST ? POINTS_MOST : share < POINTS_LEAST ? POINTS_LEAST : share;
}

// A RESULT ----------------------------------------------------------------------------------------------------------

static json_t *counts_json(const struct result *r)
{
    int64_t counts[STATUS_COUNT] = {0};
    for (size_t i = 0; i < r->table.count; i++) counts[r->table.rows[i].status]++;
    return trial_counts_json(counts);
}

static json_t *best_json(const struct result *r)
{
    struct trial trial;
    struct error err;
    if (r->best == SIZE_MAX || store_get(r->store, r->table.rows[r->best].id, &trial, &err)) return json_null();
    return json_pack("{s:I, s:s, s:f}", "trial", (json_int_t)trial.id, "config", trial.config, "time",
                     r->table.rows[r->best].time);
}

// Adds the results of `profile` for the winner or, if there are none, for the best trial.
static void set_profile(json_t *json, const struct result *r, int64_t winner)
{
    const int64_t trials[] = {winner, r->best == SIZE_MAX ? NO_TRIAL : r->table.rows[r->best].id};
    static const char *const kinds[] = {"limits", "findings"};
    json_t *profiled = json_null();
    for (size_t k = 0; k < sizeof kinds / sizeof *kinds; k++) {
        json_t *found = NULL;
        for (size_t i = 0; i < sizeof trials / sizeof *trials && !found; i++) {
            if (trials[i] != NO_TRIAL) found = store_get_document(r->store, trials[i], kinds[k], NULL, NULL);
            if (!found) continue;
            json_decref(profiled);
            profiled = json_integer((json_int_t)trials[i]);
        }
        json_object_set_new(json, kinds[k], found ? found : json_null());
    }
    json_object_set_new(json, "profiled_trial", profiled);
}

// Advice from the results about the values of the job's space; null without the job.
static json_t *values_json(const struct result *r, int64_t winner)
{
    if (!r->job_fits || r->best == SIZE_MAX) return json_null();
    const struct tried *best = &r->table.rows[r->best];
    autorelease(final_values_release) struct final_values values =
        final_values_find(r->store, r->source->job, winner == NO_TRIAL ? best->id : winner, best->time);
    return json_pack("{s:s, s:s}", "edges", values.edges, "idle", values.idle);
}

static int add_gate(void *user, double when, json_t *gate)
{
    (void)when;
    return gate ? json_array_append(user, gate) : 0;
}

// The command line of the last run, as far as it affects the result; null without a job file.
static json_t *reproduce_json(const struct result *r)
{
    const char *job = r->source->job_file;
    json_t *run = NULL;
    if (!job) return json_null();
    for (size_t i = r->runs.count; i-- && !run;) run = r->runs.runs[i].document;
    const char *device = json_get_string(run, "device", "0");
    autofree char *seed = text_format("%" PRId64, json_get_integer(run, "seed", 0));
    const char *const options[][2] = {{"--store", r->source->store_path},
                                      {"--strategy", json_get_string(run, "strategy", NULL)},
                                      {"--seed", run ? seed : NULL},
                                      {"--device", strcmp(device, "0") ? device : NULL}};
    autofree const char **words = NULL;
    size_t count = 0;
    memory_add(words, count) = "sweetspot";
    memory_add(words, count) = "tune";
    memory_add(words, count) = job;
    for (size_t i = 0; i < sizeof options / sizeof *options; i++)
        for (size_t k = 0; k < 2 && options[i][1]; k++) memory_add(words, count) = options[i][k];
    json_array_each(json_object_get(run, "pool"), i, pool) {
        memory_add(words, count) = "--pool";
        memory_add(words, count) = json_is_string(pool) ? json_string_value(pool) : "";
    }
    memory_add(words, count) = NULL;
    autofree char *line = text_command(words);
    return json_string(line);
}

// The beginning of a RESULT: its origin.
static json_t *facts_json(const struct result *r, bool current)
{
    const struct environment *e = &r->environment;
    const struct run_times *runs = &r->runs;
    bool replayed = json_get_bool(r->device, "replayed", false);
    json_t *recording = replayed ? json_object_get(r->device, "recording") : NULL;
    return json_pack("{s:s, s:s, s:s, s:s, s:s, s:b, s:b, s:O, s:s, s:o, s:o, s:I, s:o, s:f, s:f, s:f, s:o}", "device",
                     e->device, "arch", e->arch, "driver", e->driver, "compiler", e->compiler, "source_hash",
                     replayed ? json_get_string(recording, "source_hash", "") : e->source_hash, "current", current,
                     "replayed", replayed, "recording", recording, "objective",
                     r->job_fits ? objective_text[r->source->job->search.objective] : NULL, "problems",
                     result_problems(r), "counts", counts_json(r), "evaluations", (json_int_t)r->table.count, "space",
                     current && isfinite(r->source->space) ? json_integer((json_int_t)r->source->space) : NULL,
                     "started", runs->count ? runs->runs[0].started : NAN, "ended",
                     runs->count ? runs->runs[runs->count - 1].ended : NAN, "seconds", runs->seconds, "runs",
                     run_times_json(runs));
}

static int set_results(json_t *json, const struct result *r, struct error *err)
{
    struct report_final final;
    json_t *points = NULL;
    int status = report_final(r, &final, err);
    json_object_set_new(json, "verdict", json_string(final.verdict));
    json_object_set_new(json, "ratio", final.ratio);
    json_object_set_new(json, "best", best_json(r));
    json_object_set_new(json, "winner", final.winner);
    json_object_set_new(json, "baselines", report_baselines(r));
    json_object_set_new(json, "progress", report_progress(r));
    json_object_set_new(json, "importance_method", json_string(report_importance_method));
    json_object_set_new(json, "parameters", report_parameters(r));
    json_object_set_new(json, "trials", report_trials(r));
    json_object_set_new(json, "failures", report_failures(r));
    if (!status) status = report_points(r, &points, err);
    json_object_set_new(json, "points", points ? points : json_null());
    json_object_set_new(json, "final", final.json);
    json_t *gates = json_array();
    if (!status) status = store_each_document(r->store, 0, "gate", 0, add_gate, gates, err);
    json_object_set_new(json, "gates", gates);
    json_object_set_new(json, "values", values_json(r, final.trial));
    set_profile(json, r, final.trial);
    json_object_set_new(json, "reproduce", reproduce_json(r));
    return status;
}

static void result_release(struct result *r)
{
    trial_table_release(&r->table);
    run_times_release(&r->runs);
    for (size_t p = 0; p < r->problem_count; p++) free(r->problems[p].name);
    free(r->problems);
    json_decref(r->device);
}

// Adds a RESULT to the list, unless the environment has no trial.
static int add_result(json_t *list, struct result *r, bool current, struct error *err)
{
    int status = store_read_environment(r->store, r->environment.key, err);
    if (status > 0) status = error_set(err, "an environment of '%s' was deleted meanwhile", r->source->store_path);
    if (!status) status = trial_table_read(&r->table, r->store, err);
    if (!status && r->table.count) {
        r->device = result_document(r, "device", NULL);
        r->best = SIZE_MAX;
        for (size_t k = 0; k < r->table.timed && r->best == SIZE_MAX; k++)
            if (r->table.rows[r->table.order[k]].status == STATUS_OK) r->best = r->table.order[k];
        status = run_times_read(&r->runs, r->store, &r->table, err);
        if (!status) status = result_read_problems(r, err);
        if (!status) {
            json_t *json = facts_json(r, current);
            status = set_results(json, r, err);
            json_array_append_new(list, json);
        }
    }
    result_release(r);
    return status;
}

// A JOB -------------------------------------------------------------------------------------------------------------

struct environments {
    size_t count;
    struct environment *list;
    struct arena memory;
};

static int keep_environment(void *user, const struct environment *e)
{
    struct environments *all = user;
    memory_add(all->list, all->count) = environment_copy(&all->memory, e);
    return 0;
}

json_t *report_job(const struct report_source *source)
{
    struct environments all = {0};
    struct error err = {""};
    json_t *results = json_array();
    int status = source->store ? store_each_environment(source->store, keep_environment, &all, &err) : 0;
    for (size_t i = 0; i < all.count && !status; i++) {
        struct result r = {.source = source, .store = source->store, .environment = all.list[i]};
        status = add_result(results, &r, i == 0, &err);
    }
    const char *name = source->name       ? source->name
                       : all.count        ? all.list[0].job
                       : source->job_file ? source->job_file
                                          : source->store_path;
    const char *error = source->error ? source->error : status ? err.message : NULL;
    json_t *json = json_pack("{s:s, s:s, s:s, s:s, s:s, s:b, s:o}", "name", name ? name : "?", "title",
                             source->job && source->job->file.description ? source->job->file.description : "",
                             "job_file", source->job_file, "store", source->store_path, "error", error, "running",
                             source->store && store_holder(source->store) != 0, "results", results);
    free(all.list);
    arena_release(&all.memory);
    return json;
}

json_t *report_document_of(json_t *jobs, const char *program)
{
    return json_pack("{s:s, s:i, s:f, s:s, s:o}", "format", "sweetspot-report", "version", REPORT_VERSION, "made",
                     clock_wall(), "program", program, "jobs", jobs);
}
