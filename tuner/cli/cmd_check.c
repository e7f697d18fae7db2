// sweetspot check: is this job file correct? Every mistake with file and line; the space; each problem's memory; and,
// with --compile, whether candidates compile (for any architecture, without a GPU).
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "kernels/operation.h"
#include "search/random.h"
#include "tuner/base/clock.h"
#include "tuner/base/colour.h"
#include "tuner/base/protocol.h"
#include "tuner/base/text.h"
#include "tuner/cli/commands.h"
#include "tuner/cli/options.h"
#include "tuner/cli/results.h"
#include "tuner/cli/session.h"
#include "tuner/run/job_setup.h"
#include "tuner/run/request.h"
#include "tuner/run/worker.h"

enum { MAX_WORKERS = 64 };

struct sample {
    bool reference; // the job's reference kernel, and no candidate
    uint16_t config[SPACE_MAX_PARAMETERS];
};

static void print_compiled(const struct job *job, const struct sample *s, const json_t *answer)
{
    char *text = s->reference ? text_format("the reference") : space_text(job->space, s->config);
    const char *status = json_get_string(answer, "status", "?");
    if (strcmp(status, "ok")) {
        printf("%s  %s\n    %.400s\n", status, text, json_get_string(answer, "reason", ""));
        free(text);
        return;
    }
    size_t i;
    json_t *entry;
    json_array_foreach(json_object_get(answer, "entries"), i, entry)
    {
        printf("ok  %3" PRId64 " registers  %4" PRId64 " bytes spilled  %6" PRId64 " code bytes  %5.2f s  %s  %s\n",
               json_get_integer(entry, "registers", -1),
               json_get_integer(entry, "spill_loads", 0) + json_get_integer(entry, "spill_stores", 0),
               json_get_integer(entry, "code_bytes", -1), json_get_number(answer, "seconds", 0),
               json_get_string(entry, "entry", "?"), text);
    }
    json_array_foreach(json_object_get(answer, "warnings"), i, entry) printf("    %s\n", json_string_value(entry));
    free(text);
}

// What is said of a configuration whose compiler died or was late, as in a run.
static json_t *lost(const struct worker *w, bool late, const struct error *why)
{
    struct error text;
    if (late)
        error_set(&text, "worker '%s' did not answer in time", w->name);
    else
        error_set(&text, "the compiler failed: %s", why->message);
    return json_pack("{s:s, s:s}", "status", status_name(late ? STATUS_COMPILE_TIMEOUT : STATUS_COMPILE_ERROR),
                     "reason", text.message);
}

// Compiles the reference kernel, if the job has one, and `count` random configurations (all of a small space), one
// worker per core. Returns how many fail, or -1.
static int64_t compile_samples(const struct job *job, int64_t count, const char *arch, const char *cache,
                               struct error *err)
{
    long cores = sysconf(_SC_NPROCESSORS_ONLN);
    size_t workers = cores < 1 ? 1 : cores > MAX_WORKERS ? MAX_WORKERS : (size_t)cores;
    uint64_t total = space_size(job->space);
    uint64_t reference = job->reference.kind == REFERENCE_KERNEL, sent = 0, done = 0;
    uint64_t samples = reference + ((uint64_t)count < total ? (uint64_t)count : total);
    struct worker pool[MAX_WORKERS];
    struct sample current[MAX_WORKERS];
    bool busy[MAX_WORKERS] = {false};
    double limit[MAX_WORKERS]; // when it is killed
    struct random random;
    int64_t failed = 0;
    char *program = worker_program("SWEETSPOT_COMPILE_WORKER", "sweetspot-compile"), *argv[] = {program, NULL};
    random_seed(&random, job->seed);
    for (size_t i = 0; i < workers; i++) pool[i] = (struct worker){.to = -1, .from = -1, .errors = -1};
    for (size_t i = 0; i < workers && i < samples; i++) {
        if (worker_start(&pool[i], "compiler", argv, err)) {
            failed = -1;
            goto out;
        }
    }
    while (done < samples) {
        struct pollfd p[3 * MAX_WORKERS];
        int n = 0;
        for (size_t i = 0; i < workers && i < samples; i++) {
            if (!busy[i] && sent < samples) {
                current[i].reference = sent < reference;
                if (!current[i].reference)
                    space_get(job->space,
                              samples - reference == total ? sent - reference : random_below(&random, total),
                              current[i].config);
                worker_send(&pool[i],
                            request_compile(job, current[i].reference ? NULL : current[i].config, arch, NULL, cache));
                limit[i] = clock_now() + job->compile_timeout + COMPILE_GRACE;
                busy[i] = true;
                sent++;
            }
            n += worker_poll(&pool[i], p + n);
        }
        poll(p, (nfds_t)n, 1000);
        for (size_t i = 0; i < workers && i < samples; i++) {
            json_t *answer;
            int dead = worker_io(&pool[i], err), got = worker_receive(&pool[i], &answer, err);
            bool late = !got && !dead && busy[i] && clock_now() > limit[i];
            // One that ended by itself cannot work here at all.
            bool killed = dead && !got && busy[i] && WIFSIGNALED(pool[i].exit_status);
            if (late || killed) {
                answer = lost(&pool[i], late, err);
                got = 1;
                worker_kill(&pool[i]);
            }
            if (got > 0) {
                print_compiled(job, &current[i], answer);
                failed += strcmp(json_get_string(answer, "status", ""), "ok") != 0;
                json_decref(answer);
                busy[i] = false;
                done++;
            } else if (got < 0 || (dead && busy[i])) {
                failed = -1;
                goto out;
            }
            if (!worker_running(&pool[i]) && sent < samples && worker_start(&pool[i], "compiler", argv, err)) {
                failed = -1;
                goto out;
            }
        }
    }
out:
    for (size_t i = 0; i < workers; i++) worker_release(&pool[i]);
    free(program);
    return failed;
}

