// sweetspot gate: is a kernel still as fast as an earlier version of it? For continuous integration.
#include <math.h>
#include <stdlib.h>
#include <time.h>

#include "tuner/base/protocol.h"
#include "tuner/base/record.h"
#include "tuner/base/stats.h"
#include "tuner/base/table.h"
#include "tuner/cli/ageing.h"
#include "tuner/cli/base_version.h"
#include "tuner/cli/candidate_spec.h"
#include "tuner/cli/commands.h"
#include "tuner/explain/version_race.h"

enum { GATE_VERSION = 1 };
enum { GATE_TABLE, GATE_JSON, GATE_MARKDOWN };
static const char *const gate_formats[] = {"table", "json", "markdown", NULL};

static struct {
    const char *job, *base, *allow, *store, *device;
    int format;
} given = {.allow = "1%", .device = "0"};

static const struct option_spec specs[] = {
    OPTION_JOB(&given.job),
    OPTION(string, &given.base, "base", 0, "BASE",
           "the earlier version: a revision of the repository, a folder with other sources, or a header"),
    OPTION(string, &given.allow, "allow", 0, "PERCENT", "how much slower the new version may be (1%)"),
    OPTION_STORE(&given.store),
    OPTION_GPU(&given.device),
    OPTION(choice, &given.format, "format", 'f', NULL, "how results are printed (table)", .choices = gate_formats),
    OPTION_END,
};

// The document -------------------------------------------------------------------------------------------------------

struct gate_problem {
    const char *problem;
    int verdict;
    double base, now; // s, medians
    struct interval ratio;
    int64_t rounds;
};
struct gate_document {
    const char *job, *base, *base_configuration, *configuration, *device, *driver, *compiler;
    int verdict;
    double allow, when; // a fraction; Unix time
    int64_t processes;
    const struct gate_problem *problems;
    size_t problem_count;
};

#define PROBLEM(member) RECORD_MEMBER(struct gate_problem, member)
static const struct record_field problem_fields[] = {
    {"problem", PROBLEM(problem)},
    {"verdict", RECORD_WORDS(struct gate_problem, verdict, version_verdicts)},
    {"base", PROBLEM(base)},
    {"now", PROBLEM(now)},
    {"ratio", RECORD_INTERVAL(struct gate_problem, ratio)},
    {"rounds", PROBLEM(rounds)},
    {0}};
static const struct record problem_record = {"a gate's problem", sizeof(struct gate_problem), problem_fields, NULL};

#define GATE(member) RECORD_MEMBER(struct gate_document, member)
static const struct record_field gate_fields[] = {
    {"job", GATE(job)},
    {"verdict", RECORD_WORDS(struct gate_document, verdict, version_verdicts)},
    {"allow", GATE(allow)},
    {"base", GATE(base)},
    {"base_configuration", GATE(base_configuration)},
    {"configuration", GATE(configuration)},
    {"device", GATE(device)},
    {"driver", GATE(driver)},
    {"compiler", GATE(compiler)},
    {"when", GATE(when)},
    {"processes", GATE(processes)},
    {"problems", RECORD_RECORDS(struct gate_document, problems, problem_count, problem_record)},
    {0}};
static const struct record gate_record = {"a gate", sizeof(struct gate_document), gate_fields, NULL};

// Printing -----------------------------------------------------------------------------------------------------------

// Prints the changes since the job's last gate, one per line.
static void print_changes(FILE *to, const struct gate_document *d, const struct gate_document *last)
{
    const struct {
        const char *what, *before, *now;
    } facts[] = {{"GPU", last->device, d->device},
                 {"driver", last->driver, d->driver},
                 {"compiler", last->compiler, d->compiler}};
    char day[32] = "";
    time_t when = last->when > 0 ? (time_t)last->when : 0;
    struct tm utc;
    if (!when || !gmtime_r(&when, &utc)) return;
    strftime(day, sizeof day, "%F", &utc);
    for (size_t i = 0; i < sizeof facts / sizeof *facts; i++)
        if (strcmp(facts[i].before, facts[i].now) != 0)
            fprintf(to, "the %s has changed since the gate of %s: %s instead of %s\n", facts[i].what, day, facts[i].now,
                    facts[i].before);
    fprintf(to, "the gate of %s, against %s: %s\n", day, last->base, version_verdicts[last->verdict]);
}

