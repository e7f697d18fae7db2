// A job's `current`: the kernel that the user has today, a baseline of the job. It is a configuration of the space, or
// a kernel of another name or file with a launch of its own, whose expressions read sizes and device limits alone.
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tuner/base/text.h"
#include "tuner/job/job_parts.h"

// An expression of a kernel without parameters.
static void check_expression(struct reader *r, const struct job *job, const struct node *group, const char *what,
                             const struct expr *e)
{
    size_t count = 0;
    const int *slots = e ? expr_slots(e, &count) : NULL;
    for (size_t i = 0; i < count; i++) {
        const char *name = symbols_name(job->symbols, slots[i]);
        if (!job_name_is_fixed(job, slots[i]))
            reader_mistake(r, group, "'%s' depends on '%s', but another kernel has no parameters of the job: \"%s\"",
                           what, name, expr_text(e));
    }
}

static void check_map(struct reader *r, const struct job *job, const struct node *group, const char *what,
                      const struct tensor_map *m)
{
    for (size_t i = 0; m && i < TENSOR_MAP_RANK_MAX; i++) {
        check_expression(r, job, group, what, m->view[i]);
        check_expression(r, job, group, what, m->stride[i]);
        check_expression(r, job, group, what, m->box[i]);
    }
    if (!m) return;
    check_expression(r, job, group, what, m->swizzle);
    check_expression(r, job, group, what, m->promotion);
}

void check_own_stage(struct reader *r, const struct job *job, const struct node *group, const char *what,
                     const struct stage *s)
{
    for (int i = 0; i < 3; i++) {
        check_expression(r, job, group, what, s->grid[i]);
        check_expression(r, job, group, what, s->block[i]);
        check_expression(r, job, group, what, s->cluster[i]);
    }
    check_expression(r, job, group, what, s->shared);
    for (size_t i = 0; i < s->argument_count; i++) {
        check_expression(r, job, group, what, s->arguments[i].value);
        for (size_t k = 0; k < s->arguments[i].member_count; k++)
            check_expression(r, job, group, what, s->arguments[i].members[k].value);
        check_map(r, job, group, what, s->arguments[i].map);
    }
}

struct stage job_current_stage(const struct job *job)
{
    struct stage stage = job->current.stage;
    if (!stage.argument_count && job->stage_count == 1) {
        stage.arguments = job->stages[0].arguments;
        stage.argument_count = job->stages[0].argument_count;
    }
    return stage;
}

// The results of a kernel are the job's outputs.
void check_own_outputs(struct reader *r, const struct job *job, const struct node *group, const char *what,
                       size_t known)
{
    for (size_t i = known; i < job->buffer_count; i++)
        if (job->buffers[i].direction == DIRECTION_OUT || job->buffers[i].direction == DIRECTION_INOUT)
            reader_mistake(r, group, "'%s' declares the output '%s', which the job does not have", what,
                           job->buffers[i].name);
}

static void load_kernel(struct reader *r, struct job *job, const struct node *group)
{
    struct current_kernel *c = &job->current;
    const char *entry = reader_string(r, group, "current.entry"), *source = reader_string(r, group, "current.template");
    size_t known = job->buffer_count;
    reader_check_group(r, group, "'current'", "current", "kernel");
    if (!node_member(group, "entry")) reader_mistake(r, group, "'current' lacks 'entry', the kernel's name");
    c->source = source ? text_join_path(job->directory, source) : text_copy(job->source ? job->source : "");
    if (source && access(c->source, R_OK))
        reader_mistake(r, node_member(group, "template"), "cannot read '%s'", source);
    c->stage.entry = text_copy(entry ? entry : "");
    c->stage.name = text_copy(c->stage.entry);
    load_launch(r, job, group, &c->stage);
    if (c->stage.overlap) reader_mistake(r, group, "the launch of 'current' cannot overlap: no launch comes before it");
    if (node_member(group, "arguments")) {
        load_arguments(r, job, group, &c->stage);
        check_views(r, job, group, &c->stage, 1, true);
    } else if (job->stage_count != 1) {
        reader_mistake(r, group, "'current' needs 'arguments', because the job has several stages");
    }
    check_own_outputs(r, job, group, "current", known);
    struct stage stage = job_current_stage(job);
    check_own_stage(r, job, group, "current", &stage);
}

void load_current(struct reader *r, struct job *job, const struct node *root)
{
    const struct node *group = reader_group(r, root, "current");
    if (!group) return;
    note_configuration(r, group, &job->current.own);
    if (node_member(group, "entry") || node_member(group, "template"))
        load_kernel(r, job, group);
    else
        load_configuration(r, job, group, "'current'", &job->current.own);
}

int job_check_current(const struct job *job, struct error *err)
{
    const struct current_kernel *c = &job->current;
    if (!c->own.given || c->source || !job_check_configuration(job, &c->own, "'current'", err)) return 0;
    return job_explain_configuration(job, &c->own, err);
}
