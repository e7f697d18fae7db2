// See job_set_tune.h.
#include "tuner/cli/job_set_tune.h"

#include <errno.h>
#include <unistd.h>

#include "tuner/base/base.h"
#include "tuner/base/clock.h"
#include "tuner/base/interrupt.h"
#include "tuner/base/output_file.h"
#include "tuner/base/protocol.h"
#include "tuner/base/table.h"
#include "tuner/cli/session.h"
#include "tuner/policy/time_slices.h"
#include "tuner/pool/worker.h"
#include "tuner/watch/events.h"

// The log of a store: x.log of x.db.
static char *store_log_path(const char *store)
{
    size_t length = strlen(store), ending = strlen(".db");
    bool usual = length > ending && !strcmp(store + length - ending, ".db") && store[length - ending - 1] != '/';
    return text_format("%.*s.log", (int)(usual ? length - ending : length), store);
}

// What to do with the results. A job that was only searched has no winner yet, and one that was not checked can be.
static void print_next_command(const struct job *job, const struct tune_request *request, const char *store_path,
                               bool unchecked)
{
    const struct tune_options *o = &request->options;
    struct session found = {.job_path = job->path, .store_given = request->store};
    char *header = session_command(&found, "header"), *tune = session_command(&found, "tune");
    if (!o->final && !o->quiet) // nothing but results goes to stdout
        fprintf(stderr, "results are in %s; to decide the winner: %s --finish\n", store_path, tune);
    if (o->final) printf("results are in %s; to write the header: %s\n", store_path, header);
    if (o->final && (unchecked || !o->checks))
        printf("%s left out; to decide with them: %s --finish\n",
               o->checks ? "checks for which there was no time are" : "compute-sanitizer, nvcc's build and energy are",
               tune);
    free(header);
    free(tune);
}

// Makes the folder of the results. 0, or an exit status after a message.
static int make_folder(const char *store_path, bool given)
{
    struct error err;
    char *folder = text_directory(store_path);
    int failed = output_make_folders(store_path, &err);
    if (!failed && access(folder, W_OK))
        failed = error_set(&err, "cannot write in the folder '%s': %s", folder, strerror(errno));
    free(folder);
    if (!failed) return 0;
    return complain(EXIT_ENVIRONMENT, "%s%s", err.message, given ? "" : "; --store FILE keeps the results elsewhere");
}

