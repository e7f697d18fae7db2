// A scripted worker for tests of the driver. It implements the compiler's and the GPU worker's parts of the protocol
// and misbehaves as the configuration's MODE says. Times depend only on the parameter X. Every measured configuration
// is appended to the file $FAKE_LOG, so that a test can see what was measured, and how often.
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tests/fake_faults.h"
#include "tests/fake_request.h"
#include "tuner/base/hash.h"
#include "tuner/base/json.h"
#include "tuner/base/limits.h"
#include "tuner/base/protocol.h"
#include "tuner/base/settings.h"
#include "tuner/base/text.h"

// The GPU's id. It is "GPU-fake" for this machine's first GPU. Agents represent other machines, which have different
// GPUs.
static const char *fake_uuid(void)
{
    static char uuid[64];
    char parent[32] = "", *path = text_format("/proc/%d/comm", (int)getppid());
    FILE *file = fopen(path, "r");
    if (file && !fgets(parent, sizeof parent, file)) *parent = 0;
    if (file) fclose(file);
    free(path);
    snprintf(uuid, sizeof uuid, "GPU-fake");
    if (!strncmp(parent, "sweetspot-node", 14))
        snprintf(uuid, sizeof uuid, "GPU-fake-%d-%s", (int)getppid(), own_device ? own_device : "0");
    else if (own_device && strcmp(own_device, "0") != 0)
        snprintf(uuid, sizeof uuid, "GPU-fake-%s", own_device);
    return uuid;
}

static json_t *hello(void)
{
    const char *refuse = getenv("FAKE_ENVIRONMENT"), *uuid = getenv("FAKE_UUID"), *driver = getenv("FAKE_DRIVER"),
               *toolkit = getenv("FAKE_TOOLKIT");
    if (refuse) return json_pack("{s:s, s:s, s:s}", "compiler", "fake 1.0", "status", "environment", "reason", refuse);
    return json_pack("{s:i, s:s, s:{s:s, s:s, s:s, s:s, s:i, s:I, s:I}, s:{s:b, s:s}}", "protocol", PROTOCOL_VERSION,
                     "compiler", toolkit ? toolkit : "fake 1.0", "device", "name",
                     getenv("FAKE_MODEL") ? getenv("FAKE_MODEL") : "Fake GPU", "arch", "sm_90a", "uuid",
                     uuid ? uuid : fake_uuid(), "driver", driver ? driver : "1.2.3", "sm_count", 132, "memory_bytes",
                     (json_int_t)1 << 34, "memory_free", (json_int_t)1 << 33, "counters", "available",
                     (int)!getenv("FAKE_NO_COUNTERS"), "reason", "ERR_NVGPUCTRPERM: no permission");
}

// The number of lines of $FAKE_LOG that begin with this string.
static int times_noted(const char *text)
{
    char line[256];
    int n = 0;
    FILE *file = fopen(getenv("FAKE_LOG"), "r");
    while (file && fgets(line, sizeof line, file)) n += !strncmp(line, text, strlen(text));
    if (file) fclose(file);
    return n;
}

// $FAKE_WAITS is "OP FILE [LINES]": a request with this op waits until the file exists, and logs this in $FAKE_LOG.
// With LINES, it waits only if the log has at least that many lines. A test can thus make something happen before the
// run continues, however slow the machine is. The worker stops waiting after a minute.
static void wait_for_file(const char *op)
{
    char wanted[32], path[4096], text[32];
    int lines = 0;
    const char *how = getenv("FAKE_WAITS");
    if (!how || sscanf(how, "%31s %4095s %d", wanted, path, &lines) < 2 || strcmp(op, wanted) != 0) return;
    if (!access(path, F_OK) || (lines && times_noted("") < lines)) return;
    snprintf(text, sizeof text, "waits %d", (int)getpid());
    note_text(text);
    for (int i = 0; i < 6000 && access(path, F_OK); i++) usleep(10000);
}