static int check_problems(const struct job *job, const struct device_limits *limits, struct error *err)
{
    for (size_t p = 0; p < job->problem_count + job->has_guide; p++) {
        int64_t bytes = job_problem_bytes(job, p, err);
        if (bytes < 0) return error_prefix(err, "%s:%d", job->path, job->problems[p].line);
        printf("problem %-32s %s, %.4g MiB of buffers\n", job->problems[p].name,
               p < job->tuned_count     ? "tuned"
               : p < job->problem_count ? "verified"
                                        : "guide",
               (double)bytes / (1 << 20));
    }
    json_t *request = request_job(job, limits->memory_bytes, NULL, 1, err);
    if (!request) return -1;
    json_decref(request);
    request = job->has_guide ? request_guide(job, limits->memory_bytes, 1, err) : json_null();
    if (!request) return error_prefix(err, "guide");
    json_decref(request);
    uint16_t config[SPACE_MAX_PARAMETERS];
    space_get(job->space, 0, config);
    json_t *problems = request_problems(job, config, NULL, false, NULL, NULL, err);
    if (!problems) return error_prefix(err, "%s: first configuration", job->path);
    json_decref(problems);
    return 0;
}

int cmd_check(int argc, char **argv)
{
    const char *path = NULL, *arch = "sm_90a", *cache = NULL;
    int64_t compile = 0;
    const struct option_spec specs[] = {
        OPTION_JOB(&path),
        {.name = "compile",
         .letter = 'c',
         .integer = &compile,
         .shown = "N",
         .help = "compile the reference kernel and N random configurations, all of a smaller space (none)"},
        {.name = "arch",
         .string = &arch,
         .shown = "ARCH",
         .help = "architecture to compile for; its limits apply (sm_90a)"},
        {.name = "cache", .string = &cache, .shown = "FOLDER", .help = "compile cache (out/cache)"},
        OPTION_END,
    };
    int status = options_parse(
        specs,
        "Checks a job file: every mistake with file and line, the space, the memory its problems need. Needs no GPU.",
        argc, argv);
    if (status >= 0) return status;
    struct job *job;
    struct error err;
    struct device_limits limits;
    const char *device;
    if (device_limits_of(arch, &limits, &device))
        fprintf(stderr, "sweetspot check: the limits of '%s' are unknown; assuming those of an %s\n", arch, device);
    status = session_load_job(path, &job);
    if (status) return status;
    if (job_build_space(job, &limits, &err)) {
        fprintf(stderr, "%s\n", err.message);
        job_free(job);
        return EXIT_USAGE;
    }
    printf("%s: job '%s', %zu parameters, %" PRIu64 " valid configurations of %.0f on an %s\n", path, job->name,
           space_parameter_count(job->space), space_size(job->space), space_raw_size(job->space), device);
    if (check_problems(job, &limits, &err)) {
        fprintf(stderr, "%s\n", err.message);
        status = EXIT_USAGE;
    }
    const struct operation *op =
        job->reference.kind == REFERENCE_OPERATION ? operation_find(job->reference.operation, NULL) : NULL;
    if (op) printf("verified against %s by %s; bound: %s\n", op->name, job->reference.by, op->bound);
    if (job_compute_class(job)) printf("compute class: %s\n", job_compute_class(job));
    if (!status && compile > 0) {
        char *folder = results_cache(job, cache);
        int64_t failed = compile_samples(job, compile, arch, folder, &err);
        free(folder);
        if (failed < 0) fprintf(stderr, "sweetspot: %s\n", err.message);
        status = failed < 0 ? EXIT_ENVIRONMENT : failed ? EXIT_NOTHING : 0;
    }
    if (!status) printf("%sno mistakes found%s\n", colour_begin(stdout, COLOUR_GOOD), colour_end(stdout));
    job_free(job);
    return status;
}
