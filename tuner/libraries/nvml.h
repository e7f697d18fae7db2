// NVML: a device's clock and temperature, and why it is running slower than it could. NVML is optional: without
// libnvidia-ml.so.1, or without permission, nvml_open gives NULL and every reading is "unknown". NVML's functions are
// declared in nvml.c, because nvml.h is not part of every toolkit installation.
#pragma once

#include <stdbool.h>

struct nvml;

struct nvml_reading {
    int clock_mhz;   // of the SMs; 0: unknown
    int temperature; // degrees Celsius; 0: unknown
    bool hot;        // slowed down by heat, by the power supply or by the board
    bool capped;     // slowed down to keep the power limit
};

// NULL if NVML does not work. The caller closes.
struct nvml *nvml_open(const char *device_uuid);
void nvml_close(struct nvml *);               // NULL is fine
const char *nvml_driver(const struct nvml *); // "580.159.04", or "" (also for NULL)
int nvml_max_clock(const struct nvml *);      // MHz of the SMs; 0: unknown
// Reads the device's state; for NULL, all fields are zero. Reading is faster without `temperature`.
struct nvml_reading nvml_read(struct nvml *, bool temperature);
// The board's current power in W, from its sensor: averaged over about ten milliseconds, or over the last second if the
// driver has no such reading. NaN if unknown, and for NULL.
double nvml_power(struct nvml *);
// The energy in J that the board has used since the driver was loaded. It is updated about ten times a second. NaN if
// the device has no such counter (it came with Volta), and for NULL.
double nvml_energy(struct nvml *);