// Compiles a helper ("support", "ceilings" or "reference"). Helpers are compiled before any candidate. If $FAKE_HELPERS
// is set, the helper is logged with its macros, and its compilation lasts until that many helpers are logged. After ten
// seconds it gives up and logs "alone". $FAKE_HELPER_CRASH and $FAKE_HELPER_ERROR name helpers that crash and fail.
// Returns NULL if the helper was compiled.
static json_t *compile_helper(const json_t *request)
{
    const json_t *defines = json_object_get(request, "defines");
    const char *name = !json_object_get(request, "text") ? "reference"
                       : json_object_size(defines)       ? "support"
                                                         : "ceilings";
    char *macros = json_dumps(defines, JSON_COMPACT), text[256];
    snprintf(text, sizeof text, "helper %s %s", name, macros);
    free(macros);
    if (getenv("FAKE_HELPERS")) {
        int wait = 1000;
        note_text(text);
        while (times_noted("helper") < atoi(getenv("FAKE_HELPERS")) && --wait) usleep(10000);
        if (!wait) note_text("alone");
    }
    if (getenv("FAKE_HELPER_CRASH") && !strcmp(getenv("FAKE_HELPER_CRASH"), name)) abort();
    if (getenv("FAKE_HELPER_ERROR") && !strcmp(getenv("FAKE_HELPER_ERROR"), name))
        return json_pack("{s:s, s:s}", "status", "compile_error", "reason", "scripted");
    return NULL;
}

// Called if $FAKE_LOG_FILES is set. Logs every string in a request that is, or ends with, the path of a file that this
// worker can read.
static void note_files(const json_t *value)
{
    const char *text = json_is_string(value) ? json_string_value(value) : "", *path = strchr(text, '/');
    if (path && !access(path, R_OK)) note_text(text);
    json_array_each((json_t *)(uintptr_t)value, i, member) note_files(member);
    json_object_each((json_t *)(uintptr_t)value, key, member) note_files(member);
}

// In a configuration with FAULT=fault, the kernel of an entry has the symbol ENTRY_fault.
static json_t *symbol_of(const json_t *request, const json_t *entry)
{
    const char *fault = strstr(json_get_string(request, "config", ""), "FAULT=");
    return fault ? json_sprintf("%s_%.*s", json_string_value(entry), (int)strcspn(fault + 6, ","), fault + 6)
                 : json_incref((json_t *)(uintptr_t)entry);
}

static json_t *compile(const json_t *request)
{
    if (getenv("FAKE_LOG_FILES") && json_object_get(request, "config")) note_files(json_object_get(request, "options"));
    json_t *helper = json_object_get(request, "config") ? NULL : compile_helper(request);
    if (helper) return helper;
    if (getenv("FAKE_COMPILE_DELAY") && json_object_get(request, "config"))
        usleep((useconds_t)atoi(getenv("FAKE_COMPILE_DELAY")));
    if (getenv("FAKE_FULL"))
        return json_pack("{s:s, s:s}", "status", "error", "reason",
                         "cannot write 'compiled/ab.cubin': No space left on device");
    bool nvcc = !strcmp(json_get_string(request, "compiler", ""), "nvcc");
    if (nvcc && getenv("FAKE_NVCC_DELAY")) usleep((useconds_t)(1e6 * atof(getenv("FAKE_NVCC_DELAY"))));
    if (nvcc && !getenv("FAKE_NVCC"))
        return json_pack("{s:s, s:s}", "status", "compile_error", "reason", "there is no nvcc");
    if (nvcc && mode_is(request, "nvcc_error"))
        return json_pack("{s:s, s:s, s:s}", "status", "compile_error", "reason",
                         "unit.cu(3): error: scripted\nand more", "compiler", "nvcc 13.1.2");
    if (nvcc && mode_is(request, "nvcc_hang")) pause();
    if (mode_is(request, "compile_error"))
        return json_pack("{s:s, s:s}", "status", "compile_error", "reason", "x.cu(3): error: expected a ';'");
    if (mode_is(request, "compile_timeout"))
        return json_pack("{s:s, s:s}", "status", "compile_timeout", "reason", "still compiling at the deadline");
    if (mode_is(request, "compile_crash")) {
        signal(SIGSEGV, SIG_DFL); // a sanitizer would catch it
        raise(SIGSEGV);
    }
    if (mode_is(request, "compile_hang")) pause();
    if (mode_is(request, "source_changed")) return json_pack("{s:s}", "status", "source_changed");
    if (mode_is(request, "compile_nonsense")) return json_pack("[s]", "what?");
    bool huge = mode_is(request, "registers"), impossibly = mode_is(request, "registers_impossible");
    json_t *entries = json_array();
    json_array_each(json_object_get(request, "entries"), i, entry) {
        bool second = !strcmp(json_string_value(entry), "second"); // short code, but with static shared memory
        json_array_append_new(entries, json_pack("{s:O, s:o, s:I, s:i, s:i, s:i, s:i, s:i}", "entry", entry, "symbol",
                                                 symbol_of(request, entry), "registers",
                                                 (json_int_t)(huge         ? 255
                                                              : impossibly ? INT64_MAX
                                                                           : 32),
                                                 "spill_loads", 0, "spill_stores", 0, "shared", second ? 40960 : 0,
                                                 "stack", 0, "code_bytes", second ? 500 : 1000 + x_of(request)));
    }
    const char *cubin = getenv("FAKE_CUBIN"); // a file
    return json_pack("{s:s, s:s, s:b, s:f, s:[], s:o, s:s*}", "status", "ok", "cubin", cubin ? cubin : "", "cached", 0,
                     "seconds", 0.001, "warnings", "entries", entries, "compiler", nvcc ? "nvcc 13.1.2" : NULL);
}

