// Findings about a candidate's profile, in words, from a table of rules. Each rule looks for one cause. If it finds the
// cause, it reports the evidence and why the cause costs time. It also reports which change of the job's own parameters
// could help, and how much this change could gain.
//
// The gain is an upper bound. It is the share of the time that is saved if the cause is removed completely and no other
// limit is reached first. A rule proposes a configuration that is valid in the job's space and differs in one
// parameter. tests/test_findings.c checks the direction of the proposals against a space in which every configuration
// was measured.
#pragma once

#include "tuner/base/json.h"
#include "tuner/job/job.h"

enum { FINDINGS_MAX = 16, FINDING_TEXT = 512 };

struct finding {
    const char *rule;          // "bank_conflicts"
    char seen[FINDING_TEXT];   // "line 263 needs 2.0 times the ideal number of wavefronts"
    char why[FINDING_TEXT];    // why that costs time
    char advice[FINDING_TEXT]; // what to try; "" if none of the job's parameters would help
    double gain;               // upper bound, 0..1 of the time; NaN: not estimated
    int parameter;             // index of the proposed parameter in the space; -1: none
    uint16_t value;            // index of its proposed value
    const json_t *line;        // the line of the profile that causes it; NULL: unknown. Lives as long as the profile
};

// Makes the findings about the profile's main stage, largest gain first, and returns their number. `job` (with its
// space built) may be NULL; nothing is then proposed. `limits`: the device's. The profile may be incomplete: a rule
// whose figures are missing finds nothing.
size_t findings_make(const json_t *profile, const struct job *job, const struct device_limits *limits,
                     struct finding out[FINDINGS_MAX]);

// The name of rule `i`; NULL after the last one.
const char *findings_rule(size_t i);

void findings_print(FILE *, const struct finding *, size_t count);
// [{"rule":..,"seen":..,"why":..,"advice":..,"gain":..,"parameter":..,"value":..,"line":{"file":..,"line":..}}, ..];
// "parameter", "value" and "line" are present only if they are known.
json_t *findings_json(const struct finding *, size_t count, const struct job *);
