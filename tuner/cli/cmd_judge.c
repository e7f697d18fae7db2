// sweetspot judge: reports everything about one kernel, for people and programs that write kernels. Uses no store.
// `judge -` reads a request (judge_request.h) instead of options, starts its workers before the request arrives, and
// answers with one line. judge_server.h keeps such processes ready. Requests are not trusted.
#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

#include "tuner/base/elf_file.h"
#include "tuner/base/gpu_binary.h"
#include "tuner/base/hash.h"
#include "tuner/base/input_file.h"
#include "tuner/base/protocol.h"
#include "tuner/base/run_program.h"
#include "tuner/cli/candidate_spec.h"
#include "tuner/cli/commands.h"
#include "tuner/cli/judge_request.h"
#include "tuner/cli/judge_server.h"
#include "tuner/explain/judgement.h"
#include "tuner/job/job_triton.h"

struct judge_options {
    const char *job, *implementation, *entry, *device, *cache;
    struct option_list set;
    bool serve;
    bool no_counters, no_sanitizers, asked; // given by a request
    int format;
};

static struct judge_options given = {.device = "0"};

static const struct option_spec specs[] = {
    ARGUMENT(string, &given.job, "JOB", "job file (configs/NAME.cfg); with --serve a Unix socket (standard input)",
             .optional = true),
    OPTION(string, &given.implementation, "implementation", 0, "FILE",
           "the source, cubin, PTX, fat binary or shared library to judge instead of the job's template"),
    OPTION(string, &given.entry, "entry", 'e', "NAME", "the kernel or function in that file (the job's kernel)"),
    OPTION(list, &given.set, "set", 0, "NAME=VALUE",
           "a parameter's value (repeatable); other parameters are as in the first valid configuration"),
    OPTION_GPU(&given.device),
    OPTION_CACHE(&given.cache),
    FLAG(&given.serve, "serve", 0,
         "keep running, and judge the kernels of requests (docs/running.md); works with --device and --cache"),
    OPTION(choice, &given.format, "format", 'f', NULL, "how results are printed (table); docs/json.md describes json",
           .choices = document_formats),
    OPTION_END,
};

static int replace_entry(struct job *job, const char *entry)
{
    struct stage *kernel = NULL;
    for (size_t i = 0; i < job->stage_count; i++) {
        struct stage *s = &job->stages[i];
        if (s->operation) continue;
        if (kernel && strcmp(kernel->entry, s->entry) != 0)
            return complain(EXIT_USAGE,
                            "%s launches several kernels, and --entry does not say which one to replace: judge "
                            "without it",
                            job->path);
        kernel = s;
    }
    for (size_t i = 0; i < job->stage_count; i++)
        if (!job->stages[i].operation) job->stages[i].entry = entry;
    return 0;
}

// A binary, or a function of a shared library, that replaces the template.
struct given_binary {
    const char *path; // NULL: none
    char hash[HASH_TEXT_SIZE];
    struct implementation function; // IMPLEMENTATION_NONE: it is a binary, or there is none
};

// Finds the job's kernels in a binary. If both the job and the binary contain only one kernel, the names may differ.
static int find_kernels(const struct judge_options *o, struct job *job, const char *image, size_t size)
{
    autorelease(text_list_release) struct text_list names = gpu_binary_kernels(image, size);
    const char *lacking = NULL;
    for (size_t i = job->stage_count; i-- > 0 && names.count;)
        if (!job->stages[i].operation && word_find((const char *const *)names.list, job->stages[i].entry) < 0)
            lacking = job->stages[i].entry;
    if (!lacking) return 0;
    if (names.count == 1 && !o->entry && job->stage_count == 1)
        return replace_entry(job, arena_copy(&job->file.memory, names.list[0]));
    autofree char *text = text_unknown("kernel", lacking, (const char *const *)names.list);
    return complain(EXIT_USAGE, "%s: %s: name its symbol with --entry", o->implementation, text);
}

static int use_library(const struct judge_options *o, const struct job *job, const struct shared_library *library,
                       struct given_binary *binary)
{
    if (o->asked) return complain(EXIT_USAGE, "%s: a request must not contain host code", o->implementation);
    if (!o->entry) return complain(EXIT_USAGE, "%s: name the function with --entry", o->implementation);
    if (job->stage_count != 1)
        return complain(EXIT_USAGE, "%s has several stages, so the arguments of a function are not known", job->path);
    autofree char *lacks = shared_library_lacks(library, o->implementation, o->entry);
    if (lacks) return complain(EXIT_USAGE, "%s", lacks);
    binary->function = (struct implementation){.kind = IMPLEMENTATION_LIBRARY,
                                               .name = "candidate",
                                               .path = binary->path,
                                               .functions[FUNCTION_RESULT] = o->entry};
    return 0;
}

