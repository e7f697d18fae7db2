// For commands that accept one or several jobs. Such a command handles the results of one job after the other, on each
// of the job's devices. If a job fails, the command prints the error and continues with the remaining jobs. It returns
// the greatest exit status.
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
    // Set from the command line.
    struct option_list named;
    const char *store, *device; // NULL: the job's own store, and the newest device or all devices
    // Set by the command: users may name stores instead of jobs, and a folder without jobs stands for the stores in it.
    bool stores;
    // Set by job_set_open.
    size_t count;
    char **paths;   // files as given; for a folder, every *.cfg in it, sorted by name
    bool many;      // a folder or several paths were given: the output is a list, even for one job
    json_t *failed; // {"path":"..","exit_status":1} for each job that failed
};

#define OPTION_JOBS(target) ARGUMENT(list, target, "JOB", "job files (configs/NAME.cfg) or folders of them")
#define OPTION_RESULTS_DEVICE(target, which)      \
    OPTION(string, target, "device", 'd', "NAME", \
           "if a store has results of several devices, the one whose name contains this (" which ")")

// Finds the job files. EXIT_USAGE with a message if there are none, or if --store was given with several jobs. A file
// that does not exist stays in the set, so that reading it reports the error. Close the set even after a failure.
int job_set_open(struct job_set *);
void job_set_close(struct job_set *);

// Reads every job file and calls `visit`, which takes the job. Two jobs with the same name are refused, because results
// are identified by the job's name. Returns the greatest status.
typedef int job_set_visit_job(void *user, const char *path, struct job *);
int job_set_each_job(struct job_set *, job_set_visit_job *visit, void *user);

// Calls `visit` for every job's results (session_open): the results on the newest device, or on every device with the
// newest first. If --device names a device, only results on that device are visited. Returns the greatest status.
enum job_set_devices { NEWEST_DEVICE, EVERY_DEVICE };
typedef int job_set_visit(void *user, struct session *);
int job_set_each(struct job_set *, enum job_set_devices, job_set_visit *visit, void *user);
// Like job_set_each, but for a single job. Takes the job. For use in functions of the type job_set_visit_job.
int job_set_visit_results(const struct job_set *, enum job_set_devices, job_set_visit *visit, void *user,
                          const char *path, struct job *);

// Checks the value of an option that names a file for one job but must name a folder for several. With `make`, a
// missing folder is created, unless its name looks like a file name, with a dot and no slash at the end. Returns an
// exit status, after a message. `given` may be NULL.
int job_set_check_folder(const struct job_set *, const char *option, const char *given, bool make);
bool job_set_is_folder(const char *path);
// The file that `given` means for a job: if it is a folder or ends with a slash, the file `name` in it. malloc'ed.
char *job_set_file(const char *given, const char *name);

// Prints documents as JSON. Each document is an object with a member "job", for one device of that job. Documents are
// grouped by job, with the newest device first. For one job file, prints the object of its newest device, with "format"
// and "version" in front. For several files, or a folder, prints
// {"format":format,"version":version,"jobs":[..],"failed":[..]}. The objects for a job's other devices are in its
// member "other_devices".
void job_set_print(const struct job_set *, const char *format, int version, const json_t *documents);
