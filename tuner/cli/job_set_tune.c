// See job_set_tune.h.
#include "tuner/cli/job_set_tune.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tuner/base/clock.h"
#include "tuner/base/interrupt.h"
#include "tuner/base/memory.h"
#include "tuner/base/protocol.h"
#include "tuner/base/table.h"
#include "tuner/base/text.h"
#include "tuner/cli/job_paths.h"
#include "tuner/cli/session.h"
#include "tuner/pool/worker.h"
#include "tuner/watch/events.h"

static const double least_slice = 2; // s: less is lost in starting workers

struct suite_job {
    const char *path;
    char *name;
    int status;
    bool out; // failed, or more time would not help
    double spent;
    struct tune_outcome outcome;
};

// Every job file is read before anything is tuned: a mistake in the last one should not show after hours.
static int read_jobs(struct suite_job *jobs, const struct job_paths *files, double *own_time)
{
    int result = 0;
    for (size_t i = 0; i < files->count; i++) {
        struct job *job;
        jobs[i].path = files->items[i];
        int status = session_load_job(jobs[i].path, &job);
        if (status) {
            result = status;
            continue;
        }
        jobs[i].name = text_copy(job->name);
        *own_time += job->budget_time;
        for (size_t k = 0; k < i; k++)
            if (jobs[k].name && !strcmp(jobs[k].name, job->name)) {
                fprintf(stderr, "%s: the job has the same name as %s, '%s', and would share its store: rename one\n",
                        jobs[i].path, jobs[k].path, job->name);
                result = EXIT_USAGE;
            }
        job_free(job);
    }
    return result;
}

// The winners of the other jobs, nearest in the list first: neighbouring shapes tend to have similar winners. The
// caller frees.
static const char **collect_starts(const struct suite_job *jobs, size_t count, size_t own, size_t *found)
{
    const char **starts = memory_new(count, sizeof(char *));
    *found = 0;
    for (size_t distance = 1; distance < count; distance++) {
        for (int side = 0; side < 2; side++) {
            size_t i = side ? own + distance : own - distance; // below 0: far above count
            if (i < count && jobs[i].outcome.best_config) starts[(*found)++] = jobs[i].outcome.best_config;
        }
    }
    return starts;
}

static void run_slice(struct suite_job *jobs, size_t count, size_t own, const struct tune_request *request,
                      double seconds, bool final)
{
    struct suite_job *j = &jobs[own];
    struct tune_request mine = *request;
    struct tune_outcome outcome;
    tune_outcome_init(&outcome); // stays like this if the job cannot begin
    mine.options.time = seconds;
    mine.options.final = final;
    const char **starts = final ? NULL : collect_starts(jobs, count, own, &mine.options.start_count);
    mine.options.starts = starts;
    double begin = clock_now();
    int status = tune_path(j->path, &mine, &outcome);
    free(starts);
    j->spent += clock_now() - begin;
    if (status) j->status = status;
    if (status == EXIT_USAGE || status == EXIT_ENVIRONMENT) j->out = true;
    if (final && !isfinite(outcome.best)) {
        tune_outcome_release(&outcome);
        return;
    }
    double gain = final ? j->outcome.gain : outcome.gain;
    tune_outcome_release(&j->outcome);
    j->outcome = outcome;
    j->outcome.gain = gain;
    j->out |= outcome.exhausted;
}

static struct suite_job *most_promising(struct suite_job *jobs, size_t count)
{
    struct suite_job *best = NULL;
    for (size_t i = 0; i < count; i++)
        if (!jobs[i].out && (!best || jobs[i].outcome.gain > best->outcome.gain)) best = &jobs[i];
    return best;
}

static void announce(const struct tune_request *request, const struct suite_job *j, const char *what, double seconds)
{
    char shown[32];
    if (!request->options.quiet)
        fprintf(stderr, "-- %s: %s%s\n", j->name, what,
                seconds > 0 ? text_show_duration(seconds, shown, sizeof shown) : "");
}

