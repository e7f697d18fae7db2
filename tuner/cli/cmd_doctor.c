// sweetspot doctor: shows the GPUs of this machine, what works on it, and how to fix the rest.
#include <errno.h>
#include <unistd.h>

#include "tuner/base/colour.h"
#include "tuner/base/protocol.h"
#include "tuner/cli/commands.h"
#include "tuner/setup/probe.h"
#include "tuner/setup/sanitize.h"

static struct {
    int format;
} given;

static const struct option_spec specs[] = {
    OPTION_DOCUMENT_FORMAT(&given.format),
    OPTION_END,
};

enum verdict { GOOD, PARTLY, BAD };

static const char *const verdict_text[] = {"ok", "warn", "FAIL"};

// Adds {"what":"GPU","verdict":"ok","text":"..","mend":""} to the list of findings. "mend" is empty if the verdict is
// good.
__attribute__((format(printf, 5, 6))) static void add(json_t *all, enum verdict verdict, const char *what,
                                                      const char *mend, const char *format, ...)
{
    TEXT_FROM(format, text);
    json_array_append_new(all, json_pack("{s:s, s:s, s:o, s:s}", "what", what, "verdict", verdict_text[verdict], "text",
                                         json_text(text, strlen(text)), "mend", verdict == GOOD ? "" : mend));
}

// Prints a string of several lines, each beginning in the same column.
static void print_mend(const char *text)
{
    while (*text) {
        size_t length = strcspn(text, "\n");
        printf("%23s%.*s\n", "", (int)length, text);
        text += length + (text[length] == '\n');
    }
}

static void print_findings(const json_t *all)
{
    json_array_each(all, i, one) {
        const char *verdict = json_get_string(one, "verdict", "");
        enum colour colour = !strcmp(verdict, verdict_text[GOOD])  ? COLOUR_GOOD
                             : !strcmp(verdict, verdict_text[BAD]) ? COLOUR_BAD
                                                                   : COLOUR_DOUBT;
        printf("%s%-4s%s  %-16s %s\n", colour_begin(stdout, colour), verdict, colour_end(stdout),
               json_get_string(one, "what", ""), json_get_string(one, "text", ""));
        print_mend(json_get_string(one, "mend", ""));
    }
}

// The answers of all GPUs to "hello", each with the GPU's "index". The list is empty, and *err is set, if the first GPU
// cannot be used.
static json_t *find_devices(struct error *err)
{
    json_t *devices = json_array();
    int64_t count = 1;
    for (int i = 0; i < count; i++) {
        json_t *hello = probe_gpu(i, err);
        if (!hello) break;
        count = json_get_integer(hello, "device_count", 1);
        json_object_set_new(hello, "index", json_integer(i));
        json_array_append_new(devices, hello);
    }
    return devices;
}

static void check_devices(json_t *all, const json_t *devices, const struct error *err)
{
    json_array_each(devices, i, hello) {
        const json_t *d = json_object_get(hello, "device");
        autofree char *what = text_format("GPU %zu", i);
        add(all, GOOD, what, "", "%s, %s, %" PRId64 " SMs, %.1f GiB (%.1f free), driver %s, CUDA %s, %s",
            json_get_string(d, "name", "?"), json_get_string(d, "arch", "?"), json_get_integer(d, "sm_count", 0),
            (double)json_get_integer(d, "memory_bytes", 0) / (1 << 30),
            (double)json_get_integer(d, "memory_free", 0) / (1 << 30), json_get_string(d, "driver", "?"),
            json_get_string(d, "cuda", "?"), json_get_string(d, "uuid", ""));
    }
    if (!json_array_size(devices))
        add(all, BAD, "GPU", "Without a GPU: sweetspot tune JOB --device replay:FILE on a recorded space", "%s",
            err->message);
}

