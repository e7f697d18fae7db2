// The table of rules.
#ifndef SWEETSPOT_FINDINGS_RULES_H
#define SWEETSPOT_FINDINGS_RULES_H

#include "tuner/explain/findings_context.h"

// Ended by NULL. A rule fills the finding (rule's name aside) and returns true, or
// returns false.
struct rule {
    const char *name;
    bool (*look)(const struct finding_context *, struct finding *);
};
extern const struct rule finding_rules[];

#endif
