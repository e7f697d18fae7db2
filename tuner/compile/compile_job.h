// A request to compile, checked: what is compiled, with which options, for which entries.
#ifndef SWEETSPOT_COMPILE_JOB_H
#define SWEETSPOT_COMPILE_JOB_H

#include "tuner/base/json.h"
#include "tuner/source/source.h"

struct compile_job {
    struct source_request request; // of what follows
    struct source source;
    const char *name;                     // for messages
    json_t *options;                      // what `option` points to
    const char **option, **entry;         // option: all of them
    const char **own, **include, **macro; // what `request` points to
    const char **file;                    // that options name: their contents count
    size_t option_count, entry_count, file_count;
    char files[HASH_TEXT_SIZE]; // the hash of them; "" where there are none
};

// -1 with a message. Release in any case.
int compile_job_read(struct compile_job *, const json_t *request, const char *home, struct error *);
void compile_job_release(struct compile_job *);

// NVRTC's options, without folders of the user's. malloc'ed, with its strings.
char **compile_job_options(const struct compile_job *, size_t *count);

// Whether the files that options name are still those that were hashed.
bool compile_job_files_same(const struct compile_job *);

// The key of what NVRTC of this version makes of it.
void compile_job_key(const struct compile_job *, const char *version, char key[HASH_TEXT_SIZE]);

#endif
