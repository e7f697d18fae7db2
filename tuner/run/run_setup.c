// The beginning of a run: workers' first words, the device, the space, the store, the job. Blocking, one step after the
// other; from then on everything is the loop of tune.c.
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "tuner/base/clock.h"
#include "tuner/base/hash.h"
#include "tuner/base/memory.h"
#include "tuner/base/protocol.h"
#include "tuner/base/text.h"
#include "tuner/compile/source.h"
#include "tuner/run/embedded.h"
#include "tuner/run/run.h"
#include "tuner/run/run_environment.h"

enum { HELLO_TIMEOUT = 120, SETUP_TIMEOUT = 600 };

static void on_chatter(void *user, const struct worker *w, const char *line)
{
    run_log(user, "%s: %s", w->name, line);
}

static void on_progress(void *user, const struct worker *w, const char *what, double share)
{
    struct run *r = user;
    if (r->options->quiet)
        run_log(r, "%s: %s, %.0f%%", w->name, what, 100 * share);
    else
        run_message(r, "%s, %.0f%%", what, 100 * share);
}

int run_start_compiler(struct run *r, size_t i, struct error *err)
{
    struct compile_slot *slot = &r->compilers[i];
    char *argv[] = {r->compile_program, r->replay ? r->replay_file : NULL, NULL};
    snprintf(slot->name, sizeof slot->name, "compiler %zu", i);
    slot->worker.chatter = on_chatter;
    slot->worker.chatter_user = r;
    return worker_start(&slot->worker, slot->name, argv, err);
}

int run_start_gpu(struct run *r, size_t i, struct error *err)
{
    struct gpu_slot *slot = &r->gpus[i];
    char *argv[] = {r->gpu_program, r->replay ? r->replay_file : "--device", r->replay ? NULL : slot->device, NULL};
    bool counters = r->options->counters && r->job->measure.counters;
    slot->worker.chatter = on_chatter;
    slot->worker.progress = on_progress;
    slot->worker.chatter_user = r;
    if (worker_start(&slot->worker, slot->name, argv, err)) return -1;
    slot->state = GPU_HELLO;
    slot->queued = 0;
    slot->setup_id = worker_send(&slot->worker, json_pack("{s:s, s:b}", "op", "hello", "counters", (int)counters));
    slot->deadline = clock_now() + SETUP_TIMEOUT;
    return 0;
}

// "0", "0,2", "all" or "replay:FILE".
static int choose_devices(struct run *r, struct error *err)
{
    const char *device = r->options->device;
    if (!strncmp(device, "replay:", 7)) {
        r->replay = r->lockstep = true;
        r->replay_file = text_join_path(".", device + 7);
        if (access(r->replay_file, R_OK)) return error_set(err, "cannot read '%s': %s", device + 7, strerror(errno));
        r->gpu_program = worker_program("SWEETSPOT_REPLAY_WORKER", "sweetspot-replay");
        r->compile_program = text_copy(r->gpu_program);
        r->gpu_count = r->compile_count = 1;
        snprintf(r->gpus[0].name, sizeof r->gpus[0].name, "replay");
        return 0;
    }
    r->gpu_program = worker_program("SWEETSPOT_GPU_WORKER", "sweetspot-gpu");
    r->compile_program = worker_program("SWEETSPOT_COMPILE_WORKER", "sweetspot-compile");
    long cores = sysconf(_SC_NPROCESSORS_ONLN);
    int64_t workers = r->options->workers       ? r->options->workers
                      : r->job->compile_workers ? r->job->compile_workers
                                                : cores;
    r->compile_count = workers < 1 ? 1 : (size_t)workers;
    for (const char *p = device; r->gpu_count < RUN_MAX_GPUS; r->gpu_count++) {
        char *end;
        long index = strtol(p, &end, 10);
        if (end == p || index < 0 || (*end && *end != ','))
            return error_set(err, "--device must be a number, a list such as 0,1, or replay:FILE, not '%s'", device);
        struct gpu_slot *slot = &r->gpus[r->gpu_count];
        snprintf(slot->name, sizeof slot->name, "gpu %ld", index);
        snprintf(slot->device, sizeof slot->device, "%ld", index);
        if (!*end) {
            r->gpu_count++;
            break;
        }
        p = end + 1;
    }
    return 0;
}

static void read_limits(const json_t *device, struct device_limits *l)
{
    const struct {
        const char *name;
        int64_t *value;
    } members[] = {
        {"sm_count", &l->sm_count},           {"max_shared", &l->max_shared},
        {"shared_per_sm", &l->shared_per_sm}, {"registers_per_sm", &l->registers_per_sm},
        {"max_threads", &l->max_threads},     {"threads_per_sm", &l->threads_per_sm},
        {"blocks_per_sm", &l->blocks_per_sm}, {"warp_size", &l->warp_size},
        {"l2_bytes", &l->l2_bytes},           {"memory_bytes", &l->memory_bytes},
        {"max_cluster", &l->max_cluster},     {"compute", &l->compute},
    };
    for (size_t i = 0; i < sizeof members / sizeof *members; i++)
        *members[i].value = json_get_integer(device, members[i].name, *members[i].value);
}

