// See task_queue.h.
#include "tuner/policy/task_queue.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "tuner/base/memory.h"

void task_queue_add(struct task_queue *q, struct queued_task *t, enum task_purpose purpose, enum task_known known)
{
    *t = (struct queued_task){.state = TASK_QUEUED, .purpose = purpose, .known = known};
    memory_add(q->tasks, q->count) = t;
    q->numbers[purpose][TASK_QUEUED]++;
}

void task_queue_remove(struct task_queue *q, struct queued_task *t)
{
    size_t i = 0;
    while (i < q->count && q->tasks[i] != t) i++;
    assert(i < q->count);
    memmove(&q->tasks[i], &q->tasks[i + 1], (q->count - i - 1) * sizeof(struct queued_task *));
    q->count--;
    q->numbers[t->purpose][t->state]--;
}

void task_queue_move(struct task_queue *q, struct queued_task *t, enum task_state state)
{
    q->numbers[t->purpose][t->state]--;
    t->state = state;
    q->numbers[t->purpose][state]++;
}

size_t task_queue_count(const struct task_queue *q, enum task_state state)
{
    size_t n = 0;
    for (int purpose = 0; purpose < TASK_PURPOSES; purpose++) n += q->numbers[purpose][state];
    return n;
}

struct queued_task *task_queue_first(const struct task_queue *q, enum task_state state)
{
    for (size_t i = 0; i < q->count && task_queue_count(q, state); i++)
        if (q->tasks[i]->state == state) return q->tasks[i];
    return NULL;
}

size_t task_queue_outstanding(const struct task_queue *q)
{
    const size_t *n = q->numbers[TASK_TRIAL];
    return n[TASK_QUEUED] + n[TASK_COMPILING] + n[TASK_READY] + n[TASK_ON_GPU];
}
