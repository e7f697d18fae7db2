// The beginning of a run: workers' first words, the device, the space, the store, the job. Blocking, one step after the
// other; from then on everything is the loop of tune.c.
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "tuner/base/hash.h"
#include "tuner/base/memory.h"
#include "tuner/base/protocol.h"
#include "tuner/base/text.h"
#include "tuner/run/run.h"
#include "tuner/setup/job_ceilings.h"
#include "tuner/setup/recording_check.h"
#include "tuner/setup/run_environment.h"
#include "tuner/setup/work_bounds.h"

static void on_worker_text(void *user, const char *text)
{
    display_log(&((struct run *)user)->display, "%s", text);
}

static void on_worker_message(void *user, const char *text)
{
    display_message(&((struct run *)user)->display, "%s", text);
}

static void on_progress(void *user, const char *worker, const char *what, double share)
{
    struct run *r = user;
    if (r->options->quiet)
        display_log(&r->display, "%s: %s, %.0f%%", worker, what, 100 * share);
    else
        display_message(&r->display, "%s, %.0f%%", what, 100 * share);
    run_watch_poll(r);
}

static bool counts(const struct run *r)
{
    return r->options->counters;
}

json_t *run_given_devices(const struct run *r)
{
    const struct pool_request *pool = r->options->pool;
    json_t *given = json_object(), *pools = json_array();
    if (!pool || r->pool.replay) json_object_set_new(given, "device", json_string(r->options->device));
    for (size_t i = 0; pool && i < pool->text_count; i++) json_array_append_new(pools, json_string(pool->texts[i]));
    if (pool) json_object_set(given, "pool", pools);
    json_decref(pools);
    return given;
}

// The document of kind "device": what the workers say of it, and the options that other commands' advice repeats.
static char *describe_device(const struct run *r)
{
    json_t *document = json_copy(r->pool.hello), *given = run_given_devices(r);
    if (r->options->cache_given) json_object_set_new(given, "cache", json_string(r->options->cache));
    json_object_set_new(document, "given", given);
    char *text = json_dumps(document, JSON_COMPACT);
    json_decref(document);
    return text;
}

// Where the job file is, so that a store can be shown together with facts that only the job file has.
static int put_job_file(struct run *r, struct error *err)
{
    char *path = realpath(r->job->path, NULL);
    json_t *document = json_pack("{s:s}", "file", path ? path : r->job->path);
    char *text = document ? json_dumps(document, JSON_COMPACT) : NULL; // NULL: a path that is not UTF-8
    int status = text ? store_put_document(r->store, "job", text, err) : 0;
    free(text);
    json_decref(document);
    free(path);
    return status;
}

static int open_store(struct run *r, struct error *err)
{
    char key[HASH_TEXT_SIZE];
    struct environment e = {.key = key,
                            .job = r->job->name,
                            .source_hash = r->setup.source_hash,
                            .compiler = r->pool.compiler,
                            .device = r->pool.device_name,
                            .arch = r->pool.arch,
                            .driver = r->pool.driver};
    json_t *facts = run_environment_facts(r->job, r->setup.request, &e, r->pool.replay);
    char *settings = environment_text(facts, err), *hello = describe_device(r);
    int status = EXIT_ENVIRONMENT;
    json_decref(facts);
    if (!settings) goto out;
    environment_key(settings, key);
    e.settings = settings;
    if (store_open(&r->store, r->options->store_path, true, err) || store_lock(r->store, err) ||
        store_use_environment(r->store, &e, err) || store_put_document(r->store, "device", hello, err) ||
        put_job_file(r, err))
        goto out;
    status = 0;
    run_collect_priors(r, &e);
out:
    free(hello);
    free(settings);
    return status;
}

// What GPU workers are set up with.
static json_t *describe_job(struct run *r)
{
    json_t *request = job_setup_for_gpu(&r->setup), *counters = counts(r) ? json_array() : json_null();
    for (size_t i = 0; counts(r) && i < r->job->metric_count; i++)
        json_array_append_new(counters, json_string(r->job->metrics[i]));
    json_object_set_new(request, "counters", counters);
    return request;
}

static void read_metrics(struct run *r)
{
    size_t i;
    json_t *value;
    const json_t *metrics = json_object_get(r->job_answer, "metrics"),
                 *counters = json_object_get(r->pool.hello, "counters");
    r->metrics = memory_new(json_array_size(metrics), sizeof(char *));
    json_array_foreach(metrics, i, value)
    {
        r->metrics[r->metric_count++] = text_copy(json_is_string(value) ? json_string_value(value) : "");
    }
    if (!counts(r)) return;
    if (!json_get_bool(counters, "available", false))
        display_message(&r->display, "warning: no hardware counters: %s; tuning goes on without them",
                        json_get_string(counters, "reason", "unknown reason"));
    json_array_foreach(json_object_get(r->job_answer, "missing"), i, value)
        display_log(&r->display, "counter not available here: %s", json_string_value(value));
}

