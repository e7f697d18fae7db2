// `make torture`: the attacks of the table below on whole runs, in scenes that run side by side. The seed of a scene
// determines its faults. Prints a line per attack, and at the end "N passed, N failed, N skipped", which counts blows.
// After a failure, prints the scene's seed and its folder, and keeps the folder.
//
// Environment: TORTURE (an attack's name, or several), TORTURE_SEED, TORTURE_SHARE (percent of the blows, default 100),
// JOBS. With TORTURE_SEED and TORTURE but without TORTURE_SHARE, only the scene with that seed is run.
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "tests/torture/attacks.h"
#include "tuner/base/clock.h"

static const struct attack attacks[] = {
    {"kill", 1000, attack_kill, false, true, "kill -9 of driver and workers, the same command again", NULL, "drivers",
     "workers"},
    {"io", 300, attack_io, false, true, "operations on files that fail", NULL, "runs that finished all the same",
     "runs that ended with a message"},
    {"power", 1000, attack_power, true, false, "power cuts: what was not synced is lost, whole or in part",
     "trials lost at most", "cuts that cost trials", "gone on with"},
    {"disk", 90, attack_disk, false, false, "a full disk, or a limit on the size of files", NULL, "full disks",
     "limits"},
    {"clock", 90, attack_clock, false, true, "runs in which the wall clock jumps", NULL, NULL, NULL},
    {"terminal", 90, attack_terminal, false, true, "terminals that close", NULL, NULL, NULL},
    {"workers", 200, attack_workers, false, false,
     "kill -9 of several workers of a run, also while it begins and decides", NULL, NULL, NULL},
    {"node", 60, attack_node, false, false, "a node that lies: tampered frames, forged paths, silence, floods", NULL,
     "lies that were found out", NULL},
    {"stop", 300, attack_stop, false, true, "SIGSTOP of driver and workers", NULL, "for a while", "for good"},
};
enum { ATTACK_COUNT = sizeof attacks / sizeof *attacks, REPLAY_EVERY = 8, JOBS_MAX = 256, SCENES_MAX = 4096 };

// The result of a scene's process.
struct outcome {
    pid_t process; // 0 before it begins and after it is counted
    int passed, skipped, failed, worst;
    int details[DETAIL_COUNT];
};

struct totals {
    int passed, failed, skipped, scenes, worst;
    int details[DETAIL_COUNT];
};

static void run_scene(const struct attack *attack, uint64_t seed, struct outcome *outcome)
{
    struct scene s;
    enum scene_job job = attack->long_job                              ? JOB_LONG
                         : attack->replays && seed % REPLAY_EVERY == 0 ? JOB_REPLAYED
                                                                       : JOB_SCRIPTED;
    scene_begin(&s, attack->name, seed, job);
    attack->run(&s);
    outcome->passed = s.passed;
    outcome->skipped = s.skipped;
    outcome->worst = s.worst;
    memcpy(outcome->details, s.details, sizeof s.details);
    outcome->failed = *s.failure != 0;
    if (*s.failure)
        printf("FAILED %s: %s\n  in %s; again: TORTURE_SEED=%llu TORTURE=%s make torture\n", attack->name, s.failure,
               s.folder, (unsigned long long)seed, attack->name);
    scene_end(&s);
    fflush(stdout);
}

static void begin_scene(const struct attack *attack, uint64_t seed, struct outcome *outcome)
{
    fflush(NULL);
    *outcome = (struct outcome){.failed = 1}; // the result if the process dies
    pid_t process = fork();
    if (process) {
        outcome->process = process; // the memory is shared
        return;
    }
    prctl(PR_SET_PDEATHSIG, SIGTERM);
    run_scene(attack, seed, outcome);
    _exit(0);
}

// Waits for a scene to end and counts its result. False if no scene is left.
static bool count_scene(struct outcome *outcomes, int begun, struct totals *totals)
{
    pid_t ended = wait(NULL);
    for (int i = 0; ended > 0 && i < begun; i++)
        if (outcomes[i].process == ended) {
            totals->passed += outcomes[i].passed;
            totals->failed += outcomes[i].failed;
            totals->skipped += outcomes[i].skipped;
            for (int k = 0; k < DETAIL_COUNT; k++) totals->details[k] += outcomes[i].details[k];
            if (outcomes[i].worst > totals->worst) totals->worst = outcomes[i].worst;
            totals->scenes++;
            outcomes[i].process = 0;
        }
    return ended > 0;
}

