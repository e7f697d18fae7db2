// Commands over one job or several: each job's results in turn, for each of its devices. A job's error is printed and
// the others still have their turn; the command returns the greatest exit status.
//
//     static struct several several;
//     static const struct option_spec specs[] = {OPTION_JOBS(&several.named), OPTION_STORE(&several.store),
//                                                OPTION_RESULTS_DEVICE(&several.device, "all of them"), OPTION_END};
//     ...
//     if (!(status = several_open(&several))) status = several_each(&several, EVERY_DEVICE, show, &user);
//     several_close(&several);
#ifndef SWEETSPOT_SEVERAL_H
#define SWEETSPOT_SEVERAL_H

#include "tuner/cli/job_paths.h"
#include "tuner/cli/session.h"

struct several {
    // Set by the command line.
    struct option_list named;
    const char *store, *device; // NULL: the job's own; the newest, or all
    // Set by several_open.
    struct job_paths paths;
    json_t *failed; // {"path":"..","exit_status":1} of each job for which something went wrong
};

#define OPTION_JOBS(target) ARGUMENT(list, target, "JOB", "job files (configs/NAME.cfg) or folders of them")
#define OPTION_RESULTS_DEVICE(target, which)      \
    OPTION(string, target, "device", 'd', "NAME", \
           "if a store has results of several devices, the one whose name contains this (" which ")")

// Finds the job files. EXIT_USAGE with a message when there are none, or --store was given with several. Close it even
// after a failure.
int several_open(struct several *);
void several_close(struct several *);

// Calls visit for every job file, read; visit takes the job. Two jobs of the same name are refused: results are
// told apart by the job's name. Returns the greatest status.
typedef int several_visit_job(void *user, const char *path, struct job *);
int several_each_job(struct several *, several_visit_job *visit, void *user);

// Calls visit for every job's results (session_open): of the newest device, or of every device, the newest first; of
// the one that --device names in either case. Returns the greatest status.
enum several_devices { NEWEST_DEVICE, EVERY_DEVICE };
typedef int several_visit(void *user, const char *path, struct session *);
int several_each(struct several *, enum several_devices, several_visit *visit, void *user);
// The same for one job, which it takes: for a several_visit_job.
int several_visit_results(const struct several *, enum several_devices, several_visit *visit, void *user,
                          const char *path, struct job *);

// A value that names a file for one job must name a folder for several; with `make`, a missing folder is made. Returns
// an exit status, after a message. `given` may be NULL.
int several_check_folder(const struct several *, const char *option, const char *given, bool make);
// The file that `given` means for a job: `name` in it where it is a folder. malloc'ed.
char *several_file(const char *given, const char *name);

// Prints documents as JSON: objects with a member "job", one per job and device, those of a job together and its newest
// device first. Of one job file: its object, behind "format" and "version". Of several, or of a folder:
// {"format":format,"version":version,"jobs":[..],"failed":[..]}. A job's other devices are its "other_devices".
void several_print(const struct several *, const char *format, int version, const json_t *documents);

#endif
