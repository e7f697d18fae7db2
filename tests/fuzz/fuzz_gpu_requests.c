// The requests that sweetspot-gpu reads, one per line, on a device that exists only in memory (fake_cuda.h). Paths that
// begin with "CUBIN" and "NPY" stand for a cubin and an .npy file.
//
// Promise: every line gets one answer, which is JSON. No request makes the worker read or write outside its memory, or
// leak memory.
#include "tests/fuzz/fuzz_json.h"

#include <fcntl.h>

#include "tests/fuzz/fake_cuda.h"
#include "tuner/base/text.h"

#define main gpu_main
#include "tuner/gpu/main_gpu.c" // NOLINT: includes the source for its static functions
#undef main

enum { REQUESTS = 6 };

static char cubin_path[64], npy_path[64];
static int answers;

static void keep_file(char *path, const void *bytes, size_t size)
{
    int fd = memfd_create("kept", MFD_CLOEXEC);
    if (fd < 0 || write(fd, bytes, size) != (ssize_t)size) abort();
    snprintf(path, 64, "/proc/self/fd/%d", fd);
}

int LLVMFuzzerInitialize(int *argc, char ***argv);
int LLVMFuzzerInitialize(int *argc, char ***argv)
{
    static const char npy[] = "\x93NUMPY\x01\x00\x3a\x00{'descr': '<f4', 'fortran_order': False, 'shape': (2,), }\n"
                              "\0\0\0\0\0\0\x80\x3f";
    (void)argc;
    (void)argv;
    size_t size;
    char *cubin = text_read_file("tests/fuzz/corpus/cubin/variables", &size), *image = cubin ? strchr(cubin, '\n') : 0;
    if (!image) abort();
    keep_file(cubin_path, image + 1, size - (size_t)(image + 1 - cubin));
    keep_file(npy_path, npy, sizeof npy - 1);
    free(cubin);
    answers = memfd_create("answers", MFD_CLOEXEC);
    stderr = fopen("/dev/null", "w"); // for the worker's messages; sanitizers write to the descriptor
    return 0;
}

// In a request, replaces each CUBIN or NPY placeholder by that file's path, and any other path by one that does not
// exist.
static void put_paths(json_t *value)
{
    json_array_each(value, i, each) put_paths(each);
    json_object_each(value, key, each) put_paths(each);
    const char *text = json_is_string(value) ? json_string_value(value) : "";
    if (!strncmp(text, "CUBIN", 5))
        json_string_set(value, cubin_path);
    else if (!strncmp(text, "NPY", 3))
        json_string_set(value, npy_path);
    else if (strchr(text, '/'))
        json_string_set(value, "nothing");
}

// Whether the request would take long. Such requests are skipped.
static bool is_long(const json_t *request)
{
    const json_t *measure = json_object_get(request, "measure");
    return json_get_integer(request, "rounds", 0) > 50 || json_get_integer(measure, "warmup", 0) > 50 ||
           json_get_integer(measure, "min_samples", 0) > 200 || json_get_integer(measure, "max_samples", 0) > 200 ||
           json_get_number(measure, "rest", 0) > 0 ||
           json_get_integer(json_object_get(request, "verify"), "guard_bytes", 0) > FAKE_ALLOCATION;
}

// Whether the request runs a reference command, which is a user's program and is not run here.
static bool runs_command(const json_t *request)
{
    return json_object_get(json_object_get(request, "reference"), "command") != NULL;
}

static void check_answer(void)
{
    char text[1 << 16];
    struct error err;
    ssize_t size = pread(answers, text, sizeof text - 1, 0);
    FUZZ_CHECK(size > 0, "no answer");
    if (size == sizeof text - 1) return;
    text[size] = 0;
    char *last = text + size - 1; // heartbeats may come before the answer
    FUZZ_CHECK(*last == '\n', "an answer without its end");
    *last = 0;
    char *line = strrchr(text, '\n');
    autojson json_t *answer = json_parse(line ? line + 1 : text, &err);
    FUZZ_CHECK(json_is_object(answer), "%s", err.message);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct gpu_worker w = {.out = answers};
    char *text = fuzz_text(data, size), *rest = text;
    int status = -1;
    parallel_watch(tell_reference, &w);
    for (int n = 0; n < REQUESTS && status < 0 && rest; n++) {
        json_t *request = json_loads(strsep(&rest, "\n"), 0, NULL);
        if (request && (is_long(request) || runs_command(request))) {
            json_decref(request);
            continue;
        }
        put_paths(request);
        autofree char *line =
            request ? json_dumps(request, JSON_COMPACT | JSON_REAL_PRECISION(17) | JSON_ENCODE_ANY) : NULL;
        json_decref(request);
        if (ftruncate(answers, 0) || lseek(answers, 0, SEEK_SET)) abort();
        status = handle(&w, line ? line : "%");
        check_answer();
    }
    struct error ignored;
    gpu_final_end(&w.final, &ignored);
    if (w.has_job) forget_job(&w);
    arena_release(&w.job); // memory of a refused job
    gpu_counting_close(w.counting);
    machine_close(&w.machine);
    free(text);
    return 0;
}
