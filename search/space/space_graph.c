// See space_graph.h.
#include "search/space/space_graph.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "tuner/base/memory.h"

// Sums and products below this bound overflow in no order of evaluation.
static const double safe_bound = 4611686018427387904.0; // 2^62
// A list of operands is copied for each that is added, so that longer sums become sums of sums.
enum { MOST_OPERANDS = 256 };
// Bounds below this are exact as doubles.
static const double exact_bound = 9007199254740992.0; // 2^53

void graph_init(struct graph *g)
{
    *g = (struct graph){0};
}

void graph_release(struct graph *g)
{
    free(g->nodes);
    free(g->operands);
    hash_index_release(&g->index);
    graph_init(g);
}

static uint32_t hash_of(const struct graph_node *n, const int *operands)
{
    uint32_t h = hash_mix((uint32_t)n->op, (uint64_t)n->value);
    h = hash_mix(h, (uint64_t)n->parameter + 1);
    for (int i = 0; i < n->count; i++) h = hash_mix(h, (uint64_t)operands[i]);
    return h;
}

struct wanted_node {
    const struct graph *graph;
    const struct graph_node *node;
    const int *operands;
};

static bool same_node(const void *wanted, size_t node)
{
    const struct wanted_node *w = wanted;
    const struct graph_node *n = w->node, *m = &w->graph->nodes[node];
    return m->op == n->op && m->value == n->value && m->parameter == n->parameter && m->count == n->count &&
           (n->count == 0 ||
            memcmp(w->graph->operands + m->first, w->operands, (size_t)n->count * sizeof *w->operands) == 0);
}

// The node equal to `n`, new if there is none.
static int share(struct graph *g, struct graph_node n, const int *operands)
{
    uint32_t hash = hash_of(&n, operands);
    int64_t known = hash_index_find(&g->index, hash, same_node, &(struct wanted_node){g, &n, operands});
    if (known >= 0) return (int)known;
    if (g->count == g->room) {
        g->room = g->room ? 2 * g->room : 64;
        g->nodes = memory_grow(g->nodes, (size_t)g->room, sizeof *g->nodes);
    }
    if (g->operand_count + n.count > g->operand_room) {
        g->operand_room = 2 * (g->operand_count + n.count) + 128;
        g->operands = memory_grow(g->operands, (size_t)g->operand_room, sizeof *g->operands);
    }
    n.first = g->operand_count;
    if (n.count) memcpy(g->operands + n.first, operands, (size_t)n.count * sizeof *operands);
    g->operand_count += n.count;
    g->nodes[g->count] = n;
    hash_index_add(&g->index, hash, (size_t)g->count);
    return g->count++;
}

int graph_constant(struct graph *g, int64_t value)
{
    bool failed = value == MARK_FAILED;
    struct graph_node n = {.op = OP_CONSTANT, .parameter = -1, .value = value, .may_fail = failed};
    n.low = n.high = failed ? 0 : (double)value;
    return share(g, n, NULL);
}

int graph_parameter(struct graph *g, int parameter, double low, double high)
{
    struct graph_node n = {.op = OP_NAME, .parameter = parameter, .low = low, .high = high};
    n.mask = (uint64_t)1 << parameter;
    return share(g, n, NULL);
}

static double largest(const struct graph_node *n)
{
    return fmax(fabs(n->low), fabs(n->high));
}

static bool has_zero(const struct graph_node *n)
{
    return n->low <= 0 && n->high >= 0;
}

static void set_bounds(struct graph_node *n, double low, double high)
{
    n->low = low;
    n->high = high;
}

static void set_wide(struct graph_node *n)
{
    set_bounds(n, -9.3e18, 9.3e18);
    n->may_fail = true;
}

// The smallest 2^k - 1 that is not below x: a bound of | and ^ of two values up to x.
static double all_ones(double x)
{
    double ones = 1;
    while (ones - 1 < x) ones *= 2;
    return ones - 1;
}

static void bound_product(struct graph_node *n, const struct graph_node *a)
{
    double corners[] = {n->low * a->low, n->low * a->high, n->high * a->low, n->high * a->high};
    double low = corners[0], high = corners[0];
    for (int i = 1; i < 4; i++) {
        low = fmin(low, corners[i]);
        high = fmax(high, corners[i]);
    }
    set_bounds(n, low, high);
}

