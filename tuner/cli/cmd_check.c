// sweetspot check: is this job file correct? Prints every mistake with its file and line, the space and each problem's
// memory, and checks the kernels' arguments and whether candidates compile (for any architecture, without a GPU).
#include <errno.h>
#include <sys/wait.h>
#include <unistd.h>

#include "kernels/operation.h"
#include "tuner/base/clock.h"
#include "tuner/base/colour.h"
#include "tuner/base/elf_file.h"
#include "tuner/base/hash.h"
#include "tuner/base/protocol.h"
#include "tuner/check/check.h"
#include "tuner/cli/commands.h"
#include "tuner/cli/job_set.h"
#include "tuner/pool/worker_pool.h"
#include "tuner/setup/job_setup.h"
#include "tuner/setup/request.h"

static struct {
    struct job_set jobs;
    const char *arch, *cache;
    int64_t compile;
    bool rewrite;
    int format;
} given = {.arch = "sm_90a", .compile = -1};

static const struct option_spec specs[] = {
    OPTION_JOBS(&given.jobs.named),
    OPTION(integer, &given.compile, "compile", 'c', "N",
           "compile the reference and current kernels and N configurations (at most all); 0: nothing (the reference "
           "and the first)"),
    OPTION(string, &given.arch, "arch", 0, "ARCH", "architecture to compile for; its limits apply (sm_90a)"),
    OPTION(string, &given.cache, "cache", 0, "FOLDER", "compile cache (out/cache)"),
    FLAG(&given.rewrite, "rewrite", 0, "check nothing; print the job files in the current form, with their comments"),
    OPTION_DOCUMENT_FORMAT(&given.format),
    OPTION_END,
};

// The configurations that are compiled, with hashes of their code. The hashes show whether a parameter has an effect.
struct check_samples {
    size_t count;
    uint64_t *index;              // in the space; all different
    char (*code)[HASH_TEXT_SIZE]; // hash of its cubin; "": not compiled
};

static bool add_sample(struct check_samples *s, uint64_t index)
{
    for (size_t i = 0; i < s->count; i++)
        if (s->index[i] == index) return false;
    s->index[s->count++] = index;
    return true;
}

static bool only_in_code(const struct job *job, size_t parameter)
{
    const struct parameter *p = space_parameter(job->space, parameter);
    return p->count > 1 && !check_launch_reads(job, symbols_find(job->symbols, p->name));
}

// Adds a configuration that differs from a random sample only in this parameter.
static bool add_neighbour(struct check_samples *s, const struct job *job, size_t parameter, struct random *random)
{
    const struct parameter *p = space_parameter(job->space, parameter);
    uint16_t config[SPACE_MAX_PARAMETERS];
    space_get(job->space, s->index[random_below(random, s->count)], config);
    size_t from = random_below(random, p->count);
    for (size_t i = 0; i < p->count; i++) {
        config[parameter] = (uint16_t)((from + i) % p->count);
        int64_t index = space_index(job->space, config);
        if (index >= 0 && add_sample(s, (uint64_t)index)) return true;
    }
    return false;
}

// Chooses `count` different configurations, or all if the space is no larger. Where possible, every second sample
// differs from an earlier one only in a parameter that no launch reads, so that their code can be compared. A single
// sample is the first configuration of the space.
static void choose_samples(struct check_samples *s, const struct job *job, uint64_t count)
{
    uint64_t total = space_size(job->space);
    size_t parameters = space_parameter_count(job->space), next = 0;
    struct random random;
    random_seed(&random, JOB_SEED);
    if (count > total) count = total;
    *s = (struct check_samples){0};
    s->index = memory_new(count, sizeof *s->index);
    s->code = memory_new(count, sizeof *s->code);
    for (uint64_t i = 0; i < count && count == total; i++) s->index[s->count++] = i;
    if (count == 1 && !s->count) s->index[s->count++] = 0;
    while (s->count < count) {
        bool added = false;
        for (size_t i = 0; i < parameters && s->count % 2 && !added; i++, next++)
            if (only_in_code(job, next % parameters)) added = add_neighbour(s, job, next % parameters, &random);
        if (!added) add_sample(s, random_below(&random, total));
    }
}

