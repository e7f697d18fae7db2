// The checks of `sweetspot check` on a job that was loaded without errors. They find everything that would fail in a
// long run or have no effect on it. Mistakes make the job unsound. `doubts` are printed as warnings: they concern
// settings that may be intended.
#pragma once

#include "tuner/check/signature.h"
#include "tuner/source/cuda_file.h"

// A kernel's source, or one of the user's files that it includes.
struct scanned_file {
    char *path;
    struct cuda_file file;
};

struct scanned_kernel {
    const char *name, *path;
    int line;
    bool is_template;
};

struct source_scan {
    size_t file_count, kernel_count;
    struct scanned_file *files;
    struct scanned_kernel *kernels; // __global__ functions, including those that are only declared
    bool pastes;                    // contains ##, which can form names that are not in the files
    char *missing;                  // an #include "file" that was not found, or an #include of a macro; NULL: none
};

struct check {
    const struct job *job;
    const struct device_limits *limits;
    const char *arch;
    struct source_scan template, reference; // reference: of the reference kernel's own source; empty if it has none
    struct mistakes mistakes, doubts;
};

// Scans the sources. The caller must call check_release afterwards.
void check_open(struct check *, const struct job *, const struct device_limits *, const char *arch);
void check_release(struct check *);

// Whether the files use a name anywhere except in its definition and its `#ifndef` guard.
bool source_scan_uses(const struct source_scan *, const char *name);

// Adds a mistake or a warning at a location in the job file. Stages share kernels and configurations share stages, so
// an entry that is already in the list is not added again.
void check_add(struct mistakes *, struct location, const char *format, ...) __attribute__((format(printf, 3, 4)));

// The location of a stage's setting: stages[1].launch.grid, or launch.grid if the job has no list of stages. If `stage`
// equals the stage count, the stage is the reference's. `number`: the index of an element of a list; -1: the setting
// itself. `member`: a member of the element.
struct location check_stage_location(const struct job *, size_t stage, const char *setting, int number,
                                     const char *member);

// Checks the kernels and their arguments for one configuration and unit. If `config` is NULL, checks the reference's
// kernel. (check_arguments.c)
void check_arguments(struct check *, const uint16_t *config, size_t unit, const struct signatures *);
// Compares the job's constants with the variables of the source or, if `config` is NULL, of the reference's source.
// (check_bindings.c)
void check_constants(struct check *, const uint16_t *config, const struct signatures *);
// Checks textures and surfaces against the limits of devices. (check_bindings.c)
void check_images(struct check *);
// Asks a compile worker (started with the command line `compiler`) about all kernels. Also builds the libraries that
// the job gives as sources. They are kept in the folder `cache`, unless it is NULL. Returns -1 with a message if the
// worker cannot be asked.
// (check_signatures.c)
int check_signatures(struct check *, char *const *compiler, const char *cache, struct error *);
// Checks parameters and macros against the tokens of the sources. (check_macros.c)
void check_macros(struct check *);
// Whether a launch of the job, including its arguments, depends on the name in this slot. (check_macros.c)
bool check_launch_reads(const struct job *, int slot);
// Whether the job defines the macro, either as a parameter or in `defines`. (check_macros.c)
bool check_is_macro(const struct job *, const char *name);
// Checks libraries, binaries, and files with values. (check_files.c)
void check_files(struct check *);
// Checks that the reference can compute the outputs, and launches of kernels that are not candidates.
// (check_reference.c)
void check_reference(struct check *);
// Checks launches against the device's limits, and features of the job against the architecture. (check_launches.c)
void check_launches(struct check *);

// Explains, from a compiler's log, why that compiler may refuse a source that was written for nvcc. Static string;
// NULL: unknown. (compile_hints.c)
const char *compile_hint(const char *log);
// All lines of the first error in a log, indented, with the source's path and line, followed by the number of further
// errors. malloc'ed.
char *compile_first_error(const char *log, const char *source);
// The first line that names an error, or the log's first line. malloc'ed.
char *compile_first_line(const char *log);