// The metrics that a request names in addition to the metric set `full`. The worker reports values for them too.
static json_t *named;

// The number of additional metrics, metric_0 and so on, which have the values 0, 1, ...
static int more_metrics(void)
{
    return getenv("FAKE_METRICS") ? atoi(getenv("FAKE_METRICS")) : 0;
}

static json_t *present; // the job's current kernel

static json_t *problems_of(const json_t *request);

// Adds the job's own baselines except `current`. They take as long as X=2. If a baseline's function is called "crash",
// the worker counts as crashed: returns the baseline's name. Otherwise returns NULL.
static const char *add_programs(const json_t *request, json_t *to)
{
    json_array_each(json_object_get(request, "baselines"), i, each) {
        const char *name = json_get_string(each, "name", ""), *why = json_get_string(each, "reason", NULL);
        if (!strcmp(json_get_string(each, "kind", ""), "operation") || !strcmp(name, "current")) continue;
        const json_t *problem = json_array_get(json_object_get(each, "problems"), 0),
                     *call = json_array_get(json_object_get(problem, "stages"), 0);
        if (!why && !strcmp(json_get_string(call, "function", ""), "crash")) return name;
        autojson json_t *timed = json_deep_copy(each);
        json_object_set_new(timed, "config", json_string("X=2,MODE=good"));
        note_text(json_get_string(call, "library", ""));
        json_array_append_new(to, json_pack("{s:s, s:s, s:s, s:o}", "name", name, "detail", "a program", "reason",
                                            why ? why : "", "problems", why ? json_array() : problems_of(timed)));
    }
    return NULL;
}

// Builds a user's library. It fails if the source's name contains "broken", and takes 5 s if it contains "slow".
static json_t *build(const json_t *request)
{
    const char *source = json_get_string(request, "source", "");
    if (strstr(source, "broken"))
        return json_pack("{s:s, s:s}", "status", "compile_error", "reason", "broken.cu(2): error: scripted");
    if (strstr(source, "slow") && json_get_number(request, "deadline", 0) < 5)
        return json_pack("{s:s, s:s}", "status", "compile_timeout", "reason", "still compiling");
    const char *library = getenv("FAKE_LIBRARY"); // a file
    return json_pack("{s:s, s:s, s:s, s:b}", "status", "ok", "library", library ? library : "", "hash", "0123",
                     "cached", 0);
}