static void release_samples(struct check_samples *s)
{
    free(s->index);
    free(s->code);
}

static bool is_of(const char *section, const char *kernel)
{
    size_t before = text_before(section, kernel);
    return before && section[before - 1] == '.';
}

// Whether a section belongs to a kernel that the configuration does not launch: nvcc compiles all kernels in a file.
static bool of_another(const char *section, const char *cubin, size_t size, const json_t *entries)
{
    const char *kernel;
    bool other = false;
    for (size_t i = 0; !other && (kernel = elf_kernel(cubin, size, i)); i++) other = is_of(section, kernel);
    json_array_each(entries, k, entry) other &= !is_of(section, json_get_string(entry, "symbol", ""));
    return other;
}

// Stores the hash of a sample's code.
static void note_code(struct check_samples *s, size_t sample, const json_t *answer)
{
    size_t size;
    const char *cubin = json_get_string(answer, "cubin", NULL);
    autofree char *bytes = cubin ? text_read_file(cubin, &size) : NULL;
    if (!bytes) return;
    struct hash *h = hash_new();
    struct elf_file elf;
    Elf64_Shdr section;
    bool good = !elf_open(&elf, bytes, size);
    // Names are not hashed, because the name of a template's instance contains the template's arguments.
    for (size_t i = 0; good && elf_section(&elf, i, &section); i++) {
        const char *name = elf_code_name(&elf, &section);
        if (!name || of_another(name, bytes, size, json_object_get(answer, "entries"))) continue;
        if (elf_bytes(&elf, &section)) hash_bytes(h, elf_bytes(&elf, &section), section.sh_size);
    }
    hash_finish(h, s->code[sample]);
    if (!good) *s->code[sample] = 0;
}

// The index of the only parameter in which two samples differ; the parameter count if they differ in none or several.
static size_t only_difference(const struct job *job, const uint16_t *a, const uint16_t *b)
{
    size_t parameters = space_parameter_count(job->space), found = parameters;
    for (size_t i = 0; i < parameters; i++) {
        if (a[i] == b[i]) continue;
        if (found < parameters) return parameters;
        found = i;
    }
    return found;
}

// Adds a warning for a parameter that no launch reads if at least two pairs of samples differ only in this parameter,
// and both samples of every such pair have the same code.
static void compare_samples(const struct check_samples *s, struct check *c)
{
    const struct job *job = c->job;
    enum { COMPARED_MOST = 1000 }; // samples; the number of pairs grows with the square of this
    size_t parameters = space_parameter_count(job->space), count = s->count < COMPARED_MOST ? s->count : COMPARED_MOST;
    autofree size_t *same = memory_new(parameters + 1, sizeof *same),
                    *different = memory_new(parameters + 1, sizeof *different);
    uint16_t a[SPACE_MAX_PARAMETERS], b[SPACE_MAX_PARAMETERS];
    for (size_t i = 0; i < count; i++) {
        space_get(job->space, s->index[i], a);
        for (size_t k = 0; k < i; k++) {
            if (!*s->code[i] || !*s->code[k]) continue;
            space_get(job->space, s->index[k], b);
            size_t parameter = only_difference(job, a, b);
            ++*(strcmp(s->code[i], s->code[k]) != 0 ? &different[parameter] : &same[parameter]);
        }
    }
    for (size_t i = 0; i < parameters; i++)
        if (same[i] > 1 && !different[i] && only_in_code(job, i))
            check_add(&c->doubts, job_location(job, "parameters[%zu].name", i),
                      "parameter '%s' seems to change nothing: the code is the same in all %zu pairs of compiled "
                      "configurations that differ only in this parameter",
                      space_parameter(job->space, i)->name, same[i]);
}

