// sweetspot tune: searches for the fastest configuration. The search can be stopped and resumed at any time.

#include <ctype.h>
#include <errno.h>
#include <unistd.h>

#include "search/strategies/strategy.h"
#include "tuner/base/clock.h"
#include "tuner/base/interrupt.h"
#include "tuner/base/output_file.h"
#include "tuner/base/protocol.h"
#include "tuner/base/run_program.h"
#include "tuner/base/table.h"
#include "tuner/cli/commands.h"
#include "tuner/cli/draft_job.h"
#include "tuner/cli/job_set.h"
#include "tuner/policy/time_slices.h"
#include "tuner/pool/pool_spec.h"
#include "tuner/pool/worker.h"
#include "tuner/run/tune.h"
#include "tuner/watch/events.h"

static const char first_device[] = "0";

// The settings from the command line, for every job that is tuned.
struct tune_request {
    // time, evaluations, stop.until: a value below 0 stands for the job's; paths are filled in for each job.
    struct tune_options options;
    const char *store, *cache; // NULL: out/<job name>.db, and the folder `cache` next to it
};

static struct {
    struct job_set jobs;
    struct option_list priors, pools;
    const char *until, *shapes;
    struct pool_request pool;
    struct tune_request request;
    struct draft_request source; // for a kernel without a job file
    bool no_counters, no_final, no_checks;
    int json;
} given = {
    .source = {.assumes = true},
    .request = {.options = {.device = first_device, .time = -1, .evaluations = -1, .seed = -1, .stop = {.until = -1}}}};

static const struct option_spec specs[] = {
    ARGUMENT(list, &given.jobs.named, "JOB",
             "job file (configs/NAME.cfg); several files or folders share one budget; or a CUDA source, for which a "
             "job file is written"),
    OPTION(seconds, &given.request.options.time, "time", 't', "TIME",
           "how long the command may take, final included: 90s, 8h, 1h30m (the job's budget)"),
    OPTION(integer, &given.request.options.evaluations, "evaluations", 'n', "N",
           "stop after N configurations, including earlier runs (the job's budget)"),
    OPTION(string, &given.until, "until", 0, "SHARE|TIME",
           "stop when doubling the evaluations is expected to gain less than this: 1%; at a share of the measured "
           "ceiling: '95% of ceiling'; or when a candidate is as fast as this: 330us (the job's, or never)"),
    OPTION(string, &given.request.options.device, "device", 'd', "DEVICE",
           "GPU number, list such as 0,1, part of the name of GPUs such as H100, or replay:FILE of a recorded space "
           "(0; with --pool, all of the first GPU's model)"),
    OPTION_STORE(&given.jobs.store),
    OPTION(string, &given.shapes, "shapes", 0, "FILE",
           "tune for the sizes in FILE, with lines such as M=512,N=77, as the job JOB_shapes.cfg, which is written "
           "next to JOB (the job's problems)"),
    FLAG(&given.no_final, "no-final", 0, "only search; --finish decides later"),
    FLAG(&given.no_checks, "no-checks", 0,
         "leave compute-sanitizer, nvcc's build and the energy of the winner to a later --finish"),
    FLAG(&given.request.options.finish, "finish", 0, "only run the final on the stored results, and its checks"),
    FLAG(&given.request.options.refresh, "refresh", 0,
         "no search: measure the best results of another driver, device or version again, and run the final"),
    OPTION(choice, &given.json, "format", 'f', NULL,
           "output on stdout: a summary, or events as JSON lines, see docs/json.md (table)",
           .choices = document_formats),
    FLAG(&given.request.options.quiet, "quiet", 'q', "no progress on stderr"),
    OPTION(string, &given.source.kernel, "kernel", 'k', "NAME", "the kernel to tune (the source's only kernel)",
           .group = "For a CUDA source instead of a job file"),
    OPTION(list, &given.source.sizes, "size", 0, "NAME=NUMBER", "a number that the kernel takes; repeatable"),
    OPTION(list, &given.source.parameters, "parameter", 0, "NAME=VALUES",
           "the values of a macro to try, such as BLOCK=64,128,256; repeatable"),
    OPTION(string, &given.source.reference, "reference", 0, "NAME",
           "what results are verified against: another kernel of the source, an operation, or FILE.c:FUNCTION"),
    OPTION(string, &given.source.launch, "launch", 0, "GRID;BLOCK",
           "how the kernel is launched, such as 'ceil_div(n, BLOCK); BLOCK', and after another ; its bytes "
           "of dynamic shared memory"),
    OPTION(list, &given.pools, "pool", 0, "NODES",
           "use the GPUs and cores of these nodes: local, local:0,1, ssh:HOST,HOST, slurm, slurm:JOBID, or a file, "
           "see docs/cluster.md; repeatable (this machine, without an agent)",
           .group = "Several machines"),
    OPTION(string, &given.pool.cache, "node-cache", 0, "FOLDER",
           "folder on a node for the files that it receives (sweetspot-node in its user's cache)"),
    OPTION(string, &given.request.options.strategy, "strategy", 0, "NAME", "search strategy (the job's, or default)",
           .words = strategy_names, .group = "Advanced"),
    OPTION(list, &given.priors, "prior", 0, "FILE",
           "recorded space or store with results of another device, size or data type to learn from; repeatable "
           "(those of the store's other environments and of other stores in its folder)"),
    FLAG(&given.request.options.earlier.alone, "no-stores", 0,
         "do not begin with a shipped winner, and learn only from --prior's files"),
    OPTION(integer, &given.request.options.seed, "seed", 0, "N", "seed of the search and of the data (1)"),
    OPTION(integer, &given.request.options.workers, "workers", 'j', "N", "compilers that run at once (one per core)",
           .low = 1, .high = 1024),
    OPTION(string, &given.request.cache, "cache", 0, "FOLDER", "compile cache (the folder cache next to the store)"),
    FLAG(&given.no_counters, "no-counters", 0, "read no hardware counters"),
    OPTION_END,
};

