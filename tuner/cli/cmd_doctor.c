// sweetspot doctor: what works on this machine, and how to mend the rest.
#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tuner/base/colour.h"
#include "tuner/base/protocol.h"
#include "tuner/cli/commands.h"
#include "tuner/cli/options.h"
#include "tuner/run/probe.h"
#include "tuner/run/sanitize.h"

enum verdict { GOOD, PARTLY, BAD };

static void line(enum verdict verdict, const char *what, const char *format, ...) __attribute__((format(printf, 3, 4)));
static void line(enum verdict verdict, const char *what, const char *format, ...)
{
    static const char *const words[] = {"ok", "warn", "FAIL"};
    static const enum colour colours[] = {COLOUR_GOOD, COLOUR_DOUBT, COLOUR_BAD};
    va_list args;
    printf("%s%-4s%s  %-16s ", colour_begin(stdout, colours[verdict]), words[verdict], colour_end(stdout), what);
    va_start(args, format);
    vprintf(format, args);
    va_end(args);
    putchar('\n');
}

static void check_gpu(const json_t *hello)
{
    const json_t *d = json_object_get(hello, "device"), *counters = json_object_get(hello, "counters");
    line(GOOD, "GPU", "%s, %s, driver %s, CUDA %s, %.1f GiB free", json_get_string(d, "name", "?"),
         json_get_string(d, "arch", "?"), json_get_string(d, "driver", "?"), json_get_string(d, "cuda", "?"),
         (double)json_get_integer(d, "memory_free", 0) / (1 << 30));
    if (json_get_bool(hello, "nvml", false))
        line(GOOD, "clocks", "NVML answers: temperature, clock and throttling are watched");
    else
        line(PARTLY, "clocks",
             "NVML (libnvidia-ml.so.1) does not answer: throttled samples go unnoticed; it comes with the driver");
    if (json_get_bool(counters, "available", false)) {
        line(GOOD, "counters", "CUPTI reads hardware counters (%s, %zu metrics of the basic set)",
             json_get_string(counters, "chip", "?"), json_array_size(json_object_get(counters, "metrics")));
    } else {
        line(PARTLY, "counters", "%s", json_get_string(counters, "reason", "not available"));
        printf("%23sTuning works without. To allow them for all users: as root, put\n%23s    options nvidia "
               "NVreg_RestrictProfilingToAdminUsers=0\n"
               "%23sinto /etc/modprobe.d/nvidia-profiling.conf and reboot; or run as root, or give the container "
               "SYS_ADMIN\n",
               "", "", "");
    }
    const char *blas = json_get_string(json_object_get(hello, "libraries"), "cublas", "");
    if (*blas)
        line(GOOD, "cuBLAS", "%s", blas);
    else
        line(PARTLY, "cuBLAS", "not found: no comparison with it; set LD_LIBRARY_PATH to the CUDA libraries");
}

static void check_sanitizer(void)
{
    struct error why;
    struct sanitizer *sanitizer = sanitizer_open("", NULL, &why);
    if (sanitizer)
        line(GOOD, "sanitizer", "compute-sanitizer %s looks at winners and judged kernels",
             sanitizer_version(sanitizer));
    else
        line(PARTLY, "sanitizer", "%s: no second opinion on winners; CUDA has it in the package cuda-sanitizer",
             *why.message ? why.message : "SWEETSPOT_SANITIZER=none");
    sanitizer_close(sanitizer);
}

int cmd_doctor(int argc, char **argv)
{
    const struct option_spec specs[] = {OPTION_END};
    int status = options_parse(specs,
                               "Says what works on this machine (driver, GPU, counters, compiler, sanitizer, folders) "
                               "and how to mend the rest.",
                               argc, argv);
    if (status >= 0) return status;
    struct error err;
    status = EXIT_DONE;
    json_t *hello = probe_gpu(0, &err);
    if (hello) {
        check_gpu(hello);
    } else {
        line(BAD, "GPU", "%s", err.message);
        printf("%23sWithout a GPU: sweetspot tune JOB --device replay:FILE on a recorded space\n", "");
        status = EXIT_ENVIRONMENT;
    }
    const char *arch = json_get_string(json_object_get(hello, "device"), "arch", "sm_90a");
    json_t *answer = probe_compiler(json_pack("{s:s}", "op", "hello"), &err);
    char version[64];
    snprintf(version, sizeof version, "%s", json_get_string(answer, "compiler", ""));
    json_decref(answer);
    answer = *version
                 ? probe_compiler(json_pack("{s:s, s:s, s:s, s:[s]}", "op", "compile", "arch", arch, "text",
                                            "extern \"C\" __global__ void one(int *x) { *x = 1; }", "entries", "one"),
                                  &err)
                 : NULL;
    if (!strcmp(json_get_string(answer, "status", ""), "ok")) {
        line(GOOD, "compiler", "%s compiles for %s in %.2f s", version, arch, json_get_number(answer, "seconds", 0));
    } else {
        line(BAD, "compiler", "%s", answer ? json_get_string(answer, "reason", "?") : err.message);
        printf("%23sInstall CUDA 12.8 or newer and build again with CUDA_HOME=/path/to/cuda\n", "");
        status = EXIT_ENVIRONMENT;
    }
    check_sanitizer();
    if (access("out", W_OK) && (errno != ENOENT || access(".", W_OK))) {
        line(BAD, "folder out/", "cannot write: %s; use --store FILE elsewhere", strerror(errno));
        status = EXIT_ENVIRONMENT;
    } else {
        line(GOOD, "folder out/", "stores, logs and the compile cache go there");
    }
    json_decref(answer);
    json_decref(hello);
    return status;
}
