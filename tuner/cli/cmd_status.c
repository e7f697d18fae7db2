// sweetspot status: how far a job is, its best so far, what the runs did, and how to go on. Reads only; a tuner may be
// at work meanwhile.
//
// Everything is gathered into one JSON object first: --format json prints it, csv its plain members and the best
// trial's figures, the table what people want of it.
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tuner/base/protocol.h"
#include "tuner/base/text.h"
#include "tuner/cli/commands.h"
#include "tuner/cli/options.h"
#include "tuner/cli/session.h"
#include "tuner/compile/source.h"
#include "tuner/output/finals.h"
#include "tuner/output/table.h"
#include "tuner/trial/trial_field.h"

enum { RUNS_SHOWN = 3 };

struct status {
    struct session session;
    json_t *report; // "trials", "best", "runs", ...
    int64_t evaluations;
    double seconds;
    json_t *runs;
    json_t *last_run; // borrowed: to leave out the older of two documents of one run
};

// A run may have written a document when it began and another when it ended; the newest comes first.
static int add_run(void *user, double when, const char *json)
{
    struct status *status = user;
    json_t *run = json_parse(json, NULL);
    if (!run) return 0;
    double started = json_get_number(run, "started", when), ended = json_get_number(run, "ended", when);
    if (status->last_run && json_get_number(status->last_run, "started", 0) == started) {
        json_decref(run);
        return 0;
    }
    status->evaluations += json_get_integer(run, "new", 0);
    status->seconds += json_get_number(run, "search_seconds", ended > started ? ended - started : 0);
    json_array_append_new(status->runs, run);
    status->last_run = run;
    return 0;
}

// Every figure that is known of the best trial, by the names of the table of fields.
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

