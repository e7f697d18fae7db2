// See sanitize.h.
#include "tuner/setup/sanitize.h"

#include "tuner/base/clock.h"
#include "tuner/base/run_program.h"
#include "tuner/pool/worker.h"
#include "tuner/protocol/message.h"
#include "tuner/setup/sanitizer_log.h"

static const struct sanitizer_tool {
    const char *name;
    bool advice;
} tools[] = {{"memcheck", false}, {"initcheck", false}, {"synccheck", false}, {"racecheck", true}};
enum { TOOLS = sizeof tools / sizeof *tools };

// Instrumented kernels are 10 to 1000 times slower, so problems with more operations or bytes than this are not tried.
static const double most_flops = 0x1p38, most_bytes = 0x1p30;
// racecheck is only advisory, and takes ten times as long as the other tools: 8 s for 2^34 operations.
static const double most_advice_flops = 0x1p33;

static const double grace = 1;     // s, to write a summary
static const double reading = 0.1; // s, to read an answer that has come while another tool used up all the time

struct sanitizer {
    char *program, *gpu_program, *device, version[32];
    bool stuck[TOOLS]; // it has missed its deadline
};

struct tool_run {
    struct worker worker;
    char *log;
    int64_t id; // id of the request "sanitize"
    double begun;
    struct error failure; // why it could not be started
    bool started;
};

struct sanitizing {
    struct sanitizer *sanitizer;
    struct tool_run runs[TOOLS];
    const char *left_out[TOOLS]; // why it was left out, or NULL
    double deadline;
    const char *symbols[JOB_MAX_STAGES];
    size_t symbol_count;
    char folder[PATH_MAX]; // folder of the logs; "": nothing was started
    json_t *document;
};

// Finding the program ------------------------------------------------------------------------------------------------

static char *beside_nvcc(const char *name)
{
    autofree char *nvcc = program_on_path("nvcc"), *real = nvcc ? realpath(nvcc, NULL) : NULL;
    if (!real) return NULL;
    autofree char *folder = text_directory(real);
    return program_in_folder(folder, strlen(folder), name);
}

static char *find_program(void)
{
    static const char name[] = "compute-sanitizer";
    const char *home = getenv("CUDA_HOME");
    char *found = program_on_path(name);
    if (!found && home && *home) found = program_of_toolkit(home, name);
    return found ? found : beside_nvcc(name);
}

// Reads "Version 2025.3.1.0 (build ..)" in the program's output.
static int read_version(const char *program, char version[32])
{
    char line[256];
    if (strchr(program, '\'')) return -1;
    autofree char *command = text_format("'%s' --version 2>/dev/null", program);
    FILE *from = popen(command, "r");
    *version = 0;
    while (from && fgets(line, sizeof line, from))
        if (!*version) sscanf(line, "Version %31s", version);
    return from && !pclose(from) && *version ? 0 : -1;
}

struct sanitizer *sanitizer_open(const char *gpu_program, const char *device, struct error *why)
{
    const char *given = getenv("SWEETSPOT_SANITIZER");
    bool wanted = given && *given;
    *why = (struct error){""};
    if (wanted && !strcmp(given, "none")) return NULL;
    autofree char *program = wanted ? text_copy(given) : find_program();
    char version[32];
    if (!program)
        error_set(
            why,
            "there is no compute-sanitizer on the PATH, in $CUDA_HOME/bin or next to nvcc; install the CUDA toolkit's");
    else if (read_version(program, version))
        error_set(why, "'%s --version' fails", program);
    if (*why->message) return NULL;
    struct sanitizer *s = memory_new(1, sizeof *s);
    *s = (struct sanitizer){.program = text_copy(program),
                            .gpu_program = text_copy(gpu_program),
                            .device = text_copy(device ? device : "0")};
    memcpy(s->version, version, sizeof version);
    return s;
}

