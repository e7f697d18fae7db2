// Smith-Waterman local alignment of many pairs of short sequences, with affine gaps (Gotoh 1982): the best score of
// each pair, in integers.
//
//     H[i][j] = max(0, H[i-1][j-1] + s(a[i], b[j]), E[i][j], F[i][j])
//     E[i][j] = max(E[i][j-1] - extend, H[i][j-1] - open),  F[i][j] = max(F[i-1][j] - extend, H[i-1][j] - open)
//     score   = the largest H
// with s = match if two letters are equal, otherwise -mismatch; `open` is the total cost of a gap of length 1.
//
// Sequences are stored letter by letter, a[i] of pair p at a + i*count + p, so that neighbouring threads read
// neighbouring bytes. All pairs have the same lengths, which may be 0 (then the buffers, which cannot be empty, hold
// one row that is ignored, and every score is 0).
//
// What the check proves. Scores are integers and must match exactly; every letter of a pair can change its score.
#include <stdlib.h>
#include <string.h>

#include "kernels/least.h"
#include "kernels/parallel.h"
#include "kernels/vectors.h"
#include "tuner/base/memory.h"

enum { COUNT, LENGTH_A, LENGTH_B, MATCH, MISMATCH, OPEN, EXTEND, A, B, SCORE };

static const struct operation_role roles[] = {
    [COUNT] = {"count", ROLE_SIZE, 0, "pairs of sequences"},
    [LENGTH_A] = {"length_a", ROLE_SCALAR, 0, "letters of each a, 0 or more"},
    [LENGTH_B] = {"length_b", ROLE_SCALAR, 0, "letters of each b, 0 or more"},
    [MATCH] = {"match", ROLE_SCALAR, 2, "score of equal letters"},
    [MISMATCH] = {"mismatch", ROLE_SCALAR, 3, "cost of different letters"},
    [OPEN] = {"open", ROLE_SCALAR, 5, "cost of a gap's first letter"},
    [EXTEND] = {"extend", ROLE_SCALAR, 2, "cost of each further letter"},
    [A] = {"a", ROLE_INPUT, 0, "max(length_a, 1) by count letters, i8"},
    [B] = {"b", ROLE_INPUT, 0, "max(length_b, 1) by count letters, i8"},
    [SCORE] = {"score", ROLE_OUTPUT, 0, "count scores, i32"},
    {0},
};

static int check(const struct operation_problem *p, struct error *err)
{
    const struct operand *a = &p->operand[A], *b = &p->operand[B], *score = &p->operand[SCORE];
    if (a->type != ELEMENT_I8 || b->type != ELEMENT_I8 || score->type != ELEMENT_I32)
        return error_set(err, "sequences must be i8 and scores i32");
    if (a->cols != operand_count(score) || b->cols != operand_count(score))
        return error_set(err, "%lld and %lld sequences, %lld scores", (long long)a->cols, (long long)b->cols,
                         (long long)operand_count(score));
    if (p->value[LENGTH_A] < 0 || p->value[LENGTH_A] > (double)a->rows || p->value[LENGTH_B] < 0 ||
        p->value[LENGTH_B] > (double)b->rows)
        return error_set(err, "the lengths are %g and %g, but there are %lld and %lld rows of letters",
                         p->value[LENGTH_A], p->value[LENGTH_B], (long long)a->rows, (long long)b->rows);
    return 0;
}

struct aligning {
    const struct operation_problem *p;
    int64_t *score;
    int failed;
};

static int largest(int x, int y)
{
    return x > y ? x : y;
}

static int64_t align(const struct operation_problem *p, int64_t pair, int *row)
{
    const signed char *a = p->operand[A].host, *b = p->operand[B].host;
    int n = (int)p->value[LENGTH_A], m = (int)p->value[LENGTH_B], best = 0;
    int match = (int)p->value[MATCH], mismatch = (int)p->value[MISMATCH], open = (int)p->value[OPEN],
        extend = (int)p->value[EXTEND];
    int *h = row, *f = row + m; // H and F of the row above
    for (int j = 0; j < m; j++) h[j] = 0, f[j] = -1000000;
    for (int i = 0; i < n; i++) {
        int diagonal = 0, left = 0, e = -1000000, letter = (int)a[i * p->operand[A].ld + pair];
        for (int j = 0; j < m; j++) {
            e = largest(e - extend, left - open);
            f[j] = largest(f[j] - extend, h[j] - open);
            int here = diagonal + (letter == b[j * p->operand[B].ld + pair] ? match : -mismatch);
            here = largest(largest(here, 0), largest(e, f[j]));
            diagonal = h[j];
            h[j] = left = here;
            best = largest(best, here);
        }
    }
    return best;
}

static void align_some(void *user, int64_t begin, int64_t end)
{
    struct aligning *s = user;
    int *row = memory_try((size_t)s->p->value[LENGTH_B] * 2, sizeof *row, NULL);
    if (!row) s->failed = 1;
    for (int64_t i = begin; i < end && row; i++) s->score[i] = align(s->p, i, row);
    free(row);
}

static int cpu(const struct operation_problem *p, struct operation_expected *expected, struct error *err)
{
    struct aligning s = {p, expected[SCORE].host_exact, 0};
    parallel_for(operand_count(&p->operand[SCORE]), 64, align_some, &s);
    return s.failed ? error_set(err, "out of host memory for the reference") : 0;
}

// Not all letters need be read: those that can no longer lead to a better score may be skipped.
static void least(const struct operation_problem *p, struct operation_least *least)
{
    least->written = operand_bytes(&p->operand[SCORE]);
    least->bits = 1;
}

const struct operation operation_smith_waterman = {
    .name = "smith_waterman",
    .summary = "best local alignment scores of many pairs of short sequences, affine gaps",
    .bound = "exact",
    .roles = roles,
    .check = check,
    .deterministic = true,
    .least = least,
    .cpu = cpu,
};
