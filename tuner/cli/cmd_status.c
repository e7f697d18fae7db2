// sweetspot status: how far a job is, its best so far, what the runs did, and how to resume. Only reads; a tuner may be
// running meanwhile.
//
// Everything is gathered into one JSON object per job and device: --format json prints it, the table has what people
// want of it (status_table.c).

#include "tuner/base/base.h"
#include "tuner/base/protocol.h"
#include "tuner/cli/commands.h"
#include "tuner/cli/job_set.h"
#include "tuner/cli/options.h"
#include "tuner/cli/status_table.h"
#include "tuner/setup/request.h"
#include "tuner/trial/trial_field.h"

struct status {
    struct session *session;
    json_t *report; // "trials", "best", "runs", ...
    int64_t evaluations;
    double seconds;
    json_t *runs;
};

// A run may have written a document when it began and another when it ended; the newest comes first.
static int add_run(void *user, double when, json_t *run)
{
    struct status *status = user;
    double started = json_get_number(run, "started", when), ended = json_get_number(run, "ended", when);
    const json_t *last = json_array_get(status->runs, json_array_size(status->runs) - 1);
    if (!run || json_get_number(last, "started", NAN) == started) return 0;
    status->evaluations += json_get_integer(run, "new", 0);
    status->seconds += json_get_number(run, "search_seconds", ended > started ? ended - started : 0);
    json_array_append(status->runs, run);
    return 0;
}

// Every known figure of the best trial, by the names of the table of fields.
static int add_best(void *user, const struct trial *trial)
{
    struct status *status = user;
    json_t *best = trial_json(FIELD_TRIAL, trial);
    json_object_set_new(best, "trial", json_integer((json_int_t)trial->id));
    json_object_set(best, "configuration", json_object_get(best, "config"));
    json_object_del(best, "config");
    json_object_set_new(status->report, "best", best);
    return 0;
}

// With objective each, the best is the objective of the fastest trials of all problems together.
static int note_problems(void *user, const struct trial *trial)
{
    struct status *status = user;
    json_t *best = json_object_get(json_object_get(status->report, "best"), "problems"), *known;
    for (size_t i = 0; i < trial->problem_count && i < status->session->job->tuned_count; i++) {
        const struct trial_problem *p = &trial->problems[i];
        known = json_array_get(best, i);
        if (p->time >= json_get_number(known, "time", INFINITY) || !(p->time > 0)) continue;
        json_t *figures = trial_json(FIELD_PROBLEM, p);
        json_object_set_new(figures, "trial", json_integer((json_int_t)trial->id));
        json_array_set_new(best, i, figures);
    }
    return 0;
}

static int add_best_each(struct status *status, struct error *err)
{
    const struct job *job = status->session->job;
    json_t *problems = json_array();
    double times[JOB_MAX_PROBLEMS];
    for (size_t p = 0; p < job->tuned_count; p++)
        json_array_append_new(problems, json_pack("{s:s}", "name", job->problems[p].name));
    json_object_set_new(status->report, "best", json_pack("{s:o}", "problems", problems));
    if (store_each(status->session->store, true, 0, STORE_WHOLE, note_problems, status, err) < 0) return -1;
    for (size_t p = 0; p < job->tuned_count; p++) times[p] = json_get_number(json_array_get(problems, p), "time", NAN);
    double objective = job_objective(job, times);
    if (isfinite(objective))
        json_object_set_new(json_object_get(status->report, "best"), "objective", json_real(objective));
    else
        json_object_del(status->report, "best");
    return 0;
}

static void add_baselines(struct status *status)
{
    json_t *document = session_document(status->session, "baselines", NULL), *list = json_array(), *baseline;
    double best = json_get_number(json_object_get(status->report, "best"), "objective", NAN);
    size_t i;
    json_array_foreach(json_object_get(document, "baselines"), i, baseline) {
        double times[JOB_MAX_PROBLEMS];
        for (size_t p = 0; p < status->session->job->tuned_count; p++)
            times[p] = json_get_number(json_array_get(json_object_get(baseline, "problems"), p), "time", NAN);
        double time = job_objective(status->session->job, times);
        json_array_append_new(list, json_pack("{s:s, s:o, s:o}", "name", json_get_string(baseline, "name", "?"),
                                              "objective", json_real(time), "ratio", json_real(time / best)));
    }
    json_object_set_new(status->report, "baselines", list);
    json_decref(document);
}

static void add_final(struct status *status)
{
    double when;
    json_t *document = session_document(status->session, "final", &when);
    if (!document) return;
    json_t *final = json_pack("{s:f, s:I}", "when", json_get_number(document, "when", when), "winner",
                              (json_int_t)json_get_integer(document, "winner", 0));
    json_object_set_new(status->report, "final", final);
    json_decref(document);
}

