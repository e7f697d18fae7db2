// See interrupt.h. The third signal has the system's default effect, so that this code cannot keep the program from
// ending.
#include "tuner/base/interrupt.h"

#include <signal.h>
#include <stddef.h>

#include "tuner/base/protocol.h"

static volatile sig_atomic_t count, first;

static void on_signal(int number)
{
    if (!count) first = number;
    if (++count >= 2) signal(number, SIG_DFL);
}

void interrupt_watch(void)
{
    struct sigaction action = {.sa_handler = on_signal}; // no SA_RESTART: poll must return
    sigemptyset(&action.sa_mask);
    sigaction(SIGINT, &action, NULL);
    sigaction(SIGTERM, &action, NULL);
    struct sigaction inherited;
    if (!sigaction(SIGHUP, NULL, &inherited) && inherited.sa_handler != SIG_IGN)
        sigaction(SIGHUP, &action, NULL); // nohup
    signal(SIGPIPE, SIG_IGN);
}

int interrupt_count(void)
{
    return count;
}

int interrupt_status(void)
{
    return EXIT_SIGNAL + first;
}
