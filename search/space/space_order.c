// Chooses the order in which the parameters become the levels of the diagram.
//
// The width of the diagram below a set of fixed parameters is bounded by how many different things the undecided
// constraints still have to remember of them. That is estimated from the graph: the values of the subexpressions that
// are known and still used, or the combinations of their parameters, whichever is fewer. Parameters are
// chosen greedily by that width, from several starts and from the end; then, where the diagram will be large enough to
// be worth it, single parameters are moved about while that helps. A connected group of parameters is finished before
// the next one begins, so that independent groups are never multiplied out.
#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "search/space/space_internal.h"

#include "tuner/base/memory.h"

enum { MAX_STARTS = 12 };

// Improving the order may look at this many nodes for every edge that the diagram is estimated to have: an edge costs
// some twenty times as much as a look, so small spaces do not pay for what only large ones need.
static const double looks_per_edge = 1, most_looks = 3e7;

struct estimate {
    const struct graph *graph;
    double log_count[SPACE_MAX_PARAMETERS];
    double *log_distinct; // of each node: log of the number of different values, at most
    int *stamp;
    int stamps;
    double looks;
};

static void prepare(struct estimate *e)
{
    const struct graph *g = e->graph;
    for (int i = 0; i < g->count; i++) {
        const struct graph_node *n = &g->nodes[i];
        double sum = 0, range = log(fmax(1, n->high - n->low + 1)) + (n->may_fail ? 0.7 : 0);
        if (n->op == OP_NAME) sum = e->log_count[n->parameter];
        for (int j = 0; j < n->count; j++) sum += e->log_distinct[g->operands[n->first + j]];
        e->log_distinct[i] = fmin(sum, n->op == OP_CONSTANT ? 0 : range);
        e->stamp[i] = 0;
    }
}

// log of the estimated number of states when the parameters in `fixed` have values.
static double width(struct estimate *e, uint64_t fixed)
{
    const struct graph *g = e->graph;
    double entries = 0;
    uint64_t after = 0;
    e->stamps++;
    e->looks += g->count;
    for (int i = 0; i < g->count; i++) {
        const struct graph_node *n = &g->nodes[i];
        if (!n->live || !(n->mask & ~fixed) || !(n->mask & fixed)) continue;
        bool known = false;
        for (int j = 0; j < n->count; j++) {
            uint64_t mask = g->nodes[g->operands[n->first + j]].mask;
            if (mask & ~fixed) continue;
            after |= mask;
            known |= mask != 0;
        }
        for (int j = 0; known && j < n->count; j++) {
            int o = g->operands[n->first + j];
            if ((g->nodes[o].mask & ~fixed) || e->stamp[o] == e->stamps) continue;
            e->stamp[o] = e->stamps;
            entries += e->log_distinct[o];
        }
    }
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

// The greedy order from the end: the last parameter is the one without which the diagram is narrowest.
static void greedy_from_end(struct estimate *e, uint64_t group, int *order, int count)
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

// Moves single parameters to other places as long as that helps and at most `looks` nodes are visited.
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
        greedy_from_end(e, group, trial, count);
        double cost = cost_of(e, trial, count, least);
        if (cost < least) {
            least = cost;
            memcpy(best, trial, sizeof best);
        }
        improve(e, best, count, least, fmin(looks_per_edge * least, most_looks));
    }
    memcpy(order, best, (size_t)count * sizeof *order);
    return count;
}

int space_order(const struct space *s, const struct constraint_graph *cg, int *order)
{
    const struct graph *g = &cg->graph;
    size_t nodes = (size_t)g->count + 1;
    struct estimate e = {.graph = g};
    e.log_distinct = memory_grow(NULL, nodes, sizeof *e.log_distinct);
    e.stamp = memory_grow(NULL, nodes, sizeof *e.stamp);
    for (int p = 0; p < s->count; p++) e.log_count[p] = log((double)s->parameters[p].count);
    prepare(&e);

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
    return count;
}
