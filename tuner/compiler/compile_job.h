// A request to compile, checked: what is compiled, with which options, for which entries.
#pragma once

#include "tuner/protocol/compile_message.h"
#include "tuner/source/source.h"

struct compile_job {
    const struct compile_request *asked;
    struct source_request request; // of it
    struct source source;
    const char *name; // for messages
    struct text_list options;
};

// Borrows the request. -1 with a message. Release in any case.
int compile_job_read(struct compile_job *, const struct compile_request *, const char *home, struct error *);
void compile_job_release(struct compile_job *);

// NVRTC's options, without folders of the user's. malloc'ed; the texts are the job's.
const char **compile_job_options(const struct compile_job *, size_t *count);

// The key of what NVRTC of this version makes of it.
void compile_job_key(const struct compile_job *, const char *version, char key[HASH_TEXT_SIZE]);
