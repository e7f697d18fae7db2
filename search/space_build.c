// From constraints to the diagram of the valid configurations (diagram.h), level by level.
//
// A state is what the constraints that are still undecided need of the parameters fixed so far: not the parameters'
// values, but the values of the largest known subexpressions. 8 by 2 and 4 by 4 threads are one state when only their
// product matters later; when `use_shared == 0 || ...` is decided by its first half, nothing of the second half is
// kept. A constraint removes a state on the level that decides it. The published space `hotspot` (22.2 million raw,
// 349,853 valid) so takes some ten thousand states and a few milliseconds.
//
// Failing evaluation (x % 0) is a value of its own: it counts only on configurations that no other constraint removes.
#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "search/space_internal.h"

// Past this many edges (6 bytes each) the constraints tie the parameters together too closely for an index.
enum { MAX_EDGES = 60 * 1000 * 1000 };

// What happens on one level.
struct level_plan {
    int leaf;                      // the parameter's node, -1 where no constraint reads it
    int *touched;                  // nodes that may change their value, operands first
    bool *loaded;                  // touched[i] may have a value already
    int touched_count;
    int *layout;                   // the nodes whose values are the state behind this level
    int layout_count;
    bool walk;                     // some of these may turn out to be unused
    int *open;                     // nodes not determined behind this level for certain, users first
    int open_count;
    int *roots;                    // roots among the touched nodes
    int root_count;
};

struct plan {
    struct graph graph;            // lowered: at most three operands
    int *roots;
    size_t root_count;
    bool *is_root;
    int *first_level, *last_level; // of each node: where its value may be, where it is certain to be known; -1 for constants
    int level_count;
    struct level_plan *levels;
    int *pool;                     // memory of the lists
    size_t pool_used, pool_size;
};

// The states of one level while they are found.
struct state_table {
    int width;
    int64_t *values;               // width entries a state
    uint32_t count, room;
    uint32_t *slots;
    uint32_t slot_count;
};

struct leaf_context {
    const struct space *space;
    struct graph *graph;
};

static void *allocate(size_t size)
{
    void *memory = malloc(size ? size : 1);
    if (!memory) abort();
    return memory;
}

static int add_derived(const struct space *s, struct graph *g, const struct derived *d);

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
        if (s->derived[i].slot == slot) return add_derived(s, c->graph, &s->derived[i]);
    for (size_t i = 0; i < s->constant_count; i++)
        if (s->constants[i].slot == slot) return graph_constant(c->graph, s->constants[i].value);
    return graph_constant(c->graph, MARK_FAILED); // space_add_constraint() lets no such name in
}

static int add_derived(const struct space *s, struct graph *g, const struct derived *d)
{
    struct leaf_context context = { s, g };
    return graph_add(g, d->expr, leaf_node, &context);
}

static void make_graph(const struct space *s, const int *constraints, size_t count, struct constraint_graph *cg)
{
    graph_init(&cg->graph);
    cg->roots = allocate(count * sizeof *cg->roots);
    cg->root_count = count;
    struct leaf_context context = { s, &cg->graph };
    for (size_t i = 0; i < count; i++) {
        int root = graph_add(&cg->graph, s->constraints[constraints[i]], leaf_node, &context);
        cg->roots[i] = graph_truth(&cg->graph, root);
    }
}

static void release_graph(struct constraint_graph *cg)
{
    graph_release(&cg->graph);
    free(cg->roots);
}

uint64_t space_constraint_mask(const struct space *s, size_t constraint)
{
    struct constraint_graph cg;
    int number = (int)constraint;
    make_graph(s, &number, 1, &cg);
    uint64_t mask = cg.graph.nodes[cg.roots[0]].mask;
    release_graph(&cg);
    return mask;
}

