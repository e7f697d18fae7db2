// See status_table.h.
#include "tuner/cli/status_table.h"

#include "tuner/base/base.h"
#include "tuner/base/table.h"
#include "tuner/final/finals.h"

enum { RUNS_SHOWN = 3 };

json_t *status_live_json(const struct live_status *live)
{
    if (!live->document) return NULL;
    json_t *json = json_pack("{s:s, s:o}", "state", live_state_text(live->state), "age", json_real(live->age));
    json_object_update(json, live->document);
    return json;
}

static void print_run(const json_t *live, FILE *out)
{
    const char *state = json_get_string(live, "state", ""), *host = json_get_string(live, "host", "?");
    int64_t pid = json_get_integer(live, "pid", 0);
    double age = json_get_number(live, "age", NAN);
    char shown[32];
    bool here = !strcmp(state, live_state_text(LIVE_HERE));
    if (!strcmp(state, live_state_text(LIVE_DEAD))) {
        fprintf(out, "%-15sthe last run was killed: process %" PRId64 " is gone; finished trials are kept\n", "note",
                pid);
        return;
    }
    fprintf(out, "%-15sprocess %" PRId64 " is tuning it now, on %s: %s, ", "running", pid, here ? "this machine" : host,
            json_get_string(live, "phase", ""));
    if (!strcmp(state, live_state_text(LIVE_SILENT)))
        fprintf(out, "but silent for %s: killed, suspended, or the machines' clocks differ\n",
                text_show_duration(fabs(age), shown, sizeof shown));
    else
        fprintf(out, "updated %.1f s ago\n", fmax(0, age));
}

static void print_search(const json_t *live, FILE *out)
{
    char shown[32], limit[32];
    const json_t *count;
    const char *word;
    double seconds = json_get_number(live, "search_seconds", NAN), of = json_get_number(live, "time_limit", NAN),
           best = json_get_number(live, "best", NAN), ratio = json_get_number(live, "ratio", NAN);
    int64_t fresh = json_get_integer(live, "new_trials", 0), wanted = json_get_integer(live, "evaluations_limit", 0);
    fprintf(out, "%-15s%s", "search", text_show_duration(seconds, shown, sizeof shown));
    if (of > 0) fprintf(out, " of %s", text_show_duration(of, limit, sizeof limit));
    fprintf(out, "  %" PRId64, json_get_integer(live, "evaluations", 0));
    if (wanted) fprintf(out, " of %" PRId64, wanted);
    fprintf(out, " evaluations, %" PRId64 " new", fresh);
    if (seconds > 1) fprintf(out, ", %.1f a second", (double)fresh / seconds);
    json_object_foreach((json_t *)json_object_get(live, "statuses"), word, count)
        fprintf(out, "  %s %" PRId64, word, (int64_t)json_integer_value(count));
    fprintf(out, "\n%-15s", "best");
    if (isfinite(best))
        fprintf(out, "%s", show_time(best, shown, sizeof shown));
    else
        fprintf(out, "no valid result yet");
    if (isfinite(ratio)) fprintf(out, ", %.3fx as fast as %s", ratio, json_get_string(live, "baseline", "?"));
    const char *config = json_get_string(live, "best_config", NULL);
    if (config) fprintf(out, "  %s", config);
    fputc('\n', out);
    double busy = json_get_number(live, "busy", NAN);
    if (isfinite(busy))
        fprintf(out, "%-15sGPUs %.0f%%, compilers %.0f%%, the driver %.0f%% of the search\n", "busy", 100 * busy,
                100 * json_get_number(live, "compilers_busy", 0), 100 * json_get_number(live, "driver_busy", 0));
}

// What a GPU is at: its trial, or why it stopped, or what it compiles.
static char *work_text(const json_t *w)
{
    int64_t trial = json_get_integer(w, "trial", 0);
    return trial ? text_format("trial %" PRId64, trial)
                 : text_copy(json_get_string(w, "reason", json_get_string(w, "config", "")));
}