static int gather(struct status *status)
{
    struct session *session = status->session;
    const struct environment *environment = &session->environment;
    struct error err = {""};
    int64_t counts[STATUS_COUNT], total = 0;
    bool each = session->job->objective == OBJECTIVE_EACH;
    if (store_counts(session->store, counts, &err) ||
        (each ? add_best_each(status, &err)
              : store_each(session->store, true, 1, STORE_WHOLE, add_best, status, &err)) ||
        store_each_document(session->store, 0, "run", 0, add_run, status, &err))
        return session_complain(EXIT_ENVIRONMENT, &err);
    json_t *trials = json_object();
    for (int i = 0; i < STATUS_COUNT; i++) {
        if (counts[i]) json_object_set_new(trials, status_name((enum trial_status)i), json_integer(counts[i]));
        total += counts[i];
    }
    char hash[HASH_TEXT_SIZE];
    bool changed = !request_source_hash(session->job, hash, NULL) && *environment->source_hash &&
                   strcmp(hash, environment->source_hash) != 0;
    json_t *members = json_pack(
        "{s:s, s:s, s:s, s:s, s:s, s:b, s:b, s:I, s:f, s:I, s:o, s:I, s:I, s:f, s:O}", "job", session->job->name,
        "store", session->store_path, "device", environment->device, "driver", environment->driver, "compiler",
        environment->compiler, "source_changed", (int)changed, "replayed", (int)session->replayed, "tuned_by_process",
        (json_int_t)store_holder(session->store), "configurations", floor((double)space_size(session->job->space)),
        "trials_total", (json_int_t)total, "trials", trials, "runs_total", (json_int_t)json_array_size(status->runs),
        "evaluations", (json_int_t)status->evaluations, "seconds", status->seconds, "runs", status->runs);
    json_object_update(status->report, members);
    json_object_set_new(status->report, "verified", json_boolean(!job_unverified(session->job)));
    json_decref(members);
    add_baselines(status);
    add_final(status);
    return 0;
}

struct showing {
    struct job_set job_set;
    int format;
    json_t *live;      // of the job that is shown; NULL: no run lasts
    json_t *documents; // of every job and device
    size_t printed;
};

static struct showing given;

static const struct option_spec specs[] = {
    OPTION_JOBS(&given.job_set.named),
    OPTION_STORE(&given.job_set.store),
    OPTION_RESULTS_DEVICE(&given.job_set.device, "all of them"),
    OPTION_DOCUMENT_FORMAT(&given.format),
    OPTION_END,
};

static int show(void *user, struct session *session)
{
    struct showing *all = user;
    struct status status = {.session = session, .report = json_object(), .runs = json_array()};
    int result = session_build_space(session);
    if (!result) result = gather(&status);
    // A run is of one device, and of the newest one.
    if (!result && all->live && session->environment.key == session->devices[0].key)
        json_object_set(status.report, "live", all->live);
    if (!result && all->format == FORMAT_TABLE && !all->job_set.many) {
        if (all->printed++) putchar('\n');
        status_print(status.report, session);
    } else if (!result) {
        json_array_append(all->documents, status.report);
    }
    json_decref(status.runs);
    json_decref(status.report);
    return result;
}

// A run on another machine: its store cannot be read from here while it lasts.
static void show_elsewhere(struct showing *all, const char *store_path)
{
    if (all->format == FORMAT_TABLE && !all->job_set.many) {
        if (all->printed++) putchar('\n');
        printf("%-15s%s\n%-15s%s (not read: its run is on another machine)\n%-15s%s\n", "job",
               json_get_string(all->live, "job", "?"), "store", store_path, "device",
               json_get_string(all->live, "device", "?"));
        status_live_print(all->live, stdout);
        return;
    }
    json_t *report = json_pack("{s:s, s:s, s:s, s:O}", "job", json_get_string(all->live, "job", "?"), "store",
                               store_path, "device", json_get_string(all->live, "device", ""), "live", all->live);
    json_array_append_new(all->documents, report);
}

static int show_job(void *user, const char *path, struct job *job)
{
    struct showing *all = user;
    struct live_status live = {0};
    struct error err;
    char *store_path = session_store_path(job, all->job_set.store);
    int result = 0;
    if (live_status_read(store_path, &live, &err)) fprintf(stderr, "sweetspot: %s\n", err.message);
    all->live = status_live_json(&live);
    if (live.state == LIVE_ELSEWHERE)
        show_elsewhere(all, store_path);
    else
        result = job_set_visit_results(&all->job_set, EVERY_DEVICE, show, all, path, job), job = NULL;
    json_decref(all->live);
    all->live = NULL;
    live_status_release(&live);
    free(store_path);
    job_free(job);
    return result;
}

static int run(void)
{
    int result;
    given.documents = json_array();
    if (!(result = job_set_open(&given.job_set))) {
        result = job_set_each_job(&given.job_set, show_job, &given);
        if (given.format == FORMAT_JSON)
            job_set_print(&given.job_set, "sweetspot-status", 1, given.documents);
        else if (json_array_size(given.documents))
            status_print_all(given.documents);
    }
    json_decref(given.documents);
    job_set_close(&given.job_set);
    return result;
}

const struct command cmd_status = {
    .name = "status",
    .summary = "progress of a job, and its best so far",
    .description =
        "Shows the progress of a job: trials by status, the best so far against the baselines, the last runs, "
        "whether a tuner is running, the state of its workers, and how to resume. Several jobs, or a folder of jobs, "
        "have a line each. It only reads and can be called while the job is being tuned.",
    .options = specs,
    .run = run,
    .more = "`docs/formats.md` describes json. To follow a run: `watch sweetspot status JOB`, on any machine that sees "
            "the store's folder.",
    .see = "tune compare report",
};
