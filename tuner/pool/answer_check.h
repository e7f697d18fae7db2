// Whether a worker's answer can be one to its request: a worker is not believed, since it runs the candidates. Figures
// are held against the table of fields, what is told of trials against those that the request names. Who sends anything
// else sends invalid messages, and is killed and started again.
#ifndef SWEETSPOT_ANSWER_CHECK_H
#define SWEETSPOT_ANSWER_CHECK_H

#include "tuner/base/base.h"
#include "tuner/base/json.h"

// 0, or -1 with a reason. Of a sign of life ("progress") too. Requests of which nothing is known here pass.
int answer_check(const json_t *request, const json_t *answer, struct error *why);

// Whether an answer, or a sign of life, is about trials that the request does not name: it is another's.
bool answer_is_foreign(const json_t *request, const json_t *answer);

#endif
