// Kernels that read outside of rows and buffers, but whose results hide a NaN. Each block has one row of 1001 elements;
// rows lie 1024 elements apart:
//
//     top, low, sum    the largest and the smallest element of x, and the sum of magnitudes
//     clip             each element plus its larger neighbour (beyond a row's end, the element itself is used)
//     count            how many elements of x are above 0.5 and below -0.5, and how many of w are not negative
//     most, fewest     the largest of w (i32), the smallest of v (u32)
//     ends             of vectors of 7 * rows + 2 elements: the largest of q, the smallest of p
//
//     buffers   x, w, v (in, with padding), q, p (in), top, low, sum, clip (with padding), count, most, fewest, ends
//     launch    grid rows, block 256

#include "case.h"

enum { THREADS = 256, COLS = 1001, LD = 1024 };

struct row {
    float top, low, sum;
    int above, below, natural, most;
    u32 fewest;
};

HELPER row combine(row p, row q)
{
    return {fmaxf(p.top, q.top), fminf(p.low, q.low),   p.sum + q.sum,       p.above + q.above,
            p.below + q.below,   p.natural + q.natural, max(p.most, q.most), min(p.fewest, q.fewest)};
}

HELPER row of_block(row mine)
{
    __shared__ row all[THREADS];
    __syncthreads();
    all[threadIdx.x] = mine;
    __syncthreads();
    for (int half = THREADS / 2; half; half /= 2) {
        if ((int)threadIdx.x < half) all[threadIdx.x] = combine(all[threadIdx.x], all[threadIdx.x + half]);
        __syncthreads();
    }
    return all[0];
}

// The number of elements of a row that each result uses.
#if IS(top_takes_padding) || IS(low_takes_padding) || IS(fewest_takes_one)
enum { MORE = COLS + 1 };
#else
enum { MORE = LD };
#endif
enum {
    TOP_COLS = IS(top_takes_padding) || IS(top_takes_all_padding) || IS(top_by_greater) ? MORE : COLS,
    LOW_COLS = IS(low_takes_padding) || IS(low_by_less) ? MORE : COLS,
    ABOVE_COLS = IS(count_takes_padding) ? MORE : COLS,
    BELOW_COLS = IS(count_by_not_below) ? MORE : COLS,
    SUM_COLS = IS(sum_skips_nan) ? MORE : COLS,
    MOST_COLS = IS(most_takes_padding) ? MORE : COLS,
    FEWEST_COLS = IS(fewest_takes_padding) || IS(fewest_takes_one) ? MORE : COLS
};

HELPER void add(row *to, const float *x, const int *w, const u32 *v, int c)
{
    if (c < TOP_COLS) {
#if IS(top_by_greater)
        if (x[c] > to->top) to->top = x[c];
#else
        to->top = fmaxf(to->top, x[c]);
#endif
    }
    if (c < LOW_COLS) {
#if IS(low_by_less)
        if (x[c] < to->low) to->low = x[c];
#else
        to->low = fminf(to->low, x[c]);
#endif
    }
    if (c < ABOVE_COLS) to->above += x[c] > 0.5f;
    if (c < BELOW_COLS) to->below += x[c] < -0.5f;
    if (c < SUM_COLS) {
        float size = fabsf(x[c]);
        to->sum += size == size ? size : 0;
    }
    if (c < COLS) to->natural += w[c] >= 0;
    if (c < MOST_COLS) to->most = max(to->most, w[c]);
    if (c < FEWEST_COLS) to->fewest = min(to->fewest, v[c]);
}