// Fills in what the command line leaves open from the job, and the job's paths.
static int tune_job(struct job *job, const struct tune_request *request, struct tune_outcome *outcome)
{
    struct tune_options o = request->options;
    if (o.time < 0) o.time = job->budget_time;
    if (o.evaluations < 0) o.evaluations = job->budget_evaluations;
    if (o.stop.until < 0) {
        o.stop.until = job->stop.until;
        o.stop.ceiling = job->stop.ceiling;
    }
    char *store_path = session_store_path(job, request->store), *folder = text_directory(store_path);
    char *log_path = store_log_path(store_path),
         *cache_path = request->cache ? text_copy(request->cache) : text_format("%s/cache", folder);
    o.store_path = store_path;
    o.log_path = log_path;
    o.cache = cache_path;
    o.cache_given = request->cache != NULL;
    struct tune_outcome own;
    tune_outcome_init(&own);
    int status = make_folder(store_path, request->store);
    if (!status) status = tune(job, &o, outcome ? outcome : &own);
    if (!status && !o.events && !outcome) print_next_command(job, request, store_path, own.unchecked);
    tune_outcome_release(&own);
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

static const double unknown_finish = 5;                 // s that a job's final may take, before it was searched
static const double least_slice = 1, least_final = 0.1; // s

struct suite_job {
    const char *path;
    char *name;
    int status;
    bool out; // it failed, or more time would not help
    double spent;
    struct tune_outcome outcome;
};

struct suite {
    struct suite_job *jobs;
    size_t count;
    double own_time; // the sum of the jobs' own budgets
};

static int note_job(void *user, const char *path, struct job *job)
{
    struct suite *s = user;
    s->jobs[s->count++] = (struct suite_job){.path = path, .name = text_copy(job->name)};
    s->own_time += job->budget_time;
    job_free(job);
    return 0;
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
    mine.options.time = final ? seconds : 0;
    mine.options.search_time = final ? 0 : seconds;
    mine.options.final = mine.options.finish = final;
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

// The next job that gets time; `count`: none.
static size_t next_job(const struct suite_job *jobs, size_t count, const struct time_slices *slices, double spent)
{
    double *gains = memory_new(count, sizeof *gains);
    for (size_t i = 0; i < count; i++) gains[i] = jobs[i].out ? (double)NAN : jobs[i].outcome.gain;
    size_t next = time_slices_next(slices, spent, gains, count);
    free(gains);
    return next;
}

static void announce(const struct tune_request *request, const struct suite_job *j, const char *what, double seconds)
{
    char shown[32];
    if (!request->options.quiet)
        fprintf(stderr, "-- %s: %s%s\n", j->name, what,
                seconds > 0 ? text_show_duration(seconds, shown, sizeof shown) : "");
}

static json_t *summary_json(const struct suite *s)
{
    json_t *list = json_array();
    for (size_t i = 0; i < s->count; i++) {
        const struct tune_outcome *o = &s->jobs[i].outcome;
        double best = o->best > 0 ? o->best : NAN;
        json_array_append_new(list, json_pack("{s:s, s:I, s:f, s:o, s:s?, s:o, s:i}", "job", s->jobs[i].name,
                                              "evaluations", (json_int_t)o->evaluations, "seconds", s->jobs[i].spent,
                                              "best", json_real(best), "baseline", o->baseline_name, "ratio",
                                              json_real(o->baseline / best), "exit_status", s->jobs[i].status));
    }
    return list;
}

static char *best_text(const json_t *job)
{
    char shown[32];
    double best = json_get_number(job, "best", NAN);
    return text_copy(isfinite(best) ? text_show_duration(best, shown, sizeof shown) : "none");
}

static void print_summary(const json_t *jobs)
{
    static const struct row_column columns[] = {COLUMN("job"),
                                                COLUMN(">evaluations"),
                                                COLUMN_NUMBER(">time spent", "seconds", "%.0f s"),
                                                COLUMN_TEXT(">best", best_text),
                                                COLUMN(">baseline"),
                                                COLUMN_NUMBER(">ratio (not paired)", "ratio", "%.3f"),
                                                {0}};
    rows_print(jobs, columns, false, stdout);
    printf("\nPaired ratios with their intervals: sweetspot compare JOB\n");
}

static double finish_of(const struct suite_job *j)
{
    return j->outcome.finish >= 0 ? j->outcome.finish : unknown_finish;
}

// s that are kept for the finals of all jobs: at most half of the budget.
static double time_of_finals(const struct suite_job *jobs, size_t count, const struct tune_request *request,
                             double time)
{
    double most = time / (2 * (double)count), sum = 0;
    for (size_t i = 0; i < count && request->options.final; i++) sum += fmin(finish_of(&jobs[i]), most);
    return sum;
}

// A job's part of the time that is left for its final and those after it.
static double time_of_final(const struct suite_job *jobs, size_t own, size_t count, double end)
{
    double all = 0, left = end - clock_now();
    for (size_t i = own; i < count; i++) all += finish_of(&jobs[i]);
    return fmax(all > 0 ? left * finish_of(&jobs[own]) / all : left, least_final);
}

// The searches, in slices. 0, or the first job's exit status if no job can be tuned.
static int search_all(struct suite_job *jobs, size_t count, const struct tune_request *request, double time,
                      double begin)
{
    struct time_slices slices = time_slices_make(time - time_of_finals(jobs, count, request, time), count);
    double share = slices.first;
    if (time > 0 && share * (double)count > time)
        fprintf(stderr, "sweetspot: %zu jobs need at least %.0f s each: give --time %.0fs or more, not %.0f s\n", count,
                share, share * (double)count, time);
    for (size_t i = 0; i < count && !interrupt_count(); i++) {
        double left = slices.time - (clock_now() - begin); // starting workers takes time too
        share = fmin(slices.first, fmax(left / (double)(count - i), least_slice));
        announce(request, &jobs[i], "", time > 0 ? share : 0);
        run_slice(jobs, count, i, request, time > 0 ? share : 0, false);
        // The job files are correct: the machine or the command line is at fault, and the other jobs would
        // fail too.
        if (i == 0 && (jobs[i].status == EXIT_ENVIRONMENT || jobs[i].status == EXIT_USAGE)) return jobs[i].status;
    }
    while (time > 0 && !interrupt_count()) {
        slices.time = time - time_of_finals(jobs, count, request, time);
        size_t next = next_job(jobs, count, &slices, clock_now() - begin);
        if (next == count) break;
        announce(request, &jobs[next], "continues for ", slices.next);
        run_slice(jobs, count, next, request, slices.next, false);
    }
    return 0;
}

static int tune_all(struct suite_job *jobs, size_t count, const struct tune_request *request, double time)
{
    bool searches = !request->options.finish;
    double begin = clock_now();
    interrupt_watch();
    int status = searches ? search_all(jobs, count, request, time, begin) : 0;
    if (status) return status;
    for (size_t i = 0; i < count && request->options.final && !interrupt_count(); i++) {
        if (searches && !(jobs[i].outcome.best > 0 && isfinite(jobs[i].outcome.best))) continue;
        announce(request, &jobs[i], "final", 0);
        run_slice(jobs, count, i, request, time > 0 ? time_of_final(jobs, i, count, begin + time) : 0, true);
    }
    for (size_t i = 0; i < count && !status; i++) status = jobs[i].status;
    return interrupt_count() ? interrupt_status() : status;
}

int job_set_tune(struct job_set *set, const struct tune_request *request)
{
    struct suite s = {.jobs = memory_new(set->count, sizeof *s.jobs)};
    // Every job file is read before anything is tuned: a mistake in the last one should not show after hours.
    int status = job_set_each_job(set, note_job, &s);
    if (!status) {
        status = tune_all(s.jobs, s.count, request, request->options.time >= 0 ? request->options.time : s.own_time);
        bool begun = s.jobs[0].status != EXIT_ENVIRONMENT && s.jobs[0].status != EXIT_USAGE;
        json_t *jobs = summary_json(&s);
        if (request->options.events)
            event_write(request->options.events, "jobs", NULL,
                        json_pack("{s:O, s:i}", "jobs", jobs, "exit_status", status));
        else if (begun)
            print_summary(jobs);
        json_decref(jobs);
    }
    for (size_t i = 0; i < s.count; i++) {
        free(s.jobs[i].name);
        tune_outcome_release(&s.jobs[i].outcome);
    }
    free(s.jobs);
    return status;
}
