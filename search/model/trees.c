// See trees.h.
#include "search/model/trees.h"

#include <assert.h>
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "tuner/base/memory.h"

struct tree_node {
    int32_t dimension; // -1: a leaf
    float threshold;   // left: below
    uint32_t left, right;
    double mean;
};

struct trees {
    size_t dimensions, tree_count;
    struct tree_node *nodes;
    uint32_t node_count;
    size_t node_room;
    uint32_t *roots;
    // used while growing
    const float *points;
    const double *targets;
    uint32_t *order;
    struct random *rng;
};

struct trees *trees_new(size_t dimensions, size_t tree_count)
{
    struct trees *t = memory_new(1, sizeof *t);
    t->dimensions = dimensions;
    t->tree_count = tree_count;
    t->roots = memory_grow(NULL, tree_count, sizeof *t->roots);
    return t;
}

void trees_free(struct trees *t)
{
    if (!t) return;
    free(t->nodes);
    free(t->roots);
    free(t->order);
    free(t);
}

static uint32_t add_node(struct trees *t)
{
    t->nodes = memory_room(t->nodes, &t->node_room, t->node_count + 1u, sizeof *t->nodes);
    return t->node_count++;
}

struct split {
    int32_t dimension;
    float threshold;
    double gain;
};

// A random threshold in one dimension, and how much it lowers the squared error. The gain is negative if the split is
// useless.
static struct split try_split(struct trees *t, const uint32_t *order, size_t count, size_t dimension)
{
    struct split s = {(int32_t)dimension, 0, -1};
    float low = INFINITY, high = -INFINITY;
    for (size_t i = 0; i < count; i++) {
        float x = t->points[order[i] * t->dimensions + dimension];
        low = fminf(low, x);
        high = fmaxf(high, x);
    }
    if (!(low < high)) return s;
    s.threshold = low + (high - low) * (float)random_unit(t->rng);
    if (s.threshold <= low) s.threshold = nextafterf(low, high);
    double sums[2] = {0};
    size_t counts[2] = {0};
    for (size_t i = 0; i < count; i++) {
        int side = t->points[order[i] * t->dimensions + dimension] >= s.threshold;
        sums[side] += t->targets[order[i]];
        counts[side]++;
    }
    double total = sums[0] + sums[1];
    s.gain =
        sums[0] * sums[0] / (double)counts[0] + sums[1] * sums[1] / (double)counts[1] - total * total / (double)count;
    return s;
}

static uint32_t grow(struct trees *t, uint32_t *order, size_t count)
{
    uint32_t node = add_node(t);
    double sum = 0;
    bool pure = true;
    for (size_t i = 0; i < count; i++) {
        sum += t->targets[order[i]];
        pure &= t->targets[order[i]] == t->targets[order[0]];
    }
    t->nodes[node] = (struct tree_node){.dimension = -1, .mean = sum / (double)count};
    if (pure || count < 2) return node;
    struct split best = {-1, 0, -1};
    for (size_t dimension = 0; dimension < t->dimensions; dimension++) {
        struct split s = try_split(t, order, count, dimension);
        if (s.gain > best.gain) best = s;
    }
    if (best.dimension < 0) return node;
    size_t left = 0;
    for (size_t i = 0; i < count; i++) {
        if (t->points[order[i] * t->dimensions + (size_t)best.dimension] >= best.threshold) continue;
        memory_swap(order[i], order[left]);
        left++;
    }
    // Both halves have points, so they shrink, and the depth is at most the number of points.
    uint32_t l = grow(t, order, left), r = grow(t, order + left, count - left);
    t->nodes[node].dimension = best.dimension;
    t->nodes[node].threshold = best.threshold;
    t->nodes[node].left = l;
    t->nodes[node].right = r;
    return node;
}

void trees_grow(struct trees *t, const float *points, const double *targets, size_t count, struct random *rng)
{
    assert(count > 0);
    t->points = points;
    t->targets = targets;
    t->rng = rng;
    t->node_count = 0;
    t->order = memory_grow(t->order, count, sizeof *t->order);
    for (size_t i = 0; i < t->tree_count; i++) {
        for (size_t j = 0; j < count; j++) t->order[j] = (uint32_t)j;
        t->roots[i] = grow(t, t->order, count);
    }
}

double trees_mean(const struct trees *t, const float *point)
{
    double sum = 0;
    for (size_t i = 0; i < t->tree_count; i++) {
        const struct tree_node *n = &t->nodes[t->roots[i]];
        while (n->dimension >= 0) n = &t->nodes[point[n->dimension] < n->threshold ? n->left : n->right];
        sum += n->mean;
    }
    return sum / (double)t->tree_count;
}
