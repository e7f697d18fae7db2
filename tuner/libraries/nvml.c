// See nvml.h.
#include "tuner/libraries/nvml.h"

#include "tuner/libraries/library.h"

// From NVML's documentation; values are part of its binary interface.
enum { CLOCK_SM = 1, SENSOR_GPU = 0 };
enum {
    REASON_POWER_CAP = 0x4,
    REASON_HARDWARE = 0x8,
    REASON_SOFTWARE_HEAT = 0x20,
    REASON_HARDWARE_HEAT = 0x40,
    REASON_POWER_BRAKE = 0x80,
};

// The functions that we call: the symbol and the member of the table. All return 0 or an error number.
#define FUNCTIONS(F)                                                         \
    F("nvmlInit_v2", int (*init)(void))                                      \
    F("nvmlShutdown", int (*shutdown)(void))                                 \
    F("nvmlDeviceGetHandleByUUID", int (*by_uuid)(const char *, void **))    \
    F("nvmlSystemGetDriverVersion", int (*driver_version)(char *, unsigned)) \
    F("nvmlDeviceGetClockInfo", int (*clock)(void *, int, unsigned *))       \
    F("nvmlDeviceGetMaxClockInfo", int (*maximum)(void *, int, unsigned *))  \
    F("nvmlDeviceGetTemperature", int (*temperature)(void *, int, unsigned *))

static struct {
#define MEMBER(symbol, declaration) declaration;
    FUNCTIONS(MEMBER)
#undef MEMBER
} lib;
// nvmlFieldValue_t of nvml.h.
struct field_value {
    unsigned field, scope;
    long long timestamp, latency;
    int type, result;
    union {
        unsigned number;
        unsigned long long wide;
    } value;
};
enum { FIELD_POWER_INSTANT = 186, TYPE_UNSIGNED = 1 };
// NULL if the driver lacks the function.
static struct {
    int (*reasons)(void *, unsigned long long *); // before driver 535 under an older name; much older drivers lack it
    int (*values)(void *, int, struct field_value *);
    int (*usage)(void *, unsigned *);            // mW; average of a second on Ampere and later, except GA100
    int (*energy)(void *, unsigned long long *); // mJ
} optional;

struct nvml {
    void *device;
    int max_clock;
    char driver[80];
};

static int load(void)
{
#define SYMBOL(symbol, declaration) {symbol, NULL},
    static const struct library_symbol symbols[] = {FUNCTIONS(SYMBOL)};
#undef SYMBOL
    static const struct library_symbol more[] = {
        {"nvmlDeviceGetCurrentClocksEventReasons", "nvmlDeviceGetCurrentClocksThrottleReasons"},
        {"nvmlDeviceGetFieldValues", NULL},
        {"nvmlDeviceGetPowerUsage", NULL},
        {"nvmlDeviceGetTotalEnergyConsumption", NULL}};
    void *library = library_open("libnvidia-ml.so.1", false, false, NULL);
    if (!library || library_find(library, symbols, sizeof symbols / sizeof *symbols, &lib, NULL)) return -1;
    library_find(library, &more[0], 1, &optional.reasons, NULL);
    library_find(library, &more[1], 1, &optional.values, NULL);
    library_find(library, &more[2], 1, &optional.usage, NULL);
    library_find(library, &more[3], 1, &optional.energy, NULL);
    return 0;
}

struct nvml *nvml_open(const char *device_uuid)
{
    if (load() || lib.init()) return NULL;
    struct nvml *n = memory_try(1, sizeof *n, NULL);
    if (!n) {
        lib.shutdown();
        return NULL;
    }
    unsigned clock = 0;
    if (lib.driver_version(n->driver, sizeof n->driver)) n->driver[0] = '\0';
    if (lib.by_uuid(device_uuid, &n->device)) n->device = NULL; // a MIG slice: only the driver's version is known
    if (n->device && !lib.maximum(n->device, CLOCK_SM, &clock)) n->max_clock = (int)clock;
    return n;
}

void nvml_close(struct nvml *n)
{
    if (!n) return;
    lib.shutdown();
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

struct nvml_reading nvml_read(struct nvml *n, bool temperature)
{
    struct nvml_reading r = {0};
    unsigned value;
    unsigned long long reasons = 0;
    if (!n || !n->device) return r;
    if (!lib.clock(n->device, CLOCK_SM, &value)) r.clock_mhz = (int)value;
    if (optional.reasons && optional.reasons(n->device, &reasons)) reasons = 0;
    r.hot = reasons & (REASON_HARDWARE | REASON_SOFTWARE_HEAT | REASON_HARDWARE_HEAT | REASON_POWER_BRAKE);
    r.capped = reasons & REASON_POWER_CAP;
    if (temperature && !lib.temperature(n->device, SENSOR_GPU, &value)) r.temperature = (int)value;
    return r;
}

double nvml_power(struct nvml *n)
{
    struct field_value v = {.field = FIELD_POWER_INSTANT};
    unsigned milliwatts = 0;
    if (!n || !n->device) return NAN;
    if (optional.values && !optional.values(n->device, 1, &v) && !v.result && v.type == TYPE_UNSIGNED)
        milliwatts = v.value.number;
    if (!milliwatts && (!optional.usage || optional.usage(n->device, &milliwatts))) return NAN;
    return milliwatts ? milliwatts / 1e3 : (double)NAN;
}

double nvml_energy(struct nvml *n)
{
    unsigned long long millijoules = 0;
    if (!n || !n->device || !optional.energy || optional.energy(n->device, &millijoules)) return NAN;
    return (double)millijoules / 1e3;
}