// With objective each, the best is what the fastest trials of all problems come to together.
static int note_problems(void *user, const struct trial *trial)
{
    struct status *status = user;
    json_t *best = json_object_get(json_object_get(status->report, "best"), "problems"), *known;
    for (size_t i = 0; i < trial->problem_count && i < status->session.job->tuned_count; i++) {
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
    const struct job *job = status->session.job;
    json_t *problems = json_array();
    double times[JOB_MAX_PROBLEMS];
    for (size_t p = 0; p < job->tuned_count; p++)
        json_array_append_new(problems, json_pack("{s:s}", "name", job->problems[p].name));
    json_object_set_new(status->report, "best", json_pack("{s:o}", "problems", problems));
    if (store_each(status->session.store, true, 0, note_problems, status, err) < 0) return -1;
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
    json_t *document = session_document(&status->session, "baselines", NULL), *list = json_array(), *baseline;
    double best = json_get_number(json_object_get(status->report, "best"), "objective", NAN);
    size_t i;
    json_array_foreach(json_object_get(document, "baselines"), i, baseline)
    {
        double times[JOB_MAX_PROBLEMS];
        for (size_t p = 0; p < status->session.job->tuned_count; p++)
            times[p] = json_get_number(json_array_get(json_object_get(baseline, "problems"), p), "time", NAN);
        double time = job_objective(status->session.job, times);
        json_array_append_new(list,
                              json_pack("{s:s, s:o, s:o}", "name", json_get_string(baseline, "name", "?"), "objective",
                                        json_real_or_null(time), "ratio", json_real_or_null(time / best)));
    }
    json_object_set_new(status->report, "baselines", list);
    json_decref(document);
}

static void add_final(struct status *status)
{
    double when;
    json_t *document = session_document(&status->session, "final", &when);
    if (!document) return;
    json_object_set_new(status->report, "final",
                        json_pack("{s:f, s:I}", "when", json_get_number(document, "when", when), "winner",
                                  (json_int_t)json_get_integer(document, "winner", 0)));
    json_decref(document);
}

static int gather(struct status *status)
{
    struct session *session = &status->session;
    const struct environment *environment = &session->environment;
    struct error err = {""};
    int64_t counts[STATUS_COUNT], total = 0;
    bool each = session->job->objective == OBJECTIVE_EACH;
    if (store_counts(session->store, counts, &err) ||
        (each ? add_best_each(status, &err) : store_each(session->store, true, 1, add_best, status, &err)) ||
        store_each_document(session->store, "run", 0, add_run, status, &err))
        return session_complain(EXIT_ENVIRONMENT, &err);
    json_t *trials = json_object();
    for (int i = 0; i < STATUS_COUNT; i++) {
        if (counts[i]) json_object_set_new(trials, status_name((enum trial_status)i), json_integer(counts[i]));
        total += counts[i];
    }
    char hash[HASH_TEXT_SIZE];
    bool changed =
        !source_hash(session->job->source, session->job->includes, session->job->include_count, hash, NULL, NULL) &&
        *environment->source_hash && strcmp(hash, environment->source_hash) != 0;
    const struct {
        const char *key;
        json_t *value;
    } members[] = {
        {"job", json_string(session->job->name)},
        {"store", json_string(session->store_path)},
        {"device", json_string(environment->device)},
        {"driver", json_string(environment->driver)},
        {"compiler", json_string(environment->compiler)},
        {"source_changed", json_boolean(changed)},
        {"replayed", json_boolean(session->replayed)},
        {"tuned_by_process", json_integer(store_holder(session->store))},
        {"configurations", json_real(floor((double)space_size(session->job->space)))},
        {"trials_total", json_integer(total)},
        {"trials", trials},
        {"runs_total", json_integer((json_int_t)json_array_size(status->runs))},
        {"evaluations", json_integer(status->evaluations)},
        {"seconds", json_real(status->seconds)},
        {"runs", json_incref(status->runs)},
    };
    for (size_t i = 0; i < sizeof members / sizeof *members; i++)
        json_object_set_new(status->report, members[i].key, members[i].value);
    add_baselines(status);
    add_final(status);
    return 0;
}

static void print_best(const struct status *status)
{
    const json_t *best = json_object_get(status->report, "best"), *problem, *baseline;
    char time[64], text[96];
    size_t i;
    if (!best) {
        printf("best so far    none has been measured and verified yet\n");
        return;
    }
    printf("best so far    %s", show_time(json_get_number(best, "objective", NAN), time, sizeof time));
    if (json_get_integer(best, "trial", 0))
        printf("  trial %" PRId64 "\n               %s\n", json_get_integer(best, "trial", 0),
               json_get_string(best, "configuration", ""));
    else
        printf("  with the fastest kernel of each problem\n");
    json_array_foreach(json_object_get(best, "problems"), i, problem)
    {
        struct interval interval = {json_get_number(problem, "time", NAN), json_get_number(problem, "low", NAN),
                                    json_get_number(problem, "high", NAN)};
        if (!json_get_bool(problem, "tuned", true)) continue;
        printf("               %s  %s", json_get_string(problem, "name", ""),
               show_interval(&interval, text, sizeof text));
        if (json_get_integer(problem, "trial", 0)) printf("  trial %" PRId64, json_get_integer(problem, "trial", 0));
        putchar('\n');
    }
    json_array_foreach(json_object_get(status->report, "baselines"), i, baseline)
    {
        double ratio = json_get_number(baseline, "ratio", NAN);
        printf("against %-8s ", json_get_string(baseline, "name", ""));
        printf(isfinite(ratio) ? "%s, ratio %.3f (the search's times, not paired)\n" : "%s\n",
               show_time(json_get_number(baseline, "objective", NAN), time, sizeof time), ratio);
    }
}

static void print_runs(const struct status *status)
{
    const json_t *run;
    char when[32], time[32];
    size_t i;
    json_array_foreach(status->runs, i, run)
    {
        if (i == RUNS_SHOWN) break;
        printf("%-15s%s  %s  %" PRId64 " evaluations  %s", i ? "" : "last runs",
               show_moment(json_get_number(run, "started", NAN), when, sizeof when),
               text_show_duration(json_get_number(run, "search_seconds", NAN), time, sizeof time),
               json_get_integer(run, "new", 0), json_get_string(run, "strategy", ""));
        const char *stopped = json_get_string(run, "stopped_by", "");
        printf(*stopped ? "  stopped by %s\n" : "\n", stopped);
    }
}

static void print_table(const struct status *status)
{
    const json_t *report = status->report, *value;
    const char *key, *separator = "";
    char text[64];
    int64_t total = json_get_integer(report, "trials_total", 0);
    double size = json_get_number(report, "configurations", NAN);
    printf("%-15s%s\n%-15s%s\n", "job", status->session.job->name, "store", status->session.store_path);
    char *device = session_device(&status->session);
    printf("%-15s%s\n", "device", device);
    free(device);
    printf("%-15s%" PRId64 " of %.0f configurations (%.1f%%): ", "trials", total, size, 100 * (double)total / size);
    json_object_foreach(json_object_get(report, "trials"), key, value)
    {
        printf("%s%" PRId64 " %s", separator, (int64_t)json_integer_value(value), key);
        separator = ", ";
    }
    printf("%s\n", total ? "" : "none");
    size_t runs = json_array_size(status->runs);
    printf("%-15s%" PRId64 " evaluations in %s, %zu run%s\n", "spent", status->evaluations,
           text_show_duration(status->seconds, text, sizeof text), runs, runs == 1 ? "" : "s");
    print_best(status);
    const json_t *final = json_object_get(report, "final");
    if (final)
        printf("%-15s%s, won by trial %" PRId64 "\n", "final",
               show_moment(json_get_number(final, "when", NAN), text, sizeof text),
               json_get_integer(final, "winner", 0));
    print_runs(status);
    long holder = (long)json_get_integer(report, "tuned_by_process", 0);
    if (json_get_bool(report, "source_changed", false))
        printf("%-15s%s\n", "note",
               json_get_bool(report, "replayed", false)
                   ? "these are recorded trials, of another version of the template"
                   : "the template has changed since these trials: the next run begins anew");
    if (holder) {
        printf("%-15sprocess %ld is tuning it now\n", "running", holder);
    } else {
        char *tune = session_command(&status->session, "tune"), *compare = session_command(&status->session, "compare"),
             *header = session_command(&status->session, "header");
        printf("%-15s%s\n", "go on with", tune);
        if (final) printf("%-15s%s; %s\n", "or", compare, header);
        free(tune);
        free(compare);
        free(header);
    }
}

static void print_value(const char *key, const json_t *value)
{
    char *text = json_is_string(value) ? text_copy(json_string_value(value))
                                       : json_dumps(value, JSON_ENCODE_ANY | JSON_REAL_PRECISION(9));
    printf("%s,", key);
    csv_print(text, stdout);
    putchar('\n');
    free(text);
}

// "best.problems.0.time": a line for each figure, however deep.
static void print_figures(const char *key, const json_t *value)
{
    const char *name;
    json_t *part;
    size_t i;
    if (!json_is_object(value) && !json_is_array(value)) print_value(key, value);
    json_object_foreach((json_t *)value, name, part)
    {
        char *deeper = text_format("%s.%s", key, name);
        print_figures(deeper, part);
        free(deeper);
    }
    json_array_foreach(value, i, part)
    {
        char *deeper = text_format("%s.%zu", key, i);
        print_figures(deeper, part);
        free(deeper);
    }
}

static void print_csv(const struct status *status)
{
    const char *key;
    json_t *value;
    printf("key,value\n");
    json_object_foreach(status->report, key, value)
    {
        if (!json_is_object(value) && !json_is_array(value)) print_value(key, value);
    }
    print_figures("best", json_object_get(status->report, "best"));
}

int cmd_status(int argc, char **argv)
{
    struct {
        const char *job, *store;
        int format;
    } o = {0};
    const struct option_spec specs[] = {OPTION_JOB(&o.job), OPTION_STORE(&o.store), OPTION_FORMAT(&o.format),
                                        OPTION_END};
    int result = options_parse(
        specs,
        "Shows how far a job is: trials by status, the best so far against the baselines, what the last runs did, "
        "whether a tuner is at work now, and how to go on. Only reads; may be called while the job is being tuned.",
        argc, argv);
    if (result >= 0) return result;
    struct status status = {.report = json_object(), .runs = json_array()};
    if ((result = session_open(&status.session, o.job, o.store)) || (result = session_build_space(&status.session)) ||
        (result = gather(&status)))
        goto out;
    switch (o.format) {
    case FORMAT_TABLE:
        print_table(&status);
        break;
    case FORMAT_CSV:
        print_csv(&status);
        break;
    default:
        json_dumpf(status.report, stdout, JSON_INDENT(2) | JSON_REAL_PRECISION(9));
        putchar('\n');
    }
out:
    json_decref(status.runs);
    json_decref(status.report);
    session_close(&status.session);
    return result;
}
