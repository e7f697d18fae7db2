// The result of the race of the winner's builds (tuner/store/builds.h), for compare and the header:
//
//    {"compiler":"nvcc 13.0.88","verdict":"slower","reason":"","ratio":[value,low,high]|null,"error":0.02|null,
//     "problems":[{"problem":"M=..","nvrtc":[median,low,high],"nvcc":[..],"ratio":[..]}]}
//
// A ratio is nvcc's time over NVRTC's, so above 1 nvcc's build is slower.
#pragma once

#include "tuner/final/finals.h"

// Reads the newest document. Returns NULL if there is none, or if it is about a different final or malformed. New
// reference.
json_t *builds_summary(const json_t *document, const struct final *, const struct job *);

// "1.003 [0.999, 1.006] times the time of nvrtc 13.0's build: the same within 1%"; for a build without times, "failed:
// .." or "not timed: ..". malloc'ed.
char *builds_text(const json_t *summary, const char *nvrtc);

// Prints to stdout the line from builds_text() and, for every problem, both times. Prints nothing for NULL.
void builds_print(const json_t *summary, const char *nvrtc);