// The path of a store's log: x.log for x.db.
static char *store_log_path(const char *store)
{
    size_t name = text_before(store, ".db");
    return text_format("%.*s.log", (int)(name && store[name - 1] != '/' ? name : strlen(store)), store);
}

// Prints the command to continue with: after a search without a final, the command that finds the winner; after a final
// without checks, the command that runs them.
static void print_next_command(const struct job *job, const struct tune_request *request, const char *store_path,
                               bool unchecked)
{
    const struct tune_options *o = &request->options;
    struct session found = {.job_path = job->path, .store_given = request->store};
    autofree char *header = session_command(&found, "header"), *tune = session_command(&found, "tune");
    if (!o->final && !o->quiet) // only results go to stdout
        fprintf(stderr, "results are in %s; to decide the winner: %s --finish\n", store_path, tune);
    if (o->final) printf("results are in %s; to write the header: %s\n", store_path, header);
    if (o->final && (unchecked || !o->checks))
        printf("%s left out; to decide with them: %s --finish\n",
               o->checks ? "checks for which there was no time are" : "compute-sanitizer, nvcc's build and energy are",
               tune);
}

// Creates the results folder. Returns 0, or an exit status after a message.
static int make_folder(const char *store_path, bool named)
{
    struct error err;
    autofree char *folder = text_directory(store_path);
    int failed = output_make_folders(store_path, &err);
    if (!failed && access(folder, W_OK))
        failed = error_set(&err, "cannot write in the folder '%s': %s", folder, strerror(errno));
    if (!failed) return 0;
    return complain(EXIT_ENVIRONMENT, "%s%s", err.message, named ? "" : "; --store FILE keeps the results elsewhere");
}

