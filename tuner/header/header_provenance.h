// The header's evidence: what was measured and verified, as a comment and as macros.
#ifndef SWEETSPOT_HEADER_PROVENANCE_H
#define SWEETSPOT_HEADER_PROVENANCE_H

#include "tuner/header/header_text.h"

void header_provenance(struct renderer *);
// In the opening comment: advises to use the binary where nvcc's build of the template is slower or fails.
void header_advise(struct renderer *, const json_t *section);

#endif
