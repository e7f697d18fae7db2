// The common start of commands that read results: they open the job file, its store, and the most recently used
// environment.
//
// Functions here print their own messages on stderr and return 0 or the command's exit status.
#pragma once

#include <stdbool.h>

#include "tuner/base/json.h"
#include "tuner/final/finals.h"
#include "tuner/job/job.h"
#include "tuner/store/store.h"

struct session {
    const char *job_path, *store_given; // as on the command line, borrowed. store_given NULL: the default path
    struct job *job;
    char *store_path;
    struct store *store;
    // The newest environment of each device, with the most recently used device first. They live as long as the
    // session.
    struct environment *devices;
    size_t device_count;
    struct arena memory; // for the strings of `devices`
    // The store's current environment, which is one of `devices`. For replayed trials, its source_hash comes from the
    // recording ("" if it contains none).
    struct environment environment;
    json_t *device;          // its newest "device" document, or NULL
    bool replayed;           // the trials come from a recording
    const json_t *recording; // the description of the recording, part of `device`; NULL: none
};

// Prints "sweetspot: <message>" on stderr and returns `status`.
int session_complain(int status, const struct error *);

// The path of a job file or a folder of job files: usually the given path. If nothing exists there and the given path
// begins with "configs/", the path of the file or folder that came with the program. malloc'ed.
char *session_job_path(const char *path);

// Prints mistakes, or less serious findings, each preceded by `kind` ("warning: "). `path` is the path of the job file.
void session_print_mistakes(const char *path, const struct mistakes *, const char *kind);
// From now on, mistakes are also added to `list`, as objects with `file`, `line` (0: none), `warning` and `text`. The
// list is borrowed. With NULL, mistakes are no longer added.
void session_collect_mistakes(json_t *list);

// Reads a job file (session_job_path). If it has mistakes, prints each as "file:line: text" and returns EXIT_USAGE;
// otherwise prints every note as "file:line: note: text".
int session_load_job(const char *path, struct job **out);

// The folder for a job's results (store, log, compile cache, header), malloc'ed. It is `out` in the job file's project:
// the nearest folder above the file with an `out` or a `.git`, otherwise the file's own folder. So it does not depend
// on where a command is started. An installed job uses `out` in the current folder instead, and so does a job whose
// only store is there. If both folders have a store, a message on stderr names both stores once.
char *results_folder(const struct job *);
// The compile cache: `given`, or `cache` in the folder for results. malloc'ed.
char *results_cache(const struct job *, const char *given);
// The store's path: `given`, or <job name>.db in the folder for results. The caller frees it.
char *session_store_path(const struct job *, const char *given);

// Loads the job, opens its store and makes the most recent environment current. EXIT_NOTHING with advice if there is no
// store or no run yet. session_close releases everything, even after a failure.
int session_open(struct session *, const char *job_path, const char *store_path);
// Like session_open, for a job that was already read from job_path; takes the job.
int session_open_job(struct session *, struct job *, const char *job_path, const char *store_path);
void session_close(struct session *);

// Sets *id to the fastest trial other than `except`, or to 0 if there is none.
int session_best(struct session *, int64_t except, int64_t *id);
// The winner of the newest final or, without a final, the best trial of the search; 0 if no trial is valid. A final
// that cannot be used is reported on stderr. Release *final if *decided.
int session_winner(struct session *, struct final *final, bool *decided, int64_t *winner);

// Returns "sweetspot <command> JOB" with the options that are needed to find the same results. These are the --store of
// the current command and, for `tune`, the device and the cache of the last run. malloc'ed.
char *session_command(const struct session *, const char *command);
// The GPU of this machine that the last run used, or the first such GPU if the run used several. -1 if the run's
// results come from a recording or from other machines.
int session_gpu(const struct session *);
// Prints on stderr what is missing and the command that provides it: "sweetspot: <what>; <how>: sweetspot tune JOB".
// Returns EXIT_NOTHING.
int session_advise(const struct session *, const char *how, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
// Chooses the device with this name, or the only device whose name contains it, ignoring case. EXIT_USAGE with a
// message if there is no such device or more than one.
int session_find_device(const struct session *, const char *name, size_t *index);
// Makes the environment of devices[index] current and drops data that was read from another environment.
int session_use_device(struct session *, size_t index);

// A string such as "NVIDIA H200 (driver 580.159.04, nvrtc 13.0)", as far as these are known. malloc'ed.
char *session_device(const struct session *);

// The limits in a "device" document; unknown ones default to the H200's.
struct device_limits session_limits(const json_t *document, const char *arch);

// Sets the limits of the recorded device (unknown ones default to the H200's) and builds the job's search space.
int session_build_space(struct session *);

// The newest document of a kind as JSON, or NULL if there is none; the caller decrefs it. *when (may be NULL): Unix
// time. A document that cannot be read is reported on stderr and counts as missing.
json_t *session_document(struct session *, const char *kind, double *when);