static void print_markdown(const struct gate_document *d)
{
    printf("**%s: %s** (at most %g%% slower is allowed; base: `%s`; %s)\n\n", d->job, version_verdicts[d->verdict],
           100 * d->allow, d->base, d->device);
    printf("| problem | base | now | times as fast, 99%% interval | verdict |\n|---|---:|---:|---:|---|\n");
    for (size_t i = 0; i < d->problem_count; i++) {
        const struct gate_problem *p = &d->problems[i];
        printf("| %s | %s | %s | %.4f [%.4f, %.4f] | %s |\n", p->problem, text_show_duration(p->base, TEXT_ROOM),
               text_show_duration(p->now, TEXT_ROOM), p->ratio.value, p->ratio.low, p->ratio.high,
               version_verdicts[p->verdict]);
    }
    printf("\n");
}

static void print_table(const struct gate_document *d)
{
    struct table *table = table_new(
        (const char *const[]){"problem", ">base", ">now", ">times as fast", ">99% interval", "verdict", NULL});
    printf("%s: %s, at most %g%% slower is allowed\n", d->job, version_verdicts[d->verdict], 100 * d->allow);
    printf("  base %s: %s\n  now: %s\n", d->base, d->base_configuration, d->configuration);
    for (size_t i = 0; i < d->problem_count; i++) {
        const struct gate_problem *p = &d->problems[i];
        table_cell(table, "%s", p->problem);
        table_cell(table, "%s", text_show_duration(p->base, TEXT_ROOM));
        table_cell(table, "%s", text_show_duration(p->now, TEXT_ROOM));
        table_number(table, "%.4f", p->ratio.value);
        table_cell(table, "%.4f to %.4f", p->ratio.low, p->ratio.high);
        table_cell(table, "%s", version_verdicts[p->verdict]);
    }
    table_print(table, stdout);
    table_free(table);
}

static void show(const struct gate_document *d, const struct gate_document *last)
{
    if (given.format == GATE_JSON) {
        json_print_document("sweetspot-gate", GATE_VERSION, record_write(&gate_record, d), stdout);
        return;
    }
    if (given.format == GATE_MARKDOWN)
        print_markdown(d);
    else
        print_table(d);
    print_changes(stdout, d, last);
}

// The race -----------------------------------------------------------------------------------------------------------

// Checks that both jobs have the same buffers and problems, since the base's kernel runs on the new job's data.
static int check_same_task(const struct job *base, const struct job *job)
{
    bool same = base->buffer_count == job->buffer_count && base->problem_count == job->problem_count;
    for (size_t i = 0; same && i < job->buffer_count; i++)
        same = !strcmp(base->buffers[i].name, job->buffers[i].name) && base->buffers[i].type == job->buffers[i].type &&
               base->buffers[i].direction == job->buffers[i].direction;
    for (size_t i = 0; same && i < job->problem_count; i++)
        same = !strcmp(base->problems[i].name, job->problems[i].name);
    return same ? 0
                : complain(EXIT_USAGE, "the base's job has different buffers or problems, so its kernel cannot be "
                                       "raced on the same data");
}