// Rewrites the graph for the order of levels: sums and products become chains that take their operands as these become known,
// so that of three factors the product of the first two is all that is kept.
static void lower(struct plan *plan, const struct constraint_graph *cg, const int *level_of)
{
    const struct graph *from = &cg->graph;
    int *lowered = allocate((size_t)from->count * sizeof *lowered);
    int *last = allocate((size_t)from->count * sizeof *last);
    int room = 4;
    int *list = allocate((size_t)room * sizeof *list);
    graph_init(&plan->graph);
    for (int i = 0; i < from->count; i++) {
        const struct graph_node *n = &from->nodes[i];
        last[i] = -1;
        for (uint64_t m = n->mask; m; m &= m - 1) {
            int level = level_of[__builtin_ctzll(m)];
            if (level > last[i]) last[i] = level;
        }
        if (n->op == OP_CONSTANT) {
            lowered[i] = graph_constant(&plan->graph, n->value);
        } else if (n->op == OP_NAME) {
            lowered[i] = graph_parameter(&plan->graph, n->parameter, n->low, n->high);
        } else {
            if (n->count > room) {
                room = 2 * n->count;
                free(list);
                list = allocate((size_t)room * sizeof *list);
            }
            for (int j = 0; j < n->count; j++) list[j] = from->operands[n->first + j];
            bool chain = (n->op == OP_ADD || n->op == OP_MULTIPLY) && n->count > 2;
            for (int j = 1; chain && j < n->count; j++) // insertion sort by level
                for (int k = j; k > 0 && last[list[k]] < last[list[k - 1]]; k--) {
                    int swap = list[k];
                    list[k] = list[k - 1];
                    list[k - 1] = swap;
                }
            for (int j = 0; j < n->count; j++) list[j] = lowered[list[j]];
            if (chain) {
                int sum = list[0];
                for (int j = 1; j < n->count; j++) {
                    const int both[] = { sum, list[j] };
                    sum = graph_operation(&plan->graph, n->op, both, 2, false);
                }
                lowered[i] = sum;
            } else {
                lowered[i] = graph_operation(&plan->graph, n->op, list, n->count, false);
            }
        }
    }
    plan->roots = allocate(cg->root_count * sizeof *plan->roots);
    plan->root_count = cg->root_count;
    for (size_t r = 0; r < cg->root_count; r++) plan->roots[r] = lowered[cg->roots[r]];
    free(lowered);
    free(last);
    free(list);
}

static int larger(int a, int b)
{
    return a > b ? a : b;
}

static int smaller(int a, int b)
{
    return a < b ? a : b;
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
    }
}

static int *take(struct plan *plan, size_t count)
{
    assert(plan->pool_used + count <= plan->pool_size);
    int *list = plan->pool + plan->pool_used;
    plan->pool_used += count;
    return list;
}

static void plan_level(struct plan *plan, int l, int parameter, const int *last_use)
{
    const struct graph *g = &plan->graph;
    struct level_plan *lp = &plan->levels[l];
    uint64_t bit = (uint64_t)1 << parameter;
    lp->leaf = -1;
    lp->touched = take(plan, (size_t)g->count);
    lp->layout = take(plan, (size_t)g->count);
    lp->open = take(plan, (size_t)g->count);
    lp->roots = take(plan, plan->root_count);
    for (int i = 0; i < g->count; i++) {
        const struct graph_node *n = &g->nodes[i];
        if (n->op == OP_CONSTANT) continue;
        int first = plan->first_level[i], last = plan->last_level[i];
        if ((n->mask & bit) && n->op == OP_NAME) {
            lp->leaf = i;
        } else if ((n->mask & bit) && first <= l) {
            lp->touched[lp->touched_count++] = i;
            if (plan->is_root[i]) lp->roots[lp->root_count++] = i;
        }
        // A root that may fail is remembered to the end.
        bool used = last_use[i] > l || (plan->is_root[i] && (last > l || n->may_fail));
        if (first <= l && used) lp->layout[lp->layout_count++] = i;
        if (graph_is_lazy(n->op) && last > l)
            for (int j = 0; j < n->count; j++) lp->walk |= plan->first_level[g->operands[n->first + j]] <= l;
    }
    for (int i = g->count - 1; i >= 0; i--)
        if (plan->last_level[i] > l) lp->open[lp->open_count++] = i;
}