void sanitizer_close(struct sanitizer *s)
{
    if (!s) return;
    free(s->program);
    free(s->gpu_program);
    free(s->device);
    free(s);
}

const char *sanitizer_version(const struct sanitizer *s)
{
    return s->version;
}

// Requests -----------------------------------------------------------------------------------------------------------

// The problem with the least work among those that the candidate has stages for and that are small enough; -1: none.
static int choose_problem(const struct job *job, const json_t *request, const json_t *problems)
{
    double least = 0;
    int chosen = -1;
    for (size_t p = 0; p < job->problem_count; p++) {
        const json_t *asked = json_array_get(json_object_get(request, "problems"), p);
        double flops = json_get_number(asked, "flops", 0), bytes = (double)job_problem_bytes(job, p, NULL);
        if (!json_array_size(json_object_get(json_array_get(problems, p), "stages"))) continue;
        double work = flops > bytes ? flops : bytes;
        if (bytes < 0 || flops > most_flops || bytes > most_bytes || (chosen >= 0 && work >= least)) continue;
        chosen = (int)p;
        least = work;
    }
    return chosen;
}

// The job with only this problem. Nothing is timed, compared or counted.
static json_t *make_job(const json_t *request, size_t problem)
{
    json_t *job = json_deep_copy(request),
           *one = json_deep_copy(json_array_get(json_object_get(request, "problems"), problem));
    json_object_set_new(one, "tune", json_false());
    json_object_set_new(job, "problems", json_pack("[o]", one));
    json_t *reference = json_object_get(job, "reference"); // its other members are still needed to generate inputs
    json_object_set_new(reference, "kind", json_string("none"));
    json_object_del(reference, "function");
    json_object_del(reference, "verify");
    json_object_set_new(job, "baselines", json_array());
    json_object_set_new(job, "counters", json_null());
    return job;
}

static json_t *make_request(const char *config, const char *cubin, const json_t *problems, size_t problem)
{
    json_t *stages = json_object_get(json_array_get(problems, problem), "stages");
    return json_pack("{s:s, s:s, s:s, s:[{s:i, s:O}]}", "op", "sanitize", "config", config, "cubin", cubin, "problems",
                     "problem", 0, "stages", stages);
}

static size_t list_symbols(const json_t *problems, size_t problem, const char *symbols[JOB_MAX_STAGES])
{
    size_t count = 0;
    json_array_each(json_object_get(json_array_get(problems, problem), "stages"), i, stage) {
        const char *symbol = json_get_string(stage, "symbol", "");
        if (*symbol && !json_get_bool(stage, "again", false) && count < JOB_MAX_STAGES) symbols[count++] = symbol;
    }
    return count;
}

// Running ------------------------------------------------------------------------------------------------------------

// Sends all requests at once; the worker answers them in order.
static void start(struct sanitizing *z, size_t tool, const json_t *job, json_t *request)
{
    struct tool_run *run = &z->runs[tool];
    const struct sanitizer *s = z->sanitizer;
    char *name = (char *)(uintptr_t)tools[tool].name;
    run->worker = WORKER_NONE;
    run->log = text_format("%s/%s.log", z->folder, name);
    run->begun = clock_now();
    char *argv[] = {s->program, "--tool",
                    name,       "--log-file",
                    run->log,   "--demangle",
                    "no",       "--show-backtrace",
                    "device",   "--report-api-errors",
                    "no",       "--print-limit",
                    "100",      s->gpu_program,
                    "--device", s->device,
                    NULL};
    if (worker_start(&run->worker, name, argv, &run->failure)) {
        json_decref(request);
        return;
    }
    run->started = true;
    worker_send(&run->worker, json_pack("{s:s, s:b}", "op", "hello", "counters", 0));
    worker_send(&run->worker, json_deep_copy(job));
    run->id = worker_send(&run->worker, request);
}

