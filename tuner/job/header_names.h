// Names in the header that a job produces (tuner/header/header.h). A job must not use names that would prevent its
// header from being written. The job's reader refuses such names, with the file and the line, so that no search ends
// without a header.
//
// The header defines a macro NAME_X for each parameter X, where NAME is the job's name, both in upper case. It also
// defines macros for its own use and, on request, each parameter under its own name.
#pragma once

#include <stdbool.h>

#include "tuner/job/job.h"

// A name as a C identifier ("my-kernel.2" -> "my_kernel_2"), and the same identifier in upper case. malloc'ed.
char *header_identifier(const char *name);
char *header_upper(const char *name);

// Whether two names are the same identifier.
bool header_same_identifier(const char *a, const char *b);

// Whether the header may define NAME_<macro> for its own use. `macro` is in upper case and without NAME_.
bool header_macro_taken(const char *macro);

// The reason why a string cannot be the value of a macro, worded to follow "a value of 'X' ". NULL if it can.
const char *header_refuse_value(const char *text);
