// The document about the race between the winner's builds. It is written by tuner/final/final_builds.c and read by
// compare and the header. It is structured like a final's document; "winner" ("kernels", "dispatch" ..) is taken from
// the final that preceded the race. "entries" lists NVRTC's builds by trial number, the libraries, and "nvcc". The
// entry "nvcc" has nvcc's build of the winner or, with several kernels, of each problem's kernel. The document also
// has:
//
//    "nvcc":"nvcc 13.0.88"|"",                        "" if its version is unknown
//    "verdict":"slower"|"same"|"faster"|"undecided"|"failed"|"missing","reason":"why it is one of the last three",
//    "ratio":[value,low,high],                        nvcc's time / NVRTC's, by the objective, in paired rounds
//
// The document contains times unless the verdict is "missing" (nvcc made no build) or "failed" (nvcc's build is
// incorrect, or does not run).
#pragma once

#define BUILDS_DOCUMENT "builds"
#define BUILDS_NVCC "nvcc" // the entry's name

#define BUILDS_SLOWER "slower" // by more than 1%
#define BUILDS_SAME "same"
#define BUILDS_FASTER "faster"
#define BUILDS_UNDECIDED "undecided"
#define BUILDS_FAILED "failed"
#define BUILDS_MISSING "missing"
