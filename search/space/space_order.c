// Chooses the order in which the parameters become the levels of the diagram.
//
// The width of the diagram below a set of fixed parameters is bounded by the number of different states that the
// undecided constraints must distinguish. This number is estimated from the graph. The estimate is the number of values
// of the subexpressions that are known and still used, or the number of combinations of their parameters, whichever is
// smaller. Parameters are chosen greedily by that width, from several starts and from the end. Then, if the diagram's
// estimated size makes it worthwhile, the best of all orders is computed (for at most 16 parameters). Otherwise, single
// parameters are moved until that no longer helps. A connected group of parameters is finished before the next one
// begins, so that independent groups are never multiplied out.
//
// Narrowed ranges, partial sums and the best of all orders are all needed. If one of the three is missing, the space
// hotspot (22 million configurations) has six times as many edges and takes eight times as long to build.
#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "search/space/space_internal.h"

#include "tuner/base/memory.h"

enum { MAX_STARTS = 12, MAX_EXACT = 16, MAX_VISITS = 10000 };

// Improving the order may visit this many nodes for every edge that the diagram is estimated to have. An edge costs
// about twenty times as much as a visit, so little time is spent on small spaces, which do not need this effort.
static const double looks_per_edge = 1, most_looks = 3e7;

struct estimate {
    const struct space *space;
    const struct graph *graph;
    double log_count[SPACE_MAX_PARAMETERS];
    // By node: log of an upper bound on the number of different values, and the bounds between which some constraint
    // holds.
    double *log_distinct, *low, *high;
    uint64_t *key; // of a sum or product: identifies its operands; otherwise 0
    int *stamp;
    int stamps;
    double looks;
};

static double log_range(const struct estimate *e, int node)
{
    return log(fmax(1, e->high[node] - e->low[node] + 1)) + (e->graph->nodes[node].may_fail ? 0.7 : 0);
}

// Narrows the range of a node, and the ranges of nodes that it reaches only through sums and products of positive
// numbers. Narrower ranges improve the estimate but are not required.
static void narrow(struct estimate *e, int node, double low, double high, int *visits)
{
    const struct graph_node *nodes = e->graph->nodes, *n = &nodes[node];
    const int *o = e->graph->operands + n->first;
    if (++*visits > MAX_VISITS) return;
    e->low[node] = fmax(e->low[node], low);
    e->high[node] = fmin(e->high[node], high);
    if (n->op == OP_NEGATE) narrow(e, o[0], -high, -low, visits);
    for (int j = 0; j < n->count && (n->op == OP_ADD || n->op == OP_MULTIPLY); j++) {
        // Bounds on the sum or the product of the other operands.
        double least = n->op == OP_MULTIPLY, most = least;
        bool positive = nodes[o[j]].low >= 0;
        for (int i = 0; i < n->count; i++) {
            if (i == j) continue;
            positive &= nodes[o[i]].low >= 1;
            least = n->op == OP_ADD ? least + nodes[o[i]].low : least * nodes[o[i]].low;
            most = n->op == OP_ADD ? most + nodes[o[i]].high : most * nodes[o[i]].high;
        }
        if (n->op == OP_MULTIPLY && positive)
            narrow(e, o[j], ceil(low / most), floor(high / least), visits);
        else if (n->op == OP_ADD && fabs(least) < 0x1p52 && fabs(most) < 0x1p52) // exact
            narrow(e, o[j], low - most, high - least, visits);
    }
}

// Narrows the range of a node that a constraint compares with a constant.
static void narrow_by(struct estimate *e, const struct graph_node *comparison)
{
    const struct graph_node *nodes = e->graph->nodes;
    const int *o = e->graph->operands + comparison->first;
    enum expr_op op = comparison->op;
    if (op < OP_LESS || op > OP_EQUAL) return;
    bool turned = nodes[o[0]].op == OP_CONSTANT;
    double c = (double)nodes[o[!turned]].value, step = op == OP_LESS || op == OP_GREATER;
    double low = -INFINITY, high = INFINITY;
    int node = o[turned], visits = 0;
    if (nodes[o[!turned]].op != OP_CONSTANT || nodes[node].may_fail || fabs(c) >= 0x1p52) return;
    if (op == OP_EQUAL)
        low = high = c;
    else if ((op == OP_LESS || op == OP_LESS_EQUAL) != turned)
        high = c - step;
    else
        low = c + step;
    narrow(e, node, low, high, &visits);
}