static void print_summary(const struct suite_job *jobs, size_t count)
{
    struct table *table = table_new(
        (const char *[]){"job", ">evaluations", ">time spent", ">best", ">baseline", ">ratio (not paired)", NULL});
    for (size_t i = 0; i < count; i++) {
        const struct tune_outcome *o = &jobs[i].outcome;
        char shown[32];
        table_cell(table, "%s", jobs[i].name);
        table_cell(table, "%" PRId64, o->evaluations);
        table_cell(table, "%.0f s", jobs[i].spent);
        table_cell(table, "%s",
                   isfinite(o->best) && o->best > 0 ? text_show_duration(o->best, shown, sizeof shown) : "none");
        table_cell(table, "%s", o->baseline_name ? o->baseline_name : "");
        if (isfinite(o->baseline / o->best))
            table_cell(table, "%.3f", o->baseline / o->best);
        else
            table_cell(table, "%s", "");
    }
    table_print(table, stdout);
    table_free(table);
    printf("\nPaired ratios with their intervals: sweetspot compare JOB\n");
}

// The same for programs.
static void tell_summary(const struct suite_job *jobs, size_t count, struct event_stream *events, int status)
{
    json_t *list = json_array();
    for (size_t i = 0; i < count; i++) {
        const struct tune_outcome *o = &jobs[i].outcome;
        bool found = isfinite(o->best) && o->best > 0;
        json_array_append_new(list,
                              json_pack("{s:s, s:I, s:f, s:o, s:s?, s:o, s:i}", "job", jobs[i].name, "evaluations",
                                        (json_int_t)o->evaluations, "seconds", jobs[i].spent, "best",
                                        json_real_or_null(found ? o->best : (double)NAN), "baseline", o->baseline_name,
                                        "ratio", json_real_or_null(found ? o->baseline / o->best : (double)NAN),
                                        "exit_status", jobs[i].status));
    }
    event_write(events, "jobs", NULL, json_pack("{s:o, s:i}", "jobs", list, "exit_status", status));
}

static int tune_all(struct suite_job *jobs, size_t count, const struct tune_request *request, double time)
{
    double begin = clock_now(), share = fmax(time / (2 * (double)count), least_slice),
           slice = fmax(share / 2, least_slice);
    int status = 0;
    if (time > 0 && share * (double)count > time)
        fprintf(stderr, "sweetspot: %zu jobs need at least %.0f s each: give --time %.0fs or more, not %.0f s\n", count,
                least_slice, least_slice * (double)count, time);
    interrupt_watch();
    for (size_t i = 0; i < count && !interrupt_count(); i++) {
        announce(request, &jobs[i], "", time > 0 ? share : 0);
        run_slice(jobs, count, i, request, time > 0 ? share : 0, false);
        // The job files are correct: the machine or the command line is at fault, and the other jobs would
        // fail too.
        if (i == 0 && (jobs[i].status == EXIT_ENVIRONMENT || jobs[i].status == EXIT_USAGE)) return jobs[i].status;
    }
    struct suite_job *next;
    while (time > 0 && !interrupt_count() && clock_now() - begin + slice / 2 < time &&
           (next = most_promising(jobs, count))) {
        announce(request, next, "goes on for ", slice);
        run_slice(jobs, count, (size_t)(next - jobs), request, slice, false);
    }
    for (size_t i = 0; i < count && request->options.final && !interrupt_count(); i++) {
        if (!isfinite(jobs[i].outcome.best) || jobs[i].outcome.best <= 0) continue;
        announce(request, &jobs[i], "final", 0);
        run_slice(jobs, count, i, request, 1e-3, true);
    }
    for (size_t i = 0; i < count && !status; i++) status = jobs[i].status;
    return interrupt_count() ? interrupt_status() : status;
}

int job_set_tune(const struct option_list *paths, const struct tune_request *request)
{
    struct job_paths files;
    double own_time = 0;
    int status = job_paths_find(&files, paths);
    if (status) {
        job_paths_release(&files);
        return status;
    }
    struct suite_job *jobs = memory_new(files.count, sizeof *jobs);
    status = read_jobs(jobs, &files, &own_time);
    if (!status && request->store) {
        fprintf(
            stderr,
            "sweetspot: --store works with one job only; each of several jobs has its own store, out/<job name>.db\n");
        status = EXIT_USAGE;
    }
    if (!status) {
        status = tune_all(jobs, files.count, request, request->options.time >= 0 ? request->options.time : own_time);
        bool begun = jobs[0].status != EXIT_ENVIRONMENT && jobs[0].status != EXIT_USAGE;
        if (request->options.events)
            tell_summary(jobs, files.count, request->options.events, status);
        else if (begun)
            print_summary(jobs, files.count);
    }
    for (size_t i = 0; i < files.count; i++) {
        free(jobs[i].name);
        tune_outcome_release(&jobs[i].outcome);
    }
    free(jobs);
    job_paths_release(&files);
    return status;
}
