// See child_output.h.
#include "tuner/base/child_output.h"

#include <ctype.h>
#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "tuner/base/child_process.h"

enum { AT_A_TIME = 64 << 10 };

static void end_line(struct child_output *w, child_output_visitor *visit, void *user)
{
    w->line[w->size] = 0;
    if (w->size == sizeof w->line - 1) memcpy(w->line + w->size - 3, "...", 3);
    w->size = 0;
    if (!w->line[0]) return;
    memcpy(w->last, w->line, sizeof w->last);
    if (visit && w->heard < CHILD_OUTPUT_MOST) visit(user, w->last);
}

void child_output_take(struct child_output *w, const char *bytes, size_t size, child_output_visitor *visit, void *user)
{
    for (size_t i = 0; i < size; i++) {
        if (++w->heard == CHILD_OUTPUT_MOST && visit)
            visit(user, "(it says more than 256 KiB: the rest is not logged)");
        if (bytes[i] == '\n')
            end_line(w, visit, user);
        else if (bytes[i] != '\r' && w->size < sizeof w->line - 1)
            w->line[w->size++] = bytes[i] != '\t' && iscntrl((unsigned char)bytes[i]) ? '?' : bytes[i];
    }
}

void child_output_read(struct child_output *w, int *fd, child_output_visitor *visit, void *user)
{
    char bytes[4096];
    for (size_t taken = 0; *fd >= 0 && taken < AT_A_TIME;) {
        ssize_t n = read(*fd, bytes, sizeof bytes);
        if (n < 0 && errno == EINTR) continue;
        if (n < 0) return;
        if (n == 0) {
            end_line(w, visit, user);
            child_close(fd); // poll would return at once for ever
            return;
        }
        child_output_take(w, bytes, (size_t)n, visit, user);
        taken += (size_t)n;
    }
}
