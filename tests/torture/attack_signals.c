// Attacks by signals: processes that are killed, stopped and continued, or lose their terminal.
#include "tests/torture/attacks.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/torture/files.h"
#include "tuner/base/clock.h"
#include "tuner/base/protocol.h"
#include "tuner/base/text.h"

enum { KILLS_IN_A_SCENE = 24, STOPS_IN_A_RUN = 4 };

// A random moment of a run, in seconds from its start. Early ones are likelier, because a resumed run has less to do.
static double moment(struct scene *s)
{
    return expected_ends[s->job].seconds * random_unit(&s->random) * random_unit(&s->random);
}

// Kills one worker. This must not make a candidate fail. Returns whether a worker was killed.
static bool kill_worker(struct scene *s, pid_t driver)
{
    pid_t worker = scene_worker(s, driver);
    return worker && !kill(worker, SIGKILL);
}

static bool struck(int status)
{
    return WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL;
}

// About half of the drivers are killed in the middle of an operation on a file of the run, the others at any moment.
// Before that, only one worker is killed, because a candidate that ends two workers is blamed.
void attack_kill(struct scene *s)
{
    for (int kills = 0; kills < KILLS_IN_A_SCENE && !*s->failure;) {
        bool exact = random_next(&s->random) & 1;
        if (exact) {
            long all = 0;
            for (int i = 0; i < FILE_OP_COUNT; i++) all += expected_ends[s->job].operations[i];
            uint64_t below = 1 + random_below(&s->random, (uint64_t)all);
            scene_layer(s, "io_fault.so");
            scene_give(s, text_format("IO_FAULT=any:kill:%ld:1", 1 + (long)random_below(&s->random, below)));
        }
        double worker_at = moment(s), driver_at = exact ? RUN_SECONDS : worker_at + moment(s);
        pid_t driver = scene_start(s, -1);
        int workers = !scene_sleep(driver, worker_at) && kill_worker(s, driver);
        if (!scene_sleep(driver, driver_at - worker_at)) kill(driver, SIGKILL);
        int status = scene_wait(s, driver);
        int blows = workers + struck(status);
        scene_give(s, NULL);
        if (!struck(status) && (!WIFEXITED(status) || WEXITSTATUS(status)))
            scene_fail(s, "not killed, it ended with status %d", status);
        if (!scene_check(s)) return;
        s->passed += blows;
        s->details[0] += struck(status);
        s->details[1] += workers;
        kills += blows;
        if (!struck(status)) break;
    }
    scene_complete(s);
}

// The kills are far enough apart for a candidate that lost its worker to be measured before the next kill.
void attack_workers(struct scene *s)
{
    enum { KILLS = 5 };
    static const char *const phases[] = {"none", "helper", "job", "final"}; // a phase with two slow requests
    const char *phase = phases[random_below(&s->random, sizeof phases / sizeof *phases)];
    scene_give(s, text_format("FAKE_FAULT=%s:slow:2", phase));
    double seconds = expected_ends[s->job].seconds + (strcmp(phase, "none") ? 4 : 0);
    pid_t driver = scene_start(s, -1);
    int kills = 0;
    for (int i = 0; i < KILLS && !scene_sleep(driver, 0.1 + seconds / KILLS * random_unit(&s->random)); i++)
        kills += kill_worker(s, driver);
    int status = scene_wait(s, driver);
    if (!WIFEXITED(status) || WEXITSTATUS(status))
        scene_fail(s, "%d workers were killed (slow: %s), it ended with status %d", kills, phase, status);
    scene_give(s, NULL);
    if (scene_check(s) && scene_complete(s)) s->passed += kills;
}

void attack_stop(struct scene *s)
{
    bool for_good = random_below(&s->random, 12) == 0; // stops a worker for good; it must be replaced
    pid_t driver = scene_start(s, -1), left = 0;
    int blows = 0;
    for (int i = 0; i < (for_good ? 1 : STOPS_IN_A_RUN) && !scene_sleep(driver, moment(s)); i++) {
        pid_t target = for_good || random_below(&s->random, 3) ? scene_worker(s, driver) : driver;
        if (!target || kill(target, SIGSTOP)) continue;
        blows++;
        if (for_good) {
            left = target;
            continue;
        }
        usleep((useconds_t)(1e6 * random_unit(&s->random) * random_unit(&s->random)));
        kill(target, SIGCONT);
    }
    int status = scene_wait(s, driver);
    if (left) kill(left, SIGKILL);
    if (!WIFEXITED(status) || WEXITSTATUS(status))
        scene_fail(s, "it ended with status %d after a process was stopped", status);
    if (!scene_check(s) || !scene_complete(s)) return;
    s->passed += blows;
    s->details[for_good] += blows;
}

// Reads the output until the moment comes or the driver ends. Returns whether the driver is still running.
static bool watch(int terminal, pid_t driver, double seconds)
{
    char drawn[4096];
    double until = clock_now() + seconds;
    while (clock_now() < until) {
        while (read(terminal, drawn, sizeof drawn) > 0) continue;
        if (scene_sleep(driver, 1e-3)) return false;
    }
    return true;
}

// A closed terminal: the driver gets SIGHUP, and its writes to the terminal fail from then on.
void attack_terminal(struct scene *s)
{
    int terminal = posix_openpt(O_RDWR | O_NOCTTY | O_NONBLOCK | O_CLOEXEC);
    if (terminal < 0 || grantpt(terminal) || unlockpt(terminal)) {
        s->skipped++;
        if (terminal >= 0) close(terminal);
        return;
    }
    int other = open(ptsname(terminal), O_RDWR | O_NOCTTY | O_CLOEXEC);
    pid_t driver = scene_start(s, other);
    close(other);
    bool ran = watch(terminal, driver, moment(s));
    close(terminal);
    int status = scene_wait(s, driver);
    bool ended = WIFEXITED(status) && (!WEXITSTATUS(status) || WEXITSTATUS(status) == EXIT_SIGNAL + SIGHUP);
    autofree char *events = file_read(s->folder, "events");
    // If the signal came before the driver could handle it, nothing may have begun.
    ended |= WIFSIGNALED(status) && WTERMSIG(status) == SIGHUP && (!events || !*events);
    if (!ended) scene_fail(s, "its terminal closed, it ended with status %d", status);
    if (scene_check(s) && scene_complete(s)) s->passed += ran;
}
