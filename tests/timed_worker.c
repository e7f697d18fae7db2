// A worker process that answers with timed_answers.h, for runs with many GPUs on a machine without one
// (tests/measure/width.sh). $TIMED_FAULTS is the share of trials in which it misbehaves. $TIMED_FAULT_KINDS names the
// kinds of fault, one or more of death (the default), hang and garbage.
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <unistd.h>

#include "tests/timed_answers.h"
#include "tuner/base/clock.h"

static void die(void)
{
    raise(SIGKILL);
}

static void hang(void)
{
    pause();
}

static void send_garbage(void)
{
    static const char *const lines[] = {"{\"status\":\"ok\",\n", "segmentation fault\n", "[1]\n"};
    const char *line = lines[lrand48() % 3];
    if (write(STDOUT_FILENO, line, strlen(line)) < 0) raise(SIGKILL);
}

static const struct {
    const char *name;
    void (*happens)(void);
} faults[] = {{"death", die}, {"hang", hang}, {"garbage", send_garbage}};

static bool spoil(const json_t *request)
{
    const char *kinds = getenv("TIMED_FAULT_KINDS");
    if (strcmp(json_get_string(request, "op", ""), "trial") || drand48() >= timed_setting("TIMED_FAULTS", 0))
        return false;
    size_t named[sizeof faults / sizeof *faults], count = 0;
    for (size_t i = 0; i < sizeof faults / sizeof *faults; i++)
        if (strstr(kinds ? kinds : faults[0].name, faults[i].name)) named[count++] = i;
    if (count) faults[named[(size_t)lrand48() % count]].happens();
    return count > 0;
}

int main(void)
{
    struct timed_answers t;
    char *input = NULL;
    size_t size = 0, room = 0, worker;
    timed_init(&t);
    timed_start(&t, 0);
    t.spoils = spoil;
    srand48(getpid());
    for (;;) {
        json_t *answer;
        struct error err;
        while ((answer = timed_due(&t, clock_now(), &worker))) {
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
        timed_take_lines(&t, 0, input, &size, clock_now());
    }
    timed_release(&t);
    free(input);
    return 0;
}