static int meet_workers(struct run *r, struct error *err)
{
    r->compilers = memory_new(r->compile_count, sizeof *r->compilers);
    for (size_t i = 0; i < r->compile_count; i++)
        r->compilers[i].worker = (struct worker){.to = -1, .from = -1, .errors = -1};
    if (run_start_compiler(r, 0, err) || run_start_gpu(r, 0, err)) return EXIT_ENVIRONMENT;
    json_t *answer = worker_ask(&r->compilers[0].worker, json_pack("{s:s}", "op", "hello"), HELLO_TIMEOUT, err);
    if (!answer) return EXIT_ENVIRONMENT;
    snprintf(r->compiler, sizeof r->compiler, "%s", json_get_string(answer, "compiler", "?"));
    json_decref(answer);
    r->hello = worker_wait(&r->gpus[0].worker, r->gpus[0].setup_id, HELLO_TIMEOUT, err);
    if (!r->hello) return EXIT_ENVIRONMENT;
    const json_t *device = json_object_get(r->hello, "device");
    if (!device) {
        error_set(err, "%s (`sweetspot doctor` says what works here)",
                  json_get_string(r->hello, "reason", "the GPU worker does not tell its device"));
        return EXIT_ENVIRONMENT;
    }
    snprintf(r->device_name, sizeof r->device_name, "%s", json_get_string(device, "name", "?"));
    snprintf(r->arch, sizeof r->arch, "%s", json_get_string(device, "arch", "?"));
    snprintf(r->driver, sizeof r->driver, "%s", json_get_string(device, "driver", ""));
    snprintf(r->gpus[0].uuid, sizeof r->gpus[0].uuid, "%s", json_get_string(device, "uuid", ""));
    r->limits = device_limits_h200;
    read_limits(device, &r->limits);
    r->memory = json_get_integer(device, "memory_free", r->limits.memory_bytes);
    return 0;
}

static int compile_now(struct run *r, json_t *request, struct compiled *out, struct error *err)
{
    json_t *answer = worker_ask(&r->compilers[0].worker, request, SETUP_TIMEOUT, err);
    if (!answer) return EXIT_ENVIRONMENT;
    int status = 0;
    if (strcmp(json_get_string(answer, "status", ""), "ok")) {
        error_set(err, "%s", json_get_string(answer, "reason", "no reason given"));
        status = EXIT_USAGE;
    } else if (compiled_read(answer, out, err)) {
        status = EXIT_ENVIRONMENT;
    }
    json_decref(answer);
    return status;
}

static int compile_helpers(struct run *r, struct error *err)
{
    if (r->replay) return 0;
    json_t *request = json_pack("{s:s, s:s, s:s, s:[], s:s, s:f}", "op", "compile", "arch", r->arch, "text",
                                embedded_support_source(), "entries", "cache", r->options->cache, "deadline", 300.0);
    int status = compile_now(r, request, &r->support, err);
    if (status) {
        error_prefix(err, "the worker's own kernels do not compile");
        return EXIT_ENVIRONMENT;
    }
    if (r->job->reference.kind != REFERENCE_KERNEL) return 0;
    status = compile_now(r, request_compile(r->job, NULL, r->arch, NULL, r->options->cache), &r->reference, err);
    if (status) error_prefix(err, "reference kernel '%s'", r->job->reference.stage.entry);
    return status;
}

static int open_store(struct run *r, struct error *err)
{
    char key[HASH_TEXT_SIZE];
    struct environment e = {.key = key,
                            .job = r->job->name,
                            .source_hash = r->source_hash,
                            .compiler = r->compiler,
                            .device = r->device_name,
                            .arch = r->arch,
                            .driver = r->driver};
    json_t *facts = run_environment_facts(r->job, r->job_request, &e, r->replay);
    char *settings = environment_text(facts, true, err), *hello = json_dumps(r->hello, JSON_COMPACT);
    int status = EXIT_ENVIRONMENT;
    json_decref(facts);
    if (!settings) goto out;
    environment_key(settings, key);
    e.settings = settings;
    if (store_open(&r->store, r->options->store_path, true, err) || store_lock(r->store, err) ||
        store_use_environment(r->store, &e, err) || store_put_document(r->store, "device", hello, err))
        goto out;
    status = 0;
    if (store_kept_copy(r->store))
        run_message(r, "the store was of an older version and has been migrated; the old one is kept as %s",
                    store_kept_copy(r->store));
out:
    free(hello);
    free(settings);
    return status;
}