static json_t *job(const json_t *request)
{
    struct measure_settings settings;
    struct error err;
    if (settings_read(measure_table, json_object_get(request, "measure"), &settings, &err))
        return json_pack("{s:s, s:s}", "status", "error", "reason", err.message);
    if (getenv("FAKE_LOG_FILES")) note_files(request);
    if (getenv("FAKE_JOB_FAULT")) note_text("set up");
    if (getenv("FAKE_JOB_FAULT") && times_noted("set up") == atoi(getenv("FAKE_JOB_FAULT"))) {
        json_t *fault = json_pack("{s:O, s:s, s:s}", "id", json_object_get(request, "id"), "status", "crashed",
                                  "reason", "scripted fault of the device");
        json_write_line(STDOUT_FILENO, fault, NULL);
        exit(1);
    }
    json_t *metrics = getenv("FAKE_NO_COUNTERS") ? json_array() : json_pack("[s,s]", "icache_misses", "occupancy"),
           *missing = json_array(), *asked = json_object_get(request, "counters");
    if (!strcmp(json_is_string(json_array_get(asked, 0)) ? json_string_value(json_array_get(asked, 0)) : "", "full") &&
        json_array_size(metrics)) {
        json_decref(named);
        named = json_deep_copy(asked);
        json_array_remove(named, 0);
        json_array_append_new(metrics, json_string("executed"));
        json_array_extend(metrics, named);
    }
    for (int i = 0; i < more_metrics(); i++) {
        char name[32];
        snprintf(name, sizeof name, "metric_%d", i);
        json_array_append_new(metrics, json_string(name));
    }
    note_seed(request);
    if (getenv("FAKE_LOG_REST")) { // how long the device should rest
        char text[32];
        snprintf(text, sizeof text, "rest %g", json_get_number(json_object_get(request, "measure"), "rest", -1));
        note_text(text);
    }
    for (int i = 1; getenv("FAKE_REFERENCE") && i < 4; i++) { // a slow reference reports progress
        autojson json_t *line = json_pack("{s:O, s:f, s:s}", "id", json_object_get(request, "id"), "progress", 0.25 * i,
                                          "what", "the reference on the CPU");
        json_write_line(STDOUT_FILENO, line, NULL);
    }
    if (getenv("FAKE_MISSING")) json_array_append_new(missing, json_string(getenv("FAKE_MISSING")));
    json_t *answer = json_pack("{s:s, s:[{s:s, s:[{s:i, s:f, s:f, s:f}]}], s:o, s:o}", "status", "ok", "baselines",
                               "name", "cublas", "problems", "problem", 0, "time", 1.1e-3, "low", 1.0e-3, "high",
                               1.2e-3, "metrics", metrics, "missing", missing);
    if (getenv("FAKE_ENERGY")) json_object_set_new(answer, "energy", json_true());
    const json_t *kernel = json_array_get(json_object_get(request, "baselines"), 0);
    if (!strcmp(json_get_string(kernel, "name", ""), "current")) {
        json_decref(present);
        present = json_deep_copy(kernel);
        json_object_set(present, "config", json_object_get(kernel, "detail")); // which determines its times
        bool fails = mode_is(present, "wrong");
        json_array_insert_new(json_object_get(answer, "baselines"), 0,
                              json_pack("{s:O, s:O, s:s, s:o}", "name", json_object_get(kernel, "name"), "detail",
                                        json_object_get(kernel, "detail"), "reason", fails ? "wrong: scripted" : "",
                                        "problems", fails ? json_array() : problems_of(present)));
    }
    const char *crashed = add_programs(request, json_object_get(answer, "baselines"));
    if (crashed) {
        json_decref(answer);
        return json_pack("{s:s, s:s, s:s}", "status", "crashed", "baseline", crashed, "reason", "it crashed: scripted");
    }
    return answer;
}

static json_t *problems_of(const json_t *request)
{
    json_t *problems = json_array();
    for (size_t p = 0; p < json_array_size(json_object_get(request, "problems")); p++) {
        double t = time_on(request, p);
        json_array_append_new(problems,
                              json_pack("{s:i, s:f, s:f, s:f, s:[f,f,f], s:i, s:f, s:f, s:i}", "problem", (int)p,
                                        "time", t, "low", 0.99 * t, "high", 1.01 * t, "samples", t, 0.99 * t, 1.01 * t,
                                        "count", 3, "error", 0.1, "energy", 512 * t, "bad", 0));
    }
    spoil(request, false, problems);
    return problems;
}

