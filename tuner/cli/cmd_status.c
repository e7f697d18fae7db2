// sweetspot status: shows a job's progress, its best result so far, what the runs did, and how to resume. It is
// read-only and can be run while the job is being tuned.
//
// Everything is gathered into one JSON object per job and device. --format json prints the whole object; otherwise only
// the parts that people need are printed.

#include "tuner/base/protocol.h"
#include "tuner/base/table.h"
#include "tuner/cli/ageing.h"
#include "tuner/cli/commands.h"
#include "tuner/cli/job_set.h"
#include "tuner/final/finals.h"
#include "tuner/trial/trial_field.h"
#include "tuner/watch/live_status.h"

struct status {
    struct session *session;
    json_t *report; // "trials", "best", "runs", ...
    int64_t evaluations;
    double seconds;
    json_t *runs;
    struct ageing ageing;
};

// Adds a run, which may have written one document when it began and another when it ended. The newest run comes first.
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

// Adds every known figure of the best trial, under the names in the table of fields.
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

// With objective each, the best value is computed from each problem's fastest trial.
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
    autojson json_t *document = session_document(status->session, "baselines", NULL);
    json_t *list = json_array();
    double best = json_get_number(json_object_get(status->report, "best"), "objective", NAN);
    json_array_each(json_object_get(document, "baselines"), i, baseline) {
        double times[JOB_MAX_PROBLEMS];
        for (size_t p = 0; p < status->session->job->tuned_count; p++)
            times[p] = json_get_number(json_array_get(json_object_get(baseline, "problems"), p), "time", NAN);
        double time = job_objective(status->session->job, times);
        json_array_append_new(list, json_pack("{s:s, s:s, s:o, s:o}", "name", json_get_string(baseline, "name", "?"),
                                              "detail", json_get_string(baseline, "detail", ""), "objective",
                                              json_real(time), "ratio", json_real(time / best)));
    }
    json_object_set_new(status->report, "baselines", list);
}

static void add_final(struct status *status)
{
    double when;
    autojson json_t *document = session_document(status->session, "final", &when);
    if (!document) return;
    json_t *final = json_pack("{s:f, s:I}", "when", json_get_number(document, "when", when), "winner",
                              (json_int_t)json_get_integer(document, "winner", 0));
    json_object_set_new(status->report, "final", final);
}

static void add_changes(struct status *status)
{
    const struct environment now = ageing_now(status->session);
    const struct change *changes = status->ageing.changes;
    json_t *list = json_array();
    ageing_find(&status->ageing, status->session, &now);
    for (size_t i = 0; i < status->ageing.count; i++)
        json_array_append_new(list, json_pack("{s:s, s:s, s:s}", "what", changes[i].what, "then", changes[i].then,
                                              "now", changes[i].now));
    json_object_set_new(status->report, "changes", list);
    json_object_set_new(status->report, "source_changed",
                        json_boolean(status->ageing.count && !strcmp(changes->what, "source")));
}

static int add_gate(void *user, double when, json_t *gate)
{
    (void)when;
    return gate ? json_array_append(user, gate) : 0;
}

static int gather(struct status *status)
{
    struct session *session = status->session;
    const struct environment *environment = &session->environment;
    struct error err = {""};
    int64_t counts[STATUS_COUNT], total = 0;
    autojson json_t *gates = json_array();
    bool each = session->job->search.objective == OBJECTIVE_EACH;
    if (store_counts(session->store, counts, &err) ||
        (each ? add_best_each(status, &err)
              : store_each(session->store, true, 1, STORE_WHOLE, add_best, status, &err)) ||
        store_each_document(session->store, 0, "run", 0, add_run, status, &err) ||
        store_each_document(session->store, 0, "gate", 0, add_gate, gates, &err))
        return session_complain(EXIT_ENVIRONMENT, &err);
    for (int i = 0; i < STATUS_COUNT; i++) total += counts[i];
    autojson json_t *members =
        json_pack("{s:s, s:s, s:s, s:s, s:s, s:b, s:I, s:f, s:I, s:o, s:I, s:I, s:f, s:O}", "job", session->job->name,
                  "store", session->store_path, "device", environment->device, "driver", environment->driver,
                  "compiler", environment->compiler, "replayed", (int)session->replayed, "tuned_by_process",
                  (json_int_t)store_holder(session->store), "configurations", space_valid_size(session->job->space),
                  "trials_total", (json_int_t)total, "trials", trial_counts_json(counts), "runs_total",
                  (json_int_t)json_array_size(status->runs), "evaluations", (json_int_t)status->evaluations, "seconds",
                  status->seconds, "runs", status->runs);
    json_object_update(status->report, members);
    json_object_set(status->report, "gates", gates);
    json_object_set_new(status->report, "verified", json_boolean(!job_unverified(session->job)));
    add_baselines(status);
    add_final(status);
    add_changes(status);
    return 0;
}