// The compilers of a node together, in the place of its first one. NULL: another one has them.
static json_t *compilers_of(const json_t *workers, size_t first)
{
    const char *node = json_get_string(json_array_get(workers, first), "node", "");
    const json_t *w;
    size_t i;
    int64_t count = 0, compiling = 0, done = 0, failed = 0, restarts = 0;
    double busy = 0;
    char name[48], state[48];
    json_array_foreach(workers, i, w) {
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
    snprintf(name, sizeof name, "%" PRId64 " compiler%s", count, count == 1 ? "" : "s");
    snprintf(state, sizeof state, "%" PRId64 " compiling", compiling);
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

void status_live_print(const json_t *live, FILE *out)
{
    const json_t *workers = json_object_get(live, "workers");
    json_t *w;
    size_t i;
    print_run(live, out);
    if (!strcmp(json_get_string(live, "state", ""), live_state_text(LIVE_DEAD))) return;
    print_search(live, out);
    json_t *rows = json_array();
    json_array_foreach(workers, i, w) {
        bool compiler = !strcmp(json_get_string(w, "kind", ""), "compiler");
        json_t *together = compiler ? compilers_of(workers, i) : NULL;
        if (together || !compiler) json_array_append_new(rows, together ? together : json_incref(w));
    }
    fputc('\n', out);
    rows_print(rows, columns, false, out);
    json_decref(rows);
}

static void print_best(const json_t *report)
{
    const json_t *best = json_object_get(report, "best"), *problem, *baseline;
    char time[64], text[96];
    size_t i;
    if (!best) {
        printf("best so far    no configuration has been measured and verified yet\n");
        return;
    }
    printf("best so far    %s", show_time(json_get_number(best, "objective", NAN), time, sizeof time));
    if (json_get_integer(best, "trial", 0))
        printf("  trial %" PRId64 "\n               %s\n", json_get_integer(best, "trial", 0),
               json_get_string(best, "configuration", ""));
    else
        printf("  with the fastest kernel of each problem\n");
    json_array_foreach(json_object_get(best, "problems"), i, problem) {
        struct interval interval = {json_get_number(problem, "time", NAN), json_get_number(problem, "low", NAN),
                                    json_get_number(problem, "high", NAN)};
        if (!json_get_bool(problem, "tuned", true)) continue;
        printf("               %s  %s", json_get_string(problem, "name", ""),
               show_interval(&interval, text, sizeof text));
        if (json_get_integer(problem, "trial", 0)) printf("  trial %" PRId64, json_get_integer(problem, "trial", 0));
        putchar('\n');
    }
    json_array_foreach(json_object_get(report, "baselines"), i, baseline) {
        double ratio = json_get_number(baseline, "ratio", NAN);
        printf("against %-8s ", json_get_string(baseline, "name", ""));
        printf(isfinite(ratio) ? "%s, ratio %.3f (the search's times, not paired)\n" : "%s\n",
               show_time(json_get_number(baseline, "objective", NAN), time, sizeof time), ratio);
    }
}

static void print_runs(const json_t *report)
{
    const json_t *run;
    char when[32], time[32];
    size_t i;
    json_array_foreach(json_object_get(report, "runs"), i, run) {
        if (i == RUNS_SHOWN) break;
        printf("%-15s%s  %s  %" PRId64 " evaluations  %s", i ? "" : "last runs",
               show_moment(json_get_number(run, "started", NAN), when, sizeof when),
               text_show_duration(json_get_number(run, "search_seconds", NAN), time, sizeof time),
               json_get_integer(run, "new", 0), json_get_string(run, "strategy", ""));
        const char *stopped = json_get_string(run, "stopped_by", "");
        printf(*stopped ? "  stopped: %s\n" : "\n", stopped);
    }
}

// GPUs that the last run set aside.
static void print_disabled(const json_t *report)
{
    const json_t *one, *last = json_array_get(json_object_get(report, "runs"), 0);
    size_t i;
    json_array_foreach(json_object_get(last, "gpus"), i, one) {
        const char *aside = json_get_string(one, "aside", NULL);
        if (aside) printf("%-15s%s\n", "disabled", aside);
    }
}

void status_print(const json_t *report, const struct session *session)
{
    const json_t *value;
    const char *key, *separator = "";
    char text[64];
    int64_t total = json_get_integer(report, "trials_total", 0);
    double size = json_get_number(report, "configurations", NAN);
    printf("%-15s%s\n%-15s%s\n", "job", session->job->name, "store", session->store_path);
    char *device = session_device(session);
    printf("%-15s%s\n", "device", device);
    free(device);
    printf("%-15s%" PRId64 " of %.0f configurations (%.1f%%): ", "trials", total, size, 100 * (double)total / size);
    json_object_foreach(json_object_get(report, "trials"), key, value) {
        printf("%s%" PRId64 " %s", separator, (int64_t)json_integer_value(value), key);
        separator = ", ";
    }
    printf("%s\n", total ? "" : "none");
    size_t runs = json_array_size(json_object_get(report, "runs"));
    printf("%-15s%" PRId64 " evaluations in %s, %zu run%s\n", "spent", json_get_integer(report, "evaluations", 0),
           text_show_duration(json_get_number(report, "seconds", NAN), text, sizeof text), runs, runs == 1 ? "" : "s");
    print_best(report);
    if (job_unverified(session->job)) printf("%-15s%s\n", "", job_unverified(session->job));
    const json_t *final = json_object_get(report, "final");
    if (final)
        printf("%-15s%s, won by trial %" PRId64 "\n", "final",
               show_moment(json_get_number(final, "when", NAN), text, sizeof text),
               json_get_integer(final, "winner", 0));
    print_disabled(report);
    print_runs(report);
    long holder = (long)json_get_integer(report, "tuned_by_process", 0);
    if (json_get_bool(report, "source_changed", false))
        printf("%-15s%s\n", "note",
               json_get_bool(report, "replayed", false)
                   ? "these trials were recorded with another version of the template"
                   : "the template has changed since these trials: the next run starts over");
    const json_t *live = json_object_get(report, "live");
    if (holder && !live) printf("%-15sprocess %ld is tuning it now\n", "running", holder);
    if (live) status_live_print(live, stdout);
    if (!holder) {
        char *tune = session_command(session, "tune"), *compare = session_command(session, "compare"),
             *header = session_command(session, "header");
        printf("%-15s%s\n", "resume with", tune);
        if (final) printf("%-15s%s; %s\n", "or", compare, header);
        free(tune);
        free(compare);
        free(header);
    }
}

// The fastest of the baselines, or NULL.
static const json_t *fastest_baseline(const json_t *report)
{
    const json_t *baseline, *fastest = NULL;
    size_t i;
    json_array_foreach(json_object_get(report, "baselines"), i, baseline) {
        double time = json_get_number(baseline, "objective", NAN);
        if (isfinite(time) && !(time >= json_get_number(fastest, "objective", INFINITY))) fastest = baseline;
    }
    return fastest;
}

static void add_line(struct table *table, const json_t *report)
{
    const json_t *trials = json_object_get(report, "trials"), *final = json_object_get(report, "final");
    const json_t *live = trials ? NULL : json_object_get(report, "live"); // of a run on another machine
    const json_t *baseline = live ? live : fastest_baseline(report),
                 *run = live ? live : json_array_get(json_object_get(report, "runs"), 0);
    int64_t total = live ? json_get_integer(live, "evaluations", 0) : json_get_integer(report, "trials_total", 0);
    double best =
        live ? json_get_number(live, "best", NAN) : json_get_number(json_object_get(report, "best"), "objective", NAN);
    char text[64];
    table_texts(table, json_get_string(report, "job", ""), json_get_string(report, "device", ""));
    table_cell(table, "%" PRId64, total);
    table_number(table, "%.1f%%", 100 * (double)total / json_get_number(report, "configurations", NAN));
    table_cell(table, "%" PRId64, json_get_integer(live ? json_object_get(live, "statuses") : trials, "ok", 0));
    table_cell(table, "%s", isfinite(best) ? show_time(best, text, sizeof text) : "");
    table_cell(table, "%s", json_get_string(baseline, live ? "baseline" : "name", ""));
    table_number(table, "%.3f", json_get_number(baseline, "ratio", NAN));
    table_cell(table, "%s", final ? show_moment(json_get_number(final, "when", NAN), text, sizeof text) : "");
    table_cell(table, "%s", run ? show_moment(json_get_number(run, "started", NAN), text, sizeof text) : "");
    const char *notes[] = {json_get_bool(report, "verified", true) ? NULL : "NOT VERIFIED",
                           json_get_integer(report, "tuned_by_process", 0) ? "being tuned now" : NULL,
                           json_get_bool(report, "source_changed", false) ? "the template has changed" : NULL};
    struct text note = {0};
    if (live) text_add(&note, "being tuned now on %s", json_get_string(live, "host", "?"));
    for (size_t i = 0; i < sizeof notes / sizeof *notes; i++)
        if (notes[i]) text_add(&note, "%s%s", note.text ? "  " : "", notes[i]);
    table_cell(table, "%s", note.text ? note.text : "");
    free(note.text);
}

void status_print_all(const json_t *reports)
{
    struct table *table =
        table_new((const char *[]){"job", "device", ">trials", ">of the space", ">ok", ">best", "library",
                                   ">ratio (not paired)", ">final", ">last run", "note", NULL});
    const json_t *report;
    size_t i;
    json_array_foreach(reports, i, report) add_line(table, report);
    table_print(table, stdout);
    printf(
        "\nThe ratio is to the fastest baseline, from the search's times. More about one job: sweetspot status JOB\n");
    table_free(table);
}
