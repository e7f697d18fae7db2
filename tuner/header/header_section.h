// A header's section for one device: a JSON object made from a job, its store's environment, the winning trial and, if
// there is one, the final. header.c renders it; the same object is also in a comment of the header, so that a header
// for another device can be merged in later.
//
//   {"version":2,"job":"sgemm","template":"gemm_simt.cu","source_hash":"..32 hex..",
//    "device":"NVIDIA H200","arch":"sm_90a","driver":"..","compiler":"nvrtc 13.0",
//    "when":1790000000,"final":true,"rounds":40,"replayed":false,
//    "recorded_rounds":40,              only if replayed: rounds of the recording's own final; 0: it had none
//    "trial":17,"configuration":"BLOCK_M=128,..","ties":["BLOCK_M=64,.."],"sizes":["M","N","K"],
//    "parameters":[{"name":"BLOCK_M","kind":"integer"|"unroll"|"text","value":128}],
//    "defines":[{"name":"X","value":"1"}],
//    "stages":[{"name":"gemm_simt","entry":"gemm_simt","when":"1","grid":["C","C","C"],"block":[..],"cluster":[..],
//               "shared":"C","overlap":"C","cooperative":false,"registers":128,"spills":0,"shared_static":0,
//               "code_bytes":9216,"occupancy":0.25}],
//    header_contract.h's members,
//    "seconds":2.8e-3,"problems":[{"name":"M=..","sizes":[4096,..],"time":[median,low,high],
//                "energy":"1.153 J at .."}],            only if it was measured
//    "ratios":[{"name":"cublas","ratio":[0.96,0.95,0.97]}],"error":0.02,"launches_judged":1204,"verified":["M=..",..],
//    "no_fallback":"X=1: why it is left out",       only if the job has a fallback
//    "shipped":"compiled here by ..",               only for a winner that comes with the job
//    "sanitizers":"compute-sanitizer .. clean",     only if they ran
//    "nvcc":{..}}                                   as in builds_summary.h, if nvcc's build was raced
//
// "C" is C code that uses size_M, size_N, .. The last section is the job's fallback, for devices without tuning
// results. It has no binary, its times are from the device on which it was verified, and these members differ:
//
//    "device":"FALLBACK","arch":"","fallback":true,"verified_on":"NVIDIA H200"
//
// With objective each, the section of one of several kernels also has these members, and "problems" lists the problems
// for which the kernel was chosen:
//
//    "kernel":0,"kernels":4,"work":"C","stage":"..","at_once":264,     input of tuner/setup/wave_model.h
//    "times":[{"sizes":[..],"time":..}]                                on all problems that were not held back
#pragma once

#include <stdbool.h>

#include "tuner/base/json.h"
#include "tuner/final/finals.h"
#include "tuner/job/job.h"
#include "tuner/store/store.h"

enum { HEADER_SECTION_VERSION = 2 };

// `kernel`: with a final for objective each, the number of the trial among the final's kernels; otherwise 0. `final`:
// NULL if no final decided. `ties`: configurations that are tied with the trial's, or NULL. `python`: for a Python
// file. NULL with a message if the trial does not belong to the current job (a parameter or problem has changed) or an
// expression cannot be written. New reference.
json_t *header_section(const struct job *, const struct environment *, const struct trial *, const struct final *,
                       size_t kernel, json_t *ties, bool python, struct error *);

// The section of the job's fallback, from its trial (NULL: none yet). NULL with the reason in *err if the fallback is
// not known to be correct, or needs too much shared memory. New reference.
json_t *header_section_of_fallback(const struct job *, const struct environment *, const struct trial *,
                                   struct error *);

// Marks a section as a winner that comes with the job: a final of `rounds` rounds chose it and it was verified on its
// own device, but it was only compiled here. `same`: `compiler` generated the same code as the section's own compiler.
void header_section_ship(json_t *section, int64_t rounds, const char *compiler, bool same);
// Notes in a header's first section why the job's fallback is left out.
void header_section_lacks(json_t *section, const char *config, const char *why);

// header_index returns the index of the object with this name in a list, or the list's length if there is none.
// header_find returns the object itself, or NULL.
size_t header_index(const json_t *list, const char *name);
const json_t *header_find(const json_t *list, const char *name);
// A section's stage with this name, or NULL.
const json_t *header_find_stage(const json_t *section, const char *name);

// These return a section's architecture (90 for "sm_90a", 0 if unknown), and the number of its stages.
int header_compute(const json_t *section);
size_t header_stage_count(const json_t *section);
// The names of a stage's loops in all sections, as an object. NULL if no section repeats it. New reference.
json_t *header_loops(const json_t *sections, const char *stage);

// These search all sections of a header. They return the number of devices, without the fallback; whether any device
// has several kernels; and the number of the first section for the same device as `section`.
size_t header_devices(const json_t *sections);
bool header_several_kernels(const json_t *sections);
size_t header_first_of_device(const json_t *sections, size_t section);
// Whether any section has a binary.
bool header_embeds(const json_t *sections);

// header_is_fallback: whether a section is the fallback's. header_fallback_of: the index of the fallback's section, or
// -1.
bool header_is_fallback(const json_t *section);
int header_fallback_of(const json_t *sections);
