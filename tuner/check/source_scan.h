// A kernel's source with the files of the user's that it includes, as check reads them.
#ifndef SWEETSPOT_SOURCE_SCAN_H
#define SWEETSPOT_SOURCE_SCAN_H

#include "tuner/job/job.h"
#include "tuner/source/cuda_file.h"

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

// Release it in any case.
void source_scan_open(struct source_scan *, const struct job *, const char *path);
void source_scan_release(struct source_scan *);

// Whether the files have a name other than to define it or in its own guard.
bool source_scan_uses(const struct source_scan *, const char *name);

#endif
