// The document of a final in the store: kinds "final", "open_final" for one that is not decided, and "builds" for the
// race of the winner's builds (tuner/store/builds.h).
#ifndef SWEETSPOT_FINAL_DOCUMENT_H
#define SWEETSPOT_FINAL_DOCUMENT_H

#include "tuner/protocol/final_message.h"

// What the header's selector needs of a kernel; unknown: at_once is 0.
struct final_selector {
    const char *stage; // its heaviest launch
    int64_t at_once;   // that launch's blocks that the device holds
};

// What the rounds say.
struct final_decision {
    int64_t rounds, winner; // a trial
    const int64_t *ties;    // trials that are tied with the winner
    // Objective each: the trials chosen, by problem an index in them and by how much it is slower than the fastest, and
    // by kernel what selects it.
    const int64_t *kernels, *dispatch;
    const double *regret;
    const struct final_selector *selector;
    const char *certainty; // "fastest", "tied", "undecided"; "": of several kernels, or of an older version
    double within;         // another may be faster than the winner by at most this share; 0: none
    const char *warning;   // something else seems to have used the device
    const char *reason;    // of an open final: why it was not the last
    size_t tie_count, kernel_count, dispatch_count, regret_count, selector_count;
};

struct final_entry_document {
    struct final_entry_answer answer;
    const double *process_medians; // of the objective, s; NULL where one process took all rounds
    size_t process_count;
    bool by_process; // has one of two times, depending on the process that runs it
    int64_t same_as; // the present kernel's: the candidate whose rounds these are; 0: it has its own
};

struct final_document {
    double when; // Unix time
    int64_t seed;
    struct final_decision decision;
    const int *process; // that ran each round; NULL where one ran all
    size_t process_rounds;
    const json_t *gpu; // that decided
    bool replayed;
    const json_t *recording;
    const struct final_entry_document *entries;
    size_t entry_count;
    // Of a comparison of builds.
    const char *nvcc, *verdict; // the compiler; "slower" ..
    struct interval ratio;      // of nvcc's time to NVRTC's
};

extern const struct record final_decision_record, final_document_record;

#endif