// Tunes a job. Settings that the command line does not give, and the paths, are taken from the job.
static int tune_job(struct job *job, const struct tune_request *request, struct tune_outcome *outcome)
{
    struct tune_options o = request->options;
    if (o.time < 0) o.time = job->search.budget_time;
    if (o.evaluations < 0) o.evaluations = job->search.budget_evaluations;
    if (o.stop.until < 0) {
        o.stop.until = job->search.stop.until;
        o.stop.ceiling = job->search.stop.ceiling;
    }
    autofree char *store_path = session_store_path(job, request->store), *folder = text_directory(store_path);
    autofree char *log_path = store_log_path(store_path),
                  *cache_path = request->cache ? text_copy(request->cache) : text_format("%s/cache", folder);
    o.files.store_path = store_path;
    o.files.log_path = log_path;
    o.files.cache = cache_path;
    o.files.cache_given = request->cache != NULL;
    autorelease(tune_outcome_release) struct tune_outcome own;
    tune_outcome_init(&own);
    int status = make_folder(store_path, request->store);
    if (!status) status = tune(job, &o, outcome ? outcome : &own);
    if (!status && !o.events && !outcome) print_next_command(job, request, store_path, own.unchecked);
    return status;
}

// Tunes one job file. Returns an exit status (protocol.h).
static int tune_path(const char *path, const struct tune_request *request, struct tune_outcome *outcome)
{
    struct job *job;
    int status = session_load_job(path, &job);
    if (status) return status;
    status = tune_job(job, request, outcome);
    job_free(job);
    return status;
}

static const double unknown_finish = 5;                 // s; estimate for the final of a job that was not searched yet
static const double least_slice = 1, least_final = 0.1; // s

struct suite_job {
    const char *path;
    char *name;
    int status;
    bool out; // gets no more time: it failed, or more time would not help
    double spent;
    struct tune_outcome outcome;
};

static struct {
    struct suite_job *jobs;
    size_t count;
    double own_time; // the sum of the jobs' own budgets
} suite;

static int note_job(void *user, const char *path, struct job *job)
{
    (void)user;
    suite.jobs[suite.count++] = (struct suite_job){.path = path, .name = text_copy(job->name)};
    suite.own_time += job->search.budget_time;
    job_free(job);
    return 0;
}

// The winners of the other jobs. The nearest jobs in the list come first, since neighbouring shapes tend to have
// similar winners. The caller frees the list.
static const char **collect_starts(size_t own, size_t *found)
{
    const char **starts = memory_new(suite.count, sizeof(char *));
    *found = 0;
    for (size_t distance = 1; distance < suite.count; distance++) {
        for (int side = 0; side < 2; side++) {
            size_t i = side ? own + distance : own - distance; // if it would be below 0, it wraps to far above count
            const char *best = i < suite.count ? suite.jobs[i].outcome.best_config : NULL;
            if (best) starts[(*found)++] = best;
        }
    }
    return starts;
}

