// A checked request to compile: the source, the options, and the entries.
#pragma once

#include "tuner/protocol/compile_message.h"
#include "tuner/source/source.h"

struct compile_job {
    const struct compile_request *asked;
    struct source_request request; // made from `asked`
    struct source source;
    const char *name; // for messages
    struct text_list options;
};

// Borrows the request. Returns -1 with a message on failure. Always release the job.
int compile_job_read(struct compile_job *, const struct compile_request *, const char *home, struct error *);
void compile_job_release(struct compile_job *);

// NVRTC's options, without the user's folders. malloc'ed; the strings belong to the job.
const char **compile_job_options(const struct compile_job *, size_t *count);

// The key of the job's result from this version of NVRTC.
void compile_job_key(const struct compile_job *, const char *version, char key[HASH_TEXT_SIZE]);
