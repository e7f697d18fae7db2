// A job's entry of the report: its environments in turn, each a RESULT made of the parts in the other files.
#include "tuner/report/report.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "tuner/base/clock.h"
#include "tuner/base/memory.h"
#include "tuner/base/text.h"
#include "tuner/report/report_parts.h"

static const double an_hour = 3600;
enum { REPORT_VERSION = 2, POINTS_MOST = 2000, POINTS_LEAST = 300, POINTS_TOGETHER = 24000 };

size_t report_points_of(size_t jobs)
{
    size_t share = POINTS_TOGETHER / (jobs ? jobs : 1);
    return share > POINTS_MOST ? POINTS_MOST : share < POINTS_LEAST ? POINTS_LEAST : share;
}

// A RESULT ----------------------------------------------------------------------------------------------------------

static void set_counts(json_t *json, const struct result *r)
{
    size_t counts[STATUS_COUNT] = {0};
    json_t *words = json_object();
    for (size_t i = 0; i < r->table.count; i++) counts[r->table.status[i]]++;
    for (int s = 0; s < STATUS_COUNT; s++)
        if (counts[s])
            json_object_set_new(words, status_name((enum trial_status)s), json_integer((json_int_t)counts[s]));
    json_object_set_new(json, "counts", words);
    json_object_set_new(json, "evaluations", json_integer((json_int_t)r->table.count));
}

static json_t *best_json(const struct result *r)
{
    struct trial trial;
    struct error err;
    if (r->best == SIZE_MAX || store_get(r->store, r->table.ids[r->best], &trial, &err)) return json_null();
    return json_pack("{s:I, s:o, s:f}", "trial", (json_int_t)trial.id, "config",
                     json_text(trial.config, strlen(trial.config)), "time", r->table.times[r->best]);
}

// The results of `profile` for the winner, else for the best.
static void set_profile(json_t *json, const struct result *r, int64_t winner)
{
    const int64_t trials[] = {winner, r->best == SIZE_MAX ? NO_TRIAL : r->table.ids[r->best]};
    static const char *const kinds[] = {"limits", "findings"};
    json_t *profiled = json_null();
    for (size_t k = 0; k < sizeof kinds / sizeof *kinds; k++) {
        json_t *found = NULL;
        for (size_t i = 0; i < sizeof trials / sizeof *trials && !found; i++) {
            const char *text;
            struct error err;
            double when;
            if (trials[i] == NO_TRIAL || store_get_trial_document(r->store, trials[i], kinds[k], &text, &when, &err))
                continue;
            found = json_parse(text, &err);
            if (found) {
                json_decref(profiled);
                profiled = json_integer((json_int_t)trials[i]);
            }
        }
        json_object_set_new(json, kinds[k], found ? found : json_null());
    }
    json_object_set_new(json, "profiled_trial", profiled);
}

