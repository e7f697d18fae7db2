// See tune_request.h.
#include "tuner/cli/tune_request.h"

#include <errno.h>
#include <sys/stat.h>

#include "tuner/base/base.h"
#include "tuner/base/protocol.h"
#include "tuner/cli/session.h"

// The folder of a file, made when it is missing (one level: "out").
static int make_folder_of(const char *path)
{
    char *folder = text_directory(path);
    int failed = mkdir(folder, 0777) && errno != EEXIST;
    if (failed) fprintf(stderr, "sweetspot: cannot make folder '%s': %s\n", folder, strerror(errno));
    free(folder);
    return failed ? EXIT_ENVIRONMENT : 0;
}

// The log of a store: x.log of x.db.
static char *store_log_path(const char *store)
{
    size_t length = strlen(store), ending = strlen(".db");
    bool usual = length > ending && !strcmp(store + length - ending, ".db") && store[length - ending - 1] != '/';
    return text_format("%.*s.log", (int)(usual ? length - ending : length), store);
}

// Fills in what the command line leaves open from the job, and the job's paths.
static int tune_job(struct job *job, const struct tune_request *request, struct tune_outcome *outcome)
{
    struct tune_options o = request->options;
    if (o.time < 0) o.time = job->budget_time;
    if (o.evaluations < 0) o.evaluations = job->budget_evaluations;
    if (o.stop.until < 0) o.stop.until = job->stop.until;
    char *store_path = session_store_path(job, request->store), *folder = text_directory(store_path);
    char *log_path = store_log_path(store_path),
         *cache_path = request->cache ? text_copy(request->cache) : text_format("%s/cache", folder);
    o.store_path = store_path;
    o.log_path = log_path;
    o.cache = cache_path;
    o.cache_given = request->cache != NULL;
    int status = make_folder_of(store_path);
    if (!status) status = tune(job, &o, outcome);
    free(store_path);
    free(folder);
    free(log_path);
    free(cache_path);
    return status;
}

int tune_path(const char *path, const struct tune_request *request, struct tune_outcome *outcome)
{
    struct job *job;
    int status = session_load_job(path, &job);
    if (status) return status;
    status = tune_job(job, request, outcome);
    job_free(job);
    return status;
}
