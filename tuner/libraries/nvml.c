// See nvml.h.
#include "tuner/libraries/nvml.h"

#include <dlfcn.h>
#include <stdlib.h>

// From NVML's documentation; values are part of its binary interface.
enum { CLOCK_SM = 1, SENSOR_GPU = 0 };
enum {
    REASON_POWER_CAP = 0x4,
    REASON_HARDWARE = 0x8,
    REASON_SOFTWARE_HEAT = 0x20,
    REASON_HARDWARE_HEAT = 0x40,
    REASON_POWER_BRAKE = 0x80,
};

struct nvml {
    void *library, *device;
    int max_clock;
    char driver[80];
    int (*init)(void);
    int (*shutdown)(void);
    int (*by_uuid)(const char *, void **);
    int (*driver_version)(char *, unsigned);
    int (*clock)(void *, int, unsigned *);
    int (*maximum)(void *, int, unsigned *);
    int (*temperature)(void *, int, unsigned *);
    int (*reasons)(void *, unsigned long long *); // NULL before driver 535 and its older name alike: unknown
};

static void *find(void *library, const char *name, const char *older)
{
    void *f = dlsym(library, name);
    return f || !older ? f : dlsym(library, older);
}

struct nvml *nvml_open(const char *device_uuid)
{
    void *library = dlopen("libnvidia-ml.so.1", RTLD_NOW);
    struct nvml *n = library ? calloc(1, sizeof *n) : NULL;
    if (!n) return NULL;
    n->library = library;
    *(void **)&n->init = find(library, "nvmlInit_v2", NULL);
    *(void **)&n->shutdown = find(library, "nvmlShutdown", NULL);
    *(void **)&n->by_uuid = find(library, "nvmlDeviceGetHandleByUUID", NULL);
    *(void **)&n->driver_version = find(library, "nvmlSystemGetDriverVersion", NULL);
    *(void **)&n->clock = find(library, "nvmlDeviceGetClockInfo", NULL);
    *(void **)&n->maximum = find(library, "nvmlDeviceGetMaxClockInfo", NULL);
    *(void **)&n->temperature = find(library, "nvmlDeviceGetTemperature", NULL);
    *(void **)&n->reasons =
        find(library, "nvmlDeviceGetCurrentClocksEventReasons", "nvmlDeviceGetCurrentClocksThrottleReasons");
    if (!n->init || !n->shutdown || !n->by_uuid || !n->driver_version || !n->clock || !n->maximum || !n->temperature ||
        n->init()) {
        dlclose(library);
        free(n);
        return NULL;
    }
    unsigned clock = 0;
    if (n->driver_version(n->driver, sizeof n->driver)) n->driver[0] = '\0';
    if (n->by_uuid(device_uuid, &n->device)) n->device = NULL; // a part of a device (MIG): the driver's version is all
    if (n->device && !n->maximum(n->device, CLOCK_SM, &clock)) n->max_clock = (int)clock;
    return n;
}

void nvml_close(struct nvml *n)
{
    if (!n) return;
    n->shutdown();
    dlclose(n->library);
    free(n);
}

const char *nvml_driver(const struct nvml *n)
{
    return n ? n->driver : "";
}

int nvml_max_clock(const struct nvml *n)
{
    return n ? n->max_clock : 0;
}

struct nvml_reading nvml_read_quickly(struct nvml *n)
{
    struct nvml_reading r = {0};
    unsigned value;
    unsigned long long reasons = 0;
    if (!n || !n->device) return r;
    if (!n->clock(n->device, CLOCK_SM, &value)) r.clock_mhz = (int)value;
    if (n->reasons && n->reasons(n->device, &reasons)) reasons = 0;
    r.hot = reasons & (REASON_HARDWARE | REASON_SOFTWARE_HEAT | REASON_HARDWARE_HEAT | REASON_POWER_BRAKE);
    r.capped = reasons & REASON_POWER_CAP;
    return r;
}

struct nvml_reading nvml_read(struct nvml *n)
{
    struct nvml_reading r = nvml_read_quickly(n);
    unsigned value;
    if (n && n->device && !n->temperature(n->device, SENSOR_GPU, &value)) r.temperature = (int)value;
    return r;
}
