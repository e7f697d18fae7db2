// One run under attack: its folder, its driver, and what is known of it. Every attack of `make torture` starts the same
// command in a scene, disturbs it, and asks the scene whether the promises still hold:
//
// - every trial that the store held stays there, with the same number, status and time, and is not measured again;
// - every trial that an event reported is in the store;
// - the store is whole; a status other than that of the undisturbed run appears nowhere;
// - at the end, undisturbed, the same command decides for the same winner as a run that nothing disturbed.
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "search/space/random.h"

enum { FAILURE_MAX = 2048, RUN_SECONDS = 60, ENVIRONMENT_MAX = 16, DETAIL_COUNT = 2 };

// What is run: scripted workers (tests/fake_worker.c) on 34 configurations, each better than the one before, or on 400;
// or a recorded space.
enum scene_job { JOB_SCRIPTED, JOB_LONG, JOB_REPLAYED, JOB_COUNT };

// Operations that the layer io_fault.c tells apart.
enum { FILE_OP_COUNT = 6 };
extern const char *const file_op_text[FILE_OP_COUNT];

struct known_trial {
    int64_t id;
    int status;
    size_t problems; // with figures
    double objective;
    char *config;
};

struct known_trials {
    struct known_trial *all;
    size_t count;
};

// How the run ends when nothing disturbs it.
struct expected_end {
    struct known_trials trials;
    char winner[256];               // the configuration
    double seconds;                 // how long it takes
    long operations[FILE_OP_COUNT]; // on files of the run, by the driver
};
extern struct expected_end expected_ends[JOB_COUNT];

struct scene {
    const char *attack;
    uint64_t seed;
    enum scene_job job;
    struct random random;
    char *folder;              // events, messages, what the workers measured
    char *run;                 // in it: the job and the store
    const char *pool;          // --pool; NULL: workers of the driver
    size_t file_limit;         // bytes; 0: none
    struct known_trials known; // after the last check
    long noted;                // bytes of the workers' log at the last check
    int passed;                // blows that it stood
    int skipped;
    int worst;                          // the most that a blow cost, by the word in the attack's row
    int details[DETAIL_COUNT];          // what else the attack counts, by the words in its row
    char failure[FAILURE_MAX];          // "" while every promise holds
    const char *given[ENVIRONMENT_MAX]; // more of the environment of runs to come: "NAME=value"
};

// Sets the folder up: empty but for the job.
void scene_begin(struct scene *, const char *attack, uint64_t seed, enum scene_job);
// Frees what it holds. Removes the folder unless there was a failure.
void scene_end(struct scene *);
// As printf. Keeps the first failure. Returns false.
bool scene_fail(struct scene *, const char *format, ...) __attribute__((format(printf, 2, 3)));

// Writes the job into <folder>/run.
void scene_write_job(const struct scene *);
// Sets NAME=value for runs to come, malloc'ed; NULL forgets all.
void scene_give(struct scene *, char *assignment);
// Later runs have the layer (a file in the programs' folder) under the driver.
void scene_layer(struct scene *, const char *layer);
// Starts the command. Events go to <folder>/events, messages to <folder>/stderr, or to the descriptor `terminal`
// where it is not -1: the controlling terminal.
pid_t scene_start(struct scene *, int terminal);
// Waits until the driver has ended and says how (waitpid's status). Kills it after RUN_SECONDS, which is a failure.
int scene_wait(struct scene *, pid_t);
// One of the driver's children; 0: it has none now.
pid_t scene_worker(struct scene *, pid_t driver);
// Sleeps; returns early, and true, when the driver ends meanwhile (it is not waited for).
bool scene_sleep(pid_t driver, double seconds);

// Do the promises hold, now that no driver runs?
bool scene_check(struct scene *);
// Runs the command to its end, which must be the undisturbed run's, and checks.
bool scene_complete(struct scene *);
// The last run's standard error holds the words.
bool scene_said(const struct scene *, const char *words);

// The trials of a store file; its log is read with it. False with a message. No file: no trials.
bool known_read(struct known_trials *, const char *path, char *message, size_t size);
void known_free(struct known_trials *);
// The trial of a configuration, or NULL.
const struct known_trial *known_find(const struct known_trials *, const char *config);

// Runs each job once, undisturbed, and fills expected_ends.
bool scene_learn(char *message, size_t size);
// The folder of the programs; of the layers too.
const char *scene_programs(void);
