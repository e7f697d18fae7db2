// See status_live.h.
#include "tuner/cli/status_live.h"

#include "tuner/base/base.h"
#include "tuner/base/rows.h"
#include "tuner/final/finals.h"

json_t *status_live_json(const struct live_status *live)
{
    if (!live->document) return NULL;
    json_t *json = json_pack("{s:s, s:o}", "state", live_state_text(live->state), "age", json_real_or_null(live->age));
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
    json_array_foreach(workers, i, w)
    {
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
    json_array_foreach(workers, i, w)
    {
        bool compiler = !strcmp(json_get_string(w, "kind", ""), "compiler");
        json_t *together = compiler ? compilers_of(workers, i) : NULL;
        if (together || !compiler) json_array_append_new(rows, together ? together : json_incref(w));
    }
    struct table *table = rows_table(rows, columns);
    json_decref(rows);
    fputc('\n', out);
    table_print(table, out);
    table_free(table);
}