// Bounds of an operation's value, and whether it may fail when its operands do not.
static void bound(struct graph *g, struct graph_node *n, const int *operands)
{
    const struct graph_node *a = &g->nodes[operands[0]];
    const struct graph_node *b = n->count > 1 ? &g->nodes[operands[1]] : a;
    for (int i = 0; i < n->count; i++) {
        n->may_fail |= g->nodes[operands[i]].may_fail;
        n->mask |= g->nodes[operands[i]].mask;
    }
    double magnitude;
    switch (n->op) {
    case OP_NEGATE:
        set_bounds(n, -a->high, -a->low);
        break;
    case OP_INVERT:
        set_bounds(n, -a->high - 1, -a->low - 1);
        if (largest(a) >= safe_bound) n->may_fail = true;
        break;
    case OP_ABS:
        set_bounds(n, has_zero(a) ? 0 : fmin(fabs(a->low), fabs(a->high)), largest(a));
        break;
    case OP_LOG2:
        set_bounds(n, 0, 63);
        if (a->low < 1) n->may_fail = true;
        break;
    case OP_ADD:
        set_bounds(n, a->low, a->high);
        magnitude = largest(a);
        for (int i = 1; i < n->count; i++) {
            const struct graph_node *o = &g->nodes[operands[i]];
            set_bounds(n, n->low + o->low, n->high + o->high);
            magnitude += largest(o);
        }
        if (magnitude >= safe_bound) set_wide(n);
        break;
    case OP_SUBTRACT:
        set_bounds(n, a->low - b->high, a->high - b->low);
        if (largest(n) >= safe_bound) set_wide(n);
        break;
    case OP_MULTIPLY:
        set_bounds(n, a->low, a->high);
        magnitude = fmax(1, largest(a));
        for (int i = 1; i < n->count; i++) {
            const struct graph_node *o = &g->nodes[operands[i]];
            bound_product(n, o);
            magnitude *= fmax(1, largest(o));
        }
        if (magnitude >= safe_bound) set_wide(n);
        break;
    case OP_DIVIDE:
    case OP_CEIL_DIV:
        if (has_zero(b)) n->may_fail = true;
        if (a->low >= 0 && b->low >= 0)
            set_bounds(n, 0, largest(a));
        else
            set_bounds(n, -largest(a), largest(a));
        break;
    case OP_REMAINDER:
        if (has_zero(b)) n->may_fail = true;
        magnitude = fmin(largest(a), largest(b));
        set_bounds(n, a->low >= 0 ? 0 : -magnitude, magnitude);
        break;
    case OP_ROUND_UP:
        magnitude = largest(a) + largest(b);
        set_bounds(n, -magnitude, magnitude);
        if (has_zero(b) || magnitude >= safe_bound) n->may_fail = true;
        break;
    case OP_SHIFT_LEFT:
        if (a->low >= 0 && b->low >= 0 && b->high <= 62 && a->high * exp2(b->high) < safe_bound)
            set_bounds(n, 0, a->high * exp2(b->high));
        else
            set_wide(n);
        break;
    case OP_SHIFT_RIGHT:
        set_bounds(n, fmin(a->low, 0), fmax(a->high, 0));
        if (b->low < 0 || b->high > 63) n->may_fail = true;
        break;
    case OP_BIT_AND:
        if (a->low >= 0 && b->low >= 0)
            set_bounds(n, 0, fmin(a->high, b->high));
        else
            set_wide(n);
        break;
    case OP_BIT_OR:
    case OP_BIT_XOR:
        if (a->low >= 0 && b->low >= 0 && largest(a) < safe_bound && largest(b) < safe_bound)
            set_bounds(n, 0, all_ones(fmax(a->high, b->high)));
        else
            set_wide(n);
        break;
    case OP_MIN:
        set_bounds(n, fmin(a->low, b->low), fmin(a->high, b->high));
        break;
    case OP_MAX:
        set_bounds(n, fmax(a->low, b->low), fmax(a->high, b->high));
        break;
    case OP_CHOOSE: {
        const struct graph_node *c = &g->nodes[operands[2]];
        set_bounds(n, fmin(b->low, c->low), fmax(b->high, c->high));
        break;
    }
    default:
        set_bounds(n, 0, 1);
        break; // the deciding operand
    }
}

static bool is_constant(const struct graph *g, int node)
{
    return g->nodes[node].op == OP_CONSTANT;
}