// Waits for one tool until the deadline, and reads its log.
static json_t *finish(struct sanitizing *z, size_t tool)
{
    struct sanitizer *s = z->sanitizer;
    struct tool_run *run = &z->runs[tool];
    struct error why = run->failure;
    double left = fmax(z->deadline - clock_now(), reading);
    autojson json_t *answer = run->started ? worker_wait(&run->worker, run->id, left, &why) : NULL;
    s->stuck[tool] = run->started && !answer && run->worker.failure == WORKER_LATE;
    if (s->stuck[tool]) error_set(&why, "it did not end within %.0f s", clock_now() - run->begun);
    left = fmax(z->deadline - clock_now(), grace);
    if (run->started) worker_stop(&run->worker, s->stuck[tool] ? 0 : left); // time for it to write its summary
    autofree char *text = text_read_file(run->log, NULL);
    struct sanitizer_log log;
    sanitizer_log_read(text ? text : "", z->symbols, z->symbol_count, &log);
    const char *word = json_get_string(answer, "status", "");
    bool answered = answer && status_find(word) == STATUS_OK;
    if (answer && !answered) error_set(&why, "the worker reports %s: %s", word, answer_reason(answer, ""));
    if (*log.trouble) error_set(&why, "%s", log.trouble);
    if (answered && !*log.trouble && !log.ended) error_set(&why, "its log has no summary");
    bool done = answered && log.ended && !*log.trouble;
    const char *status = log.errors ? "errors" : !done ? "failed" : log.warnings ? "warnings" : "clean";
    json_t *out = json_pack("{s:s, s:b, s:s, s:I, s:I, s:I, s:I, s:s, s:s, s:f}", "tool", tools[tool].name, "advice",
                            (int)tools[tool].advice, "status", status, "errors", (json_int_t)log.errors, "warnings",
                            (json_int_t)log.warnings, "elsewhere", (json_int_t)log.elsewhere, "unprinted",
                            (json_int_t)log.unprinted, "first", log.errors ? log.first_error : log.first_warning,
                            "reason", strcmp(status, "failed") ? "" : why.message, "seconds", clock_now() - run->begun);
    if (log.errors) json_object_set_new(out, "out_of_bounds", json_boolean(log.out_of_bounds));
    free(run->log);
    worker_release(&run->worker);
    return out;
}

struct sanitizing *sanitizer_begin(struct sanitizer *s, const struct job *job, const json_t *request,
                                   const char *config, const char *cubin, const json_t *problems, bool thorough,
                                   double most)
{
    struct sanitizing *z = memory_new(1, sizeof *z);
    int problem = choose_problem(job, request, problems);
    struct error why;
    z->sanitizer = s;
    z->document = json_pack("{s:s, s:s, s:[], s:s}", "version", s->version, "problem",
                            problem < 0 ? "" : job->problems[problem].name, "tools", "note",
                            problem < 0 ? "none of the job's problems is small enough" : "");
    if (problem < 0) return z;
    if (work_folder_make("sanitize", z->folder, &why)) {
        json_object_set_new(z->document, "note", json_string(why.message));
        *z->folder = 0;
        return z;
    }
    z->symbol_count = list_symbols(problems, (size_t)problem, z->symbols);
    z->deadline = clock_now() + fmin(2 * job->measure.timeout, most);
    autojson json_t *set_up = make_job(request, (size_t)problem),
                    *asked = make_request(config, cubin, problems, (size_t)problem);
    const json_t *described = json_array_get(json_object_get(request, "problems"), (size_t)problem);
    bool brief = !thorough && json_get_number(described, "flops", 0) > most_advice_flops;
    for (size_t i = 0; i < TOOLS; i++) {
        if (tools[i].advice && brief) z->left_out[i] = "the problem is large; `sweetspot judge` runs it anyway";
        if (s->stuck[i]) z->left_out[i] = "it missed its deadline with another candidate";
        if (!z->left_out[i]) start(z, i, set_up, json_deep_copy(asked));
    }
    return z;
}

