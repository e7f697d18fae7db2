// Everything that a caller of the tuned kernel must know, as members of a header's section (header_section.h):
//
//    "options":["-use_fast_math",..],"includes":1,"alignment":16,
//    "conditions":["size_M % 8 == 0",..]                         on sizes, as C; missing: none
//    "supported":[{"least":1,"most":4096,"multiple":8},..]     by size, from the verified problems; missing: none
//                                                               verified
//    "buffers":[{"name":"A","type":"f32","direction":"in","rows":"C","cols":"C","ld":"C","bytes":"C",
//                "before":"anything"}]
//    stages: "arguments":[{"kind":"buffer"|"map"|"texture"|"surface","name":"A","type":"f32","direction":"in"},
//                         {"kind":"scalar","name":"lda","type":"i32","value":"C","from":"K"},
//                         {"kind":"scalar","name":"alpha","type":"f32","real":1.0}]
//
//    "constants":[{"name":"ns::coef","type":"f32","direction":"in","bytes":"C","symbol":"_ZN2ns4coefE"}]
//                                                         symbol: in a section with a binary
//    "objects":[{"name":"image","kind":"texture"|"surface","type":"f32","direction":"in","about":"array, ..",
//                "size":["C","C"]}]                       texels, the contiguous dimension first
//
// A buffer that launches take by its address is among the buffers. "C" is C text over size_M, size_N, .. "before" says
// what must be in it before every launch. A size is supported when it is between the smallest and the largest
// verified ones and a multiple of their greatest common divisor. Constants and objects are missing where a job has
// none. The user sets a constant by cudaMemcpyToSymbol, or in the embedded binary at the address that NAME_constant
// gives, and makes the objects (textures and surfaces).
#ifndef SWEETSPOT_HEADER_CONTRACT_H
#define SWEETSPOT_HEADER_CONTRACT_H

#include "tuner/header/header_const_eval.h"
#include "tuner/trial/trial.h"

// Adds the members that concern the whole candidate. -1 with the message in the const_eval's error.
int contract_add(json_t *section, struct const_eval *, const struct trial *, const char *arch);
// A stage's arguments. New reference.
json_t *contract_arguments(struct const_eval *, const struct stage *);
// Finds the constants' symbols in the binary. -1 with a message when it lacks one.
int contract_symbols(json_t *section, const unsigned char *binary, size_t size, struct error *);

#endif