json_t *run_job_request(const struct run *r)
{
    json_t *request = json_deep_copy(r->job_request);
    if (r->support.cubin) json_object_set_new(request, "support", json_string(r->support.cubin));
    json_object_set_new(json_object_get(request, "reference"), "cache",
                        json_string(r->options->cache)); // where expected values may be kept
    json_t *counters = json_array();
    bool wanted = r->options->counters && r->job->measure.counters;
    if (wanted)
        for (size_t i = 0; i < r->job->metric_count; i++)
            json_array_append_new(counters, json_string(r->job->metrics[i]));
    json_object_set_new(request, "counters", wanted ? counters : json_null());
    if (!wanted) json_decref(counters);
    return request;
}

static void read_metrics(struct run *r)
{
    size_t i;
    json_t *value;
    json_array_foreach(json_object_get(r->job_answer, "metrics"), i, value)
    {
        if (r->metric_count < RUN_MAX_COUNTERS && json_is_string(value))
            r->metrics[r->metric_count++] = text_copy(json_string_value(value));
    }
    const json_t *counters = json_object_get(r->hello, "counters");
    if (!r->options->counters || !r->job->measure.counters) return;
    if (!json_get_bool(counters, "available", false))
        run_message(r, "warning: no hardware counters: %s; tuning goes on without them",
                    json_get_string(counters, "reason", "unknown reason"));
    json_array_foreach(json_object_get(r->job_answer, "missing"), i, value)
        run_log(r, "counter not available here: %s", json_string_value(value));
}

static void read_baselines(struct run *r)
{
    size_t i;
    json_t *value;
    r->baseline = NAN;
    json_array_foreach(json_object_get(r->job_answer, "baselines"), i, value)
    {
        double times[JOB_MAX_PROBLEMS];
        const json_t *problems = json_object_get(value, "problems");
        for (size_t p = 0; p < r->job->tuned_count; p++)
            times[p] = json_get_number(json_array_get(problems, p), "time", NAN);
        double objective = job_objective(r->job, times);
        char shown[32];
        if (!isfinite(objective)) {
            run_message(r, "baseline %s: not available%s%s", json_get_string(value, "name", "?"),
                        json_object_get(value, "reason") ? ": " : "", json_get_string(value, "reason", ""));
            continue;
        }
        run_log(r, "baseline %s: %s %s", json_get_string(value, "name", "?"),
                text_show_duration(objective, shown, sizeof shown), json_get_string(value, "detail", ""));
        if (!isfinite(r->baseline)) {
            r->baseline = objective;
            snprintf(r->baseline_name, sizeof r->baseline_name, "%s", json_get_string(value, "name", "?"));
        }
    }
    json_t *document = json_pack("{s:O?}", "baselines", json_object_get(r->job_answer, "baselines"));
    char *text = json_dumps(document, JSON_COMPACT);
    struct error err;
    if (store_put_document(r->store, "baselines", text, &err)) run_fail(r, EXIT_ENVIRONMENT, &err);
    free(text);
    json_decref(document);
}

// What the device can do at most: measured once an environment.
static void measure_ceilings(struct run *r)
{
    const char *known;
    struct error err;
    if (store_get_document(r->store, "ceilings", &known, NULL, &err) != 1) return;
    json_t *answer = worker_ask(&r->gpus[0].worker, json_pack("{s:s}", "op", "ceilings"), SETUP_TIMEOUT, &err);
    if (answer && json_object_get(answer, "flops_per_second")) {
        run_log(r, "ceilings: %.3g FP32 operations/s, %.4g bytes/s read",
                json_get_number(answer, "flops_per_second", NAN), json_get_number(answer, "bytes_per_second", NAN));
        json_object_del(answer, "id");
        char *text = json_dumps(answer, JSON_COMPACT);
        if (store_put_document(r->store, "ceilings", text, &err)) run_fail(r, EXIT_ENVIRONMENT, &err);
        free(text);
    } else {
        run_log(r, "no ceilings: %s", answer ? json_get_string(answer, "reason", "no reason given") : err.message);
    }
    json_decref(answer);
}

static int make_strategy(struct run *r, struct error *err)
{
    const char *name = r->options->strategy ? r->options->strategy : r->job->strategy;
    const char *options = r->options->strategy_options ? r->options->strategy_options : r->job->strategy_options;
    r->strategy_class = strategy_choose(name, err);
    if (!r->strategy_class) return EXIT_USAGE;
    int64_t evaluations = r->options->evaluations;
    struct strategy_options o = {.seed = r->seed,
                                 .budget = evaluations > 0 ? (uint64_t)evaluations : 0,
                                 .text = *options ? options : NULL,
                                 .criteria = r->job->objective == OBJECTIVE_EACH ? r->job->tuned_count : 1};
    r->strategy = strategy_new(r->strategy_class, r->job->space, &o, err);
    return r->strategy ? 0 : EXIT_USAGE;
}

