// For tests: the files of a job that has been tuned. The folder has a template, a job file with two problems, and a
// store with trials, baselines, runs and, if wanted, a final. Tests can run commands on these files and capture the
// output.
#pragma once

#include <fcntl.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/stored_text.h"
#include "tests/testing.h"
#include "tuner/base/json.h"
#include "tuner/cli/commands.h"
#include "tuner/source/source.h"
#include "tuner/store/store.h"
#include "tuner/trial/trial_field.h"

struct finished {
    char folder[64];
    char *job, *store, *template, *header; // paths
};

static const char finished_job_text[] =
    "name = \"mini-gemm\";\n"
    "kernel = { template = \"mini.cu\"; entry = \"mini\"; defines = { ALPHA = 2; }; };\n"
    "parameters = (\n"
    "  { name = \"BLOCK_M\"; values = [64, 128, 256]; },\n"
    "  { name = \"UNROLL_K\"; unroll = [0, 1, 4]; },\n"
    "  { name = \"REDUCTION\"; values = [\"shuffle\", \"shared\"]; }\n"
    ");\n"
    "derived = { TILES = \"ceil_div(M, BLOCK_M) * ceil_div(N, 64)\"; BYTES = \"BLOCK_M * 4 * 64\"; };\n"
    "constraints = ( \"BYTES <= device.max_shared\" );\n"
    "problems = ( { M = 4096; N = 4096; }, { M = 1000; N = 77; } );\n"
    "launch = { grid = [ \"min(TILES, device.sm_count * 8)\", \"REDUCTION == \\\"shuffle\\\" ? 1 : ceil_div(N, 2)\" ]; "
    "block = [ \"BLOCK_M\" ];\n"
    "           cluster = [ 2 ]; shared = \"BYTES + 16\"; };\n"
    "arguments = ( { buffer = \"x\"; type = \"f32\"; shape = [\"M\", \"N\"]; }, { buffer = \"y\"; type = \"f32\"; "
    "shape = [1]; direction = \"out\"; } );\n"
    "reference = { kernel = \"mini_naive\"; launch = { grid = [1]; block = [1]; }; };\n"
    "work = { flops = \"2*M*N\"; bytes = \"4*M*N\"; };\n";

static inline void finished_write(const char *path, const char *text)
{
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    fputs(text, file);
    assert_int_equal(fclose(file), 0);
}

// The text with the first occurrence of a part replaced. malloc'ed.
static inline char *text_replaced(const char *text, const char *from, const char *to)
{
    const char *at = strstr(text, from);
    assert_non_null(at);
    return text_format("%.*s%s%s", (int)(at - text), text, to, at + strlen(from));
}

static inline void finished_make(struct finished *f)
{
    strcpy(f->folder, "/tmp/sweetspot-finished-XXXXXX");
    assert_non_null(mkdtemp(f->folder));
    f->job = text_format("%s/mini.cfg", f->folder);
    f->store = text_format("%s/mini.db", f->folder);
    f->template = text_format("%s/mini.cu", f->folder);
    f->header = text_format("%s/include/mini_best.h", f->folder);
    finished_write(f->job, finished_job_text);
    finished_write(f->template, "extern \"C\" __global__ void mini(const float *x, float *y) { y[0] = x[0]; }\n"
                                "extern \"C\" __global__ void mini_naive(const float *x, float *y) { y[0] = x[0]; }\n");
}

static inline void finished_remove(struct finished *f)
{
    assert_int_equal(system(test_text("rm -rf '%s'", f->folder)), 0);
    free(f->job);
    free(f->store);
    free(f->template);
    free(f->header);
}