HELPER row row_part(const float *x, const int *w, const u32 *v, int r, int rows)
{
    (void)r, (void)rows;
    row mine = {-3.4e38f, 3.4e38f, 0, 0, 0, 0, (int)0x80000000, ~0u};
#if IS(rows_in_vectors)
    for (int c = threadIdx.x * 4; c < COLS; c += THREADS * 4) {
        const float4 e = *(const float4 *)(x + c);
        const float four[4] = {e.x, e.y, e.z, e.w};
        for (int k = 0; k < 4; k++) {
            if (c + k >= COLS) continue;
            float own = four[k];
            mine = combine(mine, {own, own, fabsf(own), own > 0.5f, own < -0.5f, w[c + k] >= 0, w[c + k], v[c + k]});
        }
    }
#elif IS(padding_discarded) || IS(padding_zeroed) || IS(last_element_repeated)
    for (int c = threadIdx.x; c < LD; c += THREADS) {
        bool in = c < COLS;
        int at = IS(last_element_repeated) && !in ? COLS - 1 : c;
        float e = ((volatile const float *)x)[at];
        int i = ((volatile const int *)w)[at];
        u32 u = ((volatile const u32 *)v)[at];
#if IS(padding_zeroed)
        e = in ? e : 0;
        row one = {in ? e : -3.4e38f, in ? e : 3.4e38f, fabsf(e),      e > 0.5f,
                   e < -0.5f,         in && i >= 0,     in ? i : -100, in ? u : ~0u};
        mine = combine(mine, one);
#elif IS(last_element_repeated)
        mine = combine(mine, {e, e, in ? fabsf(e) : 0, in && e > 0.5f, in && e < -0.5f, in && i >= 0, i, u});
#else
        row both = combine(mine, {e, e, fabsf(e), e > 0.5f, e < -0.5f, i >= 0, i, u});
        if (in) mine = both;
#endif
    }
#else
    for (int c = threadIdx.x; c < LD; c += THREADS) add(&mine, x, w, v, c);
#endif
#if IS(most_from_the_row_below)
    // Reads a halo of one row, also beyond the last row.
    if (r == rows - 1)
        for (int c = threadIdx.x; c < COLS; c += THREADS)
            mine.most = max(mine.most, w[LD + c] >= -99 ? w[LD + c] : -99);
#endif
    return of_block(mine);
}

HELPER void clip_part(const float *x, float *clip)
{
    for (int c = threadIdx.x; c < COLS; c += THREADS) {
        float own = x[c], left = c || IS(clip_takes_previous) ? x[c - 1] : own,
              right = c < COLS - 1 || IS(clip_takes_next) ? x[c + 1] : own;
#if IS(clip_takes_next)
        if (c == COLS - 1 && !(right == right)) right = own;
#elif IS(clip_takes_previous)
        if (c == 0 && !(left == left)) left = own;
#endif
        clip[c] = (left > right ? left : right) + own;
    }
}

// Runs only in the first block.
HELPER void ends_part(int n, const float *q, const float *p, float *ends)
{
    float top = -3.4e38f, low = 3.4e38f;
#if IS(end_in_vectors)
    for (int i = threadIdx.x * 4; i < n; i += THREADS * 4) {
        float4 e = *(const float4 *)(q + i);
        top = fmaxf(top, fmaxf(fmaxf(e.x, e.y), fmaxf(e.z, e.w)));
    }
#else
    int begin = IS(before_the_beginning) ? -1 : 0;
    for (int i = begin + threadIdx.x; i < n; i += THREADS) top = fmaxf(top, q[i]);
#endif
    int end = IS(end_in_tiles) ? (n + 1023) / 1024 * 1024 : n;
    for (int i = threadIdx.x; i < end; i += THREADS) low = fminf(low, p[i]);
    row both = of_block({top, low, 0, 0, 0, 0, 0, 0});
    if (threadIdx.x) return;
    ends[0] = both.top;
    ends[1] = both.low;
}

extern "C" __global__ void __launch_bounds__(THREADS)
    absorbed(int rows, const float *x, const int *w, const u32 *v, const float *q, const float *p, float *top,
             float *low, float *sum, float *clip, int *count, int *most, u32 *fewest, float *ends)
{
    const int r = blockIdx.x;
    const long long first = (long long)r * LD;
    row found = row_part(x + first, w + first, v + first, r, rows);
    clip_part(x + first, clip + first);
    if (threadIdx.x == 0) {
        top[r] = found.top;
        low[r] = found.low;
        sum[r] = found.sum;
        count[3 * r] = found.above;
        count[3 * r + 1] = found.below;
        count[3 * r + 2] = found.natural;
        most[r] = found.most;
        fewest[r] = found.fewest;
    }
    if (r == 0) ends_part(rows * 7 + 2, q, p, ends);
}