enum { RUNS_SHOWN = 3 };

// The document with "state" and "age" added in front. New reference; NULL if there is none.
static json_t *live_json(const struct live_status *live)
{
    if (!live->document) return NULL;
    json_t *json = json_pack("{s:s, s:o}", "state", live_state_text(live->state), "age", json_real(live->age));
    json_object_update(json, live->document);
    return json;
}

static void print_run(const json_t *live)
{
    const char *state = json_get_string(live, "state", ""), *host = json_get_string(live, "host", "?");
    int64_t pid = json_get_integer(live, "pid", 0);
    double age = json_get_number(live, "age", NAN);
    bool here = !strcmp(state, live_state_text(LIVE_HERE));
    if (!strcmp(state, live_state_text(LIVE_DEAD))) {
        printf("%-15sthe last run was killed: process %" PRId64 " is gone; finished trials are kept\n", "note", pid);
        return;
    }
    printf("%-15sprocess %" PRId64 " is tuning it now, on %s: %s, ", "running", pid, here ? "this machine" : host,
           json_get_string(live, "phase", ""));
    if (!strcmp(state, live_state_text(LIVE_SILENT)))
        printf("but has reported nothing for %s: killed, suspended, or the machines' clocks differ\n",
               text_show_duration(fabs(age), TEXT_ROOM));
    else
        printf("updated %.1f s ago\n", fmax(0, age));
}

static void print_search(const json_t *live)
{
    double seconds = json_get_number(live, "search_seconds", NAN), of = json_get_number(live, "time_limit", NAN),
           best = json_get_number(live, "best", NAN), ratio = json_get_number(live, "ratio", NAN);
    int64_t fresh = json_get_integer(live, "new_trials", 0), wanted = json_get_integer(live, "evaluations_limit", 0);
    printf("%-15s%s", "search", text_show_duration(seconds, TEXT_ROOM));
    if (of > 0) printf(" of %s", text_show_duration(of, TEXT_ROOM));
    printf("  %" PRId64, json_get_integer(live, "evaluations", 0));
    if (wanted) printf(" of %" PRId64, wanted);
    printf(" evaluations, %" PRId64 " new", fresh);
    if (seconds > 1) printf(", %.1f a second", (double)fresh / seconds);
    json_object_each((json_t *)json_object_get(live, "statuses"), word, count)
        printf("  %s %" PRId64, word, (int64_t)json_integer_value(count));
    printf("\n%-15s", "best");
    if (isfinite(best))
        printf("%s", show_time(best, TEXT_ROOM));
    else
        printf("no valid result yet");
    if (isfinite(ratio)) printf(", %.3fx as fast as %s", ratio, json_get_string(live, "baseline", "?"));
    const char *config = json_get_string(live, "best_config", NULL);
    if (config) printf("  %s", config);
    putchar('\n');
    double busy = json_get_number(live, "busy", NAN);
    if (isfinite(busy))
        printf("%-15sGPUs %.0f%%, compilers %.0f%%, the driver %.0f%% of the search\n", "busy", 100 * busy,
               100 * json_get_number(live, "compilers_busy", 0), 100 * json_get_number(live, "driver_busy", 0));
}

// What a worker is doing: the trial that it measures, the configuration that it compiles, or why it has stopped.
static char *work_text(const json_t *w)
{
    int64_t trial = json_get_integer(w, "trial", 0);
    return trial ? text_format("trial %" PRId64, trial)
                 : text_copy(json_get_string(w, "reason", json_get_string(w, "config", "")));
}