// Compiles the configuration `text` or, if it is NULL, the first of these that exists: the job's current configuration,
// the best known configuration, the first configuration in the space.
static int compile(struct candidate_source *source, struct single_run *single, const char *text, const char *which,
                   struct single_run_candidate *candidate)
{
    const struct job *job = source->session.job;
    const struct implementation *current = job_current(job);
    const bool named = current && current->kind == IMPLEMENTATION_CONFIGURATION;
    autofree char *own = !text && named ? space_text(job->space, current->config) : NULL;
    const struct candidate_spec spec = {.name = "candidate", .config = own ? own : text ? (char *)(uintptr_t)text : ""};
    uint16_t config[SPACE_MAX_PARAMETERS];
    struct error err = {""};
    if (candidate_spec_config(source, &spec, config, &err))
        return complain(EXIT_USAGE, "%s: %s; 'current' in its job file can name a configuration", which, err.message);
    if (single_run_compile(single, config, NULL, candidate, &err))
        return complain(EXIT_ENVIRONMENT, "%s: %s", which, err.message);
    if (candidate->status == STATUS_OK) return 0;
    return complain(text ? EXIT_USAGE : EXIT_NOTHING, "%s: %s: %s", which, status_name(candidate->status),
                    candidate->reason);
}

static int open_single(struct single_run **single, struct job *job, bool compiles_only)
{
    struct error err = {""};
    autofree char *cache = results_cache(job, NULL);
    const struct single_run_options options = {
        .device = given.device, .cache = cache, .compiles_only = compiles_only, .say = candidate_spec_say};
    int status = single_run_open(single, job, &options, &err);
    return status ? session_complain(status, &err) : 0;
}

// Compiles the base's kernel from its own job and sources. `now` is the new version's configuration.
static int compile_base(const struct base_version *base, const struct job *job, const char *now,
                        struct single_run_candidate *candidate)
{
    struct candidate_source source = {.job_path = base->job_path};
    struct single_run *single = NULL;
    int status = session_load_job(base->job_path, &source.session.job);
    if (!status) status = check_same_task(source.session.job, job);
    if (!status) status = open_single(&single, source.session.job, true);
    const struct implementation *current = status ? NULL : job_current(source.session.job);
    bool named = current && current->kind == IMPLEMENTATION_CONFIGURATION;
    if (!status) status = compile(&source, single, named ? NULL : now, "the base", candidate);
    single_run_close(single);
    candidate_spec_close(&source);
    return status;
}

static struct gate_document describe(const struct single_run *single, const struct version_race *race,
                                     const struct single_run_candidate *old, const struct single_run_candidate *new,
                                     double allow, struct gate_problem *problems)
{
    const struct job *job = single->job;
    for (size_t i = 0; i < job->tuned_count; i++) {
        const struct version_problem *p = &race->problems[i];
        problems[i] = (struct gate_problem){.problem = job->problems[i].name,
                                            .verdict = (int)p->verdict,
                                            .base = stats_median(p->old, p->count),
                                            .now = stats_median(p->new, p->count),
                                            .ratio = p->ratio,
                                            .rounds = (int64_t)p->count};
    }
    return (struct gate_document){.job = job->name,
                                  .base = given.base,
                                  .base_configuration = old->config,
                                  .configuration = new->config,
                                  .device = single->pool.first.device_name,
                                  .driver = single->pool.first.driver,
                                  .compiler = single->pool.first.compiler,
                                  .verdict = (int)race->verdict,
                                  .allow = allow,
                                  .when = (double)time(NULL),
                                  .processes = (int64_t)race->processes,
                                  .problems = problems,
                                  .problem_count = job->tuned_count};
}

// Prints the verdict, and stores it if the job has a store.
static int report(struct candidate_source *source, const struct gate_document *d)
{
    static const int statuses[] = {EXIT_DONE, EXIT_DONE, EXIT_UNDECIDED, EXIT_GATE};
    struct store *store = source->session.store;
    autorelease(arena_release) struct arena memory = {0};
    struct gate_document last;
    struct error err = {""};
    autojson json_t *before = store ? session_document(&source->session, "gate", NULL) : NULL;
    if (!before || record_read(&gate_record, before, &last, &memory, &err)) record_clear(&gate_record, &last);
    autojson json_t *document = record_write(&gate_record, d);
    if (store && store_put_document(store, 0, "gate", document, &err))
        fprintf(stderr, "sweetspot: cannot store the verdict: %s\n", err.message);
    show(d, &last);
    const struct environment now = {.device = d->device, .driver = d->driver, .compiler = d->compiler};
    struct ageing ageing = {.count = 0};
    if (store) ageing_find(&ageing, &source->session, &now);
    autofree char *aged = ageing_text(&source->session, &ageing);
    if (aged && given.format != GATE_JSON) printf("%s\n", aged);
    return statuses[d->verdict];
}

