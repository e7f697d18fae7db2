// Refuses names that the job's header could not have (header_names.h), with the line where each is given.
#include "tuner/base/base.h"
#include "tuner/job/header_names.h"
#include "tuner/job/job_parts.h"

static void refuse_name(struct reader *r, const struct node *n, const char *what, const char *name, char *reason)
{
    if (reason) reader_mistake(r, n, "%s '%s' %s", what, name, reason);
    free(reason);
}

void check_header_names(struct reader *r, const struct job *job, const struct node *root)
{
    const struct node *parameters = node_member(root, "parameters"), *stages = node_member(root, "stages"),
                      *kernel = node_member(root, "kernel"),
                      *defines = kernel && node_is_group(kernel) ? node_member(kernel, "defines") : NULL;
    for (size_t i = 0, p = 0; parameters && node_is_sequence(parameters) && i < node_count(parameters); i++) {
        const struct node *n = node_at(parameters, i), *name = node_is_group(n) ? node_member(n, "name") : NULL;
        if (!name || !node_is_string(name) || p == space_parameter_count(job->space)) continue;
        if (strcmp(space_parameter(job->space, p)->name, node_string(name)) != 0) continue; // refused already
        refuse_name(r, name, "parameter", node_string(name), header_refuse_parameter(job, p++));
    }
    for (size_t i = 0, d = 0; defines && d < job->define_count && i < node_count(defines); i++) {
        const char *name = node_name(node_at(defines, i));
        if (strcmp(job->defines[d].name, name) != 0) continue;
        refuse_name(r, node_at(defines, i), "macro", name, header_refuse_define(job, d++));
    }
    for (size_t s = 0; stages && node_is_sequence(stages) && s < job->stage_count; s++) {
        const struct node *own = node_is_group(node_at(stages, s)) ? node_member(node_at(stages, s), "defines") : NULL;
        for (size_t i = 0; i < job->stages[s].define_count; i++)
            refuse_name(r, node_member(own, job->stages[s].defines[i].name), "macro", job->stages[s].defines[i].name,
                        header_refuse_stage_define(job, s, i));
    }
    for (size_t i = 0; stages && i < job->stage_count; i++)
        refuse_name(r, node_at(stages, i), "stage", job->stages[i].name, header_refuse_stage(job, i));
}