static uint64_t operand_key(int node)
{
    uint64_t key = ((uint64_t)node + 1) * 0x9e3779b97f4a7c15u;
    return key ^ (key >> 31);
}

static void prepare(struct estimate *e, const struct constraint_graph *cg)
{
    const struct graph *g = e->graph;
    for (int i = 0; i < g->count; i++) {
        e->low[i] = g->nodes[i].low;
        e->high[i] = g->nodes[i].high;
    }
    for (size_t r = 0; r < cg->root_count; r++) narrow_by(e, &g->nodes[cg->roots[r]]);
    for (int i = 0; i < g->count; i++) {
        const struct graph_node *n = &g->nodes[i];
        double sum = 0;
        if (n->op == OP_NAME) sum = e->log_count[n->parameter];
        for (int j = 0; j < n->count; j++) sum += e->log_distinct[g->operands[n->first + j]];
        e->log_distinct[i] = fmin(sum, n->op == OP_CONSTANT ? 0 : log_range(e, i));
        e->key[i] = n->op == OP_ADD || n->op == OP_MULTIPLY ? (uint64_t)n->op : 0;
        for (int j = 0; e->key[i] && j < n->count; j++) e->key[i] += operand_key(g->operands[n->first + j]);
        e->stamp[i] = 0;
    }
}

// A sum or product with some known operands. It is a single number, which is the same for all sums whose known operands
// are the same.
struct partial {
    uint64_t key;
    double log_values;
};

static struct partial partial_of(const struct estimate *e, int node, uint64_t fixed)
{
    const struct graph *g = e->graph;
    const struct graph_node *n = &g->nodes[node];
    struct partial result = {.key = (uint64_t)n->op};
    double low = e->low[node], high = e->high[node], distinct = 0;
    for (int j = 0; j < n->count; j++) {
        int o = g->operands[n->first + j];
        if (!(g->nodes[o].mask & ~fixed)) {
            result.key += operand_key(o);
            distinct += e->log_distinct[o];
        } else if (n->op == OP_ADD) {
            low -= e->high[o];
            high -= e->low[o];
        } else if (e->low[o] >= 1) {
            high /= e->low[o];
        }
    }
    if (n->op == OP_MULTIPLY) low = fmin(low, 0);
    result.log_values = fmin(distinct, log(fmax(1, high - low + 1)));
    // Another sum may consist of exactly these operands, and its bound may be tighter.
    for (int i = 0; i < g->count; i++)
        if (e->key[i] == result.key) result.log_values = fmin(result.log_values, e->log_distinct[i]);
    return result;
}

// log of the estimated number of states when the parameters in `fixed` have values.
static double width(struct estimate *e, uint64_t fixed)
{
    enum { MAX_PARTIALS = 32 };
    const struct graph *g = e->graph;
    struct partial partials[MAX_PARTIALS];
    int partial_count = 0;
    double entries = 0;
    uint64_t after = 0;
    e->stamps++;
    e->looks += g->count;
    for (int i = 0; i < g->count; i++) {
        const struct graph_node *n = &g->nodes[i];
        if (!n->live || !(n->mask & ~fixed) || !(n->mask & fixed)) continue;
        int known = 0;
        for (int j = 0; j < n->count; j++) {
            uint64_t mask = g->nodes[g->operands[n->first + j]].mask;
            if (mask & ~fixed) continue;
            after |= mask;
            known += mask != 0;
        }
        if (known > 1 && (n->op == OP_ADD || n->op == OP_MULTIPLY)) {
            struct partial p = partial_of(e, i, fixed);
            int at = 0;
            while (at < partial_count && partials[at].key != p.key) at++;
            if (at < partial_count)
                partials[at].log_values = fmin(partials[at].log_values, p.log_values);
            else if (partial_count < MAX_PARTIALS)
                partials[partial_count++] = p;
            else
                entries += p.log_values;
            continue;
        }
        for (int j = 0; known && j < n->count; j++) {
            int o = g->operands[n->first + j];
            if ((g->nodes[o].mask & ~fixed) || e->stamp[o] == e->stamps) continue;
            e->stamp[o] = e->stamps;
            entries += e->log_distinct[o];
        }
    }
    for (int i = 0; i < partial_count; i++) entries += partials[i].log_values;
    double combinations = 0;
    for (; after; after &= after - 1) combinations += e->log_count[__builtin_ctzll(after)];
    return fmin(entries, combinations);
}

