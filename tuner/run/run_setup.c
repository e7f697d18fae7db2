// The beginning of a run: workers' greetings, the device, the space, the store, the job. These steps run one after the
// other and block; everything after them happens in the loop of tune.c.
#include "tuner/base/clock.h"
#include "tuner/base/hash.h"
#include "tuner/base/protocol.h"
#include "tuner/base/record.h"
#include "tuner/run/run.h"
#include "tuner/setup/run_environment.h"
#include "tuner/setup/work_bounds.h"

static void on_report(void *user, bool shown, const char *text)
{
    struct run *r = user;
    shown ? display_message(&r->display, "%s", text) : display_log(&r->display, "%s", text);
}

static void on_progress(void *user, const char *worker, const char *what, double share)
{
    struct run *r = user;
    if (r->options->quiet)
        display_log(&r->display, "%s: %s, %.0f%%", worker, what, 100 * share);
    else
        display_message(&r->display, "%s, %.0f%%", what, 100 * share);
    run_live_look(r);
}

static int open_store(struct run *r, struct error *err)
{
    char key[HASH_TEXT_SIZE];
    struct environment e = {.key = key,
                            .job = r->job->name,
                            .source_hash = r->setup.source_hash,
                            .compiler = r->pool.first.compiler,
                            .device = r->pool.first.device_name,
                            .arch = r->pool.first.arch,
                            .driver = r->pool.first.driver};
    autojson json_t *facts = run_environment_facts(r->job, r->setup.request, &e, r->pool.replay);
    autofree char *settings = environment_text(facts, err);
    if (!settings) return EXIT_ENVIRONMENT;
    environment_key(settings, key);
    e.settings = settings;
    if (store_open(&r->store, r->options->files.store_path, true, err) || store_lock(r->store, err) ||
        store_use_environment(r->store, &e, err) || run_put_origin(r))
        return EXIT_ENVIRONMENT;
    r->search.store = r->store;
    search_collect_priors(&r->search, r->options, &e, r->pool.replay, &r->display);
    return 0;
}

static void report_counters(struct run *r)
{
    if (!r->options->counters) return;
    if (r->pool.first.no_counters)
        display_message(&r->display, "warning: no hardware counters: %s; tuning continues without them",
                        r->pool.first.no_counters);
    for (size_t i = 0; i < r->job_answer.missing_count; i++)
        display_log(&r->display, "counter not available here: %s", r->job_answer.missing[i]);
}

static void report_least(struct run *r)
{
    for (size_t i = 0; i < r->job_answer.least_count; i++) {
        const struct least_time *least = &r->job_answer.least[i];
        if (least->problem < (int)r->job->tuned_count && least->seconds > 0)
            display_log(&r->display, "problem %s takes at least %s: %s", r->job->problems[least->problem].name,
                        text_show_duration(least->seconds, TEXT_ROOM), least->why);
    }
}

static const struct record_field baselines_fields[] = {
    {"baselines", RECORD_RECORDS(struct job_answer, baselines, baseline_count, baseline_answer_record),
     .flags = RECORD_NULL},
    {0}};
static const struct record baselines_record = {"baselines", sizeof(struct job_answer), baselines_fields, NULL};

static void take_baseline(struct run *r, const struct baseline_answer *b)
{
    double times[JOB_MAX_PROBLEMS];
    for (size_t p = 0; p < r->job->tuned_count; p++)
        times[p] = p < b->problem_count ? b->problems[p].figures.time : (double)NAN;
    double objective = job_objective(r->job, times);
    run_event_baseline(r, b, objective);
    if (!isfinite(objective)) {
        display_message(&r->display, "baseline %s: not available%s%s", b->name, *b->reason ? ": " : "", b->reason);
        return;
    }
    display_log(&r->display, "baseline %s: %s %s", b->name, text_show_duration(objective, TEXT_ROOM), b->detail);
    if (!isfinite(r->search.incumbent.baseline)) incumbent_set_baseline(&r->search.incumbent, b->name, objective);
}

static void take_baselines(struct run *r)
{
    const struct job_answer *answer = &r->job_answer;
    bool current = false;
    for (size_t i = 0; i < answer->baseline_count; i++) {
        current |= !strcmp(answer->baselines[i].name, CURRENT_KERNEL);
        take_baseline(r, &answer->baselines[i]);
    }
    if (job_current(r->job) && !current)
        display_message(&r->display, "the recording has no times of 'current', the job's current kernel");
    run_put_document(r, "baselines", record_write(&baselines_record, answer));
}

static void log_ceilings(struct run *r)
{
    double times;
    const struct execution_unit *own = job_unit(r->job, &times);
    autofree char *words = own ? work_ceiling_text(r->ceilings, own) : text_copy(""),
                  *memory = work_ceiling_text(r->ceilings, &execution_units[UNIT_READ]);
    display_log(&r->display, "ceilings: %s; %s", *words ? words : "arithmetic unknown",
                *memory ? memory : "memory unknown");
}

