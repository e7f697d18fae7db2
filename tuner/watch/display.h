// The output of a run while it runs: messages, one line of progress, and a log file with the whole history. The line of
// progress is redrawn on a terminal, and printed once a minute elsewhere.
#pragma once

#include "tuner/base/base.h"

struct display {
    FILE *log; // NULL: none. Owned
    bool terminal, quiet;
    double next; // when the line is due again (clock_now())
    bool drawn;  // a line is on the terminal
};

// Opens the log for appending. -1 with errno.
int display_open(struct display *, const char *log_path, bool quiet);
void display_close(struct display *);

void display_log(struct display *, const char *format, ...) __attribute__((format(printf, 2, 3)));
void display_message(struct display *, const char *format, ...) __attribute__((format(printf, 2, 3))); // stderr, log
void display_clear(struct display *); // removes the line, before something else is printed

bool display_due(const struct display *); // whether the progress line is due
// Shows the progress line, truncated to the width of the terminal.
void display_progress(struct display *, const char *line, const char *job);