static bool is_boolean(const struct graph_node *n)
{
    return n->low >= 0 && n->high <= 1;
}

// The result of a comparison that the operands' bounds decide, or -1.
static int decided(const struct graph *g, enum expr_op op, const int *operands)
{
    const struct graph_node *a = &g->nodes[operands[0]], *b = &g->nodes[operands[1]];
    if (a->may_fail || b->may_fail || largest(a) >= exact_bound || largest(b) >= exact_bound) return -1;
    switch (op) {
    case OP_LESS:
        return a->high < b->low ? 1 : a->low >= b->high ? 0 : -1;
    case OP_LESS_EQUAL:
        return a->high <= b->low ? 1 : a->low > b->high ? 0 : -1;
    case OP_GREATER:
        return a->low > b->high ? 1 : a->high <= b->low ? 0 : -1;
    case OP_GREATER_EQUAL:
        return a->low >= b->high ? 1 : a->high < b->low ? 0 : -1;
    case OP_EQUAL:
        return a->high < b->low || a->low > b->high ? 0 : -1;
    case OP_UNEQUAL:
        return a->high < b->low || a->low > b->high ? 1 : -1;
    default:
        return -1;
    }
}

static int lazy_operation(struct graph *g, enum expr_op op, const int *operands)
{
    int a = graph_truth(g, operands[0]);
    if (op == OP_CHOOSE) {
        if (is_constant(g, a)) {
            int64_t value = g->nodes[a].value;
            return value == MARK_FAILED ? a : operands[value ? 1 : 2];
        }
        if (operands[1] == operands[2] && !g->nodes[a].may_fail) return operands[1];
        struct graph_node n = {.op = op, .parameter = -1, .count = 3};
        const int three[] = {a, operands[1], operands[2]};
        bound(g, &n, three);
        return share(g, n, three);
    }
    int b = graph_truth(g, operands[1]);
    int64_t absorbing = op == OP_OR;
    if (is_constant(g, a)) {
        int64_t value = g->nodes[a].value;
        return value == MARK_FAILED || value == absorbing ? a : b;
    }
    if (is_constant(g, b)) {
        int64_t value = g->nodes[b].value;
        if (value == !absorbing) return a;
        if (value == absorbing && !g->nodes[a].may_fail) return b;
    }
    if (a == b) return a;
    struct graph_node n = {.op = op, .parameter = -1, .count = 2};
    const int two[] = {a, b};
    bound(g, &n, two);
    return share(g, n, two);
}

static int compare_ints(const void *a, const void *b)
{
    int x = *(const int *)a, y = *(const int *)b;
    return (x > y) - (x < y);
}

// A sum or product with the operands of operands that are sums or products themselves; constants folded into one.
static int flat_operation(struct graph *g, enum expr_op op, const int *operands, int count)
{
    int total = 0;
    double magnitude = op == OP_ADD ? 0 : 1;
    for (int i = 0; i < count; i++) {
        const struct graph_node *o = &g->nodes[operands[i]];
        magnitude = op == OP_ADD ? magnitude + largest(o) : magnitude * fmax(1, largest(o));
        total += o->op == op ? o->count : 1;
    }
    if (magnitude >= safe_bound || total > MOST_OPERANDS) {
        struct graph_node n = {.op = op, .parameter = -1, .count = count};
        bound(g, &n, operands);
        return share(g, n, operands);
    }
    int *list = memory_grow(NULL, (size_t)total + 1, sizeof *list);
    int used = 0;
    int64_t constant = op == OP_ADD ? 0 : 1;
    for (int i = 0; i < count; i++) {
        const struct graph_node *o = &g->nodes[operands[i]];
        int parts = o->op == op ? o->count : 1;
        for (int j = 0; j < parts; j++) {
            int part = o->op == op ? g->operands[o->first + j] : operands[i];
            if (!is_constant(g, part))
                list[used++] = part;
            else if (op == OP_ADD)
                constant += g->nodes[part].value;
            else
                constant *= g->nodes[part].value;
        }
    }
    int result;
    bool sure = true;
    for (int i = 0; i < used; i++) sure &= !g->nodes[list[i]].may_fail;
    if (used == 0 || (op == OP_MULTIPLY && constant == 0 && sure)) {
        result = graph_constant(g, constant);
    } else {
        if (constant != (op == OP_ADD ? 0 : 1)) list[used++] = graph_constant(g, constant);
        if (used == 1) {
            result = list[0];
        } else {
            qsort(list, (size_t)used, sizeof *list, compare_ints);
            struct graph_node n = {.op = op, .parameter = -1, .count = used};
            bound(g, &n, list);
            result = share(g, n, list);
        }
    }
    free(list);
    return result;
}

