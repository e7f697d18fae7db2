// The rules, their access to a profile, and their means to propose changes.
#ifndef SWEETSPOT_FINDINGS_CONTEXT_H
#define SWEETSPOT_FINDINGS_CONTEXT_H

#include <stdbool.h>

#include "search/space/space.h"
#include "tuner/explain/findings.h"
#include "tuner/setup/launch_check.h"

struct finding_context {
    const json_t *profile, *stage;
    const struct job *job; // NULL: nothing can be proposed
    const struct device_limits *limits;
    bool has_config;
    uint16_t config[SPACE_MAX_PARAMETERS]; // where has_config
    size_t problem, stage_index;
};

// The share of cycles in which a scheduler issues, 0..1; the basic set is enough for it.
double finding_context_issue(const struct finding_context *);

// Proposals: each sets parameter, value and advice ("TILE_COL_SIZE=4 ...") of the finding, or returns false. `verb` is
// what the change does ("would remove it"). All check that the changed configuration is valid.
//
// One step up (+1) or down (-1) along the values of the first parameter whose name contains one of the words
// ("STAGES|PIPE"), or whose kind is unroll where the list contains "<unroll>".
bool propose_step(const struct finding_context *, struct finding *, const char *words, int direction, const char *verb);
// A parameter that appears in the text of a source line: its next smaller value, else its next larger one.
bool propose_named(const struct finding_context *, struct finding *, const char *line, const char *verb);
// The single change that gives the launch the best score; `score` is given the shape that it would have, the present
// one's score must be exceeded by a tenth.
bool propose_launch(const struct finding_context *, struct finding *,
                    double (*score)(const struct finding_context *, const struct launch_shape *), const char *verb);

// Ended by NULL. A rule fills the finding (rule's name aside) and returns true, or returns false.
struct rule {
    const char *name;
    bool (*look)(const struct finding_context *, struct finding *);
};
extern const struct rule finding_rules[];

#endif
