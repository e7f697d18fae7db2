#include "tuner/watch/display.h"

#include <stdarg.h>
#include <sys/ioctl.h>
#include <time.h>
#include <unistd.h>

#include "tuner/base/clock.h"

int display_open(struct display *d, const char *log_path, bool quiet)
{
    *d = (struct display){.log = fopen(log_path, "a"), .terminal = isatty(STDERR_FILENO), .quiet = quiet};
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
    fprintf(d->log, "%s  %s\n", stamp, text);
    fflush(d->log);
}

void display_log(struct display *d, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    char *text = text_format_list(format, args);
    va_end(args);
    for (char *p = text; *p; p++)
        if (*p == '\n') *p = ' ';
    log_line(d, text);
    free(text);
}

void display_clear(struct display *d)
{
    if (d->terminal && d->width) fputs("\r\033[K", stderr);
    d->width = 0;
}

void display_message(struct display *d, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    char *text = text_format_list(format, args);
    va_end(args);
    display_clear(d);
    fprintf(stderr, "%s\n", text);
    log_line(d, text);
    free(text);
}

void progress_add(struct progress_line *line, enum importance importance, const char *format, ...)
{
    struct progress_field *field = &line->fields[line->count++];
    va_list args;
    field->importance = importance;
    va_start(args, format);
    vsnprintf(field->text, sizeof field->text, format, args);
    va_end(args);
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

bool display_due(const struct display *d)
{
    return !d->quiet && clock_now() >= d->next;
}

void display_progress(struct display *d, struct progress_line *fields, const char *job)
{
    char line[1024];
    if (d->terminal) {
        struct winsize window;
        size_t columns = ioctl(STDERR_FILENO, TIOCGWINSZ, &window) || !window.ws_col ? 80 : window.ws_col;
        fit(fields, columns - 1);
        print(fields, line, sizeof line);
        if (strlen(line) >= columns) line[columns - 1] = 0;
        fprintf(stderr, "\r\033[K%s", line);
        fflush(stderr);
        d->width = strlen(line);
        d->next = clock_now() + 0.25;
    } else {
        print(fields, line, sizeof line);
        fprintf(stderr, "%s: %s\n", job, line);
        d->next = clock_now() + 60;
    }
}
