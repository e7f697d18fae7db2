// See nvrtc.h. For a real architecture (sm_90a), NVRTC makes a cubin. For a virtual one (compute_90a), it makes PTX,
// which takes the cubin's place.
#include "tuner/compiler/nvrtc.h"

#include <fcntl.h>
#include <nvrtc.h>
#include <unistd.h>

#include "tuner/base/clock.h"

int nvrtc_version(char *out, size_t size, struct error *err)
{
    int major, minor;
    if (nvrtcVersion(&major, &minor) != NVRTC_SUCCESS) return error_set(err, "cannot get NVRTC's version");
    snprintf(out, size, "nvrtc %d.%d", major, minor);
    return 0;
}

static int cancel_after(void *deadline, void *unused)
{
    (void)unused;
    return clock_now() > *(const double *)deadline;
}

// NULL with a message when memory is exhausted.
static char *read_log(nvrtcProgram program, struct error *err)
{
    size_t size = 0;
    if (nvrtcGetProgramLogSize(program, &size) != NVRTC_SUCCESS) size = 0;
    char *log = memory_try(size + 1, 1, err);
    if (log && size) nvrtcGetProgramLog(program, log);
    return log;
}

static int take_result(nvrtcProgram program, size_t entry_count, const char *const *entries, struct compilation *c,
                       struct error *err)
{
    bool ptx = nvrtcGetCUBINSize(program, &c->cubin_size) != NVRTC_SUCCESS || !c->cubin_size;
    if (ptx && (nvrtcGetPTXSize(program, &c->cubin_size) != NVRTC_SUCCESS || !c->cubin_size))
        return error_set(err, "NVRTC made neither a cubin nor PTX");
    c->cubin = memory_try(c->cubin_size, 1, err);
    c->entries = memory_try(entry_count, sizeof *c->entries, err);
    if (!c->cubin || !c->entries) return NVRTC_NO_MEMORY;
    if ((ptx ? nvrtcGetPTX : nvrtcGetCUBIN)(program, c->cubin) != NVRTC_SUCCESS)
        return error_set(err, "cannot get the %s from NVRTC", ptx ? "PTX" : "cubin");
    for (size_t i = 0; i < entry_count; i++) {
        const char *symbol = NULL;
        if (nvrtcGetLoweredName(program, entries[i], &symbol) != NVRTC_SUCCESS)
            return error_set(err, "no kernel '%s'", entries[i]);
        compilation_add(c, entries[i], symbol);
    }
    return 0;
}

// If a program has no folder, NVRTC searches the working directory for its includes. Unhashed headers must not be
// found, so the working directory is a folder without headers during the compilation. --no-source-include would have
// the same effect, but then the toolkit's own headers could not find each other (mma.h, cooperative_groups.h). All
// processes use the same folder, because its name is in the cubin's line table.
static int leave_folder(void)
{
    int here = open(".", O_PATH | O_DIRECTORY | O_CLOEXEC);
    if (here >= 0 && chdir("/proc/sys/kernel") && chdir("/")) {
        close(here);
        return -1;
    }
    return here;
}

static int return_to(int here, struct error *err)
{
    int failed = here < 0 || fchdir(here);
    if (here >= 0) close(here);
    return failed ? error_set(err, "the compiler cannot return to its folder") : 0;
}

// Whether a log has more than ptxas's notes. NVRTC does not report why ptxas refuses code that compiles, for example
// because of __constant__ variables that are too large.
static bool says_why(const char *log)
{
    for (const char *line = log; *line; line += strcspn(line, "\n"), line += *line == '\n') {
        size_t length = strcspn(line, "\n");
        bool note = !strncmp(line, "ptxas info ", 11) || !strncmp(line, "ptxas     ", 10);
        if (!note && strspn(line, " ") < length) return true;
    }
    return false;
}

// Rewrites the log if the compiler did not find a kernel, because NVRTC's message names a file of its own.
static void explain_missing(struct compilation *c)
{
    static const char said[] = "Input name expression was: \"";
    const char *name = strncmp(c->log, "__nv_name_map(", 14) != 0 ? NULL : strstr(c->log, said),
               *why = name ? strstr(c->log, "error: ") + strlen("error: ") : NULL;
    if (!name) return;
    name += strlen(said) + strspn(name + strlen(said), " ");
    char *log = c->log;
    c->log = text_format("error: the source has no kernel '%.*s': %.*s\n", (int)strcspn(name, "\""), name,
                         (int)strcspn(why, "\n"), why);
    free(log);
}

int nvrtc_compile(const struct nvrtc_program *p, struct compilation *c, struct error *err)
{
    nvrtcProgram program;
    double start = clock_now(), limit = start + p->deadline;
    *c = (struct compilation){.result = COMPILE_FAILED};
    nvrtcResult said = nvrtcCreateProgram(&program, p->text, p->name, (int)p->header_count, p->header, p->header_name);
    if (said != NVRTC_SUCCESS) return error_set(err, "NVRTC: %s", nvrtcGetErrorString(said));
    for (size_t i = 0; i < p->entry_count && said == NVRTC_SUCCESS; i++)
        said = nvrtcAddNameExpression(program, p->entry[i]);
    if (said == NVRTC_SUCCESS && p->deadline > 0) nvrtcSetFlowCallback(program, cancel_after, &limit);
    int here = leave_folder();
    if (said == NVRTC_SUCCESS) said = nvrtcCompileProgram(program, (int)p->option_count, p->option);
    c->seconds = clock_now() - start;
    int result = return_to(here, err) ? NVRTC_REFUSED : (c->log = read_log(program, err)) ? 0 : NVRTC_NO_MEMORY;
    if (result) {
        nvrtcDestroyProgram(&program);
        return result;
    }
    c->warnings = compilation_warnings(c->log);
    if (said == NVRTC_SUCCESS) {
        c->result = COMPILED;
        result = take_result(program, p->entry_count, p->entry, c, err);
    } else if (p->deadline > 0 && clock_now() > limit) {
        c->result = COMPILE_TIMED_OUT;
    } else if (said == NVRTC_ERROR_OUT_OF_MEMORY || strstr(c->log, ": catastrophic error: out of memory")) {
        c->result = COMPILE_NO_MEMORY;
    } else if (!*c->log) {
        free(c->log);
        c->log = text_copy(nvrtcGetErrorString(said));
    } else if (says_why(c->log)) {
        explain_missing(c);
    } else {
        autofree char *notes = c->log;
        c->log = text_format("error: ptxas rejects the code, and NVRTC does not pass on the reason: perhaps the "
                             "__constant__ variables take more than 64 KiB, or the __shared__ arrays with a fixed size "
                             "more than 48 KiB. nvcc prints it\n%s",
                             notes);
    }
    nvrtcDestroyProgram(&program);
    if (result) compilation_release(c);
    return result;
}