static json_t *trial(const json_t *request)
{
    static const char *const plain[] = {"wrong",        "out_of_bounds", "nondeterministic",
                                        "launch_error", "slow",          "implausible"};
    const char *cubin = json_get_string(request, "cubin", "");
    if (getenv("FAKE_NEEDS_CUBIN") && access(cubin, R_OK)) // the path must exist on this node
        return json_pack("{s:s, s:s}", "status", "launch_error", "reason", cubin);
    note(request);
    if (getenv("FAKE_LOG_BEST")) { // the best times so far, which decide whether a candidate is slow
        autofree char *best = json_dumps(json_object_get(request, "best"), JSON_COMPACT | JSON_REAL_PRECISION(3));
        note_text(best);
    }
    const json_t *problem = json_array_get(json_object_get(request, "problems"), 0),
                 *stage = json_array_get(json_object_get(problem, "stages"), 0);
    if (!strcmp(json_get_string(stage, "function", ""), "crash")) // a library's function
        return json_pack("{s:s, s:s, s:s}", "status", "crashed", "baseline", json_get_string(request, "name", ""),
                         "reason", "its own code crashed (SIGSEGV)");
    if (mode_is(request, "abort")) abort();
    if (mode_is(request, "abort_once") && times_noted(json_get_string(request, "config", "")) == 1) abort();
    if (mode_is(request, "killed")) raise(SIGKILL);
    if (mode_is(request, "exit")) exit(0);
    if (mode_is(request, "hang")) pause();
    while (mode_is(request, "flood")) fputs("and so on\n", stderr);
    if (mode_is(request, "late")) sleep(4);
    if (mode_is(request, "nonsense")) {
        printf("%%$ this is no answer\n");
        fflush(stdout);
        return NULL;
    }
    if (mode_is(request, "other_word")) return json_pack("{s:s}", "status", "excellent");
    if (mode_is(request, "no_time")) return json_pack("{s:s, s:[]}", "status", "ok", "problems");
    if (mode_is(request, "says_crashed"))
        return json_pack("{s:s, s:s}", "status", "crashed", "reason",
                         "CUDA_ERROR_ILLEGAL_ADDRESS: an illegal memory access was encountered");
    for (size_t i = 0; i < sizeof plain / sizeof *plain; i++)
        if (mode_is(request, plain[i]))
            return json_pack("{s:s, s:s, s:o}", "status", plain[i], "reason", "scripted", "problems",
                             problems_of(request));
    if (mode_is(request, "restart")) // the worker ends, as it does after a candidate that used the heap
        return json_pack("{s:s, s:b, s:o}", "status", "ok", "restart", 1, "problems", problems_of(request));
    if (getenv("FAKE_DELAY")) usleep((useconds_t)atoi(getenv("FAKE_DELAY")));
    return json_pack("{s:s, s:o, s:i, s:f, s:f, s:f, s:f}", "status", "ok", "problems", problems_of(request),
                     "launches_judged", 20, "busy", 0.01, "wall", 0.02, "clock_mhz", 1980.0, "temperature", 40.0);
}

static json_t *count(const json_t *request)
{
    json_t *trials = json_array();
    json_array_each(json_object_get(request, "trials"), i, one) {
        if (mode_is(one, "count_crash")) abort();
        if (getenv("FAKE_NO_COUNTERS")) {
            json_array_append_new(trials, json_pack("{s:O, s:[], s:s}", "trial", json_object_get(one, "trial"),
                                                    "counters", "reason", getenv("FAKE_NO_COUNTERS")));
            continue;
        }
        json_t *values = json_pack("[f,f]", 100.0 + x_of(one), 50.0);
        if (named) json_array_append_new(values, json_real(mode_is(one, "irreproducible") ? 3e8 : 2e8));
        for (size_t k = 0; k < json_array_size(named); k++) json_array_append_new(values, json_real(7));
        for (int k = 0; k < more_metrics(); k++) json_array_append_new(values, json_real(k));
        json_array_append_new(trials, json_pack("{s:O, s:[{s:i, s:i, s:o}]}", "trial", json_object_get(one, "trial"),
                                                "counters", "problem", 0, "stage", 0, "values", values));
    }
    return json_pack("{s:s, s:o, s:f}", "status", "ok", "trials", trials, "wall", 0.1);
}

static json_t *profile(const json_t *request)
{
    if (mode_is(request, "profile_crash")) abort();
    return json_pack(
        "{s:s, s:[{s:s, s:i, s:{s:f, s:f, s:f, s:f}, s:[{s:s, s:s, s:i, s:{s:f, s:f}, s:{s:f, s:f}, s:{s:i}}]}], s:[]}",
        "status", "ok", "stages", "symbol", "x", "code_bytes", 4096, "totals", "instructions", 2e8, "threads", 64e8,
        "shared_wavefronts", 2e8, "shared_ideal", 1e8, "lines", "directory", "", "file", "x.cu", "line", 1, "self",
        "shared_wavefronts", 2e8, "shared_ideal", 1e8, "total", "shared_wavefronts", 2e8, "shared_ideal", 1e8, "stalls",
        "barrier", 3, "reasons");
}