// Replaces the template with another source, a binary or a library function. If the reference is a kernel of the job's
// template, it still comes from that template.
static int replace_implementation(const struct judge_options *o, struct job *job, struct given_binary *binary)
{
    struct error err = {"the file cannot be found"};
    size_t size;
    autofree char *absolute = realpath(o->implementation, NULL),
                  *image = input_file_read(o->implementation, 0, &size, &err);
    if (!image || !absolute) return complain(EXIT_USAGE, "%s", err.message);
    bool is_binary = gpu_binary_is(image, size), is_library = !is_binary && !strncmp(image, ELFMAG, SELFMAG);
    autorelease(shared_library_release) struct shared_library library = {0};
    const char *wrong = is_library ? shared_library_read(&library, absolute) : NULL;
    if (wrong) return complain(EXIT_USAGE, "%s %s", o->implementation, wrong);
    if (is_binary || is_library) {
        binary->path = arena_copy(&job->file.memory, absolute);
        hash_content(image, size, binary->hash);
    } else {
        job->code.source = arena_copy(&job->file.memory, absolute);
    }
    if (is_library) return use_library(o, job, &library, binary);
    int status = o->entry ? replace_entry(job, o->entry) : 0;
    if (status || !is_binary) return status;
    if (job_follow_triton(job, binary->path, &err)) return session_complain(EXIT_USAGE, &err);
    return find_kernels(o, job, image, size);
}

static int check_job(const struct judge_options *o, const struct job *job)
{
    if (!job->verify.enabled || job->others.reference.kind == IMPLEMENTATION_NONE)
        return complain(EXIT_USAGE, "%s: judging a kernel needs a reference: add one to the job file", o->job);
    return 0;
}

static void show(const struct judge_options *o, const struct job *job, const struct single_run *single,
                 const struct given_binary *binary, const struct judgement *judgement)
{
    struct judged_job about = {.job = job,
                               .path = binary->path ? binary->path : job->code.source,
                               .hash = binary->path ? binary->hash : single->setup.source_hash,
                               .compiler = single->pool.first.compiler,
                               .device = single->pool.first.device_name,
                               .driver = single->pool.first.driver,
                               .limits = &single->pool.first.limits};
    json_t *members = judgement_json(&about, judgement);
    autojson json_t *document = json_document("sweetspot-judgement", JUDGEMENT_VERSION, members);
    if (o->asked) {
        autofree char *line = json_dumps(document, JSON_COMPACT | JSON_REAL_PRECISION(17));
        puts(line);
        fflush(stdout); // before the workers end
    } else if (o->format == FORMAT_TABLE) {
        judgement_print(stdout, document);
    } else {
        json_print(document, stdout);
    }
}

static int judge(const struct judge_options *o, struct candidate_source *source, struct single_run *single,
                 const struct given_binary *binary, const struct candidate_spec *spec)
{
    struct job *job = source->session.job;
    struct error err = {""}, no_sanitizer = {""};
    autorelease(judgement_release) struct judgement judgement = {0};
    uint16_t config[SPACE_MAX_PARAMETERS];
    if (candidate_spec_config(source, spec, config, &err)) return session_complain(EXIT_USAGE, &err);
    struct sanitizer *sanitizer =
        o->no_sanitizers
            ? NULL
            : sanitizer_open(single->pool.gpu_program, single->pool.gpus[single->pool.first_gpu].device, &no_sanitizer);
    int failed = judge_candidate(single, job, config, sanitizer, &judgement, &err);
    if (!sanitizer) judgement.not_sanitized = no_sanitizer;
    if (!failed) show(o, job, single, binary, &judgement);
    sanitizer_close(sanitizer);
    if (failed) return session_complain(EXIT_ENVIRONMENT, &err);
    return judgement.status == STATUS_OK ? EXIT_DONE : EXIT_NOTHING;
}

