// See status_live.h.
#include "tuner/cli/status_live.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "tuner/base/table.h"
#include "tuner/base/text.h"
#include "tuner/final/finals.h"

json_t *status_live_json(const struct live_status *live)
{
    if (!live->document) return NULL;
    json_t *json = json_pack("{s:s, s:o}", "state", live_state_text(live->state), "age", json_real_or_null(live->age));
    json_object_update(json, live->document);
    return json;
}

static const char *percent(double share, char *out, size_t size)
{
    if (isfinite(share))
        snprintf(out, size, "%.0f%%", 100 * share);
    else
        *out = 0;
    return out;
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
        fprintf(out, "as of %.1f s ago\n", fmax(0, age));
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
    if (isfinite(ratio)) fprintf(out, " = %.3f of %s", ratio, json_get_string(live, "baseline", "?"));
    const char *config = json_get_string(live, "best_config", NULL);
    if (config) fprintf(out, "  %s", config);
    fputc('\n', out);
    double busy = json_get_number(live, "busy", NAN);
    if (isfinite(busy))
        fprintf(out, "%-15sGPUs %.0f%%, compilers %.0f%%, the driver %.0f%% of the search\n", "busy", 100 * busy,
                100 * json_get_number(live, "compilers_busy", 0), 100 * json_get_number(live, "driver_busy", 0));
}

static void add_gpu(struct table *table, const json_t *w)
{
    char text[32];
    double clock = json_get_number(w, "clock_mhz", NAN), temperature = json_get_number(w, "temperature", NAN),
           power = json_get_number(w, "power", NAN);
    table_cell(table, "%s", json_get_string(w, "name", ""));
    table_cell(table, "%s", json_get_string(w, "node", ""));
    table_cell(table, "%s", json_get_string(w, "state", ""));
    table_cell(table, "%.1f s", json_get_number(w, "for", 0));
    table_cell(table, "%" PRId64, json_get_integer(w, "done", 0));
    table_cell(table, "%" PRId64, json_get_integer(w, "failed", 0));
    table_cell(table, "%s", percent(json_get_number(w, "busy", NAN), text, sizeof text));
    table_cell(table, "%s", percent(json_get_number(w, "busy_minute", NAN), text, sizeof text));
    table_cell(table, isfinite(clock) ? "%.0f MHz" : "", clock);
    table_cell(table, isfinite(temperature) ? "%.0f C" : "", temperature);
    table_cell(table, isfinite(power) ? "%.0f W" : "", power);
    table_cell(table, "%" PRId64, json_get_integer(w, "restarts", 0));
    if (json_get_integer(w, "trial", 0))
        table_cell(table, "trial %" PRId64, json_get_integer(w, "trial", 0));
    else
        table_cell(table, "%s", json_get_string(w, "reason", json_get_string(w, "config", "")));
}

// The compilers of a node together; the rest of the list is looked through for more of them.
static void add_compilers(struct table *table, const json_t *workers, size_t first)
{
    const char *node = json_get_string(json_array_get(workers, first), "node", "");
    const json_t *w;
    size_t i;
    int64_t count = 0, compiling = 0, done = 0, failed = 0, restarts = 0;
    double busy = 0, minute = 0;
    char text[32];
    json_array_foreach(workers, i, w)
    {
        bool same = !strcmp(json_get_string(w, "node", ""), node);
        if (!same || strcmp(json_get_string(w, "kind", ""), "compiler")) continue;
        if (i < first) return; // it is in another one's line
        count++;
        compiling += !strcmp(json_get_string(w, "state", ""), "compiling");
        done += json_get_integer(w, "done", 0);
        failed += json_get_integer(w, "failed", 0);
        restarts += json_get_integer(w, "restarts", 0);
        busy += json_get_number(w, "busy", 0);
        minute += json_get_number(w, "busy_minute", 0);
    }
    table_cell(table, "%" PRId64 " compiler%s", count, count == 1 ? "" : "s");
    table_cell(table, "%s", node);
    table_cell(table, "%" PRId64 " compiling", compiling);
    table_cell(table, "%s", "");
    table_cell(table, "%" PRId64, done);
    table_cell(table, "%" PRId64, failed);
    table_cell(table, "%s", percent(busy / (double)count, text, sizeof text));
    table_cell(table, "%s", percent(minute / (double)count, text, sizeof text));
    for (int empty = 0; empty < 3; empty++) table_cell(table, "%s", ""); // clock, heat, power
    table_cell(table, "%" PRId64, restarts);
    table_cell(table, "%s", "");
}

void status_live_print(const json_t *live, FILE *out)
{
    const json_t *workers = json_object_get(live, "workers"), *w;
    size_t i;
    print_run(live, out);
    if (!strcmp(json_get_string(live, "state", ""), live_state_text(LIVE_DEAD))) return;
    print_search(live, out);
    struct table *table =
        table_new((const char *[]){"worker", "node", "state", ">for", ">done", ">failed", ">busy", ">last minute",
                                   ">clock", ">heat", ">power", ">restarts", "at", NULL});
    json_array_foreach(workers, i, w)
    {
        if (strcmp(json_get_string(w, "kind", ""), "compiler"))
            add_gpu(table, w);
        else
            add_compilers(table, workers, i);
    }
    fputc('\n', out);
    table_print(table, out);
    table_free(table);
}
