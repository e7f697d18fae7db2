// From constraints to the diagram of the valid configurations (diagram.h), level by level.
//
// A state is what the undecided constraints need to know about the parameters fixed so far: not the parameters'
// values, but the values of the largest known subexpressions. 8 by 2 and 4 by 4 threads are one state when only their
// product matters later; when `use_shared == 0 || ...` is decided by its first half, nothing of the second half is
// kept. A constraint removes a state on the level that decides it. The published space `hotspot` (22.2 million raw,
// 349,853 valid) takes about ten thousand states and a few milliseconds.
//
// A failed evaluation (x % 0) is a separate value: it counts only on configurations that no other constraint removes.
#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "search/space/space_internal.h"
#include "search/space/space_plan.h"
#include "tuner/base/hash_index.h"
#include "tuner/base/memory.h"

// Past this many edges (6 bytes each) the constraints tie the parameters together too closely for an index.
enum { MAX_EDGES = 4 * 1000 * 1000 };

// The states of one level while they are found.
struct state_table {
    int width;
    int64_t *values; // width entries a state
    uint32_t count;
    size_t room; // for values
    struct hash_index index;
};

// The result of a comparison of which a part is known; see struct watch. Only the parts that the parameter of this
// level (`bit`) changes are looked at: the others were when they changed, and their values may have been left behind
// since.
static int64_t decide(const struct plan *plan, int node, uint64_t bit, const int64_t *value)
{
    bool unequal = plan->graph.nodes[node].op == OP_UNEQUAL;
    for (int w = plan->watch_begin[node]; w < plan->watch_begin[node + 1]; w++) {
        const struct watch *watch = &plan->watches[w];
        int64_t x = value[watch->node];
        if (x <= MARK_UNUSED || !(plan->graph.nodes[watch->node].mask & bit)) continue;
        if (x < watch->low || x > watch->high) return unequal;
        if (x >= watch->sure_low && x <= watch->sure_high) return 1;
    }
    return MARK_UNKNOWN;
}

static int64_t evaluate(const struct plan *plan, int node, uint64_t bit, const int64_t *value)
{
    const struct graph *g = &plan->graph;
    const struct graph_node *n = &g->nodes[node];
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
        return a == MARK_UNUSED || b == MARK_UNUSED ? MARK_UNUSED : decide(plan, node, bit, value);
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
    // A state of no values has no array.
    return !width || memcmp(t->values + state * width, t->values + t->count * width, width * sizeof *t->values) == 0;
}

// The number of the state with these values, which lie behind the last one already.
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

// All edges of one level. False when the diagram gets too large.
static bool expand_level(const struct plan *plan, int l, const struct parameter *parameter, int64_t *value,
                         bool *needed, const struct state_table *from, struct state_table *to,
                         struct draft_level *draft, size_t room, bool lenient)
{
    const struct level_plan *lp = &plan->levels[l];
    const struct level_plan *up = l > 0 ? &plan->levels[l - 1] : NULL;
    for (uint32_t s = 0; s < from->count; s++) {
        const int64_t *state = from->values + (size_t)s * (size_t)from->width;
        for (size_t v = 0; v < parameter->count; v++) {
            assert(up || !from->width);
            for (int i = 0; i < from->width; i++) value[up->layout[i]] = state[i];
            if (lp->leaf >= 0) value[lp->leaf] = parameter->values[v];
            for (int t = 0; t < lp->touched_count; t++) {
                int node = lp->touched[t];
                if (!lp->loaded[t] || value[node] == MARK_UNKNOWN) value[node] = evaluate(plan, node, lp->bit, value);
            }
            bool dead = false;
            for (int r = 0; r < lp->root_count; r++) {
                int64_t root = value[lp->roots[r]];
                dead |= root == 0 || (lenient && root == MARK_FAILED);
            }
            if (dead) continue;
            int64_t *fresh = to->values + (size_t)to->count * (size_t)to->width;
            if (lp->walk) find_needed(plan, lp, value, needed);
            for (int i = 0; i < lp->layout_count; i++) {
                int node = lp->layout[i];
                int64_t x = value[node];
                if (plan->is_root[node] && x == MARK_FAILED)
                    fresh[i] = x;
                else if (plan->last_use[node] <= l && plan->last_level[node] <= l)
                    fresh[i] = MARK_UNUSED; // a root that holds
                else
                    fresh[i] = !lp->walk || x == MARK_UNKNOWN || needed[node] ? x : MARK_UNUSED;
            }
            draft_edge(draft, (uint16_t)v, table_intern(to));
        }
        draft_state_done(draft);
        if (draft->edge_count > room) return false;
    }
    return true;
}