static void read_least(struct run *r)
{
    size_t i;
    json_t *value;
    char shown[32];
    json_array_foreach(json_object_get(r->job_answer, "least"), i, value)
    {
        int64_t p = json_get_integer(value, "problem", -1);
        double seconds = json_get_number(value, "seconds", NAN);
        if (p >= 0 && p < (int64_t)r->job->tuned_count && seconds > 0)
            display_log(&r->display, "problem %s takes at least %s: %s", r->job->problems[p].name,
                        text_show_duration(seconds, shown, sizeof shown), json_get_string(value, "why", ""));
    }
}

static void read_baselines(struct run *r)
{
    bool current = false;
    size_t i;
    json_t *value;
    json_array_foreach(json_object_get(r->job_answer, "baselines"), i, value)
    {
        double times[JOB_MAX_PROBLEMS];
        const json_t *problems = json_object_get(value, "problems");
        current |= !strcmp(json_get_string(value, "name", ""), CURRENT_KERNEL);
        for (size_t p = 0; p < r->job->tuned_count; p++)
            times[p] = json_get_number(json_array_get(problems, p), "time", NAN);
        double objective = job_objective(r->job, times);
        char shown[32];
        run_event_baseline(r, value, objective);
        if (!isfinite(objective)) {
            display_message(&r->display, "baseline %s: not available%s%s", json_get_string(value, "name", "?"),
                            json_object_get(value, "reason") ? ": " : "", json_get_string(value, "reason", ""));
            continue;
        }
        display_log(&r->display, "baseline %s: %s %s", json_get_string(value, "name", "?"),
                    text_show_duration(objective, shown, sizeof shown), json_get_string(value, "detail", ""));
        if (!isfinite(r->incumbent.baseline))
            incumbent_set_baseline(&r->incumbent, json_get_string(value, "name", "?"), objective);
    }
    if (job_current(r->job) && !current)
        display_message(&r->display, "the recording has no times of 'current', the job's present kernel");
    json_t *document = json_pack("{s:O?}", "baselines", json_object_get(r->job_answer, "baselines"));
    char *text = json_dumps(document, JSON_COMPACT);
    struct error err;
    if (store_put_document(r->store, "baselines", text, &err)) run_fail(r, EXIT_ENVIRONMENT, &err);
    free(text);
    json_decref(document);
}

static void log_ceilings(struct run *r)
{
    double times;
    const struct execution_unit *own = job_unit(r->job, &times);
    char *words = own ? work_ceiling_text(r->ceilings, own) : text_copy(""),
         *memory = work_ceiling_text(r->ceilings, &execution_units[UNIT_READ]);
    display_log(&r->display, "ceilings: %s; %s", *words ? words : "arithmetic unknown",
                *memory ? memory : "memory unknown");
    free(words);
    free(memory);
}

// The ceilings of the device that the job needs: measured once per environment.
static void measure_ceilings(struct run *r)
{
    const char *known;
    struct error err;
    int missing = store_get_document(r->store, "ceilings", &known, NULL, &err);
    if (!missing) r->ceilings = json_parse(known, &err);
    json_t *request = missing < 0 ? NULL : job_ceilings_request(r->job, r->ceilings);
    if (!request) return;
    json_t *answer = pool_ask_gpu(&r->pool, json_incref(request), POOL_SETUP_TIMEOUT, &err);
    if (answer && !strcmp(json_get_string(answer, "status", ""), status_name(STATUS_OK))) {
        json_t *document = job_ceilings_merge(r->ceilings, request, answer);
        char *text = json_dumps(document, JSON_COMPACT);
        if (store_put_document(r->store, "ceilings", text, &err)) run_fail(r, EXIT_ENVIRONMENT, &err);
        free(text);
        json_decref(r->ceilings);
        r->ceilings = document;
        log_ceilings(r);
    } else {
        if (!answer)
            pool_stop_gpu(&r->pool,
                          r->pool.first_gpu); // it died, is late or sends invalid messages: another one is started
        display_log(&r->display, "no ceilings: %s",
                    answer ? json_get_string(answer, "reason", "no reason given") : err.message);
    }
    json_decref(answer);
    json_decref(request);
}

static const char *strategy_text(const struct run *r)
{
    const char *options = r->options->strategy_options;
    return options && *options ? options : NULL;
}

// Before there is a store.
static int choose_strategy(struct run *r, struct error *err)
{
    r->strategy_class = strategy_choose(r->options->strategy ? r->options->strategy : r->job->strategy, err);
    return !r->strategy_class || strategy_parse_options(r->strategy_class, strategy_text(r), NULL, err) ? EXIT_USAGE
                                                                                                        : 0;
}

static int make_strategy(struct run *r, struct error *err)
{
    int64_t evaluations = r->options->evaluations;
    struct strategy_options o = {.seed = r->seed,
                                 .budget = evaluations > 0 ? (uint64_t)evaluations : 0,
                                 .text = strategy_text(r),
                                 .criteria = r->job->objective == OBJECTIVE_EACH ? r->job->tuned_count : 1,
                                 .prior_count = r->priors.count,
                                 .priors = (const struct prior *const *)r->priors.list};
    r->strategy = strategy_new(r->strategy_class, r->job->space, &o, err);
    if (!r->strategy) return EXIT_USAGE;
    r->policy.settings.ranks = strategy_ranks(r->strategy);
    return 0;
}