static void make_plan(struct plan *plan, const struct constraint_graph *cg, const int *order, int level_count,
                      const int *level_of)
{
    *plan = (struct plan){ .level_count = level_count };
    lower(plan, cg, level_of);
    const struct graph *g = &plan->graph;
    size_t nodes = (size_t)g->count;
    plan->pool_size = 3 * nodes + (size_t)level_count * (3 * nodes + plan->root_count);
    plan->pool = allocate(plan->pool_size * sizeof *plan->pool);
    plan->levels = calloc((size_t)level_count + 1, sizeof *plan->levels);
    plan->is_root = calloc(nodes + 1, sizeof *plan->is_root);
    if (!plan->levels || !plan->is_root) abort();
    plan->first_level = take(plan, nodes);
    plan->last_level = take(plan, nodes);
    int *last_use = take(plan, nodes);
    for (size_t r = 0; r < plan->root_count; r++) plan->is_root[plan->roots[r]] = true;
    find_levels(plan, level_of);
    for (int i = 0; i < g->count; i++) last_use[i] = -1;
    for (int i = 0; i < g->count; i++)
        for (int j = 0; j < g->nodes[i].count; j++) {
            int o = g->operands[g->nodes[i].first + j];
            last_use[o] = larger(last_use[o], plan->last_level[i]);
        }
    // Only what hangs on a root is ever asked for; simplification leaves few nodes that do not.
    for (int l = 0; l < level_count; l++) plan_level(plan, l, order[l], last_use);
    // loaded: in the layout of the level before
    for (int l = 0; l < level_count; l++) {
        struct level_plan *lp = &plan->levels[l];
        lp->loaded = calloc((size_t)lp->touched_count + 1, sizeof *lp->loaded);
        if (!lp->loaded) abort();
        for (int t = 0, at = 0; l > 0 && t < lp->touched_count; t++) {
            const struct level_plan *up = &plan->levels[l - 1];
            while (at < up->layout_count && up->layout[at] < lp->touched[t]) at++;
            lp->loaded[t] = at < up->layout_count && up->layout[at] == lp->touched[t];
        }
    }
}

static void release_plan(struct plan *plan)
{
    for (int l = 0; l < plan->level_count; l++) free(plan->levels[l].loaded);
    free(plan->levels);
    free(plan->is_root);
    free(plan->roots);
    free(plan->pool);
    graph_release(&plan->graph);
}

static int64_t evaluate(const struct graph *g, const struct graph_node *n, const int64_t *value)
{
    const int *o = g->operands + n->first;
    int64_t a = value[o[0]];
    if (n->op == OP_AND || n->op == OP_OR) {
        int64_t absorbing = n->op == OP_OR, b = value[o[1]];
        if (a == absorbing || a == MARK_FAILED || a == MARK_UNUSED) return a;
        if (a == !absorbing) return b;
        if (b == absorbing && !g->nodes[o[0]].may_fail) return b;
        return b == MARK_UNUSED ? MARK_UNUSED : MARK_UNKNOWN;
    }
    if (n->op == OP_CHOOSE) {
        if (a <= MARK_UNUSED) return a;
        return value[o[a ? 1 : 2]];
    }
    int64_t b = n->count > 1 ? value[o[1]] : 0;
    if (a <= MARK_UNUSED || b <= MARK_UNUSED) {
        if (a == MARK_FAILED || b == MARK_FAILED) return MARK_FAILED;
        return a == MARK_UNUSED || b == MARK_UNUSED ? MARK_UNUSED : MARK_UNKNOWN;
    }
    int64_t result;
    return expr_apply(n->op, a, b, &result) ? MARK_FAILED : result;
}

