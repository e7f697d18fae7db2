// See implementation.h.
#include "tuner/job/implementation.h"

#include "tuner/base/elf_file.h"

const char *const implementation_functions[IMPLEMENTATION_FUNCTIONS] = {[FUNCTION_RESULT] = "function",
                                                                        [FUNCTION_GENERATE] = "generate",
                                                                        [FUNCTION_VERIFY] = "verify",
                                                                        [FUNCTION_INIT] = "init"};

// A visitor of expressions that may be missing.
struct expression_visitor {
    void (*visit)(void *user, struct expr *);
    void *user;
};

static void each(const struct expression_visitor *v, struct expr *const *list, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (list[i]) v->visit(v->user, list[i]);
}

void stage_each_expression(const struct stage *s, void (*visit)(void *user, struct expr *), void *user)
{
    const struct expression_visitor v = {visit, user};
    each(&v, (struct expr *[]){s->when, s->shared, s->overlap}, 3);
    each(&v, s->grid, 3);
    each(&v, s->block, 3);
    each(&v, s->cluster, 3);
    for (size_t i = 0; i < s->repeat.loop_count; i++) {
        const struct stage_loop *l = &s->repeat.loops[i];
        each(&v, (struct expr *[]){l->from, l->holds, l->next}, 3);
    }
    for (size_t i = 0; i < s->role_count; i++) each(&v, &s->roles[i].value, 1);
    for (size_t i = 0; i < s->argument_count; i++) {
        const struct argument *a = &s->arguments[i];
        each(&v, &a->value, 1);
        for (size_t k = 0; k < a->member_count; k++) each(&v, &a->members[k].value, 1);
        if (!a->map) continue;
        each(&v, a->map->view, TENSOR_MAP_RANK_MAX);
        each(&v, a->map->stride, TENSOR_MAP_RANK_MAX);
        each(&v, a->map->box, TENSOR_MAP_RANK_MAX);
        each(&v, (struct expr *[]){a->map->swizzle, a->map->promotion}, 2);
    }
}

bool implementation_is_built(const struct implementation *m)
{
    return m->kind == IMPLEMENTATION_LIBRARY && shared_library_is_source(m->path);
}
