// sweetspot report: shows everything in the stores of jobs, as one page or as a document.
#include <errno.h>
#include <unistd.h>

#include "tuner/base/output_file.h"
#include "tuner/base/protocol.h"
#include "tuner/cli/commands.h"
#include "tuner/cli/job_set.h"
#include "tuner/report/report.h"
#include "tuner/report/report_page.h"

static struct {
    struct job_set files;
    const char *output;
    int json;
} given = {.files.stores = true};

static const char *const formats[] = {"page", "json", NULL};

static const struct option_spec specs[] = {
    ARGUMENT(list, &given.files.named, "JOB",
             "job files, stores (*.db), or folders of either (the stores of the folder out)", .optional = true),
    OPTION_STORE(&given.files.store),
    OPTION(string, &given.output, "output", 'o', "FILE",
           "the file to write; -: standard output (report.html; standard output for json)"),
    OPTION(choice, &given.json, "format", 'f', NULL, "what is written (page); docs/json.md describes json",
           .choices = formats),
    OPTION_END,
};

static bool is_store(const char *path)
{
    return text_before(path, ".db");
}

// Whether the path itself was given as an argument, rather than found in a folder.
static bool is_named(const struct job_set *files, const char *path)
{
    bool named = false;
    for (size_t i = 0; i < files->named.count && !named; i++) {
        autofree char *own = session_job_path(files->named.items[i]);
        named = !strcmp(own, path);
    }
    return named;
}

// Finds the files: the arguments or, if there are none, the stores in the folder `out`. Returns 0, or an exit status
// after a message.
static int find_files(struct job_set *files)
{
    if (!files->named.count && !job_set_is_folder("out"))
        return complain(EXIT_NOTHING, "there are no results here: no folder 'out'; begin with: sweetspot tune JOB");
    if (!files->named.count) files->named = (struct option_list){1, {"out"}};
    int status = job_set_open(files);
    if (!status && files->store && is_store(files->paths[0]))
        return complain(EXIT_USAGE, "--store works with one job only; each of several jobs has its own store");
    return status;
}

// Reads a job file. If it has mistakes, *err becomes the first one.
static int read_job(const char *path, struct job **job, struct error *err)
{
    autorelease(mistakes_release) struct mistakes mistakes = {0};
    if (!job_load(path, job, &mistakes)) return 0;
    *job = NULL;
    const char *file = mistakes.count && mistakes.list[0].file ? mistakes.list[0].file : path;
    if (mistakes.count && mistakes.list[0].line > 0)
        return error_set(err, "%s:%d: %s", file, mistakes.list[0].line, mistakes.list[0].text);
    return error_set(err, "%s: %s", file, mistakes.count ? mistakes.list[0].text : "cannot be read");
}

// The size of the space on the most recently used device; NaN if the space cannot be built for that device.
static double build_space(struct job *job, struct store *store, const char *arch)
{
    struct error err = {""};
    autojson json_t *device = store_get_document(store, 0, "device", NULL, &err);
    struct device_limits limits = session_limits(device, arch);
    return job_build_space(job, &limits, &err) ? (double)NAN : space_valid_size(job->space);
}

// The job file that the store was last tuned with, malloc'ed. NULL if it is unknown, was deleted, or is for another
// job.
static char *known_job(struct store *store, const char *name, struct job **job)
{
    struct error err = {""};
    autojson json_t *document = store_get_document(store, 0, "job", NULL, &err);
    const char *path = json_get_string(document, "file", "");
    if (!access(path, R_OK) && !read_job(path, job, &err)) {
        if (!strcmp((*job)->name, name)) return text_copy(path);
        job_free(*job);
    }
    *job = NULL;
    return NULL;
}

// Reads one file into a JOB of the document. NULL for a job that was found in a folder but never tuned.
static json_t *read_one(const struct job_set *files, const char *file, size_t points)
{
    struct error err = {""};
    struct environment environment; // of the latest run
    struct job *job = NULL;
    autofree char *job_file = is_store(file) ? NULL : text_copy(file);
    struct report_source source = {.space = NAN, .points = points};
    int status = job_file ? read_job(job_file, &job, &err) : 0;
    autofree char *store = !job_file ? text_copy(file) : job ? session_store_path(job, files->store) : NULL;
    json_t *json = NULL;
    if (job && access(store, F_OK) && !is_named(files, file)) goto out;
    if (!status && store_open(&source.store, store, false, &err)) {
        source.store = NULL;
        status = -1;
    }
    int missing = source.store ? store_last_environment(source.store, &environment, &err) : 1;
    if (missing < 0) status = -1;
    if (!missing && !job_file) job_file = known_job(source.store, environment.job, &job);
    if (!missing && job && strcmp(environment.job, job->name) != 0)
        status =
            error_set(&err, "the store '%s' belongs to the job '%s', not to '%s'", store, environment.job, job->name);
    if (!missing && job && !status) source.space = build_space(job, source.store, environment.arch);
    if (status) {
        store_close(source.store);
        source.store = NULL;
    }
    source.job = job;
    source.job_file = job_file;
    source.name = job ? job->name : NULL;
    source.store_path = store;
    source.error = status ? err.message : NULL;
    json = report_job(&source);
    store_close(source.store);
out:
    job_free(job);
    return json;
}