int graph_operation(struct graph *g, enum expr_op op, const int *operands, int count, bool flat)
{
    if (graph_is_lazy(op)) return lazy_operation(g, op, operands);
    bool constant = true;
    for (int i = 0; i < count; i++) {
        if (!is_constant(g, operands[i]))
            constant = false;
        else if (g->nodes[operands[i]].value == MARK_FAILED)
            return operands[i];
    }
    if (constant && count <= 2) {
        int64_t result;
        int64_t b = count > 1 ? g->nodes[operands[1]].value : 0;
        return graph_constant(g, expr_apply(op, g->nodes[operands[0]].value, b, &result) ? MARK_FAILED : result);
    }
    if (count == 2) {
        int known = decided(g, op, operands);
        if (known >= 0) return graph_constant(g, known);
        if (op == OP_EQUAL && operands[0] == operands[1] && !g->nodes[operands[0]].may_fail)
            return graph_constant(g, 1);
        // x != 0 of a truth value is that value.
        const struct graph_node *b = &g->nodes[operands[1]];
        if (op == OP_UNEQUAL && b->op == OP_CONSTANT && b->value == 0 && is_boolean(&g->nodes[operands[0]]))
            return operands[0];
    }
    if (flat && op == OP_SUBTRACT && largest(&g->nodes[operands[0]]) + largest(&g->nodes[operands[1]]) < safe_bound) {
        const int both[] = {operands[0], graph_operation(g, OP_NEGATE, &operands[1], 1, false)};
        return flat_operation(g, OP_ADD, both, 2);
    }
    if (flat && (op == OP_ADD || op == OP_MULTIPLY)) return flat_operation(g, op, operands, count);
    struct graph_node n = {.op = op, .parameter = -1, .count = count};
    int sorted[2];
    if (count == 2 && operands[0] > operands[1] &&
        (op == OP_ADD || op == OP_MULTIPLY || op == OP_EQUAL || op == OP_UNEQUAL || op == OP_MIN || op == OP_MAX)) {
        sorted[0] = operands[1];
        sorted[1] = operands[0];
        operands = sorted;
    }
    bound(g, &n, operands);
    return share(g, n, operands);
}

int graph_truth(struct graph *g, int node)
{
    const struct graph_node *n = &g->nodes[node];
    if (is_boolean(n) || (n->op == OP_CONSTANT && n->value == MARK_FAILED)) return node;
    const int both[] = {node, graph_constant(g, 0)};
    return graph_operation(g, OP_UNEQUAL, both, 2, false);
}

int graph_add(struct graph *g, const struct expr *e, int (*leaf)(void *user, int slot), void *user)
{
    int *nodes = memory_grow(NULL, (size_t)e->count, sizeof *nodes);
    for (int i = 0; i < e->count; i++) {
        const struct expr_node *n = &e->nodes[i];
        if (n->op == OP_CONSTANT || n->op == OP_TEXT) {
            nodes[i] = graph_constant(g, n->value);
        } else if (n->op == OP_NAME) {
            nodes[i] = leaf(user, n->slot);
        } else {
            const int from[] = {n->a, n->b, n->c};
            int operands[3], count = expr_arity(n->op);
            assert(count <= 3);
            for (int j = 0; j < count; j++) operands[j] = nodes[from[j]];
            nodes[i] = graph_operation(g, n->op, operands, count, true);
        }
    }
    int root = nodes[e->count - 1];
    free(nodes);
    return root;
}

void graph_mark_live(struct graph *g, const int *roots, size_t count)
{
    for (int i = 0; i < g->count; i++) g->nodes[i].live = false;
    for (size_t r = 0; r < count; r++) g->nodes[roots[r]].live = true;
    for (int i = g->count - 1; i >= 0; i--)
        for (int j = 0; g->nodes[i].live && j < g->nodes[i].count; j++)
            g->nodes[g->operands[g->nodes[i].first + j]].live = true;
}
