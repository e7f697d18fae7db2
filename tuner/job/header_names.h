// Names in the header that a job produces (tuner/header/header.h), and so the names that a job may use: the
// job's reader refuses the others with file and line, so that no search ends without a header.
//
// The header has a macro NAME_X for each parameter X, NAME being the job's name and X in upper case, macros for itself,
// and on request each parameter under its own name.
#pragma once

#include <stdbool.h>

#include "tuner/job/job.h"

// A name as a C identifier: "my-kernel.2" -> "my_kernel_2"; and in upper case. malloc'ed.
char *header_identifier(const char *name);
char *header_upper(const char *name);

// Whether NAME_<macro> (upper case, without NAME_) is one that the header may define for itself.
bool header_macro_taken(const char *macro);

// Why a text cannot be what a macro stands for, in words that follow "a value of 'X' "; NULL: it can.
const char *header_refuse_value(const char *text);