struct sample {
    const struct implementation *own; // the reference or a baseline; NULL: a candidate's configuration
    size_t number;                    // of the sample
    uint16_t config[SPACE_MAX_PARAMETERS];
    json_t *answer; // not yet printed
};

// Keeps track of the sample results printed so far.
struct printed {
    uint64_t count; // of samples that were printed
    bool brief;     // only failures
    char *error;    // the latest error; NULL: none
    int64_t same;   // samples that failed in the same way and were not printed
};

static void print_same(struct printed *p)
{
    if (p->same) printf("    %" PRId64 " more failed in the same way\n", p->same);
    p->same = 0;
}

// Returns whether the sample failed.
static bool print_compiled(const struct job *job, const struct sample *s, const json_t *answer, struct printed *p)
{
    autofree char *text = s->own ? implementation_label(job, s->own) : space_text(job->space, s->config);
    const char *status = json_get_string(answer, "status", "?");
    bool good = !strcmp(status, "ok");
    if (!good) {
        const char *reason = json_get_string(answer, "reason", ""), *hint = compile_hint(reason);
        char *first = compile_first_error(reason, s->own && s->own->path ? s->own->path : job->code.source);
        bool same = p->error && !strcmp(p->error, first);
        p->same += same;
        if (!same) {
            print_same(p);
            printf("%s  %s\n%s", status, text, first);
            if (hint) printf("    hint: %s\n", hint);
        }
        free(p->error);
        p->error = first;
    }
    json_array_each(good && !p->brief ? json_object_get(answer, "entries") : NULL, i, entry)
        printf("ok  %3" PRId64 " registers  %4" PRId64 " bytes spilled  %6" PRId64 " code bytes  %5.2f s  %s  %s\n",
               json_get_integer(entry, "registers", -1),
               json_get_integer(entry, "spill_loads", 0) + json_get_integer(entry, "spill_stores", 0),
               json_get_integer(entry, "code_bytes", -1), json_get_number(answer, "seconds", 0),
               json_get_string(entry, "entry", "?"), text);
    json_array_each(good && !p->brief ? json_object_get(answer, "warnings") : NULL, i, entry)
        printf("    %s\n", json_string_value(entry));
    return !good;
}

// The answer for a configuration whose compiler crashed or timed out. The answer is the same as in a run.
static json_t *lost(const struct pool_event *event)
{
    autofree char *reason =
        event->late ? text_copy(event->why.message) : text_format("the compiler failed: %s", event->why.message);
    return json_pack("{s:s, s:s}", "status", status_name(event->late ? STATUS_COMPILE_TIMEOUT : STATUS_COMPILE_ERROR),
                     "reason", reason);
}

// Prints the answers that have arrived, in the order of the requests. Returns the number of failures.
static int64_t print_ready(const struct job *job, struct check_samples *chosen, struct sample *all, uint64_t count,
                           struct printed *p)
{
    int64_t failed = 0;
    for (; p->count < count && all[p->count].answer; p->count++) {
        struct sample *s = &all[p->count];
        failed += print_compiled(job, s, s->answer, p);
        if (!s->own) note_code(chosen, s->number, s->answer);
        json_decref(s->answer);
        s->answer = NULL;
    }
    return failed;
}

static int send_sample(const struct job *job, const struct sample *s, const char *arch, const char *cache,
                       struct worker_pool *pool, size_t compiler, struct error *err)
{
    const char *folder = cache ? cache : "";
    json_t *request = s->own ? request_implementation(job, s->own, arch, folder)
                             : request_compile(job, s->config, arch, NULL, folder);
    if (!cache) json_object_del(request, "cache");
    return pool_send_compiler(pool, compiler, request, job->code.compile_timeout + COMPILE_GRACE, err);
}