// Gets those of the device's ceilings that the job needs. They are measured once per environment.
static void measure_ceilings(struct run *r)
{
    struct error err;
    r->ceilings = store_get_document(r->store, 0, "ceilings", NULL, &err);
    autojson json_t *request = job_ceilings_request(r->job, r->ceilings);
    if (!request) return;
    struct answer_head head;
    autorelease(arena_release) struct arena memory = {NULL};
    autojson json_t *answer = pool_ask_gpu(&r->pool, json_incref(request), POOL_SETUP_TIMEOUT, &err);
    record_read(&answer_head_record, answer, &head, &memory, NULL);
    if (answer && answer_is_ok(&head)) {
        json_t *document = job_ceilings_merge(r->ceilings, request, answer);
        json_decref(r->ceilings);
        r->ceilings = document;
        run_put_document(r, "ceilings", json_incref(document));
        log_ceilings(r);
    } else {
        if (!answer) // the worker died, was late or sent invalid messages; start another one
            slot_stop(&r->pool.gpus[r->pool.first_gpu]);
        display_log(&r->display, "no ceilings: %s",
                    !answer        ? err.message
                    : *head.reason ? head.reason
                                   : "no reason given");
    }
}

// Queues trials that were committed but not yet counted when the last run ended.
static int resume_counts(struct run *r)
{
    int64_t count = 0;
    autofree int64_t *ids = r->job_answer.metric_count ? store_uncounted(r->store, &count, &r->failure.why) : NULL;
    for (int64_t i = 0; i < count; i++) {
        struct trial trial;
        uint16_t config[SPACE_MAX_PARAMETERS];
        struct error ignored; // a trial that is not in the current space is skipped
        if (store_get(r->store, ids[i], &trial, &ignored) || space_parse(r->job->space, trial.config, config, NULL))
            continue;
        task_add(&r->policy, r->job->space, config, TASK_COUNT, TASK_UNKNOWN)->trial = ids[i];
    }
    return count < 0 ? -1 : 0;
}

static const double least_patience = 10; // s; logging in to a node may take longer than a short run

// Sets up workers, device and space, and then the policy for the number of workers.
static int meet(struct run *r, struct error *err)
{
    const struct tune_options *o = r->options;
    struct pool_settings settings = {.device = o->device,
                                     .compilers = o->workers,
                                     .counters = r->options->counters,
                                     .nvcc = r->job->code.compiler == JOB_NVCC,
                                     .nodes = o->pool,
                                     .patience = fmax(final_clock_left(&r->final.clock, clock_now()), least_patience),
                                     .keep = o->files.cache,
                                     .probe_file = r->job->code.source,
                                     .user = r,
                                     .report = on_report,
                                     .progress = on_progress};
    uint64_t seed = o->seed >= 0 ? (uint64_t)o->seed : JOB_SEED;
    int status = pool_open(&r->pool, &settings, err);
    if (!status) status = job_setup_space(&r->setup, &r->pool, r->job, o->files.cache, seed, err);
    if (!status && r->pool.replay && recording_check(r->job, r->pool.recorded, err)) {
        error_prefix(err, "%s", o->device + strlen("replay:"));
        status = EXIT_USAGE;
    }
    if (status) return status;
    policy_init(&r->policy, &(struct policy_settings){.lockstep = r->pool.lockstep,
                                                      .compilers = r->pool.compiler_count,
                                                      .gpus = r->pool.gpu_count,
                                                      .time = o->search_time,
                                                      .evaluations = o->evaluations,
                                                      .stop = o->stop});
    return 0;
}

// Sends the job to the first GPU worker, and keeps the answer.
static int set_up_workers(struct run *r, struct error *err)
{
    autojson json_t *answer = NULL;
    int status = pool_set_up(&r->pool, job_setup_for_gpu(&r->setup, r->options->counters, NULL, true), &answer, err);
    if (answer) record_read(&job_answer_record, answer, &r->job_answer, &r->memory, NULL); // the pool has checked it
    if (status && answer) error_prefix(err, "%s", r->job->path);
    return status;
}

// Turns the given share of the ceiling into the objective at which the search should end.
static int find_target(struct run *r, struct error *err)
{
    struct stop_rules *rules = &r->policy.stop.rules;
    if (!rules->ceiling) return 0;
    double least = work_least_objective(r->job, r->ceilings);
    if (!(least > 0)) {
        error_set(err,
                  "%s: the search is to end at %g%% of the ceiling, which is unknown: set the job's 'work' and "
                  "'work.pipe', and see `sweetspot list units`",
                  r->job->path, 100 * rules->ceiling);
        return EXIT_USAGE;
    }
    rules->target = fmax(rules->target, least / rules->ceiling);
    return 0;
}

