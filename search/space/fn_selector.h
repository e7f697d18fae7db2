// The selector among several kernels and its wave model (FN is explained in fn.h; headers contain the text after the
// first empty line).

// The base-2 logarithm of the largest power of two, up to 8, that divides a size. Alignment matters because a kernel
// that loads 16 bytes at a time suits only some sizes.
FN_FUNCTION int FN(alignment)(long long size)
{
    return size % 8 == 0 ? 3 : size % 4 == 0 ? 2 : size % 2 == 0;
}

// The distance between two problems: the product of the ratios of their sizes, doubled for each size whose alignment
// differs. It is 1 if the sizes are equal.
FN_FUNCTION double FN(distance)(const FN_INTEGER *a, const FN_INTEGER *b, int sizes)
{
    double distance = 1;
    int i;
    for (i = 0; i < sizes; i++)
        distance *= FN(ratio)(a[i], b[i]) * (FN(alignment)(a[i]) == FN(alignment)(b[i]) ? 1 : 2);
    return distance;
}

// The wave model. A kernel's time on a problem is expected to be proportional to the work per block times the number of
// waves: work / blocks * ceil(blocks / at_once), where the device holds `at_once` blocks at a time. If `blocks` is
// below 1, their number is unknown, and the time is taken to be proportional to the work.
FN_FUNCTION double FN(relative_time)(double work, double blocks, double at_once)
{
    double waves;
    if (!(work > 1)) work = 1;
    if (!(blocks >= 1)) return work;
    waves = blocks / at_once;
    if (waves < 9e15 && waves > (double)(long long)waves) waves = (double)(long long)waves + 1;
    return work / blocks * waves;
}

// The state of selecting the kernel that is expected to be the fastest on a problem. The kernels are considered one
// after another. A kernel's expected time is computed from the three nearest problems on which it was timed. Each of
// these times is scaled by the ratio of the relative times of the two problems; the expected time is their average,
// weighted by the inverse of the distance. On a problem where the kernel was timed, it is the measured time.
struct FN(selection) {
    int kernel;                     // expected to be the fastest of those considered so far; -1: none
    double least;                   // its expected time, s
    int count;                      // nearest problems of the current kernel, nearest first
    double distance[3], seconds[3]; // for these problems; seconds scaled by the relative times
};

FN_FUNCTION struct FN(selection) FN(selection_begin)(void)
{
    const struct FN(selection) s = {-1, 0, 0, {0, 0, 0}, {0, 0, 0}};
    return s;
}

// Adds a problem on which the kernel was timed (`there`); `here` is the problem to select for.
FN_FUNCTION void FN(selection_add)(struct FN(selection) * s, const FN_INTEGER *here, const FN_INTEGER *there, int sizes,
                                   double seconds, double relative_here, double relative_there)
{
    const double distance = FN(distance)(here, there, sizes);
    int k;
    if (s->count == 3 && distance >= s->distance[2]) return;
    k = s->count < 3 ? s->count++ : 2;
    for (; k > 0 && s->distance[k - 1] > distance; k--) {
        s->distance[k] = s->distance[k - 1];
        s->seconds[k] = s->seconds[k - 1];
    }
    s->distance[k] = distance;
    s->seconds[k] = seconds * (relative_here / relative_there);
}

// Call this after adding all problems of a kernel. The kernel is selected if it is expected to be faster than all
// earlier ones.
FN_FUNCTION void FN(selection_take)(struct FN(selection) * s, int kernel)
{
    const int count = s->count && s->distance[0] <= 1 ? 1 : s->count;
    double sum = 0, weights = 0;
    int k;
    for (k = 0; k < count; k++) {
        sum += s->seconds[k] / s->distance[k];
        weights += 1 / s->distance[k];
    }
    if (count && (s->kernel < 0 || sum / weights < s->least)) {
        s->kernel = kernel;
        s->least = sum / weights;
    }
    s->count = 0;
}