// One row for all compilers of a node. NULL if `first` is not the node's first compiler.
static json_t *compilers_of(const json_t *workers, size_t first)
{
    const char *node = json_get_string(json_array_get(workers, first), "node", "");
    int64_t count = 0, compiling = 0, done = 0, failed = 0, restarts = 0;
    double busy = 0;
    json_array_each(workers, i, w) {
        bool same = !strcmp(json_get_string(w, "node", ""), node);
        if (!same || strcmp(json_get_string(w, "kind", ""), "compiler")) continue;
        if (i < first) return NULL;
        count++;
        compiling += !strcmp(json_get_string(w, "state", ""), "compiling");
        done += json_get_integer(w, "done", 0);
        failed += json_get_integer(w, "failed", 0);
        restarts += json_get_integer(w, "restarts", 0);
        busy += json_get_number(w, "busy", 0);
    }
    autofree char *name = text_format("%" PRId64 " compiler%s", count, count == 1 ? "" : "s"),
                  *state = text_format("%" PRId64 " compiling", compiling);
    return json_pack("{s:s, s:s, s:s, s:I, s:I, s:f, s:I}", "name", name, "node", node, "state", state, "done",
                     (json_int_t)done, "failed", (json_int_t)failed, "busy", busy / (double)count, "restarts",
                     (json_int_t)restarts);
}

static const struct row_column columns[] = {COLUMN_OF("worker", "name"),
                                            COLUMN("node"),
                                            COLUMN("state"),
                                            COLUMN_NUMBER(">for", NULL, "%.1f s"),
                                            COLUMN(">done"),
                                            COLUMN(">failed"),
                                            COLUMN_SHARE(">busy", NULL, "%.0f%%"),
                                            COLUMN_NUMBER(">clock", "clock_mhz", "%.0f MHz"),
                                            COLUMN_NUMBER(">heat", "temperature", "%.0f C"),
                                            COLUMN_NUMBER(">power", NULL, "%.0f W"),
                                            COLUMN(">restarts"),
                                            COLUMN_TEXT("at", work_text),
                                            {0}};

// Prints which process performs the run, its progress, and a line for each GPU and for the compilers of each node. If
// the run was killed, prints only a line that says so.
static void print_live(const json_t *live)
{
    const json_t *workers = json_object_get(live, "workers");
    print_run(live);
    if (!strcmp(json_get_string(live, "state", ""), live_state_text(LIVE_DEAD))) return;
    print_search(live);
    autojson json_t *rows = json_array();
    json_array_each(workers, i, w) {
        bool compiler = !strcmp(json_get_string(w, "kind", ""), "compiler");
        json_t *together = compiler ? compilers_of(workers, i) : NULL;
        if (together || !compiler) json_array_append_new(rows, together ? together : json_incref(w));
    }
    putchar('\n');
    rows_print(rows, columns, false, stdout);
}

static void print_best(const json_t *report)
{
    const json_t *best = json_object_get(report, "best");
    if (!best) {
        printf("best so far    no configuration has been measured and verified yet\n");
        return;
    }
    printf("best so far    %s", show_time(json_get_number(best, "objective", NAN), TEXT_ROOM));
    if (json_get_integer(best, "trial", 0))
        printf("  trial %" PRId64 "\n               %s\n", json_get_integer(best, "trial", 0),
               json_get_string(best, "configuration", ""));
    else
        printf("  with the fastest kernel of each problem\n");
    json_array_each(json_object_get(best, "problems"), i, problem) {
        struct interval interval = {json_get_number(problem, "time", NAN), json_get_number(problem, "low", NAN),
                                    json_get_number(problem, "high", NAN)};
        if (!json_get_bool(problem, "tuned", true)) continue;
        printf("               %s  %s", json_get_string(problem, "name", ""), show_interval(&interval, TEXT_ROOM));
        if (json_get_integer(problem, "trial", 0)) printf("  trial %" PRId64, json_get_integer(problem, "trial", 0));
        putchar('\n');
    }
    json_array_each(json_object_get(report, "baselines"), i, baseline) {
        double ratio = json_get_number(baseline, "ratio", NAN);
        printf("against %-8s ", json_get_string(baseline, "name", ""));
        printf(isfinite(ratio) ? "%s, ratio %.3f (the search's times, not paired)\n" : "%s\n",
               show_time(json_get_number(baseline, "objective", NAN), TEXT_ROOM), ratio);
        const char *detail = json_get_string(baseline, "detail", "");
        if (*detail) printf("               %s\n", detail);
    }
}

static void print_runs(const json_t *report)
{
    json_array_each(json_object_get(report, "runs"), i, run) {
        if (i == RUNS_SHOWN) break;
        printf("%-15s%s  %s  %" PRId64 " evaluations  %s", i ? "" : "last runs",
               show_moment(json_get_number(run, "started", NAN), TEXT_ROOM),
               text_show_duration(json_get_number(run, "search_seconds", NAN), TEXT_ROOM),
               json_get_integer(run, "new", 0), json_get_string(run, "strategy", ""));
        const char *stopped = json_get_string(run, "stopped_by", "");
        printf(*stopped ? "  stopped: %s\n" : "\n", stopped);
    }
}

