// Requests to sweetspot-compile, "compile" and "build" (protocol.h), and its answers.
//
// <- {"id":2,"status":"ok","cubin":"out/cache/ab/...cubin","cached":false,"seconds":0.23,"warnings":["C7508 ..."],
//     "entries":[{"entry":"gemm_simt","symbol":"gemm_simt",FIGURES of a stage: registers, spills, code ...}]}
// <- {"id":2,"status":"compile_error"|"compile_timeout","reason":"gemm.cu(12): error: ..."}
// <- {"id":2,"status":"source_changed","reason":"/t/gemm.cu"}
// <- {"id":3,"status":"ok","library":"out/cache/ab/...so","hash":"..","compiler":"nvcc 13.0.88","cached":false}
#pragma once

#include "tuner/base/text_edit.h"
#include "tuner/protocol/message.h"
#include "tuner/trial/trial.h"

// Stages that have their own macros. They are compiled separately, with these macros in addition to the macros of all
// stages. The result is unit number `unit` in a file of units (tuner/base/units.h).
struct compile_unit {
    int64_t unit;
    const struct record_named_text *defines;
    const char *const *entries;
    size_t define_count, entry_count;
};

struct compile_request {
    const char *arch; // for a virtual architecture ("compute_90a") the file is PTX
    struct {
        const char *source, *text; // a file, or the program itself (the worker's support kernels)
        const char *source_hash;   // the hash in the driver's trials; a source with another hash is not compiled
        const char *after;         // "behind" in JSON: code that nvcc compiles after the source
        bool host_headers;         // provides stand-ins for host headers (host_headers.h)
        size_t edit_count;
        const struct text_edit *edits; // to the source and to files that it includes
    } program;
    const char *config; // sweetspot-replay looks it up
    const char *const *include, *const *entries, *const *options;
    const char *const *functions; // of a library
    const struct record_named_text *defines;
    const struct compile_unit *units; // instead of entries
    size_t include_count, entry_count, option_count, function_count, define_count, unit_count;
    const char *cache;    // folder
    double deadline;      // s; NaN: none
    int64_t memory;       // bytes that the compiler may use (more: "compile_error"); 0: no limit
    const char *compiler; // missing: PROTOCOL_NVRTC; PROTOCOL_NVCC: as the header builds it (nvcc_recipe.h)
    bool alone;           // only nvcc, not NVRTC first: the entries' names are looked up in nvcc's cubin
};
extern const struct record compile_request_record;

struct entry_answer {
    const char *entry, *symbol;
    size_t unit;                // the unit whose cubin contains the entry (tuner/base/units.h)
    struct trial_stage figures; // from the cubin, or from ptxas if the cubin lacks them (spills)
};

struct compile_answer {
    struct answer_head head;
    const char *cubin; // path; present when the request has a cache
    bool cached;
    double seconds;
    const char *const *warnings; // at most one string: the lines of ptxas's advisories
    const struct entry_answer *entries;
    size_t warning_count, entry_count;
    const char *compiler; // nvcc with its version, or the compiler of a library
    const char *library;  // path
    const char *hash;     // of everything that a library was built from: its key in the cache
};
extern const struct record compile_answer_record;