// Adds the hash of the cubin's bytes if there is a file. In mode final_other_bytes it is the hash of other bytes.
static void say_cubin(json_t *entry, const json_t *candidate)
{
    char hash[HASH_TEXT_SIZE];
    size_t size;
    autofree char *image = text_read_file(json_get_string(candidate, "cubin", ""), &size);
    if (image && mode_is(candidate, "final_other_bytes")) image[0]++;
    if (image) hash_content(image, size, hash);
    if (image) json_object_set_new(entry, "cubin_hash", json_string(hash));
}

// Mode final_noisy: every third round takes 6% longer.
static double noise(const json_t *candidate, size_t round)
{
    return mode_is(candidate, "final_noisy") && (round + (size_t)(1e5 * time_on(candidate, 0))) % 3 == 0 ? 0.06 : 0;
}

// An entry's times on every problem, as in trials.
static json_t *final_problems(const json_t *candidate, size_t rounds, double factor)
{
    json_t *problems = json_array();
    size_t count = json_array_size(json_object_get(candidate, "problems"));
    for (size_t p = 0; p < count; p++) {
        json_t *times = json_array();
        double time = time_on(candidate, p);
        for (size_t k = 0; k < rounds; k++)
            json_array_append_new(times,
                                  json_real(time * factor * (1 + 0.001 * (double)(k % 5) + noise(candidate, k))));
        json_array_append_new(problems,
                              json_pack("{s:I, s:o, s:f, s:f}", "problem", (json_int_t)p, "times", times, "error_max",
                                        3e-6, "error_rms", mode_is(candidate, "inexact") ? 9e-7 : 4e-7));
        if (mode_is(candidate, "final_no_times")) json_object_del(json_array_get(problems, p), "times");
    }
    return problems;
}

// With $FAKE_ENERGY the device counts energy. A candidate's energy is 300 W * time / (1 + X). With $FAKE_ENERGY=none,
// and for a candidate in mode no_energy, there is a counter that cannot be read.
static void add_energy(const json_t *candidate, json_t *problems)
{
    json_array_each(problems, i, problem) {
        double joules = candidate ? 300 * time_on(candidate, i) / (double)(1 + x_of(candidate)) : 0.5;
        bool none = !strcmp(getenv("FAKE_ENERGY"), "none") || (candidate && mode_is(candidate, "no_energy"));
        json_object_del(problem, "times");
        json_object_set_new(problem, "energy",
                            none ? json_pack("{s:s}", "reason", "scripted")
                                 : json_pack("{s:[f,f,f], s:f, s:f, s:f, s:b}", "joules", joules, 0.999 * joules,
                                             1.001 * joules, "watts", 300.0, "clock_mhz", 1755.0, "share", 0.05,
                                             "power_limited", candidate && x_of(candidate) == 8));
    }
}

// A candidate's status in the final. `races`: the final includes nvcc's builds.
static const char *final_status(const json_t *candidate, bool nvcc, bool races, int64_t process)
{
    if (mode_is(candidate, "final_implausible")) return "implausible";
    if (mode_is(candidate, "final_wrong") || (process == 1 && mode_is(candidate, "final_wrong_later"))) return "wrong";
    if (nvcc && mode_is(candidate, "nvcc_wrong")) return "wrong";
    return races && !nvcc && mode_is(candidate, "race_wrong") ? "wrong" : "ok";
}

static bool is_nvcc(const json_t *candidate)
{
    return !strcmp(json_get_string(candidate, "binary", ""), "nvcc");
}

// $FAKE_FINAL, such as "0.2 0.05", gives the times of a candidate's proof and of a round, in seconds. Returns the
// number of rounds that the time allows.
static size_t take_time(const json_t *request, size_t rounds)
{
    double proof, round, seconds = json_get_number(request, "seconds", 0);
    const char *how = getenv("FAKE_FINAL");
    if (!how || sscanf(how, "%lf %lf", &proof, &round) != 2) return rounds;
    int64_t candidates = (int64_t)json_array_size(json_object_get(request, "candidates")),
            places = json_get_integer(request, "places", candidates);
    double proofs =
        json_get_integer(request, "part", 0) ? 0 : proof * (double)(places < candidates ? places : candidates);
    double most = seconds > 0 ? (seconds - proofs) / round : (double)rounds;
    if (most < (double)rounds) rounds = most > FINAL_LEAST ? (size_t)most : FINAL_LEAST;
    usleep((useconds_t)(1e6 * (proofs + round * (double)rounds)));
    return rounds;
}

