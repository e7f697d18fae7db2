// See space_plan.h.
#include "search/space/space_plan.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "tuner/base/memory.h"

static int larger(int a, int b)
{
    return a > b ? a : b;
}

static int smaller(int a, int b)
{
    return a < b ? a : b;
}

struct leaf_context {
    const struct space *space;
    struct graph *graph;
    int *derived; // the node of each derived name that was added, or -1
};

static int add_derived(struct leaf_context *c, size_t number);

static int leaf_node(void *user, int slot)
{
    struct leaf_context *c = user;
    const struct space *s = c->space;
    for (int p = 0; p < s->count; p++) {
        if (s->slots[p] != slot) continue;
        const struct parameter *parameter = &s->parameters[p];
        if (parameter->count == 1) return graph_constant(c->graph, parameter->values[0]);
        int64_t low = parameter->values[0], high = low;
        for (size_t i = 1; i < parameter->count; i++) {
            if (parameter->values[i] < low) low = parameter->values[i];
            if (parameter->values[i] > high) high = parameter->values[i];
        }
        return graph_parameter(c->graph, p, (double)low, (double)high);
    }
    for (size_t i = 0; i < s->derived_count; i++)
        if (s->derived[i].slot == slot) return add_derived(c, i);
    for (size_t i = 0; i < s->constant_count; i++)
        if (s->constants[i].slot == slot) return graph_constant(c->graph, s->constants[i].value);
    return graph_constant(c->graph, MARK_FAILED); // space_add_constraint() lets no such name in
}

// Once each: names that use the one before twice would take twice as long each.
static int add_derived(struct leaf_context *c, size_t number)
{
    if (c->derived[number] < 0) c->derived[number] = graph_add(c->graph, c->space->derived[number].expr, leaf_node, c);
    return c->derived[number];
}

void constraint_graph_init(struct constraint_graph *cg, const struct space *s, const int *constraints, size_t count)
{
    graph_init(&cg->graph);
    cg->roots = memory_grow(NULL, count, sizeof *cg->roots);
    cg->root_count = count;
    struct leaf_context context = {s, &cg->graph, memory_new(s->derived_count, sizeof *context.derived)};
    for (size_t i = 0; i < s->derived_count; i++) context.derived[i] = -1;
    for (size_t i = 0; i < count; i++) {
        size_t number = (size_t)constraints[i];
        if (number < s->constraint_count) {
            int root = graph_add(&cg->graph, s->constraints[number], leaf_node, &context);
            cg->roots[i] = graph_truth(&cg->graph, root);
        } else {
            // A derived name: all that is asked is that it can be evaluated. Where it always can, this folds to 1.
            int zero = graph_constant(&cg->graph, 0);
            int product[] = {add_derived(&context, number - s->constraint_count), zero};
            int equal[] = {graph_operation(&cg->graph, OP_MULTIPLY, product, 2, true), zero};
            cg->roots[i] = graph_operation(&cg->graph, OP_EQUAL, equal, 2, false);
        }
    }
    free(context.derived);
    graph_mark_live(&cg->graph, cg->roots, count);
}

void constraint_graph_release(struct constraint_graph *cg)
{
    graph_release(&cg->graph);
    free(cg->roots);
}

uint64_t space_constraint_mask(const struct space *s, size_t constraint)
{
    struct constraint_graph cg;
    int number = (int)constraint;
    constraint_graph_init(&cg, s, &number, 1);
    uint64_t mask = cg.graph.nodes[cg.roots[0]].mask;
    constraint_graph_release(&cg);
    return mask;
}

// The operands of a node in the order in which they become known.
static void order_operands(const struct graph *g, const struct graph_node *n, const int *last, int *list)
{
    for (int j = 0; j < n->count; j++) {
        int k = j, operand = g->operands[n->first + j];
        for (; k > 0 && last[operand] < last[list[k - 1]]; k--) list[k] = list[k - 1]; // insertion sort by level
        list[k] = operand;
    }
}

