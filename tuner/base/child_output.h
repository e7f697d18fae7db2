// What a child process says beside its protocol (on stderr, or before a greeting), line by line: for the log, and to
// say why it ended. Long lines are cut, and what would control a terminal is replaced. Of a child that does not stop
// only the first CHILD_OUTPUT_MOST bytes are passed on, so that no log fills a disk, and only so much is read at a time
// that others are heard.
#ifndef SWEETSPOT_CHILD_OUTPUT_H
#define SWEETSPOT_CHILD_OUTPUT_H

#include <stddef.h>

enum { CHILD_OUTPUT_LINE = 512, CHILD_OUTPUT_MOST = 256 << 10 };

struct child_output {
    char last[CHILD_OUTPUT_LINE]; // the last line that was not empty
    char line[CHILD_OUTPUT_LINE]; // one that is begun
    size_t size;                  // bytes of it
    size_t heard;                 // all bytes so far
};

typedef void child_output_visitor(void *user, const char *line);

// Passes whole lines on, without carriage returns, and none that is empty. `visit` may be NULL.
void child_output_take(struct child_output *, const char *bytes, size_t size, child_output_visitor *visit, void *user);
// Takes what a pipe has (not blocking), up to 64 KiB; closes it at its end.
void child_output_read(struct child_output *, int *fd, child_output_visitor *visit, void *user);

#endif