// Trials that were committed but not yet counted when the last run ended.
static int resume_counts(struct run *r)
{
    int64_t *ids = NULL;
    struct error *err = &r->failure;
    int room = 0, n = 0;
    while (r->metric_count && n == room && n >= 0) { // until there are fewer than were requested
        room = 2 * room + 256;
        ids = memory_grow(ids, (size_t)room, sizeof *ids);
        n = store_uncounted(r->store, ids, room, err);
    }
    for (int i = 0; i < n; i++) {
        struct trial trial;
        uint16_t config[SPACE_MAX_PARAMETERS];
        struct error ignored; // a trial that is not in the present space is skipped
        if (store_get(r->store, ids[i], &trial, &ignored) || space_parse(r->job->space, trial.config, config, NULL))
            continue;
        run_add_task(r, config, TASK_COUNT)->trial = ids[i];
    }
    free(ids);
    return n < 0 ? -1 : 0;
}

// Workers, device, space, and the policy for so many workers.
static int meet(struct run *r, struct error *err)
{
    const struct tune_options *o = r->options;
    struct pool_settings settings = {.device = o->device,
                                     .compilers = o->workers,
                                     .counters = counts(r),
                                     .nvcc = r->job->compiler == JOB_NVCC,
                                     .nodes = o->pool,
                                     .keep = o->cache,
                                     .probe_file = r->job->source,
                                     .user = r,
                                     .say = on_worker_message,
                                     .log = on_worker_text,
                                     .progress = on_progress};
    r->seed = o->seed >= 0 ? (uint64_t)o->seed : JOB_SEED;
    int status = pool_open(&r->pool, &settings, err);
    if (!status) status = job_setup_space(&r->setup, &r->pool, r->job, o->cache, r->seed, err);
    if (!status && r->pool.replay && recording_check(r->job, json_object_get(r->pool.hello, "recorded"), err)) {
        error_prefix(err, "%s", o->device + strlen("replay:"));
        status = EXIT_USAGE;
    }
    if (status) return status;
    policy_init(&r->policy, &(struct policy_settings){.lockstep = r->pool.lockstep,
                                                      .compilers = r->pool.compiler_count,
                                                      .gpus = r->pool.gpu_count,
                                                      .time = o->time,
                                                      .evaluations = o->evaluations,
                                                      .stop = o->stop});
    return 0;
}

int run_setup(struct run *r)
{
    struct error *err = &r->failure;
    const struct job *job = r->job;
    int status = meet(r, err);
    if (!status) status = choose_strategy(r, err);
    if (!status) status = job_setup_request(&r->setup, &r->pool, err);
    if (!status) status = open_store(r, err);
    if (!status) run_watch_publish(r);
    if (!status) status = make_strategy(r, err);
    if (status) return status;
    display_log(&r->display, "tuning '%s' on %s (driver %s, %s), %zu compilers, strategy %s, seed %llu, store %s",
                job->name, r->pool.device_name, r->pool.driver, r->pool.compiler, r->pool.compiler_count,
                r->strategy_class->name, (unsigned long long)r->seed, r->options->store_path);
    run_event_begin(r);
    status = pool_set_up(&r->pool, describe_job(r), &r->job_answer, err);
    if (status) {
        if (r->job_answer) error_prefix(err, "%s", job->path);
        return status;
    }
    run_final_open(r);
    if (pool_start_gpus(&r->pool, err)) return EXIT_ENVIRONMENT;
    read_metrics(r);
    read_least(r);
    read_baselines(r);
    measure_ceilings(r);
    policy_grow(&r->policy, r->pool.compiler_count, r->pool.gpu_count); // nodes have joined meanwhile
    if (r->pool.gpus[r->pool.first_gpu].state == GPU_READY) {
        run_check_ready(r, r->pool.first_gpu);
        policy_gpu_ready(&r->policy, r->pool.first_gpu);
    }
    run_event_ceilings(r);
    run_collect_starts(r);
    if (resume_counts(r)) return EXIT_ENVIRONMENT;
    return r->fatal ? r->fatal_status : 0;
}

void run_release(struct run *r)
{
    run_watch_release(r); // before the store's lock is
    run_free_tasks(r);
    free(r->finished);
    policy_release(&r->policy);
    pool_release(&r->pool);
    job_setup_release(&r->setup);
    sanitizer_close(r->final.sanitizer);
    free(r->reported.ids);
    strategy_free(r->strategy);
    run_release_priors(r);
    store_close(r->store);
    incumbent_release(&r->incumbent);
    for (size_t i = 0; i < r->metric_count; i++) free(r->metrics[i]);
    free(r->metrics);
    json_decref(r->job_answer);
    json_decref(r->ceilings);
    final_reset(&r->final);
    builds_reset(&r->final);
    run_check_release(r);
    display_close(&r->display);
}