// Rewrites the graph for the order of levels: sums and products become chains that take their operands as these become
// known, so that of three factors the product of the first two is all that is kept.
static void lower(struct plan *plan, const struct constraint_graph *cg, const int *level_of)
{
    const struct graph *from = &cg->graph;
    int *lowered = memory_new(3 * (size_t)from->count + (size_t)from->operand_count, sizeof *lowered);
    int *last = lowered + from->count, *list = last + from->count;
    graph_init(&plan->graph);
    for (int i = 0; i < from->count; i++) {
        const struct graph_node *n = &from->nodes[i];
        last[i] = -1;
        for (uint64_t m = n->mask; m; m &= m - 1) last[i] = larger(last[i], level_of[__builtin_ctzll(m)]);
        if (n->op == OP_CONSTANT) {
            lowered[i] = graph_constant(&plan->graph, n->value);
            continue;
        }
        if (n->op == OP_NAME) {
            lowered[i] = graph_parameter(&plan->graph, n->parameter, n->low, n->high);
            continue;
        }
        bool chain = (n->op == OP_ADD || n->op == OP_MULTIPLY) && n->count > 2;
        if (n->count) memcpy(list, from->operands + n->first, (size_t)n->count * sizeof *list);
        if (chain) order_operands(from, n, last, list);
        for (int j = 0; j < n->count; j++) list[j] = lowered[list[j]];
        int first = chain ? 2 : n->count;
        lowered[i] = graph_operation(&plan->graph, n->op, list, first, false);
        for (int j = first; j < n->count; j++)
            lowered[i] = graph_operation(&plan->graph, n->op, (const int[]){lowered[i], list[j]}, 2, false);
    }
    plan->roots = memory_grow(NULL, cg->root_count, sizeof *plan->roots);
    plan->root_count = cg->root_count;
    for (size_t r = 0; r < cg->root_count; r++) plan->roots[r] = lowered[cg->roots[r]];
    graph_mark_live(&plan->graph, plan->roots, plan->root_count);
    free(lowered);
}

static bool is_comparison(enum expr_op op)
{
    return op >= OP_LESS && op <= OP_UNEQUAL;
}

void limits_of(const struct graph *g, int comparison, struct limits *limits)
{
    const struct graph_node *n = &g->nodes[comparison];
    const int *o = g->operands + n->first;
    enum expr_op op = n->op;
    int node = o[0], constant = o[1];
    *limits =
        (struct limits){.node = -1, .low = -INFINITY, .high = INFINITY, .sure_low = INFINITY, .sure_high = -INFINITY};
    if (!is_comparison(op)) return;
    if (g->nodes[node].op == OP_CONSTANT) {
        static const enum expr_op turned[] = {OP_GREATER,    OP_GREATER_EQUAL, OP_LESS,
                                              OP_LESS_EQUAL, OP_EQUAL,         OP_UNEQUAL};
        node = o[1];
        constant = o[0];
        op = turned[op - OP_LESS];
    }
    if (g->nodes[constant].op != OP_CONSTANT || g->nodes[node].may_fail) return;
    double c = (double)g->nodes[constant].value;
    if (fabs(c) >= 0x1p52) return;
    limits->node = node;
    if (op == OP_LESS || op == OP_LESS_EQUAL) {
        limits->high = limits->sure_high = op == OP_LESS ? c - 1 : c;
        limits->sure_low = -INFINITY;
    } else if (op == OP_GREATER || op == OP_GREATER_EQUAL) {
        limits->low = limits->sure_low = op == OP_GREATER ? c + 1 : c;
        limits->sure_high = INFINITY;
    } else {
        limits->low = limits->high = c;
    }
}

bool limits_below(const struct graph *g, const struct limits *of, int j, struct limits *limits)
{
    const struct graph_node *n = &g->nodes[of->node];
    const int *o = g->operands + n->first;
    const struct graph_node *m = &g->nodes[o[j]];
    *limits = *of;
    limits->node = o[j];
    if (n->op == OP_NEGATE) {
        limits->low = -of->high;
        limits->high = -of->low;
        limits->sure_low = -of->sure_high;
        limits->sure_high = -of->sure_low;
        return true;
    }
    // What the other operands add or multiply by, at least and at most.
    double least = n->op == OP_ADD ? 0 : 1, most = least;
    if (n->op != OP_ADD && n->op != OP_MULTIPLY) return false;
    for (int i = 0; i < n->count; i++) {
        const struct graph_node *other = &g->nodes[o[i]];
        if (i == j) continue;
        if (n->op == OP_ADD) {
            least += other->low;
            most += other->high;
        } else {
            if (other->low < 1) return false;
            least *= other->low;
            most *= other->high;
        }
    }
    if (n->op == OP_ADD) {
        if (fabs(least) >= 0x1p52 || fabs(most) >= 0x1p52) return false; // no longer exact
        limits->high -= least;
        limits->low -= most;
        limits->sure_high -= most;
        limits->sure_low -= least;
        return true;
    }
    if (m->low < 0) return false;
    limits->high = floor(of->high / least);
    limits->low = ceil(of->low / most);
    limits->sure_high = floor(of->sure_high / most);
    limits->sure_low = ceil(of->sure_low / least);
    return true;
}

