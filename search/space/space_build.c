// From constraints to the diagram of the valid configurations (diagram.c), level by level.
//
// A state holds the information that the undecided constraints need about the parameters fixed so far. It does not
// consist of the parameters' values, but of the values of the largest known subexpressions. For example, 8 by 2 and 4
// by 4 threads are the same state if only their product matters later. A constraint removes a state on the level that
// decides it. The published space `hotspot` (22.2 million raw configurations, 349,853 valid) takes a hundred thousand
// edges and ten milliseconds.
//
// A failed evaluation (x % 0) is a separate value, because it matters only on configurations that no other constraint
// removes.
#include <stdlib.h>
#include <string.h>

#include "search/space/space_internal.h"
#include "tuner/base/memory.h"

// With more edges than this (6 bytes each), the constraints tie the parameters together too closely for an index.
enum { MAX_EDGES = 4 * 1000 * 1000 };
// Trying a value in a state takes 25 ns, so a build ends within a minute.
static const uint64_t most_tries = 2 * 1000 * 1000 * 1000;

// The work on one level.
struct level_plan {
    int leaf;     // the parameter's node, -1 if no constraint reads it
    int *touched; // nodes that may get a value, operands first
    int touched_count;
    int *layout; // the nodes whose values are the state after this level
    int layout_count;
};

// Which operations can be done when a parameter gets its value, and which values must be kept after each level.
struct plan {
    struct graph graph; // lowered: at most three operands
    int *roots;
    size_t root_count;
    bool *is_root;
    // For each node, three levels: the first at which its value may be known, the first at which it is certainly known,
    // and the last at which it is read. -1 means before the first level (constants), or never read.
    int *first_level, *last_level, *last_use;
    int level_count;
    struct level_plan *levels;
    int *pool; // memory of the lists
};

// The states of one level that have been found so far.
struct state_table {
    int width;
    int64_t *values; // width entries per state
    uint32_t count;
    size_t room; // for values
    struct hash_index index;
};

static int larger(int a, int b)
{
    return a > b ? a : b;
}

static int smaller(int a, int b)
{
    return a < b ? a : b;
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

// Rewrites the graph for the order of levels: sums and products become chains that combine their operands in the order
// in which they become known. Once two of three factors are known, only the product of these two is kept.
static void lower(struct plan *plan, const struct constraint_graph *cg, const int *level_of)
{
    const struct graph *from = &cg->graph;
    autofree int *lowered = memory_new(3 * (size_t)from->count + (size_t)from->operand_count, sizeof *lowered);
    int *last = lowered + from->count, *list = last + from->count;
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
        plan->first_level[i] = first;
        plan->last_level[i] = last;
        plan->last_use[i] = -1;
        for (int j = 0; n->live && j < n->count; j++) plan->last_use[o[j]] = larger(plan->last_use[o[j]], last);
    }
}

static void plan_level(struct plan *plan, int l, int parameter)
{
    const struct graph *g = &plan->graph;
    struct level_plan *lp = &plan->levels[l];
    uint64_t bit = (uint64_t)1 << parameter;
    lp->leaf = -1;
    lp->touched = plan->pool + (2 * (size_t)l + 3) * (size_t)g->count;
    lp->layout = lp->touched + g->count;
    for (int i = 0; i < g->count; i++) {
        const struct graph_node *n = &g->nodes[i];
        if (n->op == OP_CONSTANT || !n->live || plan->first_level[i] > l) continue;
        if (n->mask & bit) lp->touched[lp->touched_count++] = i;
        if (n->mask & bit && n->op == OP_NAME) lp->leaf = i;
        // A root that may fail is kept until the end.
        bool used = plan->last_use[i] > l || (plan->is_root[i] && (plan->last_level[i] > l || n->may_fail));
        if (used) lp->layout[lp->layout_count++] = i;
    }
}

// Keeps no pointer to its arguments.
static void plan_init(struct plan *plan, const struct constraint_graph *cg, const int *order, int level_count)
{
    int level_of[SPACE_MAX_PARAMETERS];
    for (int p = 0; p < SPACE_MAX_PARAMETERS; p++) level_of[p] = -1;
    for (int l = 0; l < level_count; l++) level_of[order[l]] = l;
    *plan = (struct plan){.level_count = level_count};
    lower(plan, cg, level_of);
    size_t nodes = (size_t)plan->graph.count;
    plan->pool = memory_grow(NULL, (2 * (size_t)level_count + 3) * nodes, sizeof *plan->pool);
    plan->levels = memory_new((size_t)level_count, sizeof *plan->levels);
    plan->is_root = memory_new(nodes, sizeof *plan->is_root);
    plan->first_level = plan->pool;
    plan->last_level = plan->first_level + nodes;
    plan->last_use = plan->last_level + nodes;
    for (size_t r = 0; r < plan->root_count; r++) plan->is_root[plan->roots[r]] = true;
    find_levels(plan, level_of);
    for (int l = 0; l < level_count; l++) plan_level(plan, l, order[l]);
}