// Appends the group's parameters in greedy order, beginning with `start`; returns the cost (edges, estimated).
static double greedy(struct estimate *e, uint64_t group, int start, int *order, double limit)
{
    uint64_t fixed = 0;
    int at = 0;
    double cost = 0, states = 0;
    int next = start;
    while (fixed != group) {
        if (next < 0) {
            double least = INFINITY;
            for (uint64_t rest = group & ~fixed; rest; rest &= rest - 1) {
                int p = __builtin_ctzll(rest);
                double w = width(e, fixed | (uint64_t)1 << p) + 1e-3 * e->log_count[p];
                if (w < least) {
                    least = w;
                    next = p;
                }
            }
        }
        assert(next >= 0); // every cost is finite
        cost += exp(fmin(states + e->log_count[next], 600));
        if (cost >= limit) return INFINITY;
        fixed |= (uint64_t)1 << next;
        order[at++] = next;
        states = width(e, fixed);
        next = -1;
    }
    return cost;
}

// The cost of an order, or infinity when it reaches the limit.
static double cost_of(struct estimate *e, const int *order, int count, double limit)
{
    uint64_t fixed = 0;
    double cost = 0, states = 0;
    for (int i = 0; i < count && cost < limit; i++) {
        cost += exp(fmin(states + e->log_count[order[i]], 600));
        fixed |= (uint64_t)1 << order[i];
        if (i + 1 < count) states = width(e, fixed);
    }
    return cost < limit ? cost : INFINITY;
}

// The greedy order from the end: the last parameter is the one whose removal leaves the narrowest diagram.
static void greedy_from_behind(struct estimate *e, uint64_t group, int *order, int count)
{
    uint64_t fixed = group;
    for (int at = count - 1; at >= 0; at--) {
        double least = INFINITY;
        for (uint64_t rest = fixed; rest; rest &= rest - 1) {
            int p = __builtin_ctzll(rest);
            double w = width(e, fixed & ~((uint64_t)1 << p));
            if (w < least) {
                least = w;
                order[at] = p;
            }
        }
        fixed &= ~((uint64_t)1 << order[at]);
    }
}

// The best order according to the estimate, by dynamic programming over subsets of the group (Held and Karp 1962).
static void best_of_all(struct estimate *e, uint64_t group, int *order, int count)
{
    int parameters[MAX_EXACT];
    size_t subsets = (size_t)1 << count;
    autofree double *cost = memory_grow(NULL, 2 * subsets, sizeof *cost);
    double *states = cost + subsets;
    autofree unsigned char *last = memory_grow(NULL, subsets, 1);
    for (int i = 0; i < count; i++, group &= group - 1) parameters[i] = __builtin_ctzll(group);
    cost[0] = states[0] = 0;
    for (size_t set = 1; set < subsets; set++) {
        uint64_t fixed = 0;
        cost[set] = INFINITY;
        last[set] = 0;
        for (int i = 0; i < count; i++) {
            if (!(set >> i & 1)) continue;
            size_t before = set ^ (size_t)1 << i;
            double c = cost[before] + exp(fmin(states[before] + e->log_count[parameters[i]], 600));
            fixed |= (uint64_t)1 << parameters[i];
            if (c >= cost[set]) continue;
            cost[set] = c;
            last[set] = (unsigned char)i;
        }
        states[set] = width(e, fixed);
    }
    for (size_t set = subsets - 1, at = (size_t)count; set; set ^= (size_t)1 << last[set])
        order[--at] = parameters[last[set]]; // NOLINT(clang-analyzer-core.uninitialized.Assign): last is < count
}

