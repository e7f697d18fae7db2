// One run under attack: its folder, its driver, and its known state. Every attack of `make torture` starts the same
// command in a scene, disturbs it, and checks with the scene that the promises still hold:
//
// - every trial that the store held stays there, with the same number, status and time, and is not measured again;
// - every trial that an event reported is in the store;
// - the store is whole, and no status differs from that of the undisturbed run;
// - at the end, the same command runs undisturbed and chooses the winner of a run that was never disturbed.
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "search/space/random.h"

enum { FAILURE_MAX = 2048, RUN_SECONDS = 60, ENVIRONMENT_MAX = 16, DETAIL_COUNT = 2 };

// The job of a run: 34 or 400 configurations on scripted workers (tests/fake_worker.c), or a recorded space. Each of
// the 34 configurations is better than the previous one.
enum scene_job { JOB_SCRIPTED, JOB_LONG, JOB_REPLAYED, JOB_COUNT };

// Kinds of operations that the layer io_fault.c distinguishes.
enum { FILE_OP_COUNT = 6 };
extern const char *const file_op_text[FILE_OP_COUNT];

struct known_trial {
    int64_t id;
    int status;
    size_t problems; // number of problems with figures
    double objective;
    char *config;
};

struct known_trials {
    struct known_trial *all;
    size_t count;
};

// The end of an undisturbed run.
struct expected_end {
    struct known_trials trials;
    char winner[256];               // the configuration
    double seconds;                 // duration
    long operations[FILE_OP_COUNT]; // the driver's operations on files of the run
};
extern struct expected_end expected_ends[JOB_COUNT];

struct scene {
    const char *attack;
    uint64_t seed;
    enum scene_job job;
    struct random random;
    char *folder;              // contains events, messages, and the workers' log
    char *run;                 // a folder in it, with the job and the store
    const char *pool;          // --pool; NULL: the driver's own workers
    size_t file_limit;         // bytes; 0: none
    struct known_trials known; // at the last check
    long noted;                // bytes of the workers' log at the last check
    int passed;                // blows that the run survived
    int skipped;
    int worst;                          // the largest cost of a blow; the attack's row states its meaning
    int details[DETAIL_COUNT];          // other counts of the attack; its row states their meanings
    char failure[FAILURE_MAX];          // "" while every promise holds
    const char *given[ENVIRONMENT_MAX]; // additional environment for later runs: "NAME=value"
};

// Creates the folder, which contains only the job.
void scene_begin(struct scene *, const char *attack, uint64_t seed, enum scene_job);
// Frees the scene's memory. Removes the folder unless there was a failure.
void scene_end(struct scene *);
// Arguments as for printf. Keeps the first failure. Returns false.
bool scene_fail(struct scene *, const char *format, ...) __attribute__((format(printf, 2, 3)));

// Writes the job into <folder>/run.
void scene_write_job(const struct scene *);
// Sets NAME=value (malloc'ed) for later runs; NULL removes all.
void scene_give(struct scene *, char *assignment);
// Later runs load the layer, a shared library in the programs' folder, with LD_PRELOAD.
void scene_layer(struct scene *, const char *layer);
// Starts the command. Events go to <folder>/events, and messages go to <folder>/stderr. If `terminal` is not -1,
// messages go to this descriptor instead, and it becomes the controlling terminal.
pid_t scene_start(struct scene *, int terminal);
// Waits until the driver has ended and returns waitpid's status. Kills it after RUN_SECONDS, which is a failure.
int scene_wait(struct scene *, pid_t);
// Returns one of the driver's children, or 0 if the driver has no child now.
pid_t scene_worker(struct scene *, pid_t driver);
// Sleeps. If the driver ends meanwhile, returns true early, without reaping it.
bool scene_sleep(pid_t driver, double seconds);

// Whether the promises hold. No driver may run.
bool scene_check(struct scene *);
// Runs the command to its end and checks the promises. The end must be that of the undisturbed run.
bool scene_complete(struct scene *);
// Whether the last run's standard error contains the words.
bool scene_said(const struct scene *, const char *words);

// Reads the trials of a store file, including its log. False with a message on failure. A missing file has no trials.
bool known_read(struct known_trials *, const char *path, char *message, size_t size);
void known_free(struct known_trials *);
// The trial of a configuration, or NULL.
const struct known_trial *known_find(const struct known_trials *, const char *config);

// Runs each job once, undisturbed, and fills expected_ends.
bool scene_learn(char *message, size_t size);
// The folder of the programs and the layers.
const char *scene_programs(void);