// Reads all jobs into a list of JOBs. If a job cannot be read, its JOB contains an "error". The error is also printed
// on stderr, and *failed is set. *damaged is set if the store of such a job exists.
static json_t *read_jobs(const struct job_set *files, bool *failed, bool *damaged)
{
    json_t *jobs = json_array();
    size_t left = 0;
    *failed = *damaged = false;
    for (size_t i = 0; i < files->count; i++) {
        json_t *job = read_one(files, files->paths[i], report_points_of(files->count));
        const char *error = json_get_string(job, "error", NULL);
        if (error) fprintf(stderr, "sweetspot: %s\n", error);
        *failed |= error != NULL;
        *damaged |= error && (!access(json_get_string(job, "store", ""), F_OK) || errno != ENOENT);
        left += !job;
        if (job) json_array_append_new(jobs, job);
    }
    if (left) fprintf(stderr, "sweetspot: left out %zu job%s without results\n", left, left == 1 ? "" : "s");
    return jobs;
}

struct writing {
    const json_t *report;
    const struct report_charts *charts; // NULL: only the document
};

static int write_report(FILE *file, void *user, struct error *err)
{
    const struct writing *w = user;
    (void)err;
    if (w->charts) {
        report_page_write(file, w->report, w->charts);
        return 0;
    }
    autofree char *text = report_text(w->report, false);
    fprintf(file, "%s\n", text);
    return 0;
}

static bool has_results(const json_t *jobs)
{
    json_array_each(jobs, i, job)
        if (json_array_size(json_object_get(job, "results"))) return true;
    return false;
}

// Writes the report. EXIT_NOTHING with a message if a store could not be read, or if all stores were empty. The report
// shows the stores that could be read.
static int write_all(const struct job_set *files, const struct report_charts *charts, const char *output)
{
    bool failed, damaged;
    struct error err = {""};
    autojson json_t *jobs = read_jobs(files, &failed, &damaged);
    bool nothing = !has_results(jobs);
    if (nothing && !damaged)
        fprintf(stderr, "sweetspot: none of these jobs has results yet; begin with: sweetspot tune JOB\n");
    if (!json_array_size(jobs)) return EXIT_NOTHING;
    autojson json_t *report = report_document_of(json_incref(jobs), "sweetspot " SWEETSPOT_VERSION);
    struct writing writing = {report, charts};
    if (output_file_write(output, write_report, &writing, &err)) return session_complain(EXIT_ENVIRONMENT, &err);
    return failed || nothing ? EXIT_NOTHING : EXIT_DONE;
}

static int run(void)
{
    bool page = !given.json;
    if (!given.output) given.output = page ? "report.html" : "-";
    struct error err;
    if (output_is_foreign(given.output)) return complain_foreign(given.output);
    autorelease(report_charts_release) struct report_charts charts = {0};
    int status = find_files(&given.files);
    if (!status && page && report_charts_read(&charts, &err)) status = session_complain(EXIT_ENVIRONMENT, &err);
    if (!status) {
        status = write_all(&given.files, page ? &charts : NULL, given.output);
        if (page && status <= EXIT_NOTHING && !output_is_stdout(given.output) && !access(given.output, F_OK))
            fprintf(stderr, "sweetspot: wrote %s\n", given.output);
    }
    job_set_close(&given.files);
    return status;
}

const struct command cmd_report = {
    .name = "report",
    .summary = "write one page with all results: times, parameters, failures, counters",
    .description =
        "Shows the results of jobs in one self-contained page: winners against the libraries, progress of the "
        "search, effect of each parameter, failures, counters against time, finals. It changes no store and can run "
        "while jobs are being tuned. docs/json.md describes the document in the page, which --format "
        "json prints. Exit status 1 if a store cannot be read (the others are shown) or none has results.",
    .options = specs,
    .run = run,
    .more = "Jobs of a folder that were never tuned are left out. The page needs Apache ECharts and DataTables, which "
            "the set-up of the source tree installs with npm. To see newer results, run the command again and reload "
            "the page. "
            "For tables of several jobs, `compare` and `status` take folders too.",
    .see = "compare status tune",
};
