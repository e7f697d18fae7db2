// The results of `profile`, kept in the store as documents of the trial for a later report.
// docs/findings.md describes their shapes.
#ifndef SWEETSPOT_TRIAL_DOCUMENTS_H
#define SWEETSPOT_TRIAL_DOCUMENTS_H

#include "tuner/cli/candidate_spec.h"

enum { TRIAL_DOCUMENT_VERSION = 1 };
// The kinds, as store_put_trial_document knows them.
#define PROFILE_DOCUMENT "profile"
#define FINDINGS_DOCUMENT "findings"
#define LIMITS_DOCUMENT "limits"

// The trial of a profile (tuner/explain/explain.h): the one with its configuration in the store's environment, if that
// is for this device and the present source; otherwise 0 and a note on stderr.
int64_t trial_documents_owner(struct candidate_source *, const struct single_run *, const json_t *profile);

// Adds "version" and stores the document (takes the reference); the newest of a kind counts. Trial 0: does nothing. A
// store that cannot be written is a note on stderr, the first time.
void trial_documents_put(struct candidate_source *, int64_t trial, const char *kind, json_t *document);

#endif