// Prints GPUs that the last run disabled.
static void print_disabled(const json_t *report)
{
    const json_t *last = json_array_get(json_object_get(report, "runs"), 0);
    json_array_each(json_object_get(last, "gpus"), i, one) {
        const char *aside = json_get_string(one, "aside", NULL);
        if (aside) printf("%-15s%s\n", "disabled", aside);
    }
}

// Prints everything about one job on one device.
static void print_one(const struct status *status)
{
    const json_t *report = status->report;
    struct session *session = status->session;
    const char *separator = "";
    int64_t total = json_get_integer(report, "trials_total", 0);
    double size = json_get_number(report, "configurations", NAN);
    printf("%-15s%s\n%-15s%s\n", "job", session->job->name, "store", session->store_path);
    autofree char *device = session_device(session);
    printf("%-15s%s\n", "device", device);
    printf("%-15s%" PRId64 " of %.0f configurations (%.1f%%): ", "trials", total, size, 100 * (double)total / size);
    json_object_each(json_object_get(report, "trials"), key, value) {
        printf("%s%" PRId64 " %s", separator, (int64_t)json_integer_value(value), key);
        separator = ", ";
    }
    printf("%s\n", total ? "" : "none");
    size_t runs = json_array_size(json_object_get(report, "runs"));
    printf("%-15s%" PRId64 " evaluations in %s, %zu run%s\n", "spent", json_get_integer(report, "evaluations", 0),
           text_show_duration(json_get_number(report, "seconds", NAN), TEXT_ROOM), runs, runs == 1 ? "" : "s");
    print_best(report);
    if (job_unverified(session->job)) printf("%-15s%s\n", "", job_unverified(session->job));
    const json_t *final = json_object_get(report, "final");
    if (final)
        printf("%-15s%s, won by trial %" PRId64 "\n", "final",
               show_moment(json_get_number(final, "when", NAN), TEXT_ROOM), json_get_integer(final, "winner", 0));
    const json_t *gates = json_object_get(report, "gates"), *gate = json_array_get(gates, 0);
    if (gate)
        printf("%-15s%zu, the last on %s against %s: %s\n", "gates", json_array_size(gates),
               show_moment(json_get_number(gate, "when", NAN), TEXT_ROOM), json_get_string(gate, "base", "?"),
               json_get_string(gate, "verdict", "?"));
    print_disabled(report);
    print_runs(report);
    long holder = (long)json_get_integer(report, "tuned_by_process", 0);
    autofree char *aged = ageing_text(session, &status->ageing);
    if (aged) printf("%-15s%s\n", "note", aged);
    const json_t *live = json_object_get(report, "live");
    if (holder && !live) printf("%-15sprocess %ld is tuning it now\n", "running", holder);
    if (live) print_live(live);
    if (!holder) {
        autofree char *tune = session_command(session, "tune"), *compare = session_command(session, "compare"),
                      *header = session_command(session, "header");
        printf("%-15s%s\n", "resume with", tune);
        if (final) printf("%-15s%s; %s\n", "or", compare, header);
    }
}

// The fastest of the baselines, or NULL.
static const json_t *fastest_baseline(const json_t *report)
{
    const json_t *fastest = NULL;
    json_array_each(json_object_get(report, "baselines"), i, baseline) {
        double time = json_get_number(baseline, "objective", NAN);
        if (isfinite(time) && !(time >= json_get_number(fastest, "objective", INFINITY))) fastest = baseline;
    }
    return fastest;
}