// Whether the compiler does not work on this machine at all: its worker cannot be started, or exits without a signal.
static bool is_useless(const struct worker_pool *pool, const struct pool_event *event)
{
    bool died = event->kind == POOL_COMPILER_LOST && event->busy && !event->late;
    return event->kind == POOL_FAILED || (died && !WIFSIGNALED(pool->compilers[event->worker].worker.exit_status));
}

// Compiles the kernels of the reference and of baselines, and the samples, with one worker per core. A NULL `cache`
// means no cache. Returns the number of failures, or -1.
static int64_t compile_samples(const struct job *job, struct check_samples *chosen, bool brief, const char *arch,
                               const char *cache, struct error *err)
{
    const struct implementation *m;
    struct printed printed = {.brief = brief};
    autofree struct sample *all = memory_new(2 + JOB_MAX_BASELINES + chosen->count, sizeof *all);
    struct worker_pool pool;
    struct pool_event event;
    size_t samples = 0, sent = 0;
    int64_t failed = 0;
    for (size_t i = 0; (m = job_implementation(job, i)); i++)
        if (m->kind == IMPLEMENTATION_KERNEL || m->kind == IMPLEMENTATION_CONFIGURATION) all[samples++].own = m;
    for (size_t i = 0; i < chosen->count; i++) {
        all[samples].number = i;
        space_get(job->space, chosen->index[i], all[samples++].config);
    }
    pool_open_compilers(&pool);
    while (printed.count < samples && failed >= 0) {
        for (size_t i = 0; i < pool.compiler_count && sent < samples && failed >= 0; i++) {
            if (pool.compilers[i].queued) continue;
            pool.compilers[i].compiler.question = sent++;
            if (send_sample(job, &all[sent - 1], arch, cache, &pool, i, err)) failed = -1;
        }
        if (failed >= 0) pool_wait(&pool, true, 1000);
        while (failed >= 0 && pool_next(&pool, clock_now(), &event)) {
            struct sample *s = &all[pool.compilers[event.worker].compiler.question];
            if (is_useless(&pool, &event)) {
                *err = event.why;
                failed = -1;
                break;
            }
            if (event.answer || event.busy) s->answer = event.answer ? event.answer : lost(&event);
            if (!strcmp(json_get_string(s->answer, "status", ""), PROTOCOL_ERROR)) {
                failed = error_set(err, "%s", answer_reason(s->answer, "the compiler cannot work here"));
                break;
            }
            failed += print_ready(job, chosen, all, sent, &printed);
        }
    }
    print_same(&printed);
    free(printed.error);
    pool_release(&pool);
    for (size_t i = printed.count; i < samples; i++) json_decref(all[i].answer);
    return failed;
}

// Adds the line of the stage or argument that a message about the first configuration's launches names.
static int locate_launch(const struct job *job, struct error *err)
{
    bool stages = job_location(job, "stages").line;
    autofree char *setting = text_copy(stages ? "stages" : "launch");
    for (size_t s = 0; s < job->stage_count; s++) {
        const struct stage *stage = &job->stages[s];
        autofree char *own = text_format("stages[%zu]", s), *quoted = text_format("stage '%s'", stage->name);
        for (size_t i = 0; i < stage->argument_count; i++) {
            autofree char *argument = text_format("argument '%s'", stage->arguments[i].name),
                          *map = text_format("tensor map '%s'", stage->arguments[i].name);
            if (!strstr(err->message, argument) && !strstr(err->message, map)) continue;
            free(setting);
            setting = text_format("%s%sarguments[%zu]", stages ? own : "", stages ? "." : "", i);
        }
        if (!strstr(err->message, quoted)) continue;
        free(setting);
        setting = text_copy(own);
    }
    return job_locate_error(job, setting, err);
}