// Moves single parameters to other positions until that no longer helps or more than `looks` nodes have been visited.
static void improve(struct estimate *e, int *order, int count, double cost, double looks)
{
    e->looks = 0;
    for (bool better = true; better;) {
        better = false;
        for (int from = 0; from < count; from++) {
            for (int to = 0; to < count; to++) {
                int trial[SPACE_MAX_PARAMETERS], moved = order[from];
                if (to == from) continue;
                if (e->looks > looks) return;
                memcpy(trial, order, (size_t)count * sizeof *trial);
                memmove(trial + from, trial + from + 1, (size_t)(count - from - 1) * sizeof *trial);
                memmove(trial + to + 1, trial + to, (size_t)(count - to - 1) * sizeof *trial);
                trial[to] = moved;
                double c = cost_of(e, trial, count, cost * 0.999);
                if (c >= cost) continue;
                cost = c;
                memcpy(order, trial, (size_t)count * sizeof *trial);
                better = true;
            }
        }
    }
}

static int order_group(struct estimate *e, uint64_t group, int *order)
{
    int best[SPACE_MAX_PARAMETERS], trial[SPACE_MAX_PARAMETERS];
    int count = __builtin_popcountll(group);
    double least = INFINITY;
    int starts = 0;
    for (uint64_t rest = group; rest && starts < MAX_STARTS; rest &= rest - 1, starts++) {
        double cost = greedy(e, group, __builtin_ctzll(rest), trial, least);
        if (cost < least) {
            least = cost;
            memcpy(best, trial, sizeof best);
        }
    }
    if (count > 2) {
        greedy_from_behind(e, group, trial, count);
        double cost = cost_of(e, trial, count, least);
        if (cost < least) {
            least = cost;
            memcpy(best, trial, sizeof best);
        }
        double looks = fmin(looks_per_edge * least, most_looks);
        if (count <= MAX_EXACT && exp2(count) * e->graph->count < looks)
            best_of_all(e, group, best, count);
        else
            improve(e, best, count, least, looks);
    }
    memcpy(order, best, (size_t)count * sizeof *order);
    return count;
}

int space_order(const struct space *s, const struct constraint_graph *cg, int *order)
{
    const struct graph *g = &cg->graph;
    size_t nodes = (size_t)g->count + 1;
    struct estimate e = {.space = s, .graph = g};
    e.log_distinct = memory_grow(NULL, 3 * nodes, sizeof *e.log_distinct);
    e.stamp = memory_grow(NULL, nodes, sizeof *e.stamp);
    e.key = memory_grow(NULL, nodes, sizeof *e.key);
    e.low = e.log_distinct + nodes;
    e.high = e.low + nodes;
    for (int p = 0; p < s->count; p++) e.log_count[p] = log((double)s->parameters[p].count);
    prepare(&e, cg);

    int count = 0;
    uint64_t left = 0;
    for (int p = 0; p < s->count; p++)
        if (s->parameters[p].count > 1) left |= (uint64_t)1 << p;
    while (left) {
        // The connected group of the first parameter that is left.
        uint64_t group = left & (0 - left), before;
        do {
            before = group;
            for (size_t r = 0; r < cg->root_count; r++) {
                uint64_t m = g->nodes[cg->roots[r]].mask;
                if (m & group) group |= m;
            }
        } while (group != before);
        count += order_group(&e, group, order + count);
        left &= ~group;
    }
    free(e.log_distinct);
    free(e.stamp);
    free(e.key);
    return count;
}
