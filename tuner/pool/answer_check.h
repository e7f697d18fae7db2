// Checks a worker's answer against its request. Workers run the candidates, so they are not trusted: figures are
// checked against the messages' tables, and trials against those that the request names. A worker whose answer fails
// the check is killed and restarted.
#pragma once

#include "tuner/base/json.h"

// Returns 0, or -1 with a reason. Also checks progress messages ("progress"). For requests of an unknown kind, every
// answer passes.
int answer_check(const json_t *request, const json_t *answer, struct error *why);

// Whether an answer, or a progress message, is about trials that the request does not name, and therefore belongs to
// another request.
bool answer_is_foreign(const json_t *request, const json_t *answer);