// A word of a command line, quoted where a shell would split it. malloc'ed.
static char *shell_word(const char *text)
{
    static const char plain[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_./:=,+@%-";
    if (*text && !text[strspn(text, plain)]) return text_copy(text);
    char *quoted = memory_new(4 * strlen(text) + 3, 1);
    size_t used = 0;
    quoted[used++] = '\'';
    for (const char *p = text; *p; p++) {
        if (*p == '\'') {
            // NOLINTNEXTLINE(bugprone-not-null-terminated-result): the text goes on
            memcpy(quoted + used, "'\\''", 4);
            used += 4;
        } else {
            quoted[used++] = *p;
        }
    }
    quoted[used] = '\'';
    return quoted;
}

static json_t *reproduce_json(const struct result *r)
{
    json_t *list = json_array(), *run = NULL;
    if (!r->source->job_file) return list;
    for (size_t i = r->runs.count; i-- && !run;) run = r->runs.runs[i].document;
    char *job = shell_word(r->source->job_file), *store = shell_word(r->source->store_path),
         *device = shell_word(json_get_string(run, "device", "0"));
    const char *strategy = json_get_string(run, "strategy", "");
    char *pools = text_copy("");
    size_t k;
    json_t *pool;
    json_array_foreach(json_object_get(run, "pool"), k, pool)
    {
        char *word = json_is_string(pool) ? shell_word(json_string_value(pool)) : text_copy("''"),
             *longer = text_format("%s --pool %s", pools, word);
        free(word);
        free(pools);
        pools = longer;
    }
    char *seed = run ? text_format(" --seed %lld", (long long)json_get_integer(run, "seed", 0)) : text_copy("");
    char *lines[] = {
        text_format("sweetspot tune %s --store %s%s%s%s%s%s%s", job, store, *strategy ? " --strategy " : "", strategy,
                    seed, strcmp(device, "0") ? " --device " : "", strcmp(device, "0") ? device : "", pools),
        text_format("sweetspot compare %s --store %s", job, store),
        text_format("sweetspot header %s --store %s", job, store),
    };
    for (size_t i = 0; i < sizeof lines / sizeof *lines; i++) {
        json_array_append_new(list, json_text(lines[i], strlen(lines[i])));
        free(lines[i]);
    }
    free(pools);
    free(job);
    free(store);
    free(device);
    free(seed);
    return list;
}

static void set_facts(json_t *json, const struct result *r, bool current)
{
    const struct environment *e = &r->environment;
    bool replayed = json_get_bool(r->device, "replayed", false);
    const json_t *recording = json_object_get(r->device, "recording");
    const struct {
        const char *key, *value;
    } texts[] = {{"device", e->device},
                 {"arch", e->arch},
                 {"driver", e->driver},
                 {"compiler", e->compiler},
                 {"source_hash", replayed ? json_get_string(recording, "source_hash", "") : e->source_hash}};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        json_object_set_new(json, texts[i].key, json_text(texts[i].value, strlen(texts[i].value)));
    json_object_set_new(json, "current", json_boolean(current));
    json_object_set_new(json, "replayed", json_boolean(replayed));
    json_object_set_new(json, "recording", replayed && recording ? json_incref((json_t *)recording) : json_null());
    json_object_set_new(json, "objective",
                        r->job_fits ? json_string(objective_text[r->source->job->objective]) : json_null());
    json_object_set_new(json, "problems", result_problems(r));
    set_counts(json, r);
    json_object_set_new(json, "space",
                        current && isfinite(r->source->space) ? json_integer((json_int_t)r->source->space)
                                                              : json_null());
}

static void set_times(json_t *json, const struct result *r)
{
    const struct run_times *runs = &r->runs;
    double started = runs->count ? runs->runs[0].started : NAN,
           ended = runs->count ? runs->runs[runs->count - 1].ended : NAN;
    json_object_set_new(json, "started", json_real_or_null(started));
    json_object_set_new(json, "ended", json_real_or_null(ended));
    json_object_set_new(json, "seconds", json_real_or_null(runs->seconds));
    json_object_set_new(json, "runs", run_times_json(runs));
    json_object_set_new(json, "gain_last_hour", json_real_or_null(report_gain(r, an_hour)));
}

static int set_results(json_t *json, const struct result *r, struct error *err)
{
    struct report_final final;
    json_t *points = NULL, *machine = NULL, *roofline = NULL;
    int status = report_final(r, &final, err);
    json_object_set_new(json, "verdict", json_string(final.verdict));
    json_object_set_new(json, "ratio", final.ratio);
    json_object_set_new(json, "best", best_json(r));
    json_object_set_new(json, "winner", final.winner);
    json_object_set_new(json, "baselines", report_baselines(r));
    json_object_set_new(json, "progress", report_progress(r));
    json_object_set_new(json, "histogram", report_histogram(r));
    json_object_set_new(json, "distribution", report_distribution(r));
    json_object_set_new(json, "importance_method", json_string(report_importance_method));
    json_object_set_new(json, "parameters", report_parameters(r));
    json_object_set_new(json, "lines", report_lines(r));
    json_object_set_new(json, "trials", report_trials(r));
    json_object_set_new(json, "failures", report_failures(r));
    if (!status) status = report_points(r, &points, err);
    if (!status) status = report_roofline(r, final.trial, &roofline, err);
    if (!status) status = report_machine(r, &machine, err);
    json_object_set_new(json, "points", points ? points : json_null());
    json_object_set_new(json, "final", final.json);
    json_object_set_new(json, "roofline", roofline ? roofline : json_null());
    set_profile(json, r, final.trial);
    json_object_set_new(json, "machine", machine ? machine : json_null());
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
    if (!status) status = trial_table_read(&r->table, r->store, r->source->job, err);
    if (!status && r->table.count) {
        r->device = result_document(r, "device", NULL);
        r->best = SIZE_MAX;
        for (size_t k = 0; k < r->table.timed && r->best == SIZE_MAX; k++)
            if (r->table.status[r->table.order[k]] == STATUS_OK) r->best = r->table.order[k];
        status = run_times_read(&r->runs, r->store, &r->table, err);
        if (!status) status = result_read_problems(r, err);
        if (!status) {
            json_t *json = json_object();
            set_facts(json, r, current);
            set_times(json, r);
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
    struct arena *memory = &all->memory;
    all->list = memory_grow(all->list, all->count + 1, sizeof *all->list);
    all->list[all->count++] = (struct environment){.key = arena_copy(memory, e->key),
                                                   .job = arena_copy(memory, e->job),
                                                   .source_hash = arena_copy(memory, e->source_hash),
                                                   .compiler = arena_copy(memory, e->compiler),
                                                   .device = arena_copy(memory, e->device),
                                                   .arch = arena_copy(memory, e->arch),
                                                   .driver = arena_copy(memory, e->driver),
                                                   .settings = ""};
    return 0;
}

static json_t *text_or_null(const char *text)
{
    return text ? json_text(text, strlen(text)) : json_null();
}

json_t *report_job(const struct report_source *source, const struct report_options *options)
{
    struct environments all = {0};
    struct error err = {""};
    json_t *results = json_array();
    int status = source->store ? store_each_environment(source->store, keep_environment, &all, &err) : 0;
    for (size_t i = 0; i < all.count && !status; i++) {
        struct result r = {.source = source, .options = options, .store = source->store, .environment = all.list[i]};
        status = add_result(results, &r, i == 0, &err);
    }
    const char *name = source->name       ? source->name
                       : all.count        ? all.list[0].job
                       : source->job_file ? source->job_file
                                          : source->store_path;
    const char *error = source->error ? source->error : status ? err.message : NULL;
    json_t *json = json_pack("{s:o, s:o, s:o, s:o, s:o, s:b, s:o}", "name", text_or_null(name ? name : "?"), "title",
                             text_or_null(source->job && source->job->description ? source->job->description : ""),
                             "job_file", text_or_null(source->job_file), "store", text_or_null(source->store_path),
                             "error", text_or_null(error), "running", source->store && store_holder(source->store) != 0,
                             "results", results);
    free(all.list);
    arena_release(&all.memory);
    return json;
}

json_t *report_document_of(json_t *jobs, const char *program)
{
    return json_pack("{s:s, s:i, s:f, s:s, s:o}", "format", "sweetspot-report", "version", REPORT_VERSION, "made",
                     clock_wall(), "program", program, "jobs", jobs);
}