json_t *sanitizer_end(struct sanitizing *z)
{
    json_t *document = z->document;
    for (size_t i = 0; i < TOOLS && *z->folder; i++) {
        const char *why = z->left_out[i];
        json_array_append_new(json_object_get(document, "tools"),
                              why ? json_pack("{s:s, s:b, s:s, s:s}", "tool", tools[i].name, "advice",
                                              (int)tools[i].advice, "status",
                                              z->sanitizer->stuck[i] ? "failed" : "skipped", "reason", why)
                                  : finish(z, i));
    }
    if (*z->folder) work_folder_remove(z->folder);
    free(z);
    return document;
}

enum trial_status sanitizer_verdict(const json_t *document, struct error *reason)
{
    *reason = (struct error){""};
    json_array_each(json_object_get(document, "tools"), i, tool) {
        if (json_get_bool(tool, "advice", false) || strcmp(json_get_string(tool, "status", ""), "errors")) continue;
        error_set(reason, "compute-sanitizer's %s: %s (%" PRId64 " errors, problem %s)",
                  json_get_string(tool, "tool", "?"), json_get_string(tool, "first", ""),
                  json_get_integer(tool, "errors", 0), json_get_string(document, "problem", "?"));
        return json_get_bool(tool, "out_of_bounds", false) ? STATUS_OUT_OF_BOUNDS : STATUS_WRONG;
    }
    return STATUS_OK;
}

// The document in words ----------------------------------------------------------------------------------------------

// "clean", "failed", "skipped" or "1 error, 2 warnings"; `whole`: with the reason, or the first error or warning.
static char *result_text(const json_t *tool, bool whole)
{
    static const char *const kinds[][2] = {{"errors", "error"}, {"warnings", "warning"}};
    const char *status = json_get_string(tool, "status", "");
    bool undone = !strcmp(status, "failed") || !strcmp(status, "skipped");
    struct text out = {0};
    if (!strcmp(status, "clean")) return text_copy(status);
    text_add(&out, "%s", undone ? status : "");
    for (size_t i = 0; i < 2 && !undone; i++) {
        int64_t n = json_get_integer(tool, kinds[i][0], 0);
        if (n) text_add(&out, "%s%" PRId64 " %s%s", out.length ? ", " : "", n, kinds[i][1], n == 1 ? "" : "s");
    }
    if (whole) text_add(&out, ": %s", json_get_string(tool, undone ? "reason" : "first", ""));
    return out.text;
}

char *sanitized_tool_text(const json_t *tool)
{
    return result_text(tool, true);
}

char *sanitized_tool_name(const json_t *tool)
{
    const char *status = json_get_string(tool, "status", "");
    bool found = !strcmp(status, "errors") || !strcmp(status, "warnings");
    return text_format("%s%s", json_get_string(tool, "tool", "?"),
                       found && json_get_bool(tool, "advice", false) ? " (warning)" : "");
}

char *sanitized_text(const json_t *document)
{
    const char *note = json_get_string(document, "note", "");
    if (!document) return NULL;
    autorelease(text_release) struct text clean = {0}, all = {0};
    json_array_each(json_object_get(document, "tools"), i, tool) {
        autofree char *name = sanitized_tool_name(tool), *result = result_text(tool, false);
        if (!strcmp(result, "clean"))
            text_add(&clean, "%s%s", clean.length ? ", " : "", name);
        else
            text_add(&all, "%s%s: %s", all.length ? "; " : "", name, result);
    }
    if (clean.length) text_add(&clean, " clean%s", all.length ? "; " : "");
    const char *version = json_get_string(document, "version", "?");
    return *note ? text_format("compute-sanitizer %s: %s", version, note)
                 : text_format("compute-sanitizer %s on %s: %s%s", version, json_get_string(document, "problem", "?"),
                               clean.length ? clean.text : "", all.length ? all.text : "");
}
