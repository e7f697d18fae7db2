// The header's evidence: what was measured and verified, as a comment and as macros.
#ifndef SWEETSPOT_HEADER_WORTH_H
#define SWEETSPOT_HEADER_WORTH_H

#include "tuner/output/header_text.h"

void header_worth(struct renderer *);
// In the opening comment: that the binary is to be preferred to what nvcc makes of the template, where it is.
void header_advise(struct renderer *, const json_t *section);

#endif
