// In which order the parameters become the levels of the diagram.
//
// The width of the diagram below a set of fixed parameters is bounded by how many different things the undecided
// constraints still have to remember of them. That is estimated from the graph: the values of the subexpressions that
// are known and still used, or the combinations of the parameters behind them, whichever is fewer. Parameters are
// chosen greedily by that width, from several starts; a connected group of parameters is finished before the next one
// begins, so that independent groups stand one behind the other and are never multiplied out.
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "search/space_internal.h"

enum { MAX_STARTS = 12 };

struct estimate {
    const struct space *space;
    const struct graph *graph;
    double log_count[SPACE_MAX_PARAMETERS];
    double *log_distinct; // a node: log of the number of different values, at most
    int *stamp;
    int stamps;
};

static double log_range(const struct graph_node *n)
{
    return log(fmax(1, n->high - n->low + 1));
}

static void prepare(struct estimate *e)
{
    const struct graph *g = e->graph;
    for (int i = 0; i < g->count; i++) {
        const struct graph_node *n = &g->nodes[i];
        double sum = 0;
        if (n->op == OP_NAME) sum = e->log_count[n->parameter];
        for (int j = 0; j < n->count; j++) sum += e->log_distinct[g->operands[n->first + j]];
        e->log_distinct[i] = fmin(sum, n->op == OP_CONSTANT ? 0 : log_range(n) + (n->may_fail ? 0.7 : 0));
        e->stamp[i] = 0;
    }
}

// log of the estimated number of states when the parameters in `fixed` have values.
static double width(struct estimate *e, uint64_t fixed)
{
    const struct graph *g = e->graph;
    double entries = 0;
    uint64_t behind = 0;
    e->stamps++;
    for (int i = 0; i < g->count; i++) {
        const struct graph_node *n = &g->nodes[i];
        if (!(n->mask & ~fixed) || !(n->mask & fixed)) continue;
        bool list = n->count > 2 || n->op == OP_ADD || n->op == OP_MULTIPLY;
        int known = 0, last = -1;
        double sum = 0;
        for (int j = 0; j < n->count; j++) {
            int o = g->operands[n->first + j];
            const struct graph_node *operand = &g->nodes[o];
            if (!operand->mask || (operand->mask & ~fixed)) continue;
            behind |= operand->mask;
            if (list && n->op != OP_CHOOSE) {
                known++;
                last = o;
                sum += e->log_distinct[o];
            } else if (e->stamp[o] != e->stamps) {
                e->stamp[o] = e->stamps;
                entries += e->log_distinct[o];
            }
        }
        if (known > 1) {
            entries += fmin(sum, log_range(n));
        } else if (known == 1 && e->stamp[last] != e->stamps) {
            e->stamp[last] = e->stamps;
            entries += sum;
        }
    }
    double combinations = 0;
    for (; behind; behind &= behind - 1) combinations += e->log_count[__builtin_ctzll(behind)];
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
        cost += exp(fmin(states + e->log_count[next], 600));
        if (cost >= limit) return INFINITY;
        fixed |= (uint64_t)1 << next;
        order[at++] = next;
        states = width(e, fixed);
        next = -1;
    }
    return cost;
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
    memcpy(order, best, (size_t)count * sizeof *order);
    return count;
}

int space_order(const struct space *s, const struct constraint_graph *cg, uint64_t mask, int *order)
{
    const struct graph *g = &cg->graph;
    double distinct[256];
    int stamp[256];
    struct estimate e = { .space = s, .graph = g, .log_distinct = distinct, .stamp = stamp };
    bool large = g->count > 256;
    if (large) {
        e.log_distinct = malloc((size_t)g->count * sizeof *e.log_distinct);
        e.stamp = malloc((size_t)g->count * sizeof *e.stamp);
        if (!e.log_distinct || !e.stamp) abort();
    }
    for (int p = 0; p < s->count; p++) e.log_count[p] = log((double)s->parameters[p].count);
    prepare(&e);

    int count = 0;
    uint64_t left = mask;
    while (left) {
        // The connected group of the first parameter that is left.
        uint64_t group = left & (0 - left), before;
        do {
            before = group;
            for (size_t r = 0; r < cg->root_count; r++) {
                uint64_t m = g->nodes[cg->roots[r]].mask & mask;
                if (m & group) group |= m;
            }
        } while (group != before);
        count += order_group(&e, group, order + count);
        left &= ~group;
    }
    if (large) {
        free(e.log_distinct);
        free(e.stamp);
    }
    return count;
}