static json_t * final(const json_t *request)
{
    note_seed(request);
    json_t *entries = json_array(), *candidates = json_object_get(request, "candidates");
    size_t rounds = (size_t)json_get_integer(request, "rounds", 10);
    int64_t places = json_get_integer(request, "places", INT64_MAX), process = json_get_integer(request, "process", 0);
    bool races = is_nvcc(json_array_get(candidates, json_array_size(candidates) - 1));
    if (getenv("FAKE_LOG_FINALS")) {
        char text[96];
        bool energy = json_get_bool(request, "energy", false);
        snprintf(text, sizeof text, "%s %lld.%lld: %zu rounds, %zu candidates, pid %d, %lld places",
                 energy  ? "energy"
                 : races ? "race"
                         : "final",
                 (long long)process, (long long)json_get_integer(request, "part", 0), rounds,
                 json_array_size(candidates), (int)getpid(), (long long)places);
        note_text(text);
    }
    rounds = take_time(request, rounds);
    json_array_each(candidates, i, one) {
        if (places == 0) break;
        if (mode_is(one, "final_blames_unknown"))
            return json_pack("{s:s, s:s, s:i}", "status", "crashed", "reason", "scripted", "trial", 4711);
        if (mode_is(one, "final_names_itself")) { // as the GPU worker does before each entry
            json_t *sign = json_pack("{s:O, s:f, s:O}", "id", json_object_get(request, "id"), "progress", 0.1, "trial",
                                     json_object_get(one, "trial"));
            json_write_line(STDOUT_FILENO, sign, NULL);
            abort();
        }
        if (mode_is(one, "final_crash") || (is_nvcc(one) && mode_is(one, "nvcc_crash"))) abort();
        double factor = is_nvcc(one) ? atof(getenv("FAKE_NVCC")) : 1;
        if (process == 1 && mode_is(one, "final_two_times")) factor *= 1.1;
        if (process == 1 && is_nvcc(one) && mode_is(one, "nvcc_two_times")) factor *= 1.05;
        const char *status = final_status(one, is_nvcc(one), races, process);
        bool ok = !strcmp(status, "ok");
        places -= ok;
        json_t *times = final_problems(one, rounds, factor);
        if (json_get_bool(request, "energy", false)) add_energy(one, times);
        spoil(one, true, times);
        if (mode_is(one, "final_untimed")) json_array_clear(times);
        json_t *entry =
            json_pack("{s:s, s:O, s:s, s:s, s:s, s:f, s:i, s:o}", "name", "candidate", "trial",
                      json_object_get(one, "trial"), "binary", json_get_string(one, "binary", "nvrtc"), "status",
                      status, "reason", ok ? "" : "scripted", "error", 0.1, "launches_judged", 100, "problems", times);
        if (mode_is(one, "final_unknown")) json_object_set_new(entry, "trial", json_integer(INT64_MAX));
        if (mode_is(one, "final_twice")) json_array_append(entries, entry);
        say_cubin(entry, one);
        json_array_append_new(entries, entry);
    }
    json_t *times = json_array(), *named_baselines = json_object_get(request, "baselines");
    for (size_t k = 0; k < rounds; k++) json_array_append_new(times, json_real(1.1e-3));
    json_array_each(named_baselines, i, one) {
        // This program crashes in its first final.
        if (!strcmp(json_string_value(one), "late_crash"))
            return json_pack("{s:s, s:O, s:s}", "status", "crashed", "baseline", one, "reason", "it crashed: scripted");
        if (!strncmp(json_string_value(one), "program", 7))
            json_array_append_new(entries, json_pack("{s:O, s:n, s:s, s:[{s:i, s:O}, {s:i, s:O}]}", "name", one,
                                                     "trial", "status", "ok", "problems", "problem", 0, "times", times,
                                                     "problem", 1, "times", times));
        if (strcmp(json_string_value(one), "current") != 0) continue;
        json_array_append_new(entries, json_pack("{s:O, s:n, s:s, s:O, s:o}", "name", one, "trial", "status", "ok",
                                                 "detail", json_object_get(present, "detail"), "problems",
                                                 final_problems(present, rounds, 1)));
    }
    json_array_append_new(entries, json_pack("{s:s, s:i, s:s, s:[{s:i, s:o, s:f, s:f}]}", "name", "cublas", "trial", 0,
                                             "status", "ok", "problems", "problem", 0, "times", times, "error_max",
                                             1e-6, "error_rms", 2e-7));
    if (json_get_bool(request, "energy", false))
        add_energy(NULL, json_object_get(json_array_get(entries, json_array_size(entries) - 1), "problems"));
    return json_pack("{s:s, s:o}", "status", "ok", "entries", entries);
}