// Finds any path to `target` on the last level, as value indices by level.
static bool find_path(const struct draft_level *draft, int levels, int l, uint32_t state, uint32_t target,
                      uint16_t *path, bool **visited)
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

static void path_to(const struct draft_level *draft, int levels, uint32_t target, uint16_t *path)
{
    bool *visited[SPACE_MAX_PARAMETERS];
    for (int l = 0; l < levels; l++) {
        visited[l] = memory_new(draft[l].state_count + 1, sizeof **visited);
    }
    bool found = find_path(draft, levels, 0, 0, target, path, visited);
    assert(found);
    (void)found;
    for (int l = 0; l < levels; l++) free(visited[l]);
}

// The number of a root that failed in a state of the end, and that state; -1 if none did.
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

// Roots that are constant decide before the first level: false when one does not hold. *failed: one that cannot be
// evaluated.
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

    struct draft_level *draft = memory_new((size_t)levels + 1, sizeof *draft);
    int64_t *value = memory_grow(NULL, (size_t)nodes, sizeof *value);
    bool *needed = memory_new((size_t)nodes + 1, sizeof *needed);
    for (int i = 0; i < nodes; i++) {
        const struct graph_node *n = &plan->graph.nodes[i];
        value[i] = n->op == OP_CONSTANT ? n->value : MARK_UNKNOWN;
    }
    struct state_table from, to;
    table_init(&from, 0);
    from.count = 1;
    size_t edges = 0;
    for (int l = 0; l < levels && result == BUILD_FINE; l++) {
        table_init(&to, plan->levels[l].layout_count);
        if (!expand_level(plan, l, &s->parameters[order[l]], value, needed, &from, &to, &draft[l], MAX_EDGES - edges,
                          lenient))
            result = BUILD_TOO_LARGE;
        edges += draft[l].edge_count;
        table_release(&from);
        from = to;
    }
    if (result == BUILD_FINE && from.count > 0) {
        // A constraint that can never be evaluated counts if the others leave any configuration.
        uint32_t state = 0;
        if (*failed < 0 && levels > 0) *failed = find_failed(plan, &from, &state);
        if (*failed >= 0) {
            path_to(draft, levels, state, path);
            result = BUILD_FAILED;
        }
    }
    if (result == BUILD_FINE) {
        // Final states differ only in what failed. Nothing failed, so there is one.
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

static enum build_result build_with(const struct space *s, const int *constraints, size_t count, uint64_t mask,
                                    bool lenient, int *order, struct diagram *d, int *failed, uint16_t *config)
{
    struct constraint_graph cg;
    struct plan plan;
    uint16_t path[SPACE_MAX_PARAMETERS] = {0};
    constraint_graph_init(&cg, s, constraints, count);
    int levels = space_order(s, &cg, mask, order);
    plan_init(&plan, &cg, order, levels);
    enum build_result result = build(s, &plan, order, lenient, d, failed, path);
    if (result == BUILD_FAILED) {
        *failed = constraints[*failed];
        memset(config, 0, (size_t)s->count * sizeof *config);
        for (int l = 0; l < levels; l++) config[order[l]] = path[l];
    }
    plan_release(&plan);
    constraint_graph_release(&cg);
    return result;
}

enum build_result space_build_diagram(const struct space *s, const int *constraints, size_t count, uint64_t mask,
                                      int *order, struct diagram *d, int *failed, uint16_t *config)
{
    return build_with(s, constraints, count, mask, false, order, d, failed, config);
}

double space_count_with(const struct space *s, const int *constraints, size_t count, uint64_t mask)
{
    struct diagram d;
    int order[SPACE_MAX_PARAMETERS], failed;
    uint16_t config[SPACE_MAX_PARAMETERS];
    if (build_with(s, constraints, count, mask, true, order, &d, &failed, config) != BUILD_FINE) return -1;
    double result = d.weight ? d.weight[d.root] : (double)d.size;
    diagram_release(&d);
    return result;
}