static void plan_release(struct plan *plan)
{
    free(plan->levels);
    free(plan->is_root);
    free(plan->roots);
    free(plan->pool);
    graph_release(&plan->graph);
}

static int64_t evaluate(const struct graph *g, int node, const int64_t *value)
{
    const struct graph_node *n = &g->nodes[node];
    const int *o = g->operands + n->first;
    int64_t a = value[o[0]], b = n->count > 1 ? value[o[1]] : 0, result;
    if (n->op == OP_AND || n->op == OP_OR) {
        int64_t absorbing = n->op == OP_OR;
        if (a == absorbing || a == MARK_FAILED) return a;
        if (a == !absorbing) return b;
        return b == absorbing && !g->nodes[o[0]].may_fail ? b : MARK_UNKNOWN;
    }
    if (n->op == OP_CHOOSE) return a == MARK_UNKNOWN || a == MARK_FAILED ? a : value[o[a ? 1 : 2]];
    if (a == MARK_FAILED || b == MARK_FAILED) return MARK_FAILED;
    if (a == MARK_UNKNOWN || b == MARK_UNKNOWN) return MARK_UNKNOWN;
    return expr_apply(n->op, a, b, &result) ? MARK_FAILED : result;
}

static void table_init(struct state_table *t, int width)
{
    *t = (struct state_table){.width = width};
    t->values = memory_room(NULL, &t->room, (size_t)width, sizeof *t->values);
}

static void table_release(struct state_table *t)
{
    free(t->values);
    hash_index_release(&t->index);
}

static bool is_fresh(const void *table, size_t state)
{
    const struct state_table *t = table;
    size_t width = (size_t)t->width;
    // A state without values has no array.
    return !width || memcmp(t->values + state * width, t->values + t->count * width, width * sizeof *t->values) == 0;
}

// The caller has written a state's values behind the last state of the table. Returns the number of the known state
// with the same values. If there is none, the values become a new state.
static uint32_t table_intern(struct state_table *t)
{
    size_t width = (size_t)t->width;
    uint32_t hash = 0;
    for (size_t i = 0; i < width; i++) hash = hash_mix(hash, (uint64_t)t->values[t->count * width + i]);
    int64_t known = hash_index_find(&t->index, hash, is_fresh, t);
    if (known >= 0) return (uint32_t)known;
    hash_index_add(&t->index, hash, t->count++);
    t->values = memory_room(t->values, &t->room, (t->count + 1) * width, sizeof *t->values);
    return t->count - 1;
}

// Adds all edges of one level. Returns false if the diagram gets too large.
static bool expand_level(const struct plan *plan, int l, const struct parameter *parameter, int64_t *value,
                         const struct state_table *from, struct state_table *to, struct draft_level *draft, size_t room,
                         bool lenient)
{
    const struct level_plan *lp = &plan->levels[l];
    for (uint32_t s = 0; s < from->count; s++) {
        const int64_t *state = from->values + (size_t)s * (size_t)from->width;
        for (size_t v = 0; v < parameter->count; v++) {
            bool dead = false;
            for (int t = 0; t < lp->touched_count; t++) value[lp->touched[t]] = MARK_UNKNOWN;
            for (int i = 0; i < from->width; i++) value[plan->levels[l - 1].layout[i]] = state[i];
            if (lp->leaf >= 0) value[lp->leaf] = parameter->values[v];
            for (int t = 0; t < lp->touched_count && !dead; t++) {
                int node = lp->touched[t];
                if (value[node] == MARK_UNKNOWN) value[node] = evaluate(&plan->graph, node, value);
                dead = plan->is_root[node] && (value[node] == 0 || (lenient && value[node] == MARK_FAILED));
            }
            if (dead) continue;
            int64_t *fresh = to->values + (size_t)to->count * (size_t)to->width;
            for (int i = 0; i < lp->layout_count; i++) fresh[i] = value[lp->layout[i]];
            draft_edge(draft, (uint16_t)v, table_intern(to));
        }
        draft_state_done(draft);
        if (draft->edge_count > room) return false;
    }
    return true;
}