// Stores trials 1 to 3 of a device with `count` multiprocessors. Trial 2 is the fastest in the search, and trial 3 is
// wrong.
static inline void finished_trials_on(const struct finished *f, const char *device, const char *arch, int count)
{
    struct error err = {""};
    struct store *store;
    char hash[HASH_TEXT_SIZE], *key = text_format("key of %s", device);
    if (source_hash(&(struct source_request){.path = f->template}, hash, &err)) fail_msg("%s", err.message);
    struct environment environment = {.key = key,
                                      .job = "mini-gemm",
                                      .source_hash = hash,
                                      .compiler = "nvrtc 13.0",
                                      .device = device,
                                      .arch = arch,
                                      .driver = "580.1"};
    if (store_open(&store, f->store, true, &err) || store_use_environment(store, &environment, &err))
        fail_msg("%s", err.message);
    static const struct {
        const char *config;
        enum trial_status status;
        double time;
    } trials[] = {{"BLOCK_M=64,UNROLL_K=4,REDUCTION=shared", STATUS_OK, 2e-3},
                  {"BLOCK_M=128,UNROLL_K=4,REDUCTION=shuffle", STATUS_OK, 1e-3},
                  {"BLOCK_M=256,UNROLL_K=0,REDUCTION=shuffle", STATUS_WRONG, NAN}};
    for (size_t i = 0; i < 3; i++) {
        double t = trials[i].time;
        struct trial_problem problems[2];
        for (int p = 0; p < 2; p++) {
            trial_clear(FIELD_PROBLEM, &problems[p]);
            problems[p].name = p ? "M=1000,N=77" : "M=4096,N=4096";
            problems[p].tuned = true;
            problems[p].time = p ? t / 100 : t;
            problems[p].low = 0.99 * problems[p].time;
            problems[p].high = 1.01 * problems[p].time;
            problems[p].samples = &problems[p].time;
            problems[p].sample_count = 1;
            problems[p].samples_taken = 20;
            problems[p].error = p ? 0.25 : 0.125;
        }
        struct trial_stage stage = {"mini", 40, 0, 8, 0, 1024, 0, 4096, 0.5, ""};
        struct trial_counter counters[2] = {{0, 0, "bank_conflicts", 12}, {1, 0, "bank_conflicts", 3}};
        struct trial trial;
        trial_clear(FIELD_TRIAL, &trial);
        trial.config = trials[i].config;
        trial.status = trials[i].status;
        trial.objective = t / 10;
        trial.gpu_seconds = 0.5;
        trial.launches_judged = 104;
        trial.finished = 1790000000.0;
        trial.problem_count = 2;
        trial.problems = problems;
        trial.stage_count = 1;
        trial.stages = &stage;
        trial.counter_count = 2;
        trial.counters = counters;
        if (store_add(store, &trial, &err)) fail_msg("%s", err.message);
    }
    char *hello = test_text("{\"device\":{\"name\":\"%s\",\"arch\":\"%s\",\"sm_count\":%d,\"max_shared\":232448}}",
                            device, arch, count);
    assert_int_equal(put_text(store, 0, "device", hello, &err), 0);
    assert_int_equal(
        put_text(store, 0, "baselines",
                 "{\"baselines\":[{\"name\":\"cublas\",\"problems\":[{\"time\":0.0011},{\"time\":0.000011}]}]}", &err),
        0);
    assert_int_equal(put_text(store, 0, "run",
                              "{\"started\":1789999000,\"ended\":1789999090,\"strategy\":\"random\",\"evaluations\":3,"
                              "\"new\":3,\"search_seconds\":90,\"stopped_by\":\"budget\"}",
                              &err),
                     0);
    store_close(store);
    free(key);
}

static inline void finished_trials(const struct finished *f)
{
    finished_trials_on(f, "NVIDIA H200", "sm_90a", 132);
}

// Stores a final in which trial 1 wins (on fresh data), trial 2 ties and cublasLt fails. cuBLAS takes 0.9 times our
// time on the first problem and 1.6 times on the second. The rounds' times vary, but these ratios are the same in every
// round.
static inline void finished_final(const struct finished *f)
{
    struct error err = {""};
    struct store *store;
    struct environment environment;
    json_t *entries = json_array();
    static const struct {
        const char *name;
        int trial;
        double first, second;
    } list[] = {{"1", 1, 1e-3, 1e-5}, {"2", 2, 1.005e-3, 1.002e-5}, {"cublas", 0, 0.9e-3, 1.6e-5}};
    for (size_t i = 0; i < 3; i++) {
        json_t *times[2] = {json_array(), json_array()};
        for (int round = 0; round < 40; round++) {
            double wobble = 1 + 0.1 * (round % 7);
            json_array_append_new(times[0], json_real(list[i].first * wobble));
            json_array_append_new(times[1], round == 5 && i == 0 ? json_null() : json_real(list[i].second * wobble));
        }
        json_t *problems =
            json_pack("[{s:i, s:o, s:f, s:f}, {s:i, s:o}, {s:i}]", "problem", 0, "times", times[0], "error_max",
                      i == 2 ? 4e-7 : 1e-6, "error_rms", 1e-7, "problem", 1, "times", times[1], "problem", 2);
        json_array_append_new(entries, json_pack("{s:s, s:o, s:s, s:f, s:i, s:o}", "name", list[i].name, "trial",
                                                 list[i].trial ? json_integer(list[i].trial) : json_null(), "status",
                                                 "ok", "error", 0.5, "launches_judged", list[i].trial ? 1100 : 0,
                                                 "problems", problems));
    }
    json_array_append_new(entries, json_pack("{s:s, s:s, s:s, s:[]}", "name", "cublasLt", "status", "launch_error",
                                             "reason", "no heuristic", "problems"));
    json_t *document = test_json(json_pack("{s:f, s:i, s:i, s:i, s:[i, i], s:b, s:o}", "when", 1790000100.0, "seed", 7,
                                           "rounds", 40, "winner", 1, "ties", 1, 2, "replayed", 0, "entries", entries));
    if (store_open(&store, f->store, false, &err) || store_last_environment(store, &environment, &err) ||
        store_put_document(store, 0, "final", document, &err))
        fail_msg("%s", err.message);
    store_close(store);
}

