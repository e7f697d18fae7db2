// The selector among several kernels and its wave model (fn.h says what FN is; a header has what follows the first
// empty line).

// The largest power of two up to 8 that divides a size, as its logarithm: a kernel that loads 16 bytes at a time is
// good only for some sizes.
FN_FUNCTION int FN(alignment)(long long size)
{
    return size % 8 == 0 ? 3 : size % 4 == 0 ? 2 : size % 2 == 0;
}

// How far apart two problems are: the product of the ratios of their sizes, twice as far for each size with another
// alignment. 1: the same sizes.
FN_FUNCTION double FN(distance)(const FN_INTEGER *a, const FN_INTEGER *b, int sizes)
{
    double distance = 1;
    int i;
    for (i = 0; i < sizes; i++)
        distance *= FN(ratio)(a[i], b[i]) * (FN(alignment)(a[i]) == FN(alignment)(b[i]) ? 1 : 2);
    return distance;
}

// The wave model. A kernel's times on two problems are expected to be in proportion to the work of a block times the
// waves of blocks: work / blocks * ceil(blocks / at_once), where the device holds so many blocks at once. blocks below
// 1: unknown; the time is then in proportion to the work.
FN_FUNCTION double FN(relative_time)(double work, double blocks, double at_once)
{
    double waves;
    if (!(work > 1)) work = 1;
    if (!(blocks >= 1)) return work;
    waves = blocks / at_once;
    if (waves < 9e15 && waves > (double)(long long)waves) waves = (double)(long long)waves + 1;
    return work / blocks * waves;
}

// A selection of the kernel that is expected to be the fastest on a problem. The kernels are taken one after another.
// Each is expected to take what it took on the three nearest problems that it was timed on, in proportion to its
// relative times, weighted by one over the distance; on a problem that it was timed on, what it took there.
struct FN(selection) {
    int kernel;                     // expected to be the fastest of those taken so far; -1: none
    double least;                   // its expected time, s
    int count;                      // nearest problems of the kernel that is being taken, nearest first
    double distance[3], seconds[3]; // theirs; seconds in proportion to the relative times
};

FN_FUNCTION struct FN(selection) FN(selection_begin)(void)
{
    const struct FN(selection) s = {-1, 0, 0, {0, 0, 0}, {0, 0, 0}};
    return s;
}

// A problem that the kernel was timed on (there), and the one to select for (here).
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

// The kernel's problems have all been added: it is selected where it is faster than those before.
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