// `single` is NULL or has been started.
static int judge_job(const struct judge_options *o, struct single_run *single)
{
    struct candidate_source source = {.job_path = o->job};
    struct candidate_spec spec = {.name = "candidate", .config = text_join(o->set.items, ",")};
    struct given_binary binary = {0};
    struct error err = {""};
    autofree char *here = getcwd(NULL, 0);
    int status = session_load_job(o->job, &source.session.job);
    if (!status && o->implementation)
        status = replace_implementation(o, source.session.job, &binary);
    else if (!status && o->entry)
        status = replace_entry(source.session.job, o->entry);
    if (!status) status = check_job(o, source.session.job);
    if (!status && o->asked && o->implementation && !binary.path &&
        request_source_confine(source.session.job, here ? here : "", &err))
        status = session_complain(EXIT_USAGE, &err);
    if (!status) {
        autofree char *cache = results_cache(source.session.job, o->cache);
        struct single_run_options options = {.device = o->device,
                                             .cache = cache,
                                             .binary = binary.function.kind ? NULL : binary.path,
                                             .library = binary.function.kind ? &binary.function : NULL,
                                             .metrics = o->no_counters ? NULL : "full",
                                             .baselines = true,
                                             .say = o->asked ? NULL : candidate_spec_say};
        status = single_run_open(&single, source.session.job, &options, &err);
        if (status) session_complain(status, &err);
    }
    if (!status) status = judge(o, &source, single, &binary, &spec);
    single_run_close(single);
    free(spec.config);
    candidate_spec_close(&source);
    return status;
}

// Reads options from a request. If the request contains source code, it is written to `folder`.
static int read_request(struct judge_options *o, const json_t *message, struct arena *memory, const char *folder,
                        struct error *err)
{
    struct judge_request r;
    if (judge_request_read(message, &r, memory, err)) return -1;
    o->job = r.job;
    if (*r.entry) o->entry = r.entry;
    if (*r.implementation) o->implementation = r.implementation;
    if (*r.source) {
        o->implementation = arena_format(memory, "%s/source.cu", folder);
        int fd = open(o->implementation, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
        if (fd < 0 || dprintf(fd, "%s", r.source) < 0 || close(fd))
            return error_set(err, "cannot write '%s': %s", o->implementation, strerror(errno));
    }
    if (r.set_count > OPTIONS_MAX_LIST) return error_set(err, "more than %d values", OPTIONS_MAX_LIST);
    for (size_t i = 0; i < r.set_count; i++) {
        const char *word = json_string_value(r.set[i].value);
        autofree char *text = word ? text_copy(word) : json_dumps(r.set[i].value, JSON_ENCODE_ANY);
        o->set.items[o->set.count++] = arena_format(memory, "%s=%s", r.set[i].name, text);
    }
    o->no_counters = !r.counters;
    o->no_sanitizers = !r.sanitize;
    o->asked = true;
    return 0;
}

static int judge_request(struct judge_options *o)
{
    char folder[PATH_MAX];
    struct error err = {""};
    struct single_run *single = NULL;
    autorelease(arena_release) struct arena memory = {NULL};
    autofree char *line = NULL;
    size_t room = 0;
    if (work_folder_make("source", folder, &err)) return session_complain(EXIT_ENVIRONMENT, &err);
    single_run_start(&single, o->device, &err); // setting up the job starts it again and reports the failure
    autojson json_t *message = json_parse(getline(&line, &room, stdin) < 0 ? "" : line, &err);
    int status = EXIT_USAGE;
    if (message && !read_request(o, message, &memory, folder, &err))
        status = judge_job(o, single);
    else
        single_run_close(single);
    if (!o->asked) session_complain(status, &err);
    work_folder_remove(folder);
    return status;
}

static int run(void)
{
    struct judge_options *o = &given;
    bool more = o->implementation || o->entry || o->set.count || o->format;
    if (o->serve && more) return command_refuse("--serve accepts no options other than --device and --cache");
    if (o->serve) return judge_server_run(o->job, o->device, o->cache);
    if (!o->job) return command_refuse("JOB is missing: %s", specs[0].help);
    return strcmp(o->job, "-") ? judge_job(o, NULL) : judge_request(o);
}

const struct command cmd_judge = {
    .name = "judge",
    .summary = "check one kernel: right or wrong, and how fast",
    .description = "Judges one kernel like a search and its final: status and reason, errors, sanitizers, times "
                   "against the baselines, counters, findings. Exit status 0 if it is right, 1 if it is wrong, 2 or "
                   "3 if it could not be judged.",
    .options = specs,
    .run = run,
    .more = "The kernel is compiled, verified and timed like a trial, run under compute-sanitizer if it is installed, "
            "compared with the baselines on data from a secret seed, and profiled with hardware counters. `judge` "
            "stops at the first error. The job needs a reference, but no parameters. No database is read or written. "
            "With `--implementation`, a reference kernel still comes from the job's template. A binary is launched as "
            "the job says; `--entry` gives its kernel's symbol. A shared library's function (`--entry`) enqueues its "
            "work on a stream, like a baseline's (kernels/sweetspot_baseline.h). Without permission for counters a "
            "note says so, and the verdict is the same. `judge --serve` answers requests, one JSON object per line, "
            "from standard input or from a Unix socket.",
    .see = "profile check",
};