static int64_t to_value(double x)
{
    return x <= -0x1p62 ? EXPR_VALUE_MIN : x >= 0x1p62 ? EXPR_VALUE_MAX : (int64_t)x;
}

// Watches on every node below `limits->node` whose value can decide the comparison.
static void watch_below(struct plan *plan, const struct limits *limits, size_t *room, int *visits)
{
    if (++*visits > LIMITS_VISITS) return;
    const struct graph *g = &plan->graph;
    const struct graph_node *n = &g->nodes[limits->node];
    bool telling =
        limits->low > n->low || limits->high < n->high ||
        (limits->sure_low <= limits->sure_high && limits->sure_low <= n->high && limits->sure_high >= n->low);
    if (telling && n->op != OP_CONSTANT) {
        plan->watches = memory_room(plan->watches, room, (size_t)plan->watch_count + 1, sizeof *plan->watches);
        plan->watches[plan->watch_count++] = (struct watch){limits->node, to_value(limits->low), to_value(limits->high),
                                                            to_value(limits->sure_low), to_value(limits->sure_high)};
    }
    for (int j = 0; j < n->count; j++) {
        struct limits below;
        if (limits_below(g, limits, j, &below)) watch_below(plan, &below, room, visits);
    }
}

static void find_watches(struct plan *plan)
{
    const struct graph *g = &plan->graph;
    size_t room = 0;
    plan->watch_begin = memory_grow(NULL, (size_t)g->count + 1, sizeof *plan->watch_begin);
    for (int i = 0; i < g->count; i++) {
        struct limits limits;
        plan->watch_begin[i] = plan->watch_count;
        if (!g->nodes[i].live || !is_comparison(g->nodes[i].op)) continue;
        int visits = 0;
        limits_of(g, i, &limits);
        // The compared value itself needs no watch: with it the comparison is evaluated.
        for (int j = 0; limits.node >= 0 && j < g->nodes[limits.node].count; j++) {
            struct limits below;
            if (limits_below(g, &limits, j, &below)) watch_below(plan, &below, &room, &visits);
        }
    }
    plan->watch_begin[g->count] = plan->watch_count;
}

static void find_levels(struct plan *plan, const int *level_of)
{
    const struct graph *g = &plan->graph;
    for (int i = 0; i < g->count; i++) {
        const struct graph_node *n = &g->nodes[i];
        const int *o = g->operands + n->first;
        int first = -1, last = -1;
        if (n->op == OP_NAME) first = last = level_of[n->parameter];
        for (int j = 0; j < n->count; j++) {
            first = larger(first, plan->first_level[o[j]]);
            last = larger(last, plan->last_level[o[j]]);
        }
        if (n->op == OP_AND || n->op == OP_OR) {
            first = plan->first_level[o[0]];
            if (!g->nodes[o[0]].may_fail) first = smaller(first, plan->first_level[o[1]]);
        } else if (n->op == OP_CHOOSE) {
            first = larger(plan->first_level[o[0]], smaller(plan->first_level[o[1]], plan->first_level[o[2]]));
        }
        for (int w = plan->watch_begin[i]; w < plan->watch_begin[i + 1]; w++)
            first = smaller(first, plan->first_level[plan->watches[w].node]);
        plan->first_level[i] = first;
        plan->last_level[i] = last;
    }
}

static int *take(struct plan *plan, size_t count)
{
    assert(plan->pool_used + count <= plan->pool_size);
    int *list = plan->pool + plan->pool_used;
    plan->pool_used += count;
    return list;
}

