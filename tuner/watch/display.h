// What a run prints while it runs: messages, one line of progress that is redrawn on a terminal and printed once a
// minute elsewhere, and a log file with the whole history.
#ifndef SWEETSPOT_DISPLAY_H
#define SWEETSPOT_DISPLAY_H

#include "tuner/base/base.h"

struct display {
    FILE *log; // NULL: none. Owned
    bool terminal, quiet;
    double next;  // when the line is due again; clock_now()
    size_t width; // of the line that stands on the terminal
};

// Opens the log, to which it appends. -1 with errno.
int display_open(struct display *, const char *log_path, bool quiet);
void display_close(struct display *);

void display_log(struct display *, const char *format, ...) __attribute__((format(printf, 2, 3)));
void display_message(struct display *, const char *format, ...) __attribute__((format(printf, 2, 3))); // stderr, log
void display_clear(struct display *); // takes the line away, before something else is printed

// The fields of the line, from left to right. On a narrow terminal the least important are left out, the vital ones
// never. A field that begins with "=" or "(" explains the field before it.
enum importance { VITAL, IMPORTANT, USEFUL, DETAIL, DECORATION };
enum { PROGRESS_FIELDS = 12, PROGRESS_ROOM = 400 };

struct progress_line {
    size_t count;
    struct progress_field {
        enum importance importance;
        char text[PROGRESS_ROOM];
    } fields[PROGRESS_FIELDS];
};

void progress_add(struct progress_line *, enum importance, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
bool display_due(const struct display *);                                         // whether the line is
void display_progress(struct display *, struct progress_line *, const char *job); // shows it

#endif
