// Checks a worker's answer against its request. Workers run the candidates, so they are not trusted: figures are
// checked by the tables of the messages, and trials against those that the request names. A worker that sends anything
// else is killed and started again.
#pragma once

#include "tuner/base/json.h"

// 0, or -1 with a reason; for progress messages ("progress") too. Requests of an unknown kind pass.
int answer_check(const json_t *request, const json_t *answer, struct error *why);

// Whether an answer, or a progress message, is about trials that the request does not name, so that it belongs to
// another request.
bool answer_is_foreign(const json_t *request, const json_t *answer);
