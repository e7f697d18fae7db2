// Finds our programs and the files that belong to them, starting from the running program: under PREFIX after `make
// install` (bin, libexec/sweetspot, share/sweetspot), or in the project's folder, where they were built.
#pragma once

#include <stdint.h>

#ifndef SWEETSPOT_VERSION
#define SWEETSPOT_VERSION "1.0.0"
#endif

// The path of another of our programs, which is in the folder of this one or in libexec/sweetspot. If this program's
// own path is unknown, the result is only the name. malloc'ed.
char *installation_program(const char *name);
// The path of a worker: from the environment variable if it is set, otherwise as above. malloc'ed.
char *installation_worker(const char *variable, const char *name);
// The folder with the headers for users' own functions (sweetspot_reference.h), malloc'ed; NULL if there is none.
char *installation_headers(void);
// The path of something that was installed ("configs/sgemm.cfg"), malloc'ed; NULL if there is none.
char *installation_data(const char *name);
// How many cores this process may use, at least 1.
int64_t installation_cores(void);