static struct totals run_attack(const struct attack *attack, int blows, uint64_t seed, int jobs,
                                struct outcome *outcomes)
{
    struct totals totals = {0};
    int begun = 0;
    double began = clock_now();
    while (begun < SCENES_MAX && totals.passed + totals.failed + totals.skipped < blows) {
        while (begun - totals.scenes < jobs && begun < SCENES_MAX && (blows > 1 || !begun)) {
            begin_scene(attack, seed + (uint64_t)begun, &outcomes[begun]);
            begun++;
        }
        if (!count_scene(outcomes, begun, &totals) || (blows == 1 && totals.scenes)) break;
    }
    while (totals.scenes < begun && count_scene(outcomes, begun, &totals)) continue;
    printf("%s: %d passed, %d failed, %d skipped", attack->name, totals.passed, totals.failed, totals.skipped);
    const char *const details[DETAIL_COUNT] = {attack->first, attack->second};
    for (int k = 0; k < DETAIL_COUNT && details[k]; k++)
        printf("%s %d %s", k ? "," : " (of these", totals.details[k], details[k]);
    if (attack->worst) printf(", %s %d", attack->worst, totals.worst);
    printf("%s in %d folders, %.0f s: %s\n", *details ? ")" : "", totals.scenes, clock_now() - began, attack->what);
    fflush(stdout);
    return totals;
}

static bool wanted(const char *names, const char *name)
{
    const char *found = names ? strstr(names, name) : NULL;
    return !names || !*names || found;
}

static long number_given(const char *name, long otherwise)
{
    const char *text = getenv(name);
    return text && *text ? atol(text) : otherwise;
}

int main(void)
{
    char message[FAILURE_MAX * 2];
    const char *names = getenv("TORTURE"), *given = getenv("TORTURE_SEED");
    bool one = given && *given && names && *names && !number_given("TORTURE_SHARE", 0);
    uint64_t seed = given && *given ? strtoull(given, NULL, 10) : (uint64_t)time(NULL);
    long share = number_given("TORTURE_SHARE", 100), jobs = number_given("JOBS", sysconf(_SC_NPROCESSORS_ONLN));
    if (jobs < 1 || jobs > JOBS_MAX) jobs = 1;
    setenv("SWEETSPOT_SANITIZER", "none", 1); // a real sanitizer would check scripted workers
    setenv("SWEETSPOT_NVCC", "none", 1);
    struct totals totals = {0};
    struct outcome *outcomes =
        mmap(NULL, SCENES_MAX * sizeof *outcomes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (outcomes == MAP_FAILED) return 3;
    printf("seed %llu, %ld%% of all attacks, %ld at once\n", (unsigned long long)seed, share, jobs);
    if (!scene_learn(message, sizeof message)) {
        munmap(outcomes, SCENES_MAX * sizeof *outcomes);
        printf("an undisturbed run fails: %s\n0 passed, 1 failed, 0 skipped\n", message);
        return 1;
    }
    int tried = 0;
    for (int i = 0; i < ATTACK_COUNT; i++) {
        if (!wanted(names, attacks[i].name)) continue;
        tried++;
        int blows = one ? 1 : (int)((attacks[i].blows * share + 99) / 100);
        struct totals more = run_attack(&attacks[i], blows, seed, (int)jobs, outcomes);
        totals.passed += more.passed;
        totals.failed += more.failed;
        totals.skipped += more.skipped;
    }
    if (!tried) {
        printf("there is no attack '%s'; known:", names);
        for (int i = 0; i < ATTACK_COUNT; i++) printf(" %s", attacks[i].name);
        printf("\n");
        return 2;
    }
    printf("%d passed, %d failed, %d skipped\n", totals.passed, totals.failed, totals.skipped);
    return totals.failed || !totals.passed;
}
