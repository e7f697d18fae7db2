// Several requests to compilers at once, while a run is set up: see worker_pool.h.
#include "tuner/base/base.h"
#include "tuner/base/clock.h"
#include "tuner/base/interrupt.h"
#include "tuner/base/limits.h"
#include "tuner/pool/pool_nodes.h"

// What is to be answered.
struct question {
    json_t *request;
    bool sent;
    int ended; // how often its compiler was ended from outside
};

// Takes the compilers' answers; given[i] is the number of the request that compiler i has. A request whose compiler was
// ended from outside is sent again, ENDED_MOST times, one whose node was lost as often as it takes.
static int take_answers(struct worker_pool *p, const size_t *given, size_t slots, struct question *questions,
                        json_t **answers, size_t *left, size_t *which, struct error *err)
{
    pool_poll_stops(p, clock_now());
    for (size_t i = 0; i < slots; i++) {
        struct pool_event event = {0};
        if (!pool_next_of_compiler(p, i, clock_now(), &event)) continue;
        struct question *q = &questions[given[i]];
        if (event.kind == POOL_COMPILER_ANSWER) {
            answers[given[i]] = event.answer;
            --*left;
        } else if (event.busy && (event.node || (event.outside && q->ended++ < ENDED_MOST))) {
            q->sent = false;
        } else if (event.busy || event.kind == POOL_FAILED) {
            *which = given[i];
            *err = event.why;
            return -1;
        }
    }
    return 0;
}

static int send_next(struct worker_pool *p, size_t compiler, size_t *given, struct question *questions, size_t count,
                     double seconds, size_t *which, struct error *err)
{
    size_t next = 0;
    while (next < count && questions[next].sent) next++;
    if (next == count || p->compilers[compiler].queued || !pool_compiler_usable(p, compiler)) return 0;
    *which = given[compiler] = next;
    questions[next].sent = true;
    if (!pool_send_compiler(p, compiler, json_incref(questions[next].request), seconds, err)) return 0;
    if (p->compilers[compiler].node == POOL_HERE) return -1;
    questions[next].sent = false; // its node is lost
    return 0;
}

int pool_ask_compilers(struct worker_pool *p, json_t *const *requests, size_t count, double seconds, json_t **answers,
                       size_t *which, struct error *err)
{
    size_t left = count, slots = 0, *given = NULL;
    struct question *questions = memory_new(count, sizeof *questions);
    double alone = 0;
    int failed = 0;
    memset(answers, 0, count * sizeof *answers);
    for (size_t i = 0; i < count; i++) questions[i].request = requests[i];
    while (left && !failed) {
        given = memory_grow(given, p->compiler_count, sizeof *given); // nodes join meanwhile
        while (slots < p->compiler_count) given[slots++] = 0;
        for (size_t i = 0; i < slots && !failed; i++)
            failed = send_next(p, i, given, questions, count, seconds, which, err);
        if (!failed) pool_wait_for_compilers(p, 100); // slots may be added
        if (!failed) failed = take_answers(p, given, slots, questions, answers, &left, which, err);
        if (pool_has_compiler(p)) alone = 0;
        if (!failed && left && p->node_count)
            failed =
                pool_has_compiler(p) ? pool_nodes_unusable(p, err) : pool_nodes_give_up(p, "compiler", &alone, err);
        if (!failed && left && interrupt_count()) failed = error_set(err, "interrupted");
    }
    for (size_t i = 0; i < p->compiler_count && failed; i++)
        if (p->compilers[i].queued) slot_stop(&p->compilers[i]);
    for (size_t i = 0; i < count; i++) {
        json_decref(requests[i]);
        if (!failed) continue;
        json_decref(answers[i]);
        answers[i] = NULL;
    }
    free(questions);
    free(given);
    return failed;
}