// Trials that were committed but not yet counted when the last run ended.
static int resume_counts(struct run *r)
{
    enum { MOST = 4096 };
    int64_t *ids = memory_new(MOST, sizeof *ids);
    struct error err;
    int n = r->metric_count ? store_uncounted(r->store, ids, MOST, &err) : 0;
    for (int i = 0; i < n; i++) {
        struct trial trial;
        uint16_t config[SPACE_MAX_PARAMETERS];
        if (store_get(r->store, ids[i], &trial, &err) || space_parse(r->job->space, trial.config, config, NULL))
            continue;
        run_add_task(r, config, TASK_COUNT)->trial = ids[i];
    }
    free(ids);
    return n < 0 ? -1 : 0;
}

int run_meet(struct run *r)
{
    struct error *err = &r->failure;
    struct job *job = r->job;
    int status = choose_devices(r, err) ? EXIT_USAGE : 0;
    if (!status && mkdir(r->options->cache, 0777) && errno != EEXIST) {
        error_set(err, "cannot make the compile cache '%s': %s", r->options->cache, strerror(errno));
        status = EXIT_ENVIRONMENT;
    }
    r->seed = r->options->seed >= 0 ? (uint64_t)r->options->seed : job->seed;
    if (!status) status = meet_workers(r, err);
    if (!status && job_build_space(job, &r->limits, err)) status = EXIT_USAGE;
    if (!status && source_hash(job->source, job->includes, job->include_count, r->source_hash, NULL, err))
        status = EXIT_USAGE;
    return status;
}

int run_prepare_job(struct run *r)
{
    struct error *err = &r->failure;
    int status = compile_helpers(r, err);
    if (!status && !(r->job_request = request_job(r->job, r->memory, &r->reference, r->seed, err))) status = EXIT_USAGE;
    return status;
}

int run_setup(struct run *r)
{
    struct error *err = &r->failure;
    struct job *job = r->job;
    int status = run_meet(r);
    if (!status) status = make_strategy(r, err);
    if (!status) status = run_prepare_job(r);
    if (!status) status = open_store(r, err);
    if (status) return status;
    run_log(r, "tuning '%s' on %s (driver %s, %s), %zu compilers, strategy %s, seed %llu, store %s", job->name,
            r->device_name, r->driver, r->compiler, r->compile_count, r->strategy_class->name,
            (unsigned long long)r->seed, r->options->store_path);
    r->job_answer = worker_ask(&r->gpus[0].worker, run_job_request(r), SETUP_TIMEOUT, err);
    if (!r->job_answer) return EXIT_ENVIRONMENT;
    if (strcmp(json_get_string(r->job_answer, "status", ""), "ok")) {
        const char *word = json_get_string(r->job_answer, "status", "");
        error_set(err, "%s: %s", job->path, json_get_string(r->job_answer, "reason", "the GPU worker refuses the job"));
        return strcmp(word, PROTOCOL_ENVIRONMENT) ? EXIT_USAGE : EXIT_ENVIRONMENT;
    }
    r->gpus[0].state = GPU_READY;
    for (size_t i = 1; i < r->gpu_count; i++)
        if (run_start_gpu(r, i, err)) return EXIT_ENVIRONMENT;
    read_metrics(r);
    read_baselines(r);
    measure_ceilings(r);
    run_collect_starts(r);
    if (resume_counts(r)) return EXIT_ENVIRONMENT;
    return r->fatal ? r->fatal_status : 0;
}

void run_release(struct run *r)
{
    for (size_t i = 0; i < r->gpu_count; i++) worker_release(&r->gpus[i].worker);
    for (size_t i = 0; r->compilers && i < r->compile_count; i++) worker_release(&r->compilers[i].worker);
    free(r->compilers);
    while (r->task_count) run_drop_task(r, r->tasks[r->task_count - 1]);
    free(r->tasks);
    free(r->told);
    strategy_free(r->strategy);
    stop_release(&r->stop);
    store_close(r->store);
    compiled_release(&r->support);
    compiled_release(&r->reference);
    for (size_t i = 0; i < r->metric_count; i++) free(r->metrics[i]);
    free(r->replay_file);
    free(r->gpu_program);
    free(r->compile_program);
    json_decref(r->hello);
    json_decref(r->job_request);
    json_decref(r->job_answer);
    json_decref(r->final_answer);
    if (r->log) fclose(r->log);
}
