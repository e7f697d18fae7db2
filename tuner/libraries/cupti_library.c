// See cupti_library.h.
#include "tuner/libraries/cupti_library.h"

struct cupti_functions cupti;

int cupti_library_load(struct error *err)
{
    static const struct library_symbol symbols[] = {CUPTI_FUNCTIONS(LIBRARY_SYMBOL)};
    static void *library;
    static bool loaded;
    char name[64];
    struct error why;
    if (loaded) return 0;
    snprintf(name, sizeof name, "libcupti.so.%d", CUPTI_API_VERSION / 10000);
    if (!library) library = library_open(name, true, false, NULL);
    if (!library)
        return error_set(err, "%s not found: it is part of the CUDA toolkit; set CUDA_HOME or LD_LIBRARY_PATH", name);
    if (library_find(library, symbols, sizeof symbols / sizeof *symbols, &cupti, &why))
        return error_set(err, "%s is too old: it lacks %s", name, why.message);
    loaded = true;
    return 0;
}

// What to do about a failure, if the user can fix it.
static const char *advice(CUptiResult result)
{
    switch (result) {
    case CUPTI_ERROR_INSUFFICIENT_PRIVILEGES:
    case CUPTI_ERROR_VIRTUALIZED_DEVICE_INSUFFICIENT_PRIVILEGES:
        return "; only administrators may read GPU counters here: run as root (in a container: with "
               "CAP_SYS_ADMIN), or load the driver with `options nvidia NVreg_RestrictProfilingToAdminUsers=0` in "
               "/etc/modprobe.d";
    case CUPTI_ERROR_VIRTUALIZED_DEVICE_NOT_SUPPORTED:
        return "; this is a virtual GPU whose counters are not passed through: its host can enable them (vGPU "
               "parameter enable_profiling=1), or tune without counters";
    case CUPTI_ERROR_MIG_DEVICE_NOT_SUPPORTED:
        return "; this is a slice of a GPU (MIG), which has no counters here: use a GPU without MIG (`nvidia-smi -i N "
               "-mig 0`), or tune without counters";
    case CUPTI_ERROR_CONFIDENTIAL_COMPUTING_NOT_SUPPORTED:
        return "; confidential computing is on, which hides the counters: switch it off, or tune without counters";
    case CUPTI_ERROR_WSL_DEVICE_NOT_SUPPORTED:
        return "; this WSL passes no counters through: allow them for all users in the Windows driver's developer "
               "settings, or run on Linux";
    case CUPTI_ERROR_NOT_SUPPORTED:
        return "; this device, driver or virtual GPU has no such counters: tune without counters";
    case CUPTI_ERROR_HARDWARE_BUSY:
        return "; another profiler (ncu, nsys, DCGM) is using this device's counters: stop it and run again";
    case CUPTI_ERROR_INVALID_CHIP_NAME:
        return "; install a newer CUPTI, which may know this chip";
    default:
        return "";
    }
}

int cupti_library_fail(struct error *err, const char *function, CUptiResult result)
{
    const char *text = NULL;
    if (!cupti.cuptiGetResultString || cupti.cuptiGetResultString(result, &text) != CUPTI_SUCCESS || !text)
        text = "unknown error";
    return error_set(err, "%s: %s (%d)%s", function, text, (int)result, advice(result));
}
