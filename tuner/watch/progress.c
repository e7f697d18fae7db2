// What a run prints while it runs: one line that is redrawn on a terminal, a line a minute elsewhere, and the log file
// with the whole history.
#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <time.h>
#include <unistd.h>

#include "tuner/base/clock.h"
#include "tuner/base/protocol.h"
#include "tuner/base/text.h"
#include "tuner/run/run.h"

static void log_line(struct run *r, const char *text)
{
    if (!r->display.log) return;
    time_t now = time(NULL);
    struct tm local;
    char stamp[32];
    localtime_r(&now, &local);
    strftime(stamp, sizeof stamp, "%Y-%m-%d %H:%M:%S", &local);
    fprintf(r->display.log, "%s  %s\n", stamp, text);
    fflush(r->display.log);
}

void run_log(struct run *r, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    char *text = text_format_list(format, args);
    va_end(args);
    for (char *p = text; *p; p++)
        if (*p == '\n') *p = ' ';
    log_line(r, text);
    free(text);
}

void run_progress_clear(struct run *r)
{
    if (r->display.terminal && r->display.progress_width) fputs("\r\033[K", stderr);
    r->display.progress_width = 0;
}

void run_message(struct run *r, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    char *text = text_format_list(format, args);
    va_end(args);
    run_progress_clear(r);
    fprintf(stderr, "%s\n", text);
    log_line(r, text);
    free(text);
}

// The fields of the line, from left to right. On a narrow terminal the least important are left out, the best time
// never.
enum importance { VITAL, IMPORTANT, USEFUL, DETAIL, DECORATION };
enum { FIELDS = 12, FIELD_ROOM = 400 };

struct progress_line {
    size_t count;
    struct progress_field {
        enum importance importance;
        char text[FIELD_ROOM];
    } fields[FIELDS];
};

static void add(struct progress_line *line, enum importance importance, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
static void add(struct progress_line *line, enum importance importance, const char *format, ...)
{
    struct progress_field *field = &line->fields[line->count++];
    va_list args;
    field->importance = importance;
    va_start(args, format);
    vsnprintf(field->text, sizeof field->text, format, args);
    va_end(args);
}

static void add_evaluations(const struct run *r, struct progress_line *line, uint64_t valid)
{
    if (r->options->evaluations)
        add(line, IMPORTANT, "%" PRId64 "/%" PRId64, run_evaluations(r), r->options->evaluations);
    else if (valid < 10000000)
        add(line, IMPORTANT, "%" PRId64 "/%" PRIu64, run_evaluations(r), valid);
    else
        add(line, IMPORTANT, "%" PRId64, run_evaluations(r));
}

static void add_failures(const struct run *r, struct progress_line *line)
{
    int64_t failed = 0;
    char kinds[FIELD_ROOM - 2] = "";
    for (int s = STATUS_PRUNED; s < STATUS_COUNT; s++) {
        if (!r->statistics.counts[s]) continue;
        size_t used = strlen(kinds);
        snprintf(kinds + used, sizeof kinds - used, "%s%s %" PRId64, failed ? ", " : "",
                 status_name((enum trial_status)s), r->statistics.counts[s]);
        failed += r->statistics.counts[s];
    }
    if (!failed) return;
    add(line, USEFUL, "failed %" PRId64, failed);
    add(line, DETAIL, "(%s)", kinds);
}

static void describe(const struct run *r, struct progress_line *line)
{
    char text[32];
    double elapsed = clock_now() - r->statistics.search_started;
    uint64_t valid = space_size(r->job->space);
    *line = (struct progress_line){0};
    add_evaluations(r, line, valid);
    if (r->options->time > 0)
        add(line, IMPORTANT, "%s left", text_show_duration(fmax(0, r->options->time - elapsed), text, sizeof text));
    else
        add(line, IMPORTANT, "%s", text_show_duration(elapsed, text, sizeof text));
    if (elapsed > 1) add(line, DETAIL, "%.1f/s", (double)r->statistics.new_trials / elapsed);
    if (isfinite(r->incumbent.objective)) {
        add(line, VITAL, "best %s", text_show_duration(r->incumbent.objective, text, sizeof text));
        if (isfinite(r->incumbent.baseline))
            add(line, IMPORTANT, "= %.3f of %s", r->incumbent.baseline / r->incumbent.objective,
                r->incumbent.baseline_name);
    } else {
        add(line, VITAL, "no valid result yet");
    }
    const struct stop *stop = &r->policy.stop;
    if (stop->evaluations >= STOP_LEAST && isfinite(stop->best)) {
        double share = stop->rules.until > 0 ? stop->rules.until : OUTLOOK_SHARE;
        uint64_t left = valid > stop->evaluations ? valid - stop->evaluations : 0;
        add(line, DETAIL, "as many again: %.0f%% chance of %.3g%%",
            100 * stop_outlook(stop, share, stop->evaluations, left).chance, 100 * share);
    }
    add_failures(r, line);
    if (r->statistics.temperature > 0) add(line, DECORATION, "%.0f C", r->statistics.temperature);
    if (r->statistics.clock_mhz > 0) add(line, DECORATION, "%.0f MHz", r->statistics.clock_mhz);
}

// Two blanks before a field; one before what only explains the field before it.
static size_t gap_before(const struct progress_line *line, size_t i)
{
    return i == 0 ? 0 : strchr("=(", line->fields[i].text[0]) ? 1 : 2;
}

static size_t width_of(const struct progress_line *line)
{
    size_t width = 0;
    for (size_t i = 0; i < line->count; i++) width += gap_before(line, i) + strlen(line->fields[i].text);
    return width;
}

// Leaves out the last of the least important fields until the rest fits; what is vital stays.
static void fit(struct progress_line *line, size_t columns)
{
    while (width_of(line) > columns) {
        size_t least = 0;
        for (size_t i = 0; i < line->count; i++)
            if (line->fields[i].importance >= line->fields[least].importance) least = i;
        if (line->fields[least].importance == VITAL) return;
        line->count--;
        memmove(&line->fields[least], &line->fields[least + 1], (line->count - least) * sizeof line->fields[0]);
    }
}

static void print(const struct progress_line *line, char *out, size_t size)
{
    size_t used = 0;
    *out = 0;
    for (size_t i = 0; i < line->count && used < size; i++)
        used += (size_t)snprintf(out + used, size - used, "%*s%s", (int)gap_before(line, i), "", line->fields[i].text);
}

void run_progress(struct run *r, bool at_once)
{
    double now = clock_now();
    struct progress_line fields;
    char line[1024];
    run_event_progress(r);
    if (r->options->quiet || (!at_once && now < r->display.next_progress)) return;
    describe(r, &fields);
    if (r->display.terminal) {
        struct winsize window;
        size_t columns = ioctl(STDERR_FILENO, TIOCGWINSZ, &window) || !window.ws_col ? 80 : window.ws_col;
        fit(&fields, columns - 1);
        print(&fields, line, sizeof line);
        if (strlen(line) >= columns) line[columns - 1] = 0;
        fprintf(stderr, "\r\033[K%s", line);
        fflush(stderr);
        r->display.progress_width = strlen(line);
        r->display.next_progress = now + 0.25;
    } else {
        print(&fields, line, sizeof line);
        fprintf(stderr, "%s: %s\n", r->job->name, line);
        r->display.next_progress = now + 60;
    }
}
