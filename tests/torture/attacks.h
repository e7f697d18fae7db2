// The attacks of `make torture`. Each attack is a function that disturbs the runs of a scene and stops at the first
// broken promise. scene.passed counts the blows that the runs survived.
#pragma once

#include "tests/torture/scene.h"

struct attack {
    const char *name;
    int blows; // number of blows in a whole `make torture`
    void (*run)(struct scene *);
    bool long_job, replays; // long_job: 400 configurations; replays: every eighth scene is on a recorded space
    const char *what;
    const char *worst;          // the meaning of scene.worst; NULL: unused
    const char *first, *second; // the meanings of scene.details; NULL: unused
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