static int check_problems(const struct job *job, const struct device_limits *limits, struct error *err)
{
    for (size_t p = 0; p < job->problem_count; p++) {
        int64_t bytes = job_problem_bytes(job, p, err);
        if (bytes < 0) return error_prefix(err, "%s:%d", job->path, job->problems[p].line);
        static const char *const units[] = {"bytes", "KiB", "MiB", "GiB", "TiB"};
        double shown = (double)bytes;
        size_t unit = 0;
        for (; shown >= 1024 && unit + 1 < sizeof units / sizeof *units; unit++) shown /= 1024;
        printf("problem %-32s %s, %.4g %s of buffers\n", job->problems[p].name,
               p < job->tuned_count ? "tuned" : "verified", shown, units[unit]);
    }
    uint16_t config[SPACE_MAX_PARAMETERS];
    space_get(job->space, 0, config);
    struct error why;
    autojson json_t *request = request_job(job, limits->memory_bytes, NULL, 1, err),
                    *problems = request_problems(job, config, NULL, false, NULL, NULL, &why);
    // The reference usually has the same arguments as the job, so a mistake in them is reported for the job's launches.
    if (problems || (!request && !strstr(err->message, "reference kernel: "))) return request ? 0 : -1;
    *err = why;
    return locate_launch(job, err);
}

// Prints the warnings (`doubts`), then the mistakes. Returns EXIT_USAGE if there are mistakes.
static int print_found(struct check *c)
{
    mistakes_sort(&c->mistakes);
    mistakes_sort(&c->doubts);
    session_print_mistakes(c->job->path, &c->doubts, "warning: ");
    session_print_mistakes(c->job->path, &c->mistakes, "");
    int status = c->mistakes.count ? EXIT_USAGE : 0;
    mistakes_release(&c->doubts);
    mistakes_release(&c->mistakes);
    return status;
}

// Performs the checks that need a compiler. If the option was not given, `count` is -1, and a missing compiler is not
// an error.
static int check_by_compiling(struct check *c, int64_t count, const char *arch, const char *cache)
{
    struct error err = {""};
    bool wanted = count >= 0;
    autofree char *program = installation_worker("SWEETSPOT_COMPILE_WORKER", "sweetspot-compile"),
                  *folder =
                      wanted || cache ? results_cache(c->job, cache) : NULL; // without options, nothing is written
    char *const argv[] = {program, NULL};
    autorelease(release_samples) struct check_samples samples;
    int64_t failed = 0;
    choose_samples(&samples, c->job, wanted ? (uint64_t)count : 1);
    int asked = check_signatures(c, argv, folder, &err);
    int status = print_found(c);
    if (!status && (!asked || wanted)) {
        failed = compile_samples(c->job, &samples, !wanted, arch, folder, &err);
        compare_samples(&samples, c);
        status = failed > 0 ? EXIT_NOTHING : 0;
        print_found(c);
    }
    if (failed < 0 || (asked && !failed)) {
        fprintf(stderr, "sweetspot%s: %s\n", wanted ? "" : " check: nothing was compiled", err.message);
        if (wanted && !status) status = EXIT_ENVIRONMENT;
    } else if (!status && !wanted) {
        printf("compiles for %s: %s%s\n", arch, samples.count ? "the first configuration" : "",
               c->job->others.reference.kind == IMPLEMENTATION_KERNEL ? " and the reference" : "");
    }
    return status;
}

// The device for which jobs are checked.
struct checked_device {
    struct device_limits limits;
    const char *name;
    json_t *jobs; // the results for each job
};

