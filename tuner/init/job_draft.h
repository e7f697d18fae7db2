// A job file from a guess. Comments mark what is guessed (`guess:`) and what is left to do (`fill in:`).
#ifndef SWEETSPOT_JOB_DRAFT_H
#define SWEETSPOT_JOB_DRAFT_H

#include <stdio.h>

#include "tuner/init/guess.h"

struct job_draft {
    const char *name, *template; // template: its path from the job file's folder
    const struct guess *guess;
    const struct guess *reference; // of a simple kernel with the same arguments, or NULL
};

void job_draft_write(FILE *, const struct job_draft *);

#endif
