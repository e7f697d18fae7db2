// Commands over one job or several: each job's results in turn, for each of its devices. A job's error is printed and
// the others still have their turn; the command returns the greatest exit status.
//
//     static struct job_set several;
//     static const struct option_spec specs[] = {OPTION_JOBS(&several.named), OPTION_STORE(&several.store),
//                                                OPTION_RESULTS_DEVICE(&several.device, "all of them"), OPTION_END};
//     ...
//     if (!(status = job_set_open(&several))) status = job_set_each(&several, EVERY_DEVICE, show, &user);
//     job_set_close(&several);
#pragma once

#include "tuner/cli/options.h"
#include "tuner/cli/session.h"

struct job_set {
    // Set by the command line.
    struct option_list named;
    const char *store, *device; // NULL: the job's own; the newest, or all
    // Set by the command: stores are named like jobs, and a folder without jobs stands for its stores.
    bool stores;
    // Set by job_set_open.
    size_t count;
    char **paths;   // files as given; of a folder every *.cfg, sorted by name
    bool many;      // a folder or more than one path was named: the output is a list, even of one job
    json_t *failed; // {"path":"..","exit_status":1} of each job for which something went wrong
};

#define OPTION_JOBS(target) ARGUMENT(list, target, "JOB", "job files (configs/NAME.cfg) or folders of them")
#define OPTION_RESULTS_DEVICE(target, which)      \
    OPTION(string, target, "device", 'd', "NAME", \
           "if a store has results of several devices, the one whose name contains this (" which ")")

// Finds the job files. EXIT_USAGE with a message when there are none, or --store was given with several. A file that
// does not exist stays in the set, so that reading it says what is wrong. Close the set even after a failure.
int job_set_open(struct job_set *);
void job_set_close(struct job_set *);

// Calls visit for every job file, read; visit takes the job. Two jobs of the same name are refused: results are
// told apart by the job's name. Returns the greatest status.
typedef int job_set_visit_job(void *user, const char *path, struct job *);
int job_set_each_job(struct job_set *, job_set_visit_job *visit, void *user);

// Calls visit for every job's results (session_open): of the newest device, or of every device, the newest first; of
// the one that --device names in either case. Returns the greatest status.
enum job_set_devices { NEWEST_DEVICE, EVERY_DEVICE };
typedef int job_set_visit(void *user, struct session *);
int job_set_each(struct job_set *, enum job_set_devices, job_set_visit *visit, void *user);
// The same for one job, which it takes: for a job_set_visit_job.
int job_set_visit_results(const struct job_set *, enum job_set_devices, job_set_visit *visit, void *user,
                          const char *path, struct job *);

// A value that names a file for one job must name a folder for several; with `make`, a missing folder is made, unless
// its name has a dot, as a file's has, and no slash at the end. Returns an exit status, after a message. `given` may be
// NULL.
int job_set_check_folder(const struct job_set *, const char *option, const char *given, bool make);
bool job_set_is_folder(const char *path);
// The file that `given` means for a job: `name` in it where it is a folder or ends with a slash. malloc'ed.
char *job_set_file(const char *given, const char *name);

// Prints documents as JSON: objects with a member "job", one per job and device, those of a job together and its newest
// device first. For one job file: its object, after "format" and "version". For several, or a folder:
// {"format":format,"version":version,"jobs":[..],"failed":[..]}. A job's other devices are its "other_devices".
void job_set_print(const struct job_set *, const char *format, int version, const json_t *documents);
