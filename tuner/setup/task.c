// See task.h.
#include "tuner/setup/task.h"

struct task *task_add(struct policy *p, const struct space *space, const uint16_t *config, enum task_purpose purpose,
                      enum task_known known)
{
    struct task *t = memory_new(1, sizeof *t);
    memcpy(t->config, config, space_parameter_count(space) * sizeof *config);
    t->text = space_text(space, config);
    t->objective = NAN;
    policy_add(p, &t->queued, purpose, known);
    return t;
}

static void free_task(struct task *t)
{
    compiled_release(&t->compiled);
    json_decref(t->problems);
    free(t->launches);
    free(t->text);
    free(t);
}

void task_drop(struct policy *p, struct task *t)
{
    policy_remove(p, &t->queued);
    free_task(t);
}

void task_free_all(struct policy *p)
{
    for (size_t i = 0; i < p->queue.count; i++) free_task((struct task *)p->queue.tasks[i]);
}

bool task_in_flight(const struct policy *p, const struct space *space, const uint16_t *config)
{
    size_t bytes = space_parameter_count(space) * sizeof *config;
    for (size_t i = 0; i < p->queue.count; i++) {
        const struct task *t = (const struct task *)p->queue.tasks[i];
        if (t->queued.purpose == TASK_TRIAL && t->queued.state <= TASK_ON_GPU && !memcmp(t->config, config, bytes))
            return true;
    }
    return false;
}
