// The header's evidence: what was measured and verified, as a comment and as macros.
#ifndef SWEETSPOT_HEADER_WORTH_H
#define SWEETSPOT_HEADER_WORTH_H

#include "tuner/output/header_text.h"

void header_worth(struct renderer *);

#endif