// Which known nodes an undecided constraint still reads: from the undecided roots down through what is unknown.
static void find_needed(const struct plan *plan, const struct level_plan *lp, const int64_t *value, bool *needed)
{
    const struct graph *g = &plan->graph;
    for (int i = 0; i < lp->layout_count; i++) needed[lp->layout[i]] = false;
    for (int i = 0; i < lp->open_count; i++) needed[lp->open[i]] = false;
    for (int i = 0; i < lp->open_count; i++) {
        int node = lp->open[i];
        if (value[node] != MARK_UNKNOWN || !(needed[node] || plan->is_root[node])) continue;
        needed[node] = true;
        const struct graph_node *n = &g->nodes[node];
        const int *o = g->operands + n->first;
        int64_t a = n->op == OP_CHOOSE ? value[o[0]] : MARK_UNKNOWN;
        for (int j = 0; j < n->count; j++)
            if (j == 0 || a == MARK_UNKNOWN || (j == 1) == (a != 0)) needed[o[j]] = true;
    }
}

static void table_init(struct state_table *t, int width)
{
    *t = (struct state_table){ .width = width, .slot_count = 64, .room = 32 };
    t->slots = allocate(t->slot_count * sizeof *t->slots);
    memset(t->slots, 0xff, t->slot_count * sizeof *t->slots);
    t->values = allocate((size_t)t->room * (size_t)width * sizeof *t->values);
}

static void table_release(struct state_table *t)
{
    free(t->values);
    free(t->slots);
}

static uint32_t hash_values(const int64_t *values, int width)
{
    uint64_t h = 0x9ae16a3b2f90404fu;
    for (int i = 0; i < width; i++) {
        h = (h ^ (uint64_t)values[i]) * 0x9e3779b97f4a7c15u;
        h ^= h >> 32;
    }
    return (uint32_t)h;
}

static void grow_slots(struct state_table *t)
{
    t->slot_count *= 4;
    free(t->slots);
    t->slots = allocate(t->slot_count * sizeof *t->slots);
    memset(t->slots, 0xff, t->slot_count * sizeof *t->slots);
    uint32_t mask = t->slot_count - 1;
    for (uint32_t s = 0; s < t->count; s++) {
        uint32_t at = hash_values(t->values + (size_t)s * (size_t)t->width, t->width) & mask;
        while (t->slots[at] != UINT32_MAX) at = (at + 1) & mask;
        t->slots[at] = s;
    }
}

// The number of the state with these values, which lie behind the last one already.
static uint32_t table_intern(struct state_table *t)
{
    size_t width = (size_t)t->width;
    const int64_t *fresh = t->values + t->count * width;
    uint32_t mask = t->slot_count - 1;
    uint32_t at = hash_values(fresh, t->width) & mask;
    for (; t->slots[at] != UINT32_MAX; at = (at + 1) & mask)
        if (memcmp(t->values + t->slots[at] * width, fresh, width * sizeof *fresh) == 0) return t->slots[at];
    uint32_t state = t->count++;
    t->slots[at] = state;
    if (t->count + 1 > t->room) {
        t->room *= 2;
        t->values = realloc(t->values, (size_t)t->room * width * sizeof *t->values);
        if (!t->values) abort();
    }
    if (2 * t->count > t->slot_count) grow_slots(t);
    return state;
}