// The first path to `target` on the last level, as value indices by level. States are numbered in the order of their
// first paths.
static void path_to(const struct draft_level *draft, int levels, uint32_t target, uint16_t *path)
{
    for (int l = levels - 1; l >= 0; l--) {
        uint32_t state = 0, edge = 0;
        while (draft[l].child[edge] != target) edge++;
        while (draft[l].begin[state + 1] <= edge) state++;
        path[l] = draft[l].value[edge];
        target = state;
    }
}

// The number of a root that failed in a final state, and that state; -1 if none failed.
static int find_failed(const struct plan *plan, const struct state_table *end, uint32_t *state)
{
    const struct level_plan *lp = &plan->levels[plan->level_count - 1];
    for (uint32_t s = 0; s < end->count; s++)
        for (int i = 0; i < lp->layout_count; i++) {
            if (end->values[(size_t)s * (size_t)end->width + (size_t)i] != MARK_FAILED) continue;
            *state = s;
            for (size_t r = 0; r < plan->root_count; r++)
                if (plan->roots[r] == lp->layout[i]) return (int)r;
        }
    return -1;
}

// Checks the constant roots, before the first level. Returns false if one of them does not hold. *failed gets the
// number of a root that cannot be evaluated.
static bool constant_roots_hold(const struct plan *plan, bool lenient, int *failed)
{
    for (size_t r = 0; r < plan->root_count; r++) {
        const struct graph_node *n = &plan->graph.nodes[plan->roots[r]];
        if (n->op != OP_CONSTANT) continue;
        if (n->value == 0 || (n->value == MARK_FAILED && lenient)) return false;
        if (n->value == MARK_FAILED && *failed < 0) *failed = (int)r;
    }
    return true;
}

static enum build_result build(const struct space *s, const struct plan *plan, const int *order, bool lenient,
                               struct diagram *d, int *failed, uint16_t *path)
{
    int levels = plan->level_count, nodes = plan->graph.count;
    enum build_result result = BUILD_FINE;
    *d = (struct diagram){.levels = levels};
    *failed = -1;
    if (!constant_roots_hold(plan, lenient, failed)) return BUILD_FINE;

    autofree struct draft_level *draft = memory_new((size_t)levels + 1, sizeof *draft);
    autofree int64_t *value = memory_grow(NULL, (size_t)nodes, sizeof *value);
    for (int i = 0; i < nodes; i++) {
        const struct graph_node *n = &plan->graph.nodes[i];
        value[i] = n->op == OP_CONSTANT ? n->value : MARK_UNKNOWN;
    }
    struct state_table from, to;
    table_init(&from, 0);
    from.count = 1;
    size_t edges = 0;
    uint64_t tries = 0;
    for (int l = 0; l < levels && result == BUILD_FINE; l++) {
        const struct parameter *parameter = &s->parameters[order[l]];
        table_init(&to, plan->levels[l].layout_count);
        tries += (uint64_t)from.count * parameter->count;
        if (tries > most_tries ||
            !expand_level(plan, l, parameter, value, &from, &to, &draft[l], MAX_EDGES - edges, lenient))
            result = BUILD_TOO_LARGE;
        edges += draft[l].edge_count;
        table_release(&from);
        from = to;
    }
    if (result == BUILD_FINE && from.count > 0) {
        // A constraint that can never be evaluated is an error only if the other constraints leave any configuration.
        uint32_t state = 0;
        if (*failed < 0 && levels > 0) *failed = find_failed(plan, &from, &state);
        if (*failed >= 0) {
            path_to(draft, levels, state, path);
            result = BUILD_FAILED;
        }
    }
    if (result == BUILD_FINE) {
        // Final states differ only in which roots failed. None failed, so there is one final state.
        for (size_t e = 0; levels > 0 && e < draft[levels - 1].edge_count; e++) draft[levels - 1].child[e] = 0;
        diagram_build(d, draft, levels);
    }
    table_release(&from);
    for (int l = 0; l < levels; l++) draft_release(&draft[l]);
    return result;
}

enum build_result space_build_diagram(const struct space *s, const int *constraints, size_t count, bool lenient,
                                      int *order, struct diagram *d, int *failed, uint16_t *config)
{
    autorelease(constraint_graph_release) struct constraint_graph cg;
    autorelease(plan_release) struct plan plan;
    uint16_t path[SPACE_MAX_PARAMETERS] = {0};
    constraint_graph_init(&cg, s, constraints, count);
    int levels = space_order(s, &cg, order);
    plan_init(&plan, &cg, order, levels);
    enum build_result result = build(s, &plan, order, lenient, d, failed, path);
    if (result == BUILD_FAILED) {
        *failed = constraints[*failed];
        memset(config, 0, (size_t)s->count * sizeof *config);
        for (int l = 0; l < levels; l++) config[order[l]] = path[l];
    }
    return result;
}