static void collect_starts(struct run *r)
{
    const struct start_list *starts = &r->search.starts;
    struct error err;
    // A replay depends only on its recording.
    const bool shipped = !r->options->earlier.alone && !r->pool.replay;
    if (search_collect_starts(&r->search, r->options, shipped, &err))
        fatal_error_set(&r->failure, EXIT_ENVIRONMENT, &err);
    if (starts->named)
        display_log(&r->display, "the search begins with the job's %s",
                    starts->named > 1              ? "current kernel and its fallback"
                    : r->job->others.fallback.kind ? "fallback, for its header"
                                                   : "current kernel");
    if (starts->count > starts->named)
        display_log(&r->display, "the search begins with %zu winners of earlier jobs", starts->count - starts->named);
    if (r->options->refresh) // only the starts are measured
        r->policy.settings.evaluations = (int64_t)r->policy.stop.evaluations + (int64_t)starts->count;
    if (r->options->refresh && !starts->count && !r->failure.set) {
        error_set(&err, "there is nothing to measure again: no results for another driver, device or version");
        fatal_error_set(&r->failure, EXIT_NOTHING, &err);
    }
    if (starts->left_out) display_log(&r->display, "%zu more winners were found and left out", starts->left_out);
}

// Gives the final and the comparison of GPUs the parts of the run that they use. The GPU workers must have the job.
static void hand_out(struct run *r)
{
    r->final.with = (struct final_parts){.job = r->job,
                                         .job_answer = &r->job_answer,
                                         .seed = r->setup.seed,
                                         .begun = r->statistics.search_started,
                                         .checks = r->options->checks,
                                         .events = r->options->events,
                                         .pool = &r->pool,
                                         .setup = &r->setup,
                                         .policy = &r->policy,
                                         .store = r->store,
                                         .recording = r->pool.recording,
                                         .ceilings = &r->ceilings,
                                         .display = &r->display,
                                         .failure = &r->failure};
    r->checks.with = &r->final.with;
}

int run_setup(struct run *r)
{
    struct error *err = &r->failure.why;
    const struct job *job = r->job;
    double first = clock_now();
    int status = meet(r, err);
    double start = clock_now() - first;
    const char *strategy = r->options->strategy ? r->options->strategy : job->search.strategy;
    if (!status && !(r->search.strategy_class = strategy_choose(strategy, err))) status = EXIT_USAGE; // no store yet
    r->setup.time = r->options->time;
    if (!status) status = job_setup_request(&r->setup, &r->pool, err);
    if (!status) status = open_store(r, err);
    if (!status) run_live_begin(r);
    if (status) return status;
    search_begin(&r->search, r->setup.seed);
    display_log(&r->display, "tuning '%s' on %s (driver %s, %s), %zu compilers, strategy %s, seed %llu, store %s",
                job->name, r->pool.first.device_name, r->pool.first.driver, r->pool.first.compiler,
                r->pool.compiler_count, r->search.strategy_class->name, (unsigned long long)r->setup.seed,
                r->options->files.store_path);
    if (job_unverified(job)) display_message(&r->display, "%s", job_unverified(job));
    run_event_begin(r);
    double begin = clock_now();
    status = set_up_workers(r, err);
    if (status) return status;
    hand_out(r);
    final_expect(&r->final, start, clock_now() - begin);
    if (pool_start_gpus(&r->pool, err)) return EXIT_ENVIRONMENT;
    report_counters(r);
    report_least(r);
    take_baselines(r);
    measure_ceilings(r);
    if ((status = find_target(r, err))) return status;
    policy_grow(&r->policy, r->pool.compiler_count, r->pool.gpu_count); // nodes may have joined meanwhile
    if (r->pool.gpus[r->pool.first_gpu].state == GPU_READY) {
        gpu_checks_ready(&r->checks, r->pool.first_gpu);
        policy_gpu_ready(&r->policy, r->pool.first_gpu);
    }
    run_event_ceilings(r);
    collect_starts(r);
    if (resume_counts(r)) return EXIT_ENVIRONMENT;
    return r->failure.set ? r->failure.exit_status : 0;
}

void run_release(struct run *r)
{
    run_live_end(r); // before the store's lock is released
    run_watch_release(&r->watch);
    task_free_all(&r->policy);
    free(r->finished.list);
    policy_release(&r->policy);
    pool_release(&r->pool);
    job_setup_release(&r->setup);
    search_release(&r->search);
    store_close(r->store);
    arena_release(&r->memory);
    json_decref(r->ceilings);
    final_close(&r->final);
    gpu_checks_release(&r->checks);
    display_close(&r->display);
}