// All edges of one level. False when the diagram gets too large.
static bool expand_level(const struct plan *plan, int l, const struct parameter *parameter, int64_t *value, bool *needed,
                         const struct state_table *from, struct state_table *to, struct draft_level *draft, size_t room)
{
    const struct graph *g = &plan->graph;
    const struct level_plan *lp = &plan->levels[l];
    const struct level_plan *up = l > 0 ? &plan->levels[l - 1] : NULL;
    for (uint32_t s = 0; s < from->count; s++) {
        const int64_t *state = from->values + (size_t)s * (size_t)from->width;
        for (size_t v = 0; v < parameter->count; v++) {
            for (int i = 0; i < from->width; i++) value[up->layout[i]] = state[i];
            if (lp->leaf >= 0) value[lp->leaf] = parameter->values[v];
            for (int t = 0; t < lp->touched_count; t++) {
                int node = lp->touched[t];
                if (!lp->loaded[t] || value[node] == MARK_UNKNOWN) value[node] = evaluate(g, &g->nodes[node], value);
            }
            bool dead = false;
            for (int r = 0; r < lp->root_count; r++) dead |= value[lp->roots[r]] == 0;
            if (dead) continue;
            int64_t *fresh = to->values + (size_t)to->count * (size_t)to->width;
            if (lp->walk) find_needed(plan, lp, value, needed);
            for (int i = 0; i < lp->layout_count; i++) {
                int node = lp->layout[i];
                int64_t x = value[node];
                if (plan->is_root[node] && x == MARK_FAILED) fresh[i] = x;
                else if (plan->is_root[node] && plan->last_level[node] <= l) fresh[i] = MARK_UNUSED;
                else fresh[i] = !lp->walk || x == MARK_UNKNOWN || needed[node] ? x : MARK_UNUSED;
            }
            draft_edge(draft, (uint16_t)v, table_intern(to));
        }
        draft_state_done(draft);
        if (draft->edge_count > room) return false;
    }
    return true;
}

// Any path to `target` on the last level, as value indices by level.
static bool find_path(const struct draft_level *draft, int levels, int l, uint32_t state, uint32_t target, uint16_t *path,
                      bool **visited)
{
    if (l == levels) return state == target;
    if (visited[l][state]) return false;
    visited[l][state] = true;
    for (uint32_t e = draft[l].begin[state]; e < draft[l].begin[state + 1]; e++) {
        path[l] = draft[l].value[e];
        if (find_path(draft, levels, l + 1, draft[l].child[e], target, path, visited)) return true;
    }
    return false;
}

// Where a state of the end holds a failed constraint: the first one, and a configuration that leads there.
static int find_failed(const struct plan *plan, const struct state_table *end, const struct draft_level *draft, int levels,
                       uint16_t *path)
{
    const struct level_plan *lp = &plan->levels[levels - 1];
    for (uint32_t s = 0; s < end->count; s++) {
        for (size_t r = 0; r < plan->root_count; r++) {
            for (int i = 0; i < lp->layout_count; i++) {
                if (lp->layout[i] != plan->roots[r]) continue;
                if (end->values[(size_t)s * (size_t)end->width + (size_t)i] != MARK_FAILED) continue;
                bool *visited[SPACE_MAX_PARAMETERS];
                for (int l = 0; l < levels; l++) {
                    visited[l] = calloc(draft[l].state_count + 1, sizeof **visited);
                    if (!visited[l]) abort();
                }
                bool found = find_path(draft, levels, 0, 0, s, path, visited);
                for (int l = 0; l < levels; l++) free(visited[l]);
                if (found) return (int)r;
            }
        }
    }
    return -1;
}

// A root that is constant decides before the first level. 0 nothing, 1 no configuration is valid, 2 a constraint fails.
static int constant_roots(const struct plan *plan, int *failed)
{
    int found = 0;
    for (size_t r = 0; r < plan->root_count; r++) {
        const struct graph_node *n = &plan->graph.nodes[plan->roots[r]];
        if (n->op != OP_CONSTANT) continue;
        if (n->value == 0) return 1;
        if (n->value == MARK_FAILED && !found) {
            found = 2;
            *failed = (int)r;
        }
    }
    return found;
}

