// What a run says while it runs: one line that is redrawn on a terminal, a line a minute elsewhere, and the log file
// with the night's story.
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

static char *format_text(const char *format, va_list args) __attribute__((format(printf, 1, 0)));
static char *format_text(const char *format, va_list args)
{
    char *text;
    return vasprintf(&text, format, args) < 0 ? text_copy("") : text;
}

void run_log(struct run *r, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    char *text = format_text(format, args);
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
    char *text = format_text(format, args);
    va_end(args);
    run_progress_clear(r);
    fprintf(stderr, "%s\n", text);
    log_line(r, text);
    free(text);
}

static void add(char *line, size_t size, const char *format, ...) __attribute__((format(printf, 3, 4)));
static void add(char *line, size_t size, const char *format, ...)
{
    size_t used = strlen(line);
    va_list args;
    va_start(args, format);
    vsnprintf(line + used, size - used, format, args);
    va_end(args);
}

static void describe(const struct run *r, char *line, size_t size)
{
    char text[32];
    double elapsed = clock_now() - r->statistics.search_started;
    uint64_t valid = space_size(r->job->space);
    *line = 0;
    add(line, size, "%" PRId64, run_evaluations(r));
    if (r->options->evaluations)
        add(line, size, "/%" PRId64, r->options->evaluations);
    else if (valid < 10000000)
        add(line, size, "/%" PRIu64, valid);
    if (r->options->time > 0)
        add(line, size, "  %s left", text_show_duration(fmax(0, r->options->time - elapsed), text, sizeof text));
    else
        add(line, size, "  %s", text_show_duration(elapsed, text, sizeof text));
    if (elapsed > 1) add(line, size, "  %.1f/s", (double)r->statistics.new_trials / elapsed);
    if (isfinite(r->incumbent.objective)) {
        add(line, size, "  best %s", text_show_duration(r->incumbent.objective, text, sizeof text));
        if (isfinite(r->incumbent.baseline))
            add(line, size, " = %.3f of %s", r->incumbent.baseline / r->incumbent.objective,
                r->incumbent.baseline_name);
    } else {
        add(line, size, "  no valid result yet");
    }
    const struct stop *stop = &r->policy.stop;
    if (stop->evaluations >= STOP_NOISE_LEAST && isfinite(stop->best)) {
        double share = stop->rules.until > 0 ? stop->rules.until : OUTLOOK_SHARE;
        uint64_t left = valid > stop->evaluations ? valid - stop->evaluations : 0;
        add(line, size, "  as many again: %.0f%% chance of %.3g%%",
            100 * stop_outlook(stop, share, stop->evaluations, left).chance, 100 * share);
    }
    int64_t screened = r->statistics.counts[STATUS_SCREENED], failed = 0;
    if (screened) add(line, size, "  screened %" PRId64, screened);
    for (int s = STATUS_PRUNED; s < STATUS_COUNT; s++) failed += r->statistics.counts[s];
    if (failed) {
        add(line, size, "  failed %" PRId64 " (", failed);
        bool first = true;
        for (int s = STATUS_PRUNED; s < STATUS_COUNT; s++) {
            if (!r->statistics.counts[s]) continue;
            add(line, size, "%s%s %" PRId64, first ? "" : ", ", status_name((enum trial_status)s),
                r->statistics.counts[s]);
            first = false;
        }
        add(line, size, ")");
    }
    if (r->statistics.temperature > 0) add(line, size, "  %.0f C", r->statistics.temperature);
    if (r->statistics.clock_mhz > 0) add(line, size, " %.0f MHz", r->statistics.clock_mhz);
}

void run_progress(struct run *r, bool at_once)
{
    double now = clock_now();
    char line[1024];
    if (r->options->quiet || (!at_once && now < r->display.next_progress)) return;
    describe(r, line, sizeof line);
    if (r->display.terminal) {
        struct winsize window;
        size_t columns = ioctl(STDERR_FILENO, TIOCGWINSZ, &window) || !window.ws_col ? 80 : window.ws_col;
        if (strlen(line) >= columns) line[columns - 1] = 0;
        fprintf(stderr, "\r\033[K%s", line);
        fflush(stderr);
        r->display.progress_width = strlen(line);
        r->display.next_progress = now + 0.25;
    } else {
        fprintf(stderr, "%s: %s\n", r->job->name, line);
        r->display.next_progress = now + 60;
    }
}
