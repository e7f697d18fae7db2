// What `sweetspot check` finds in a job that was read without mistakes: what would fail, or change nothing, in the
// night to come. Mistakes make the job unsound; doubts are things that may be meant.
#pragma once

#include "tuner/check/signature.h"
#include "tuner/source/cuda_file.h"

// A kernel's source with the files of the user's that it includes.
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
    struct scanned_kernel *kernels; // __global__ functions, those that are only declared too
    bool pastes;                    // has ##, so that names may be made that are not in the files
    char *missing;                  // an #include "file" that was not found, or of a macro; NULL: none
};

struct check {
    const struct job *job;
    const struct device_limits *limits;
    const char *arch;
    struct source_scan template, reference; // of the reference kernel's own source; empty where it has none
    struct mistakes mistakes, doubts;
};

// Scans the sources. Release it in any case.
void check_open(struct check *, const struct job *, const struct device_limits *, const char *arch);
void check_release(struct check *);

// Whether the files have a name other than to define it or in its own guard.
bool source_scan_uses(const struct source_scan *, const char *name);

// Adds a mistake or doubt at a place of the job file, unless it is there already: stages share kernels, and
// configurations share stages.
void check_add(struct mistakes *, struct location, const char *format, ...) __attribute__((format(printf, 3, 4)));

// Where a stage's setting is: stages[1].launch.grid, or launch.grid where the job has no list of stages. The stage
// after the last one is the reference's. `number`: the element of a list; -1: the setting itself. `member`: of the
// element.
struct location check_stage_location(const struct job *, size_t stage, const char *setting, int number,
                                     const char *member);

// The kernels and their arguments, for one configuration and unit (NULL: the reference's kernel). (check_arguments.c)
void check_arguments(struct check *, const uint16_t *config, size_t unit, const struct signatures *);
// The job's constants against the variables of the source, for one configuration as well. (check_bindings.c)
void check_constants(struct check *, const uint16_t *config, const struct signatures *);
// Textures and surfaces against what devices take. (check_bindings.c)
void check_images(struct check *);
// Asks a compile worker (its command line) about all kernels, and builds the libraries that the job gives by their
// sources, into a cache (NULL: none). -1 with a message where it cannot be asked. (check_signatures.c)
int check_signatures(struct check *, char *const *compiler, const char *cache, struct error *);
// Parameters and macros against the tokens of the sources. (check_macros.c)
void check_macros(struct check *);
// Whether a launch of the job, its arguments included, depends on the name in this slot. (check_macros.c)
bool check_launch_reads(const struct job *, int slot);
// Whether the job defines the macro: a parameter or one of `defines`. (check_macros.c)
bool check_is_macro(const struct job *, const char *name);
// Files of values, libraries and binaries. (check_files.c)
void check_files(struct check *);
// Launches against the device's limits, and features of the job against the architecture. (check_launches.c)
void check_launches(struct check *);

// What a compiler's log means for people (compile_hints.c).
// Why a compiler that takes nvcc's sources may refuse this one, by its log. Static text; NULL: nothing is known of it.
const char *compile_hint(const char *log);
// All lines of a log's first error, indented, with the source's path and line, and how many more there are. malloc'ed.
char *compile_first_error(const char *log, const char *source);
// The first line that names an error, or the log's first line. malloc'ed.
char *compile_first_line(const char *log);