// Mode sanitize_TOOL: copies fake_sanitizer.sh's sample log for that tool to the log file.
static json_t *sanitize(const json_t *request)
{
    const char *tool = getenv("FAKE_TOOL");
    char mode[64], command[2048];
    snprintf(mode, sizeof mode, "sanitize_%s", tool ? tool : "?");
    snprintf(command, sizeof command, "cp '%s' '%s'", getenv("FAKE_TOOL_SAMPLE"), getenv("FAKE_TOOL_LOG"));
    if (tool && mode_is(request, mode) && system(command)) abort();
    if (mode_is(request, "sanitize_crash")) abort();
    if (mode_is(request, "sanitize_refused"))
        return json_pack("{s:s, s:s}", "status", "launch_error", "reason", "scripted");
    return json_pack("{s:s, s:s}", "status", "ok", "reason", "");
}

// With $FAKE_LOG_CEILINGS, every measurement is logged.
static json_t *ceilings(void)
{
    if (getenv("FAKE_LOG_CEILINGS")) note_text("ceilings");
    return json_pack("{s:s, s:f, s:f}", "status", "ok", "flops_per_second", 6e13, "bytes_per_second", 4e12);
}

// Reports the beginning of a request that runs a candidate, as the GPU worker does.
static void say_begun(const json_t *request, const char *op)
{
    if (strcmp(op, "trial") && strcmp(op, "guide") && strcmp(op, "count") && strcmp(op, "final")) return;
    autojson json_t *line = json_pack("{s:O, s:f}", "id", json_object_get(request, "id"), "progress", 0.0);
    json_write_line(STDOUT_FILENO, line, NULL);
}

int main(int argc, char **argv)
{
    char *line = NULL;
    size_t room = 0;
    if (argc == 3) own_device = argv[2];
    if (getenv("FAKE_LOG_DEVICES") && argc == 3) note_text(argv[2]);
    suffer("start");
    while (getline(&line, &room, stdin) > 0) {
        struct error err;
        json_t *request = json_parse(line, &err), *answer;
        const char *op = json_get_string(request, "op", "");
        say_begun(request, op);
        suffer(json_object_get(request, "text") ? "helper" : op);
        wait_for_file(json_object_get(request, "text") ? "helper" : op);
        answer = !strcmp(op, "hello")      ? hello()
                 : !strcmp(op, "identify") ? hello()
                 : !strcmp(op, "compile")  ? compile(request)
                 : !strcmp(op, "build")    ? build(request)
                 : !strcmp(op, "job")      ? job(request)
                 : !strcmp(op, "trial")    ? trial(request)
                 : !strcmp(op, "count")    ? count(request)
                 : !strcmp(op, "final")    ? final(request)
                 : !strcmp(op, "profile")  ? profile(request)
                 : !strcmp(op, "ceilings") ? ceilings()
                 : !strcmp(op, "sanitize") ? sanitize(request)
                                           : json_pack("{s:s}", "status", "error");
        spoil_answer(op, answer);
        if (answer) {
            if (json_is_object(answer)) json_object_set(answer, "id", json_object_get(request, "id"));
            if (answers_others(op, request)) json_object_set_new(answer, "id", json_integer(4711));
            json_write_line(STDOUT_FILENO, answer, &err);
            if (!strcmp(op, "trial")) suffer("answered");
        }
        bool ends = json_get_bool(answer, "restart", false) || json_object_get(answer, "baseline");
        json_decref(answer);
        json_decref(request);
        if (ends) break;
    }
    free(line);
    return 0;
}