static void add_line(struct table *table, const json_t *report)
{
    const json_t *trials = json_object_get(report, "trials"), *final = json_object_get(report, "final");
    const json_t *live = trials ? NULL : json_object_get(report, "live"); // not NULL: the run is on another machine
    const json_t *baseline = live ? live : fastest_baseline(report),
                 *run = live ? live : json_array_get(json_object_get(report, "runs"), 0);
    int64_t total = live ? json_get_integer(live, "evaluations", 0) : json_get_integer(report, "trials_total", 0);
    double best =
        live ? json_get_number(live, "best", NAN) : json_get_number(json_object_get(report, "best"), "objective", NAN);
    table_texts(table, json_get_string(report, "job", ""), json_get_string(report, "device", ""));
    table_cell(table, "%" PRId64, total);
    table_number(table, "%.1f%%", 100 * (double)total / json_get_number(report, "configurations", NAN));
    table_cell(table, "%" PRId64, json_get_integer(live ? json_object_get(live, "statuses") : trials, "ok", 0));
    table_cell(table, "%s", isfinite(best) ? show_time(best, TEXT_ROOM) : "");
    table_cell(table, "%s", json_get_string(baseline, live ? "baseline" : "name", ""));
    table_number(table, "%.3f", json_get_number(baseline, "ratio", NAN));
    table_cell(table, "%s", final ? show_moment(json_get_number(final, "when", NAN), TEXT_ROOM) : "");
    table_cell(table, "%s", run ? show_moment(json_get_number(run, "started", NAN), TEXT_ROOM) : "");
    const char *notes[] = {json_get_bool(report, "verified", true) ? NULL : "NOT VERIFIED",
                           json_get_integer(report, "tuned_by_process", 0) ? "being tuned now" : NULL};
    autorelease(text_release) struct text note = {0};
    if (live) text_add(&note, "being tuned now on %s", json_get_string(live, "host", "?"));
    for (size_t i = 0; i < sizeof notes / sizeof *notes; i++)
        if (notes[i]) text_add(&note, "%s%s", note.text ? "  " : "", notes[i]);
    json_array_each(json_object_get(report, "changes"), i, change)
        text_add(&note, "%s%s changed", note.text ? "  " : "", json_get_string(change, "what", ""));
    table_cell(table, "%s", note.text ? note.text : "");
}

// Prints several jobs as one table, with a line for each.
static void print_all(const json_t *reports)
{
    struct table *table =
        table_new((const char *[]){"job", "device", ">trials", ">of the space", ">ok", ">best", "library",
                                   ">ratio (not paired)", ">final", ">last run", "note", NULL});
    json_array_each(reports, i, report) add_line(table, report);
    table_print(table, stdout);
    printf(
        "\nThe ratio is to the fastest baseline, from the search's times. More about one job: sweetspot status JOB\n");
    table_free(table);
}

struct showing {
    struct job_set job_set;
    int format;
    json_t *live;      // the state of the job that is shown; NULL: no run is in progress
    json_t *documents; // for every job and device
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
    // A run uses one device, and this device is then the newest.
    if (!result && all->live && session->environment.key == session->devices[0].key)
        json_object_set(status.report, "live", all->live);
    if (!result && all->format == FORMAT_TABLE && !all->job_set.many) {
        if (all->printed++) putchar('\n');
        print_one(&status);
    } else if (!result) {
        json_array_append(all->documents, status.report);
    }
    json_decref(status.runs);
    json_decref(status.report);
    return result;
}

// Shows a run on another machine, whose store cannot be read from here until it ends.
static void show_elsewhere(struct showing *all, const char *store_path)
{
    if (all->format == FORMAT_TABLE && !all->job_set.many) {
        if (all->printed++) putchar('\n');
        printf("%-15s%s\n%-15s%s (not read: its run is on another machine)\n%-15s%s\n", "job",
               json_get_string(all->live, "job", "?"), "store", store_path, "device",
               json_get_string(all->live, "device", "?"));
        print_live(all->live);
        return;
    }
    json_t *report = json_pack("{s:s, s:s, s:s, s:O}", "job", json_get_string(all->live, "job", "?"), "store",
                               store_path, "device", json_get_string(all->live, "device", ""), "live", all->live);
    json_array_append_new(all->documents, report);
}

static int show_job(void *user, const char *path, struct job *job)
{
    struct showing *all = user;
    autorelease(live_status_release) struct live_status live = {0};
    struct error err;
    autofree char *store_path = session_store_path(job, all->job_set.store);
    int result = 0;
    if (live_status_read(store_path, &live, &err)) fprintf(stderr, "sweetspot: %s\n", err.message);
    all->live = live_json(&live);
    if (live.state == LIVE_ELSEWHERE)
        show_elsewhere(all, store_path);
    else
        result = job_set_visit_results(&all->job_set, EVERY_DEVICE, show, all, path, job), job = NULL;
    json_decref(all->live);
    all->live = NULL;
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
            print_all(given.documents);
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
        "have a line each. It changes nothing and can run while the job is being tuned.",
    .options = specs,
    .run = run,
    .more = "`docs/json.md` describes json. To follow a run: `watch sweetspot status JOB`, on any machine that sees "
            "the store's folder.",
    .see = "tune compare report",
};