static void check_libraries(json_t *all, const json_t *hello)
{
    const json_t *counters = json_object_get(hello, "counters");
    bool nvml = json_get_bool(hello, "nvml", false);
    add(all, nvml ? GOOD : PARTLY, "clocks", "Install libnvidia-ml.so.1, which comes with the driver", "%s",
        nvml ? "NVML works: temperature, clock and throttling are watched"
             : "NVML does not work: throttled samples are not detected");
    if (json_get_bool(counters, "available", false))
        add(all, GOOD, "counters", "", "CUPTI reads hardware counters (%s, %zu metrics of the basic set)",
            json_get_string(counters, "chip", "?"), json_array_size(json_object_get(counters, "metrics")));
    else
        add(all, PARTLY, "counters",
            "Tuning works without counters. To allow counters for all users, put as root\n"
            "    options nvidia NVreg_RestrictProfilingToAdminUsers=0\n"
            "into /etc/modprobe.d/nvidia-profiling.conf and reboot; or run as root, or give the container SYS_ADMIN",
            "%s", json_get_string(counters, "reason", "not available"));
    const char *blas = json_get_string(json_object_get(hello, "libraries"), "cublas", "");
    add(all, *blas ? GOOD : PARTLY, "cuBLAS", "Set LD_LIBRARY_PATH to the CUDA libraries", "%s",
        *blas ? blas : "not found: no comparison with it");
}

static void check_sanitizer(json_t *all)
{
    struct error why;
    struct sanitizer *sanitizer = sanitizer_open("", NULL, &why);
    if (sanitizer)
        add(all, GOOD, "sanitizer", "", "compute-sanitizer %s checks winners and the kernels of `judge`",
            sanitizer_version(sanitizer));
    else
        add(all, PARTLY, "sanitizer", "Install CUDA's package cuda-sanitizer", "%s: winners get no second opinion",
            *why.message ? why.message : "SWEETSPOT_SANITIZER=none");
    sanitizer_close(sanitizer);
}

static int check_compiler(json_t *all, const char *arch)
{
    struct error err = {""};
    autojson json_t *hello = probe_compiler(json_pack("{s:s}", "op", "hello"), &err), *answer = NULL;
    const char *version = json_get_string(hello, "compiler", "");
    if (*version)
        answer = probe_compiler(json_pack("{s:s, s:s, s:s, s:[s]}", "op", "compile", "arch", arch, "text",
                                          "extern \"C\" __global__ void one(int *x) { *x = 1; }", "entries", "one"),
                                &err);
    bool works = !strcmp(json_get_string(answer, "status", ""), "ok");
    if (works)
        add(all, GOOD, "compiler", "", "%s compiles for %s in %.2f s", version, arch,
            json_get_number(answer, "seconds", 0));
    else
        add(all, BAD, "compiler", "Install CUDA 12.8 or newer and build again with CUDA_HOME=/path/to/cuda", "%s",
            answer ? json_get_string(answer, "reason", "?") : err.message);
    return works ? EXIT_DONE : EXIT_ENVIRONMENT;
}

static int check_folder(json_t *all)
{
    if (access("out", W_OK) && (errno != ENOENT || access(".", W_OK))) {
        add(all, BAD, "folder out/", "Run in a folder that you can write to, or give --store FILE", "cannot write: %s",
            strerror(errno));
        return EXIT_ENVIRONMENT;
    }
    add(all, GOOD, "folder out/", "", "stores, logs and the compile cache go there");
    return EXIT_DONE;
}

static int check_all(json_t *all, const json_t *devices, const struct error *err)
{
    const json_t *first = json_array_get(devices, 0);
    check_devices(all, devices, err);
    if (first) check_libraries(all, first);
    int compiler = check_compiler(all, json_get_string(json_object_get(first, "device"), "arch", "sm_90a"));
    check_sanitizer(all);
    int folder = check_folder(all);
    return !first ? EXIT_ENVIRONMENT : compiler ? compiler : folder;
}

static int run(void)
{
    struct error err = {""};
    autojson json_t *all = json_array(), *devices = find_devices(&err);
    int status = check_all(all, devices, &err);
    if (given.format == FORMAT_JSON)
        json_print_document("sweetspot-doctor", 1,
                            json_pack("{s:i, s:O, s:O}", "exit_status", status, "devices", devices, "checks", all),
                            stdout);
    else
        print_findings(all);
    return status;
}

const struct command cmd_doctor = {
    .name = "doctor",
    .summary = "the GPUs of this machine, what works on it, and how to fix the rest",
    .description = "Lists the GPUs of this machine, and reports what works on it (driver, counters, compiler, "
                   "sanitizer, folders) and how to fix the rest. Exit status 3 if tuning is not possible here.",
    .options = specs,
    .run = run,
    .more = "GPUs are listed with their numbers for `tune --device`. The exit status is 3 if no GPU can be used, no "
            "candidate compiles, or the folder cannot be written.",
    .see = "tune list",
};
