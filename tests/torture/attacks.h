// The attacks of `make torture`. Each is a function that disturbs runs in a scene, counts the blows that the run stood
// in scene.passed, and stops at the first promise that does not hold.
#pragma once

#include "tests/torture/scene.h"

struct attack {
    const char *name;
    int blows; // of a whole `make torture`
    void (*run)(struct scene *);
    bool long_job, replays; // on 400 configurations; every eighth scene on a recorded space
    const char *what;
    const char *worst;          // what scene.worst counts; NULL: nothing
    const char *first, *second; // what scene.details count; NULL: nothing
};

void attack_kill(struct scene *);
void attack_io(struct scene *);
void attack_disk(struct scene *);
void attack_power(struct scene *);
void attack_clock(struct scene *);
void attack_terminal(struct scene *);
void attack_stop(struct scene *);
void attack_workers(struct scene *);
void attack_node(struct scene *);
