// The constraints as a graph: see space_internal.h.
#include "search/space/space_internal.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "tuner/base/memory.h"

// Sums and products below this bound do not overflow in any order of evaluation.
static const double safe_bound = 4611686018427387904.0; // 2^62
// Adding an operand copies the whole list, so longer sums become sums of sums.
enum { MOST_OPERANDS = 256 };
// Bounds below this are exact as doubles.
static const double exact_bound = 9007199254740992.0; // 2^53

void graph_release(struct graph *g)
{
    free(g->nodes);
    free(g->operands);
    hash_index_release(&g->index);
    *g = (struct graph){0};
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

// The node equal to `n`, which is added if there is none.
static int share(struct graph *g, struct graph_node n, const int *operands)
{
    uint32_t hash = hash_of(&n, operands);
    int64_t known = hash_index_find(&g->index, hash, same_node, &(struct wanted_node){g, &n, operands});
    if (known >= 0) return (int)known;
    g->nodes = memory_room(g->nodes, &g->room, (size_t)g->count + 1, sizeof *g->nodes);
    g->operands =
        memory_room(g->operands, &g->operand_room, (size_t)g->operand_count + (size_t)n.count, sizeof *g->operands);
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

struct range {
    double low, high;
};

// The range of a result that may overflow.
static const struct range any_value = {-9.3e18, 9.3e18};

static struct range range_of(const struct graph_node *n)
{
    return (struct range){n->low, n->high};
}

static double largest(struct range r)
{
    return fmax(fabs(r.low), fabs(r.high));
}

static bool has_zero(struct range r)
{
    return r.low <= 0 && r.high >= 0;
}

// The smallest 2^k - 1 that is not below x: an upper bound on | and ^ of two values up to x.
static double all_ones(double x)
{
    double ones = 1;
    while (ones - 1 < x) ones *= 2;
    return ones - 1;
}

static struct range product(struct range a, struct range b)
{
    double corners[] = {a.low * b.low, a.low * b.high, a.high * b.low, a.high * b.high};
    struct range r = {corners[0], corners[0]};
    for (int i = 1; i < 4; i++) r = (struct range){fmin(r.low, corners[i]), fmax(r.high, corners[i])};
    return r;
}

// The range of an operation's result for operands from these ranges; any_value if it may overflow. For sums and
// products the caller checks that itself.
static struct range result_of(enum expr_op op, struct range a, struct range b, struct range c)
{
    bool natural = a.low >= 0 && b.low >= 0;
    double most = largest(a), least_size = fmin(most, largest(b)), sum = most + largest(b);
    switch (op) {
    case OP_NEGATE:
        return (struct range){-a.high, -a.low};
    case OP_INVERT:
        return (struct range){-a.high - 1, -a.low - 1};
    case OP_ABS:
        return (struct range){has_zero(a) ? 0 : fmin(fabs(a.low), fabs(a.high)), most};
    case OP_LOG2:
        return (struct range){0, 63};
    case OP_ADD:
        return (struct range){a.low + b.low, a.high + b.high};
    case OP_SUBTRACT: {
        struct range r = {a.low - b.high, a.high - b.low};
        return largest(r) < safe_bound ? r : any_value;
    }
    case OP_MULTIPLY:
        return product(a, b);
    case OP_DIVIDE:
    case OP_CEIL_DIV:
        return (struct range){natural ? 0 : -most, most};
    case OP_REMAINDER:
        return (struct range){a.low >= 0 ? 0 : -least_size, least_size};
    case OP_ROUND_UP:
        return (struct range){-sum, sum};
    case OP_SHIFT_LEFT: {
        bool safe = natural && b.high <= 62 && a.high * exp2(b.high) < safe_bound;
        return safe ? (struct range){0, a.high * exp2(b.high)} : any_value;
    }
    case OP_SHIFT_RIGHT:
        return (struct range){fmin(a.low, 0), fmax(a.high, 0)};
    case OP_BIT_AND:
        return natural ? (struct range){0, fmin(a.high, b.high)} : any_value;
    case OP_BIT_OR:
    case OP_BIT_XOR: {
        bool safe = natural && most < safe_bound && largest(b) < safe_bound;
        return safe ? (struct range){0, all_ones(fmax(a.high, b.high))} : any_value;
    }
    case OP_MIN:
        return (struct range){fmin(a.low, b.low), fmin(a.high, b.high)};
    case OP_MAX:
        return (struct range){fmax(a.low, b.low), fmax(a.high, b.high)};
    case OP_CHOOSE:
        return (struct range){fmin(b.low, c.low), fmax(b.high, c.high)};
    default: // truth values
        return (struct range){0, 1};
    }
}

// Whether an operation on values from these ranges may fail, apart from an overflow that any_value already stands for.
static bool can_fail(enum expr_op op, struct range a, struct range b)
{
    if (op == OP_NEGATE || op == OP_INVERT) return largest(a) >= safe_bound;
    if (op == OP_LOG2) return a.low < 1;
    if (op == OP_SHIFT_RIGHT) return b.low < 0 || b.high > 63;
    if (op == OP_ROUND_UP && largest(a) + largest(b) >= safe_bound) return true;
    if ((op == OP_DIVIDE || op == OP_CEIL_DIV) && largest(a) >= safe_bound && b.low < 0) return true;
    return (op == OP_DIVIDE || op == OP_CEIL_DIV || op == OP_REMAINDER || op == OP_ROUND_UP) && has_zero(b);
}

static bool is_list(enum expr_op op)
{
    return op == OP_ADD || op == OP_MULTIPLY;
}

// An upper bound on the magnitude of all partial sums or products, in any order.
static double magnitude(const struct graph *g, enum expr_op op, const int *operands, int count)
{
    double size = op == OP_ADD ? 0 : 1;
    for (int i = 0; i < count; i++) {
        double one = largest(range_of(&g->nodes[operands[i]]));
        size = op == OP_ADD ? size + one : size * fmax(1, one);
    }
    return size;
}

// Makes a node for the operation as it stands, unsimplified. Computes the bounds of its value and whether it may fail.
static int plain_operation(struct graph *g, enum expr_op op, const int *operands, int count)
{
    struct graph_node n = {.op = op, .parameter = -1, .count = count};
    struct range range[3], result;
    for (int i = 0; i < count; i++) {
        n.may_fail |= g->nodes[operands[i]].may_fail;
        n.mask |= g->nodes[operands[i]].mask;
    }
    for (int i = 0; i < 3; i++) range[i] = range_of(&g->nodes[operands[i < count ? i : 0]]);
    if (is_list(op)) {
        result = range[0];
        for (int i = 1; i < count; i++) result = result_of(op, result, range_of(&g->nodes[operands[i]]), result);
        if (magnitude(g, op, operands, count) >= safe_bound) result = any_value;
    } else {
        result = result_of(op, range[0], range[1], range[2]);
    }
    n.may_fail |= can_fail(op, range[0], range[1]) || result.high == any_value.high;
    n.low = result.low;
    n.high = result.high;
    return share(g, n, operands);
}

static bool is_constant(const struct graph *g, int node)
{
    return g->nodes[node].op == OP_CONSTANT;
}

static bool is_boolean(const struct graph_node *n)
{
    return n->low >= 0 && n->high <= 1;
}

// The result of a comparison if the operands' bounds decide it, otherwise -1.
static int decided(const struct graph *g, enum expr_op op, const int *operands)
{
    bool turned = op == OP_GREATER || op == OP_GREATER_EQUAL;
    const struct graph_node *a = &g->nodes[operands[turned]], *b = &g->nodes[operands[!turned]];
    if (a->may_fail || b->may_fail || largest(range_of(a)) >= exact_bound || largest(range_of(b)) >= exact_bound)
        return -1;
    if (op == OP_LESS || op == OP_GREATER) return a->high < b->low ? 1 : a->low >= b->high ? 0 : -1;
    if (op == OP_LESS_EQUAL || op == OP_GREATER_EQUAL) return a->high <= b->low ? 1 : a->low > b->high ? 0 : -1;
    bool apart = a->high < b->low || a->low > b->high;
    return apart && (op == OP_EQUAL || op == OP_UNEQUAL) ? op == OP_UNEQUAL : -1;
}

static int graph_truth(struct graph *g, int node);

static int lazy_operation(struct graph *g, enum expr_op op, const int *operands)
{
    int a = graph_truth(g, operands[0]);
    int64_t value = g->nodes[a].value;
    if (is_constant(g, a) && value == MARK_FAILED) return a;
    if (op == OP_CHOOSE) {
        if (is_constant(g, a)) return operands[value ? 1 : 2];
        if (operands[1] == operands[2] && !g->nodes[a].may_fail) return operands[1];
        return plain_operation(g, op, (const int[]){a, operands[1], operands[2]}, 3);
    }
    int b = graph_truth(g, operands[1]);
    int64_t absorbing = op == OP_OR;
    if (is_constant(g, a)) return value == absorbing ? a : b;
    if (is_constant(g, b)) {
        value = g->nodes[b].value;
        if (value == !absorbing) return a;
        if (value == absorbing && !g->nodes[a].may_fail) return b;
    }
    return a == b ? a : plain_operation(g, op, (const int[]){a, b}, 2);
}

// A sum or product. Operands that are themselves sums or products are replaced by their operands, and constants are
// folded into one.
static int flat_operation(struct graph *g, enum expr_op op, const int *operands, int count)
{
    int total = 0;
    for (int i = 0; i < count; i++) {
        const struct graph_node *o = &g->nodes[operands[i]];
        total += o->op == op ? o->count : 1;
    }
    if (magnitude(g, op, operands, count) >= safe_bound || total > MOST_OPERANDS)
        return plain_operation(g, op, operands, count);
    int list[MOST_OPERANDS + 1], used = 0;
    int64_t neutral = op == OP_MULTIPLY, constant = neutral;
    bool sure = true;
    for (int i = 0; i < count; i++) {
        const struct graph_node *o = &g->nodes[operands[i]];
        const int *parts = o->op == op ? g->operands + o->first : &operands[i];
        for (int j = 0; j < (o->op == op ? o->count : 1); j++) {
            const struct graph_node *part = &g->nodes[parts[j]];
            sure &= !part->may_fail;
            if (part->op != OP_CONSTANT)
                list[used++] = parts[j];
            else
                constant = op == OP_ADD ? constant + part->value : constant * part->value;
        }
    }
    if (used == 0 || (op == OP_MULTIPLY && constant == 0 && sure)) return graph_constant(g, constant);
    if (constant != neutral) list[used++] = graph_constant(g, constant);
    if (used == 1) return list[0];
    qsort(list, (size_t)used, sizeof *list, expr_compare_ints);
    return plain_operation(g, op, list, used);
}

int graph_operation(struct graph *g, enum expr_op op, const int *operands, int count, bool flat)
{
    if (op >= OP_AND) return lazy_operation(g, op, operands);
    bool constant = true;
    for (int i = 0; i < count; i++) {
        constant &= is_constant(g, operands[i]);
        if (is_constant(g, operands[i]) && g->nodes[operands[i]].value == MARK_FAILED) return operands[i];
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
        // If x is a truth value, x != 0 is x.
        const struct graph_node *b = &g->nodes[operands[1]];
        if (op == OP_UNEQUAL && b->op == OP_CONSTANT && b->value == 0 && is_boolean(&g->nodes[operands[0]]))
            return operands[0];
    }
    if (flat && op == OP_SUBTRACT && magnitude(g, OP_ADD, operands, 2) < safe_bound) {
        const int both[] = {operands[0], graph_operation(g, OP_NEGATE, &operands[1], 1, false)};
        return flat_operation(g, OP_ADD, both, 2);
    }
    if (flat && is_list(op)) return flat_operation(g, op, operands, count);
    bool symmetric = is_list(op) || op == OP_EQUAL || op == OP_UNEQUAL || op == OP_MIN || op == OP_MAX;
    if (symmetric && count == 2 && operands[0] > operands[1])
        return plain_operation(g, op, (const int[]){operands[1], operands[0]}, 2);
    return plain_operation(g, op, operands, count);
}

// A node that is 1 if the given one is non-zero, otherwise 0.
static int graph_truth(struct graph *g, int node)
{
    const struct graph_node *n = &g->nodes[node];
    if (is_boolean(n) || (n->op == OP_CONSTANT && n->value == MARK_FAILED)) return node;
    const int both[] = {node, graph_constant(g, 0)};
    return graph_operation(g, OP_UNEQUAL, both, 2, false);
}

void graph_mark_live(struct graph *g, const int *roots, size_t count)
{
    for (int i = 0; i < g->count; i++) g->nodes[i].live = false;
    for (size_t r = 0; r < count; r++) g->nodes[roots[r]].live = true;
    for (int i = g->count - 1; i >= 0; i--)
        for (int j = 0; g->nodes[i].live && j < g->nodes[i].count; j++)
            g->nodes[g->operands[g->nodes[i].first + j]].live = true;
}

struct leaf_context {
    const struct space *space;
    struct graph *graph;
    int *derived; // the node of each derived name that was added, or -1
};

static int add_derived(struct leaf_context *c, size_t number);

// The node for a name.
static int leaf_node(struct leaf_context *c, int slot)
{
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
    return graph_constant(c->graph, MARK_FAILED); // cannot happen: space_add_constraint() rejects it
}

// Adds an expression; returns its node.
static int add_expression(struct leaf_context *c, const struct expr *e)
{
    struct graph *g = c->graph;
    autofree int *nodes = memory_grow(NULL, (size_t)e->count, sizeof *nodes);
    for (int i = 0; i < e->count; i++) {
        const struct expr_node *n = &e->nodes[i];
        if (n->op == OP_CONSTANT || n->op == OP_TEXT) {
            nodes[i] = graph_constant(g, n->value);
        } else if (n->op == OP_NAME) {
            nodes[i] = leaf_node(c, n->slot);
        } else {
            const int from[] = {n->a, n->b, n->c};
            int operands[3], count = expr_arity(n->op);
            assert(count <= 3);
            for (int j = 0; j < count; j++) operands[j] = nodes[from[j]];
            nodes[i] = graph_operation(g, n->op, operands, count, true);
        }
    }
    return nodes[e->count - 1];
}

// Adds each derived name only once. Otherwise, in a chain of names that each use the previous one twice, every name
// would double the time.
static int add_derived(struct leaf_context *c, size_t number)
{
    if (c->derived[number] < 0) c->derived[number] = add_expression(c, c->space->derived[number].expr);
    return c->derived[number];
}

void constraint_graph_init(struct constraint_graph *cg, const struct space *s, const int *constraints, size_t count)
{
    *cg = (struct constraint_graph){.roots = memory_grow(NULL, count, sizeof *cg->roots), .root_count = count};
    struct leaf_context context = {s, &cg->graph, memory_new(s->derived_count, sizeof *context.derived)};
    for (size_t i = 0; i < s->derived_count; i++) context.derived[i] = -1;
    for (size_t i = 0; i < count; i++) {
        size_t number = (size_t)constraints[i];
        if (number < s->constraint_count) {
            int root = add_expression(&context, s->constraints[number]);
            cg->roots[i] = graph_truth(&cg->graph, root);
        } else {
            // A derived name only has to be evaluable. If it can always be evaluated, this folds to 1.
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