static void run_slice(struct suite_job *j, double seconds, bool final)
{
    struct tune_request mine = given.request;
    struct tune_outcome outcome;
    tune_outcome_init(&outcome); // stays like this if the job cannot begin
    mine.options.time = final ? seconds : 0;
    mine.options.search_time = final ? 0 : seconds;
    mine.options.final = mine.options.finish = final;
    autofree const char **starts =
        final ? NULL : collect_starts((size_t)(j - suite.jobs), &mine.options.earlier.start_count);
    mine.options.earlier.starts = starts;
    double begin = clock_now();
    int status = tune_path(j->path, &mine, &outcome);
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

// The job that gets the next time slice; NULL: none.
static struct suite_job *next_job(const struct time_slices *slices, double spent)
{
    autofree double *gains = memory_new(suite.count, sizeof *gains);
    for (size_t i = 0; i < suite.count; i++) gains[i] = suite.jobs[i].out ? (double)NAN : suite.jobs[i].outcome.gain;
    size_t next = time_slices_next(slices, spent, gains, suite.count);
    return next < suite.count ? &suite.jobs[next] : NULL;
}

static void announce(const struct suite_job *j, const char *what, double seconds)
{
    if (!given.request.options.quiet)
        fprintf(stderr, "-- %s: %s%s\n", j->name, what, seconds > 0 ? text_show_duration(seconds, TEXT_ROOM) : "");
}

static json_t *summary_json(void)
{
    json_t *list = json_array();
    for (const struct suite_job *j = suite.jobs; j < suite.jobs + suite.count; j++) {
        const struct tune_outcome *o = &j->outcome;
        double best = o->best > 0 ? o->best : NAN;
        json_array_append_new(list, json_pack("{s:s, s:I, s:f, s:o, s:s?, s:o, s:i}", "job", j->name, "evaluations",
                                              (json_int_t)o->evaluations, "seconds", j->spent, "best", json_real(best),
                                              "baseline", o->baseline_name, "ratio", json_real(o->baseline / best),
                                              "exit_status", j->status));
    }
    return list;
}

static char *best_text(const json_t *job)
{
    double best = json_get_number(job, "best", NAN);
    return text_copy(isfinite(best) ? text_show_duration(best, TEXT_ROOM) : "none");
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

// The seconds that are reserved for the finals of all jobs: at most half of the budget.
static double time_of_finals(double time)
{
    double most = time / (2 * (double)suite.count), sum = 0;
    for (size_t i = 0; i < suite.count && given.request.options.final; i++)
        sum += fmin(finish_of(&suite.jobs[i]), most);
    return sum;
}

// The part of the remaining time for one job's final; the rest is left for the later finals.
static double time_of_final(const struct suite_job *own, double end)
{
    double all = 0, left = end - clock_now();
    for (const struct suite_job *j = own; j < suite.jobs + suite.count; j++) all += finish_of(j);
    return fmax(all > 0 ? left * finish_of(own) / all : left, least_final);
}

// Searches in slices. 0, or the first job's exit status if no job can be tuned.
static int search_all(double time, double begin)
{
    size_t count = suite.count;
    struct time_slices slices = time_slices_make(time - time_of_finals(time), count);
    double share = slices.first;
    if (time > 0 && share * (double)count > time)
        fprintf(stderr, "sweetspot: %zu jobs need at least %.0f s each: give --time %.0fs or more, not %.0f s\n", count,
                share, share * (double)count, time);
    for (size_t i = 0; i < count && !interrupt_count(); i++) {
        struct suite_job *j = &suite.jobs[i];
        double left = slices.time - (clock_now() - begin); // starting workers takes time too
        share = fmin(slices.first, fmax(left / (double)(count - i), least_slice));
        announce(j, "", time > 0 ? share : 0);
        run_slice(j, time > 0 ? share : 0, false);
        // The job files are correct, so the cause is the machine or the command line, and the other jobs would fail
        // too.
        if (i == 0 && (j->status == EXIT_ENVIRONMENT || j->status == EXIT_USAGE)) return j->status;
    }
    while (time > 0 && !interrupt_count()) {
        slices.time = time - time_of_finals(time);
        struct suite_job *next = next_job(&slices, clock_now() - begin);
        if (!next) break;
        announce(next, "continues for ", slices.next);
        run_slice(next, slices.next, false);
    }
    return 0;
}

static int tune_all(double time)
{
    const struct tune_options *o = &given.request.options;
    double begin = clock_now();
    interrupt_watch();
    int status = o->finish ? 0 : search_all(time, begin);
    if (status) return status;
    for (struct suite_job *j = suite.jobs; j < suite.jobs + suite.count && o->final && !interrupt_count(); j++) {
        if (!o->finish && !(j->outcome.best > 0 && isfinite(j->outcome.best))) continue;
        announce(j, "final", 0);
        run_slice(j, time > 0 ? time_of_final(j, begin + time) : 0, true);
    }
    for (size_t i = 0; i < suite.count && !status; i++) status = suite.jobs[i].status;
    return interrupt_count() ? interrupt_status() : status;
}

// Tunes every job. Each job begins with the winners found so far for the other jobs, nearest in the list first. --time
// is the total for all jobs (by default the sum of their own budgets), part of which is reserved for the finals. Half
// of the rest is shared equally; after that, each slice goes to the job whose last slice gained the most per second.
// After the finals, a table or the event "jobs" is printed on stdout. After all jobs have run, returns the first exit
// status other than 0. After an interruption, returns at once with the status of the interruption.
static int tune_jobs(void)
{
    const struct tune_options *o = &given.request.options;
    suite.jobs = memory_new(given.jobs.count, sizeof *suite.jobs);
    // All job files are read before anything is tuned, so that a mistake in the last file is reported at once, not
    // after hours.
    int status = job_set_each_job(&given.jobs, note_job, NULL);
    if (!status) {
        status = tune_all(o->time >= 0 ? o->time : suite.own_time);
        bool begun = suite.jobs[0].status != EXIT_ENVIRONMENT && suite.jobs[0].status != EXIT_USAGE;
        autojson json_t *jobs = summary_json();
        if (o->events)
            event_write(o->events, "jobs", NULL, json_pack("{s:O, s:i}", "jobs", jobs, "exit_status", status));
        else if (begun)
            print_summary(jobs);
    }
    for (size_t i = 0; i < suite.count; i++) {
        free(suite.jobs[i].name);
        tune_outcome_release(&suite.jobs[i].outcome);
    }
    free(suite.jobs);
    return status;
}

// --finish and --refresh do not search, so search options are refused with them. Returns the first such option that was
// given, or NULL.
static const char *useless_without_search(void)
{
    const struct tune_options *o = &given.request.options;
    const struct {
        const char *name;
        bool given;
    } searching[] = {{"no-final", given.no_final},  {"evaluations", o->evaluations >= 0},
                     {"until", given.until},        {"strategy", o->strategy},
                     {"prior", given.priors.count}, {"no-stores", o->earlier.alone}};
    for (size_t i = o->finish ? 0 : 1; (o->finish || o->refresh) && i < sizeof searching / sizeof *searching; i++)
        if (searching[i].given) return searching[i].name;
    return o->finish && o->refresh ? "refresh" : NULL;
}

static bool is_source(const char *path)
{
    return text_before(path, ".cu") || text_before(path, ".cuh");
}

// Writes a job file for the source, puts its path into *path, and checks it. Prints nothing on stdout.
static int begin_with_source(char **path)
{
    struct program_end end;
    struct error err;
    given.source.path = given.jobs.named.items[0];
    int status = draft_job(&given.source, path);
    if (status) return status;
    autofree char *program = installation_program("sweetspot");
    char *const words[] = {program, "check", *path, "--compile", "3", NULL};
    if (run_program(&(struct program_run){.argv = words}, &end, &err))
        return complain(EXIT_ENVIRONMENT, "%s", err.message);
    fputs(end.output, stderr);
    free(end.output);
    autofree char *again = text_command((const char *const[]){"sweetspot", "tune", *path, NULL});
    if (end.status) return complain(EXIT_USAGE, "correct %s, then: %s", *path, again);
    given.jobs.named.items[0] = *path;
    return EXIT_DONE;
}

// Writes a job with other problems and puts its path into *path.
static int begin_with_shapes(char **path)
{
    struct error err;
    struct job *job;
    int status = session_load_job(given.jobs.named.items[0], &job);
    if (status) return status;
    *path = job_write_shapes(job, given.shapes, &err);
    job_free(job);
    if (!*path) return complain(EXIT_USAGE, "%s", err.message);
    if (!given.request.options.quiet) fprintf(stderr, "the job for these sizes is %s\n", *path);
    given.jobs.named.items[0] = *path;
    return EXIT_DONE;
}

static int run(void)
{
    const struct draft_request *s = &given.source;
    bool one = given.jobs.named.count == 1 && !job_set_is_folder(given.jobs.named.items[0]),
         source = one && is_source(given.jobs.named.items[0]);
    autofree char *path = NULL;
    if (given.shapes && (!one || source)) return command_refuse("--shapes works with one job file only");
    if (!source && (s->kernel || s->sizes.count || s->parameters.count || s->reference || s->launch))
        return command_refuse("--kernel, --size, --parameter, --reference and --launch need one CUDA source (a .cu)");
    struct tune_options *o = &given.request.options;
    struct error err;
    if (given.until && !stop_read_until(given.until, &o->stop))
        return command_refuse("--until needs a share such as 1%%, '95%% of ceiling', or a time such as 186us, not '%s'",
                              given.until);
    const char *useless = useless_without_search();
    if (useless && o->finish)
        return command_refuse("--finish only runs the final on stored results and cannot be combined with --%s",
                              useless);
    if (useless)
        return command_refuse("--refresh only measures known results again and cannot be combined with --%s", useless);
    if (o->strategy && !strategy_choose(o->strategy, &err)) return command_refuse("%s", err.message); // before all else
    if (option_check_files("prior", &given.priors, PRIOR_MOST, &err)) return command_refuse("%s", err.message);
    bool replay = !strncmp(o->device, "replay:", 7);
    if (!replay && strstr(o->device, ".json"))
        return command_refuse("--device: to search in a recorded space, write replay:%s", o->device);
    if (isalpha((unsigned char)*o->device) && !replay) {
        given.pool.model = o->device;
        o->device = first_device;
        if (!given.pools.count) given.pools.items[given.pools.count++] = "local"; // its workers report their GPUs
    }
    given.pool.text_count = given.pools.count;
    given.pool.texts = given.pools.items;
    if (given.pools.count) o->pool = &given.pool;
    if (given.pools.count && o->device != first_device && !replay)
        return command_refuse("--pool and --device cannot be combined: use --pool local:%s", o->device);
    if (given.pool.cache && !given.pools.count)
        return command_refuse("--node-cache needs --pool; --cache is the compile cache of this machine");
    struct event_stream events = {.file = stdout};
    if (given.json) o->events = &events;
    o->earlier.prior_count = given.priors.count;
    o->earlier.priors = given.priors.items;
    o->counters = !given.no_counters;
    o->final = !given.no_final;
    o->checks = !given.no_checks;
    given.request.store = given.jobs.store;
    autofree char *again = options_command_line();
    o->again = again;
    int status = source ? begin_with_source(&path) : given.shapes ? begin_with_shapes(&path) : EXIT_DONE;
    if (status) return status;
    status = job_set_open(&given.jobs);
    if (!status) status = given.jobs.many ? tune_jobs() : tune_path(given.jobs.named.items[0], &given.request, NULL);
    job_set_close(&given.jobs);
    return status;
}

const struct command cmd_tune = {
    .name = "tune",
    .summary = "search for the fastest configuration; resumes where it stopped",
    .description = "Searches for the best configuration: compiles, verifies, times and counts candidates, commits "
                   "each, and decides the winner in a final against the libraries. Run it again to resume. Ctrl-C "
                   "finishes the trial in flight and stops. Several jobs are tuned one after another; each begins with "
                   "the others' winners, and jobs that still improve get more time. Results are written to out/ of the "
                   "nearest folder above the job file that has an out/ or a .git, otherwise next to the job file.",
    .options = specs,
    .run = run,
    .more = "The search ends when the budget is spent, the space is exhausted or Ctrl-C is pressed. Configurations "
            "with a stored result are not measured again. After Ctrl-C the trial in flight is finished and kept; a "
            "second Ctrl-C stops at once. In both cases the command that resumes is printed.\n\n"
            "`--finish` decides between the stored results without a search, and is the second half of a run with "
            "`--no-final` or `--no-checks`.\n\n"
            "The budget of several jobs is the sum of their own budgets, or `--time`. Half of it is shared equally. "
            "The rest goes, slice by slice, to the job whose last slice gained most. The finals follow.\n\n"
            "A recording is refused if its parameters differ from the job's, or if both its name and its problems "
            "differ. Winners of the store's other environments (another device, driver, problem or version of the "
            "source) are measured first. `--prior` may be given up to eight times. Parameters are matched by name, "
            "values by value, and a prior that proves wrong loses its weight. The progress line and the end of a run "
            "show the probability that more time brings the gain of `--until`, or 1%.",
    .see = "status compare header report simulate",
};