static void plan_level(struct plan *plan, int l, int parameter)
{
    const struct graph *g = &plan->graph;
    struct level_plan *lp = &plan->levels[l];
    uint64_t bit = (uint64_t)1 << parameter;
    lp->bit = bit;
    lp->leaf = -1;
    lp->touched = take(plan, (size_t)g->count);
    lp->layout = take(plan, (size_t)g->count);
    lp->open = take(plan, (size_t)g->count);
    lp->roots = take(plan, plan->root_count);
    for (int i = 0; i < g->count; i++) {
        const struct graph_node *n = &g->nodes[i];
        if (n->op == OP_CONSTANT || !n->live) continue;
        int first = plan->first_level[i], last = plan->last_level[i];
        if ((n->mask & bit) && n->op == OP_NAME) {
            lp->leaf = i;
        } else if ((n->mask & bit) && first <= l) {
            lp->touched[lp->touched_count++] = i;
        }
        if ((n->mask & bit) && plan->is_root[i] && first <= l) lp->roots[lp->root_count++] = i;
        // A root that may fail is remembered to the end.
        bool used = plan->last_use[i] > l || (plan->is_root[i] && (last > l || n->may_fail));
        if (first <= l && used) lp->layout[lp->layout_count++] = i;
        bool watched = plan->watch_begin[i + 1] > plan->watch_begin[i];
        if (watched && first <= l && last > l) lp->walk = true;
        if (graph_is_lazy(n->op) && last > l)
            for (int j = 0; j < n->count; j++) lp->walk |= plan->first_level[g->operands[n->first + j]] <= l;
    }
    for (int i = g->count - 1; i >= 0; i--)
        if (g->nodes[i].live && plan->last_level[i] > l) lp->open[lp->open_count++] = i;
}

void plan_init(struct plan *plan, const struct constraint_graph *cg, const int *order, int level_count)
{
    int level_of[SPACE_MAX_PARAMETERS];
    for (int p = 0; p < SPACE_MAX_PARAMETERS; p++) level_of[p] = -1;
    for (int l = 0; l < level_count; l++) level_of[order[l]] = l;
    *plan = (struct plan){.level_count = level_count};
    lower(plan, cg, level_of);
    const struct graph *g = &plan->graph;
    size_t nodes = (size_t)g->count;
    plan->pool_size = 3 * nodes + (size_t)level_count * (3 * nodes + plan->root_count);
    plan->pool = memory_grow(NULL, plan->pool_size, sizeof *plan->pool);
    plan->levels = memory_new((size_t)level_count + 1, sizeof *plan->levels);
    plan->is_root = memory_new(nodes + 1, sizeof *plan->is_root);
    plan->first_level = take(plan, nodes);
    plan->last_level = take(plan, nodes);
    plan->last_use = take(plan, nodes);
    for (size_t r = 0; r < plan->root_count; r++) plan->is_root[plan->roots[r]] = true;
    find_watches(plan);
    find_levels(plan, level_of);
    for (int i = 0; i < g->count; i++) plan->last_use[i] = -1;
    for (int i = 0; i < g->count; i++)
        for (int j = 0; g->nodes[i].live && j < g->nodes[i].count; j++) {
            int o = g->operands[g->nodes[i].first + j];
            plan->last_use[o] = larger(plan->last_use[o], plan->last_level[i]);
        }
    for (int l = 0; l < level_count; l++) plan_level(plan, l, order[l]);
    for (int l = 0; l < level_count; l++) {
        struct level_plan *lp = &plan->levels[l];
        lp->loaded = memory_new((size_t)lp->touched_count + 1, sizeof *lp->loaded);
        for (int t = 0, at = 0; l > 0 && t < lp->touched_count; t++) {
            const struct level_plan *up = &plan->levels[l - 1];
            while (at < up->layout_count && up->layout[at] < lp->touched[t]) at++;
            lp->loaded[t] = at < up->layout_count && up->layout[at] == lp->touched[t];
        }
    }
}

void plan_release(struct plan *plan)
{
    for (int l = 0; l < plan->level_count; l++) free(plan->levels[l].loaded);
    free(plan->levels);
    free(plan->is_root);
    free(plan->roots);
    free(plan->pool);
    free(plan->watches);
    free(plan->watch_begin);
    graph_release(&plan->graph);
}
