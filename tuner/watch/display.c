#include "tuner/watch/display.h"

#include <sys/ioctl.h>
#include <time.h>
#include <unistd.h>

#include "tuner/base/clock.h"
#include "tuner/base/colour.h"

int display_open(struct display *d, const char *log_path, bool quiet)
{
    *d = (struct display){.terminal = isatty(STDERR_FILENO), .quiet = quiet};
    d->log = fopen(log_path, "a"); // last, so that errno is from fopen
    return d->log ? 0 : -1;
}

void display_close(struct display *d)
{
    if (d->log) fclose(d->log);
    d->log = NULL;
}

static void log_line(struct display *d, const char *text)
{
    if (!d->log) return;
    time_t now = time(NULL);
    struct tm local;
    char stamp[32];
    localtime_r(&now, &local);
    strftime(stamp, sizeof stamp, "%Y-%m-%d %H:%M:%S", &local);
    autofree char *plain = text_plain(text);
    fprintf(d->log, "%s  %s\n", stamp, plain);
    fflush(d->log);
}

void display_log(struct display *d, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    autofree char *text = text_format_list(format, args);
    va_end(args);
    log_line(d, text);
}

void display_clear(struct display *d)
{
    if (d->drawn) terminal_clear_line(stderr);
    d->drawn = false;
}

void display_message(struct display *d, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    autofree char *text = text_format_list(format, args);
    va_end(args);
    display_clear(d);
    fprintf(stderr, "%s\n", text);
    log_line(d, text);
}

bool display_due(const struct display *d)
{
    return !d->quiet && clock_now() >= d->next;
}

void display_progress(struct display *d, const char *line, const char *job)
{
    if (d->terminal) {
        struct winsize window;
        int columns = ioctl(STDERR_FILENO, TIOCGWINSZ, &window) || !window.ws_col ? 80 : window.ws_col;
        terminal_clear_line(stderr);
        fprintf(stderr, "%.*s", columns - 1, line);
        fflush(stderr);
        d->drawn = true;
        d->next = clock_now() + 0.25;
    } else {
        fprintf(stderr, "%s: %s\n", job, line);
        d->next = clock_now() + 60;
    }
}