static inline void finished_decided(const struct finished *f)
{
    finished_trials(f);
    finished_final(f);
}

// Runs a command in a separate process, because commands keep their options in static variables.
static inline int finished_child(const struct command *command, int argc, char **argv)
{
    int status;
    pid_t child = fork();
    if (!child) {
        setenv("SWEETSPOT_GPU_WORKER", "none", 1); // results are not compared with this machine's GPU
        signal(SIGPIPE, SIG_IGN);                  // as the program does
        status = command_run(command, argc, argv);
        fflush(stdout);
        fflush(stderr);
        _exit(status);
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    if (!WIFEXITED(status)) fail_msg("%s ended with signal %d", command->name, WTERMSIG(status));
    return WEXITSTATUS(status);
}

// Runs a command; *out and *err get what it printed (freed after the test; may be NULL). Returns its exit status.
static inline int finished_caught(const struct command *command, int argc, char **argv, char **out, char **err)
{
    char paths[2][64] = {"/tmp/sweetspot-out-XXXXXX", "/tmp/sweetspot-err-XXXXXX"};
    int saved[2];
    fflush(stdout);
    fflush(stderr);
    for (int i = 0; i < 2; i++) {
        int fd = mkstemp(paths[i]);
        assert_true(fd >= 0);
        saved[i] = dup(i + 1);
        assert_int_equal(dup2(fd, i + 1), i + 1);
        close(fd);
    }
    int status = finished_child(command, argc, argv);
    fflush(stdout);
    fflush(stderr);
    for (int i = 0; i < 2; i++) {
        char **to = i ? err : out;
        assert_int_equal(dup2(saved[i], i + 1), i + 1);
        close(saved[i]);
        if (to) *to = test_owned(text_read_file(paths[i], NULL));
        unlink(paths[i]);
    }
    return status;
}

// Like finished_caught, but the command's arguments (up to six) are passed as parameters after its name.
static inline int finished_run(const struct command *command, char **out, char **err, const char *name, ...)
{
    char *argv[8] = {(char *)name};
    int argc = 1;
    va_list args;
    va_start(args, name);
    while (argc < 7 && (argv[argc] = va_arg(args, char *))) argc++;
    va_end(args);
    argv[argc] = NULL;
    return finished_caught(command, argc, argv, out, err);
}

struct said {
    char *out, *err;
};

// Runs a command line such as "header JOB --store STORE -o HEADER", in which JOB, STORE and HEADER stand for the job's
// files. Fails unless the command ends with this status.
#define finished_says(f, status, ...) finished_line(f, status, test_text(__VA_ARGS__))
static inline struct said finished_line(const struct finished *f, int status, const char *line)
{
    char *argv[16] = {NULL}, *rest, *words = test_text("%s", line);
    int argc = 0;
    for (char *word = strtok_r(words, " ", &rest); word; word = strtok_r(NULL, " ", &rest)) {
        assert_in_range(argc, 0, 14);
        argv[argc++] = !strcmp(word, "JOB")      ? f->job
                       : !strcmp(word, "STORE")  ? f->store
                       : !strcmp(word, "HEADER") ? f->header
                                                 : word;
    }
    struct said said;
    int found = finished_caught(command_find(commands, argv[0]), argc, argv, &said.out, &said.err);
    if (found != status) fail_msg("%s: status %d instead of %d: %s%s", line, found, status, said.out, said.err);
    return said;
}