static int check_job(void *user, const char *path, struct job *job)
{
    const struct checked_device *device = user;
    struct error err;
    struct check check;
    int status = 0;
    if (job_build_space(job, &device->limits, &err)) {
        fprintf(stderr, "%s\n", err.message);
        job_free(job);
        return EXIT_USAGE;
    }
    autofree char *valid = job_valid_text(job);
    printf("%s: job '%s', %zu parameters, %s valid configurations of %.0f on %s\n", path, job->name,
           space_parameter_count(job->space), valid, space_raw_size(job->space), device->name);
    if (check_problems(job, &device->limits, &err)) {
        fprintf(stderr, "%s\n", err.message);
        status = EXIT_USAGE;
    }
    const struct operation *op = job_operation(job);
    if (job_unverified(job))
        printf("%s\n", job_unverified(job));
    else if (op)
        printf("verified against %s by %s; bound: %s\n", op->name, job->others.reference.by, op->bound);
    if (job_compute_class(job)) printf("compute class: %s\n", job_compute_class(job));
    fflush(stdout);
    check_open(&check, job, &device->limits, given.arch);
    if (!status) {
        check_macros(&check);
        check_files(&check);
        check_launches(&check);
        check_images(&check);
        check_reference(&check);
        status =
            given.compile ? check_by_compiling(&check, given.compile, given.arch, given.cache) : print_found(&check);
    }
    check_release(&check);
    json_array_append_new(device->jobs,
                          json_pack("{s:s, s:s, s:i, s:o, s:f, s:i}", "path", path, "job", job->name, "parameters",
                                    (int)space_parameter_count(job->space), "configurations", job_valid_count(job),
                                    "raw", space_raw_size(job->space), "exit_status", status));
    if (!status) printf("%sno mistakes found%s\n", colour_begin(stdout, COLOUR_GOOD), colour_end(stdout));
    job_free(job);
    return status;
}

static int rewrite(void)
{
    struct error err;
    int status = job_set_open(&given.jobs);
    for (size_t i = 0; i < given.jobs.count && !status; i++) {
        autofree char *path = session_job_path(given.jobs.paths[i]), *text = job_rewrite(path, &err);
        if (text)
            fputs(text, stdout);
        else
            status = complain(EXIT_USAGE, "%s", err.message);
    }
    job_set_close(&given.jobs);
    return status;
}

static int run(void)
{
    if (given.rewrite) return rewrite();
    struct checked_device device;
    if (!text_architecture(given.arch))
        return complain(EXIT_USAGE, "--arch needs an architecture such as sm_90, not '%s'", given.arch);
    if (device_limits_of(given.arch, &device.limits, &device.name))
        fprintf(stderr, "sweetspot check: the limits of '%s' are unknown; assuming those of %s\n", given.arch,
                device.name);
    bool json = given.format == FORMAT_JSON;
    FILE *out = json ? fdopen(dup(STDOUT_FILENO), "w") : NULL; // text for people goes to stderr
    if (json && (!out || dup2(STDERR_FILENO, STDOUT_FILENO) < 0)) {
        int status = complain(EXIT_ENVIRONMENT, "cannot write: %s", strerror(errno));
        if (out) fclose(out);
        return status;
    }
    autojson json_t *found = json_array(), *jobs = device.jobs = json_array();
    session_collect_mistakes(found);
    int status = job_set_open(&given.jobs);
    if (!status) status = job_set_each_job(&given.jobs, check_job, &device);
    if (out)
        json_print_document("sweetspot-check", 1,
                            json_pack("{s:i, s:s, s:O, s:O, s:O}", "exit_status", status, "arch", given.arch, "jobs",
                                      jobs, "found", found, "failed", given.jobs.failed),
                            out);
    if (out && fclose(out) && errno != EPIPE) // the reader may have closed the pipe
        status = complain(EXIT_ENVIRONMENT, "cannot write: %s", strerror(errno));
    session_collect_mistakes(NULL);
    job_set_close(&given.jobs);
    return status;
}

const struct command cmd_check = {
    .name = "check",
    .summary = "report every mistake of job files",
    .description = "Checks job files: every mistake with file and line, the space, the memory of the problems, the "
                   "arguments of the kernels. Needs no GPU.",
    .options = specs,
    .run = run,
    .more = "`--arch` sets the device whose limits constraints use: sm_80 is an A100, sm_86 an A40, sm_89 an L40S "
            "and sm_90 an H200. `docs/install.md` lists the others; for unknown architectures those of an H200 are "
            "assumed. `docs/job-file.md` explains every setting.",
    .see = "list tune",
};
