// A worker process that answers by timed_answers.h, for runs with many GPUs on a machine without one: tests/measure/
// width.sh. $TIMED_FAULTS is the share of its trials in which it dies.
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <unistd.h>

#include "tests/timed_answers.h"
#include "tuner/base/clock.h"

// Takes the whole lines of the input.
static void take_lines(struct timed_answers *t, char *input, size_t *size)
{
    char *line = input, *end;
    while ((end = memchr(line, '\n', *size - (size_t)(line - input)))) {
        struct error err;
        *end = 0;
        json_t *request = json_parse(line, &err);
        bool trial = !strcmp(json_get_string(request, "op", ""), "trial");
        if (trial && drand48() < timed_setting("TIMED_FAULTS", 0)) raise(SIGKILL);
        if (request) timed_take(t, 0, request, clock_now());
        json_decref(request);
        line = end + 1;
    }
    *size -= (size_t)(line - input);
    memmove(input, line, *size);
}

int main(void)
{
    struct timed_answers t;
    char *input = NULL;
    size_t size = 0, room = 0, gpu;
    timed_init(&t, 1);
    srand48(getpid());
    for (;;) {
        json_t *answer;
        struct error err;
        while ((answer = timed_due(&t, clock_now(), &gpu))) {
            if (json_write_line(STDOUT_FILENO, answer, &err)) return 1;
            json_decref(answer);
        }
        double left = timed_next(&t) - clock_now();
        struct pollfd p = {.fd = STDIN_FILENO, .events = POLLIN};
        if (poll(&p, 1, isinf(left) ? -1 : (int)ceil(1e3 * fmax(left, 0))) <= 0) continue;
        if (size + 65536 > room) input = memory_grow(input, room = 2 * room + 131072, 1);
        ssize_t n = read(STDIN_FILENO, input + size, room - size);
        if (n <= 0) break;
        size += (size_t)n;
        take_lines(&t, input, &size);
    }
    timed_release(&t);
    free(input);
    return 0;
}
