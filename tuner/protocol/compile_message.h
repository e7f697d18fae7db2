// The answer of sweetspot-compile to "compile" and "build" (protocol.h has the requests).
//
// <- {"id":2,"status":"ok","cubin":"out/cache/ab/...cubin","cached":false,"seconds":0.23,"warnings":["C7508 ..."],
//     "entries":[{"entry":"gemm_simt","symbol":"gemm_simt",FIGURES of a stage: registers, spills, code ...}]}
// <- {"id":2,"status":"compile_error"|"compile_timeout","reason":"gemm.cu(12): error: ..."}
// <- {"id":2,"status":"source_changed","reason":"/t/gemm.cu"}
// <- {"id":3,"status":"ok","library":"out/cache/ab/...so","hash":"..","compiler":"nvcc 13.0.88","cached":false}
#ifndef SWEETSPOT_COMPILE_MESSAGE_H
#define SWEETSPOT_COMPILE_MESSAGE_H

#include "tuner/protocol/message.h"
#include "tuner/trial/trial.h"

struct entry_answer {
    const char *entry, *symbol;
    size_t unit;                // whose cubin has it (tuner/base/units.h)
    struct trial_stage figures; // of the cubin, and of ptxas where the cubin does not have them (spills)
};

struct compile_answer {
    struct answer_head head;
    const char *cubin; // path; there when the request has a cache
    bool cached;
    double seconds;
    const char *const *warnings; // one text at most: the lines of ptxas's advisories
    const struct entry_answer *entries;
    size_t warning_count, entry_count;
    const char *compiler; // nvcc with its version, or what built a library
    const char *library;  // path
    const char *hash;     // of all that a library was built from, by which the cache keeps it
};
extern const struct record compile_answer_record;

#endif