static int race(struct candidate_source *source, struct single_run *single, const struct single_run_candidate *old,
                const struct single_run_candidate *new, double allow)
{
    struct version_race race;
    struct gate_problem problems[JOB_MAX_PROBLEMS];
    struct error err = {""};
    int status = 0;
    if (version_race_run(&race, single, old, new, allow, &err)) {
        status = session_complain(EXIT_ENVIRONMENT, &err);
    } else if (race.failed) {
        status = complain(EXIT_NOTHING, "%s: %s", race.failed, race.reason.message);
    } else {
        const struct gate_document document = describe(single, &race, old, new, allow, problems);
        status = report(source, &document);
    }
    version_race_release(&race);
    return status;
}

// Reads a percentage such as "1%" or "0.5%".
static int read_allowed(double *allow)
{
    char *end;
    *allow = strtod(given.allow, &end) / 100;
    if (*allow >= 0 && *allow < 1 && end != given.allow && !strcmp(end, "%")) return 0;
    return command_refuse("--allow must be a percentage below 100, such as 1%%, not '%s'", given.allow);
}

static int gate(struct candidate_source *source, const struct base_version *base, double allow)
{
    struct job *job = source->session.job;
    struct single_run_candidate old = {0}, new = {0};
    struct single_run *single = NULL;
    int status = open_single(&single, job, false);
    if (!status) status = compile(source, single, NULL, "the new version", &new);
    if (!status && base->config) status = compile(source, single, base->config, "the base", &old);
    if (!status && base->job_path) status = compile_base(base, job, new.config, &old);
    if (!status) status = race(source, single, &old, &new, allow);
    single_run_candidate_release(&old);
    single_run_candidate_release(&new);
    single_run_close(single);
    return status;
}

static int run(void)
{
    struct candidate_source source = {0};
    struct base_version base = {0};
    double allow = 0;
    if (!given.base) return command_refuse("--base is missing: the version to compare the job with");
    int status = read_allowed(&allow);
    if (!status) status = candidate_spec_open(&source, given.job, given.store);
    if (!status && job_unverified(source.session.job))
        status =
            complain(EXIT_USAGE, "%s: a gate needs a reference (%s)", given.job, job_unverified(source.session.job));
    if (!status) status = base_version_find(&base, source.session.job, given.base);
    if (!status) status = gate(&source, &base, allow);
    base_version_release(&base);
    candidate_spec_close(&source);
    return status;
}

const struct command cmd_gate = {
    .name = "gate",
    .summary = "compare a kernel's speed with an earlier version: faster, same, slower or undecided",
    .description = "Compiles two versions of a job's kernel now and races them on the same data, in random order and "
                   "several processes. Exit status 0 if the new version is faster or the same, 4 if it is slower, 5 "
                   "if that is undecided, 1 if one of them is wrong.",
    .options = specs,
    .run = run,
    .more =
        "The base is a revision of the repository that the job file is in (`main`, `HEAD~1`), a folder with the other "
        "version, or a header, whose configuration is then compiled from the current source. Both jobs must have the "
        "same buffers and problems. Each version runs the configuration that `current` in its job file names, "
        "otherwise the best of the job's store, otherwise the first one; without `current` the base runs the new "
        "version's.\n\n"
        "The verdict is based on the 99% interval of the new version's speedup over the base. It is `faster` if the "
        "interval lies above 1.002, `slower` if it lies below what `--allow` permits and below 1/1.002, `same` if it "
        "does not reach below what `--allow` permits, otherwise `undecided`. While a problem is undecided, more rounds "
        "run, in up to six processes. The job's store, if there is one, keeps the verdict, and the next gate shows "
        "what changed: GPU, driver, compiler.",
    .see = "compare judge",
};
