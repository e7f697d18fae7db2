// See guess.h.
#include "tuner/init/guess.h"

#include <stdlib.h>

#include "tuner/init/guess_parts.h"

void guess_kernel(struct guess *g, const struct cuda_file *file, const struct cuda_kernel *kernel,
                  const struct cuda_file *included, size_t included_count)
{
    *g = (struct guess){.file = file, .kernel = kernel, .included = included, .included_count = included_count};
    struct guess_variables variables;
    guess_sizes(g);
    guess_parameters(g);
    guess_variables_init(&variables, g);
    guess_launch(g, &variables);
    guess_places(g);
    guess_buffers(g, &variables);
    guess_variables_release(&variables);
}

static void release_parameters(struct guess_parameter *list, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        free(list[i].name);
        free(list[i].source);
        free(list[i].values);
        free(list[i].why);
    }
    free(list);
}

void guess_release(struct guess *g)
{
    release_parameters(g->parameters, g->parameter_count);
    release_parameters(g->defines, g->define_count);
    for (size_t i = 0; i < g->argument_count; i++) free(g->arguments[i].shape);
    for (size_t i = 0; i < g->module_count; i++) free(g->module[i].shape);
    free(g->module);
    for (size_t i = 0; i < g->constraint_count; i++) free(g->constraints[i]);
    for (size_t i = 0; i < g->note_count; i++) free(g->notes[i]);
    for (int d = 0; d < 3; d++) {
        free(g->launch.grid[d]);
        free(g->launch.block[d]);
    }
    free(g->launch.shared);
    free(g->sizes);
    free(g->arguments);
    free(g->constraints);
    free(g->notes);
    free(g->entry);
    *g = (struct guess){0};
}
