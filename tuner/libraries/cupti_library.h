// libcupti, opened at run time, for the modules that call it: counters.c (range profiler), sass.c (SASS metrics) and
// sampling.c (PC sampling). They alone include CUPTI's headers; each keeps its own table of the functions that it uses,
// found by name here.
#ifndef SWEETSPOT_CUPTI_LIBRARY_H
#define SWEETSPOT_CUPTI_LIBRARY_H

#include <stddef.h>

#include "tuner/base/error.h"

// Opens the library, once in a process: it is never closed, because it hooks itself into the driver. Fails with the way
// to mend it.
int cupti_library_open(struct error *err);

// Finds `count` functions by name, all of them or none: -1 with the first that this libcupti lacks. Opens the library
// if need be.
int cupti_library_find(const char *const *names, void **functions, size_t count, struct error *err);

// "function: what CUPTI says (number); what to do about it". `result` is a CUptiResult. Returns -1.
int cupti_library_fail(struct error *err, const char *function, int result);

#endif