static enum build_result build(const struct space *s, const struct plan *plan, const int *order, struct diagram *d,
                               int *failed, uint16_t *path)
{
    int levels = plan->level_count, nodes = plan->graph.count;
    enum build_result result = BUILD_FINE;
    *failed = -1;
    int decided = constant_roots(plan, failed);
    if (decided == 1) {
        *d = (struct diagram){ .levels = levels };
        return BUILD_FINE;
    }
    struct draft_level *draft = calloc((size_t)levels + 1, sizeof *draft);
    int64_t *value = allocate((size_t)nodes * sizeof *value);
    bool *needed = calloc((size_t)nodes + 1, sizeof *needed);
    if (!draft || !needed) abort();
    for (int i = 0; i < nodes; i++) {
        const struct graph_node *n = &plan->graph.nodes[i];
        value[i] = n->op == OP_CONSTANT ? n->value : MARK_UNKNOWN;
    }
    struct state_table from, to;
    table_init(&from, 0);
    from.count = 1;
    size_t room = MAX_EDGES;
    for (int l = 0; l < levels && result == BUILD_FINE; l++) {
        table_init(&to, plan->levels[l].layout_count);
        if (!expand_level(plan, l, &s->parameters[order[l]], value, needed, &from, &to, &draft[l], room))
            result = BUILD_TOO_LARGE;
        room -= draft[l].edge_count < room ? draft[l].edge_count : room;
        table_release(&from);
        from = to;
    }
    if (result == BUILD_FINE && levels > 0 && from.count > 0 && *failed < 0)
        *failed = find_failed(plan, &from, draft, levels, path);
    if (result == BUILD_FINE && *failed >= 0) {
        // A constraint that always fails only matters if the others leave something.
        if (decided == 2 && levels > 0 && from.count > 0) find_path(draft, 0, 0, 0, 0, path, NULL);
        result = decided == 2 && levels > 0 && from.count == 0 ? BUILD_FINE : BUILD_FAILED;
    }
    if (result == BUILD_FINE) {
        // States of the end differ only in what failed; nothing did.
        for (size_t e = 0; levels > 0 && e < draft[levels - 1].edge_count; e++) draft[levels - 1].child[e] = 0;
        diagram_build(d, draft, levels);
    }
    table_release(&from);
    for (int l = 0; l < levels; l++) draft_release(&draft[l]);
    free(draft);
    free(value);
    free(needed);
    return result;
}

enum build_result space_build_diagram(const struct space *s, const int *constraints, size_t count, uint64_t mask, int *order,
                                      struct diagram *d, int *failed, uint16_t *config)
{
    struct constraint_graph cg;
    struct plan plan;
    int level_of[SPACE_MAX_PARAMETERS];
    uint16_t path[SPACE_MAX_PARAMETERS] = { 0 };
    make_graph(s, constraints, count, &cg);
    int levels = space_order(s, &cg, mask, order);
    for (int p = 0; p < SPACE_MAX_PARAMETERS; p++) level_of[p] = -1;
    for (int l = 0; l < levels; l++) level_of[order[l]] = l;
    make_plan(&plan, &cg, order, levels, level_of);
    enum build_result result = build(s, &plan, order, d, failed, path);
    if (result == BUILD_FAILED) {
        *failed = constraints[*failed];
        memset(config, 0, (size_t)s->count * sizeof *config);
        for (int l = 0; l < levels; l++) config[order[l]] = path[l];
    }
    release_plan(&plan);
    release_graph(&cg);
    return result;
}

double space_count_with(const struct space *s, const int *constraints, size_t count, uint64_t mask)
{
    struct constraint_graph cg;
    struct plan plan;
    struct diagram d = { 0 };
    int order[SPACE_MAX_PARAMETERS], level_of[SPACE_MAX_PARAMETERS];
    (void)level_of;
    (void)plan;
    (void)cg;
    (void)mask;
    (void)order;
    (void)d;
    (void)s;
    (void)constraints;
    (void)count;
    return 0;
}
