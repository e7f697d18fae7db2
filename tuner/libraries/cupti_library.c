// See cupti_library.h.
#include "tuner/libraries/cupti_library.h"

#include <cupti_result.h>
#include <cupti_version.h>
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void *library;

static void *open_library(void)
{
    char name[64];
    snprintf(name, sizeof name, "libcupti.so.%d", CUPTI_API_VERSION / 10000);
    void *opened = dlopen(name, RTLD_NOW | RTLD_LOCAL);
    const char *roots[] = {getenv("CUDA_HOME"), getenv("CUDA_PATH"), "/usr/local/cuda"};
    const char *folders[] = {"lib64", "extras/CUPTI/lib64", "lib"};
    for (size_t i = 0; i < 9 && !opened; i++) {
        char path[4096];
        if (!roots[i / 3]) continue;
        snprintf(path, sizeof path, "%s/%s/%s", roots[i / 3], folders[i % 3], name);
        opened = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    }
    return opened;
}

int cupti_library_open(struct error *err)
{
    if (!library) library = open_library();
    if (library) return 0;
    return error_set(err, "libcupti.so.%d not found: it is part of the CUDA toolkit; set CUDA_HOME or LD_LIBRARY_PATH",
                     CUPTI_API_VERSION / 10000);
}

int cupti_library_find(const char *const *names, void **functions, size_t count, struct error *err)
{
    if (cupti_library_open(err)) return -1;
    for (size_t i = 0; i < count; i++)
        if (!dlsym(library, names[i]))
            return error_set(err, "libcupti.so.%d is too old: it lacks %s", CUPTI_API_VERSION / 10000, names[i]);
    for (size_t i = 0; i < count; i++) functions[i] = dlsym(library, names[i]);
    return 0;
}

// What to do about it, for the failures that a user can mend.
static const char *advice(CUptiResult result)
{
    switch (result) {
    case CUPTI_ERROR_INSUFFICIENT_PRIVILEGES:
    case CUPTI_ERROR_VIRTUALIZED_DEVICE_INSUFFICIENT_PRIVILEGES:
        return "; reading GPU counters is reserved to administrators here: run as root (in a container: with "
               "CAP_SYS_ADMIN), or load the driver with `options nvidia NVreg_RestrictProfilingToAdminUsers=0` in "
               "/etc/modprobe.d";
    case CUPTI_ERROR_VIRTUALIZED_DEVICE_NOT_SUPPORTED:
        return "; this is a virtual GPU whose counters are not passed through: its host can enable them (vGPU "
               "parameter "
               "enable_profiling=1), or times alone can be had";
    case CUPTI_ERROR_MIG_DEVICE_NOT_SUPPORTED:
        return "; this is a slice of a GPU (MIG), which has no counters of its own here: use a GPU without MIG "
               "(`nvidia-smi -i N -mig 0`), or times alone can be had";
    case CUPTI_ERROR_CONFIDENTIAL_COMPUTING_NOT_SUPPORTED:
        return "; confidential computing is on, which hides the counters";
    case CUPTI_ERROR_WSL_DEVICE_NOT_SUPPORTED:
        return "; this WSL passes no counters through: allow them to all users in the Windows driver's developer "
               "settings, or "
               "run on Linux";
    case CUPTI_ERROR_NOT_SUPPORTED:
        return "; this device, driver or virtual GPU has no such counters: times alone can be had";
    case CUPTI_ERROR_HARDWARE_BUSY:
        return "; another profiler (ncu, nsys, DCGM) is using this device's counters";
    case CUPTI_ERROR_INVALID_CHIP_NAME:
        return "; a newer CUPTI may know this chip";
    default:
        return "";
    }
}

int cupti_library_fail(struct error *err, const char *function, int result)
{
    const char *text = NULL;
    CUptiResult (*describe)(CUptiResult, const char **) = NULL;
    void *symbol = library ? dlsym(library, "cuptiGetResultString") : NULL;
    memcpy(&describe, &symbol, sizeof symbol);
    if (!describe || describe((CUptiResult)result, &text) != CUPTI_SUCCESS || !text) text = "unknown error";
    return error_set(err, "%s: %s (%d)%s", function, text, result, advice((CUptiResult)result));
}
