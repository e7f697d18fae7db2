// What `profile` and `limiter` found, kept in the store as documents of the trial, so that a later report can show it.
// docs/findings.md describes their shapes.
#ifndef SWEETSPOT_TRIAL_DOCUMENTS_H
#define SWEETSPOT_TRIAL_DOCUMENTS_H

#include "tuner/cli/candidate_spec.h"

enum { TRIAL_DOCUMENT_VERSION = 1 };
// The kinds, as store_put_trial_document knows them.
#define PROFILE_DOCUMENT "profile"
#define FINDINGS_DOCUMENT "findings"
#define LIMITS_DOCUMENT "limits"

// The trial that a profile (tuner/run/explain.h) tells of: the one of its configuration in the store's environment, if
// that is of this device and of the source as it is now; a note on stderr where it is not. 0: none.
int64_t trial_documents_owner(struct candidate_source *, const struct single_run *, const json_t *profile);

// Adds "version" and keeps the document (takes the reference); the newest of a kind counts. Nothing with trial 0. A
// store that cannot be written is a note on stderr, the first time.
void trial_documents_put(struct candidate_source *, int64_t trial, const char *kind, json_t *document);

#endif
