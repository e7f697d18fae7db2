// See job.h: sizes that the header accepts, and sizes that are drawn and verified.
#include <math.h>

#include "kernels/operation.h"
#include "tuner/base/entropy.h"
#include "tuner/job/job_parts.h"

// Drawn problems are small. They take at most `bytes_small` more memory than the job's smallest problem; none is drawn
// if the smallest problem takes more than `bytes_most`. They have at most `flops_small` operations or, if the smallest
// problem has more, as many as that problem.
static const int64_t bytes_small = 16 << 20, bytes_most = 1ll << 30, own_bytes = 512 << 20;
static const double flops_small = 2e9, flops_small_on_cpu = 5e7;
// Fewer sizes are drawn if the reference is a command, because a command takes a fraction of a second even for small
// problems.
enum { DRAWN_WITH_COMMAND = 2, ATTEMPTS = 400, ATTEMPTS_EACH = 40 };

static int64_t common_divisor(int64_t a, int64_t b)
{
    while (b) {
        int64_t rest = a % b;
        a = b;
        b = rest;
    }
    return a < 0 ? -a : a;
}

void size_range_add(struct size_range *r, int64_t size)
{
    if (!r->any || size < r->least) r->least = size;
    if (!r->any || size > r->most) r->most = size;
    r->multiple = common_divisor(r->any ? r->multiple : 0, size);
    if (!r->multiple) r->multiple = 1;
    r->any = true;
}

// The additive recurrence of Roberts, "The unreasonable effectiveness of quasirandom sequences" (2018): multiples of
// the powers of 1 / g, where g ^ (d + 1) = g + 1.
int64_t job_sample_size(int64_t low, int64_t high, int sample, int dimension, int dimensions)
{
    const int64_t unit = common_divisor(low, high);
    double g = 2;
    for (int i = 0; i < 40; i++) g = pow(1 + g, 1.0 / (dimensions + 1));
    double whole, at = modf(0.5 + (sample - 1) * pow(g, -(dimension + 1)), &whole);
    if (sample < 2) return sample ? high : low;
    int64_t size = unit * (int64_t)llround((double)low / (double)unit * pow((double)high / (double)low, at));
    return size < low ? low : size > high ? high : size;
}

// Whether `verification.supported` allows a problem. -1 with a message.
static int is_supported(const struct job *job, size_t problem, bool *supported, struct error *err)
{
    autofree int64_t *values = memory_new(symbols_count(job->symbols), sizeof *values);
    int64_t holds = 1;
    int failed = job->sizes.supported_count ? job_problem_values(job, NULL, problem, values, err) : 0;
    for (size_t i = 0; i < job->sizes.supported_count && !failed && holds; i++)
        failed = expr_eval(job->sizes.supported[i], values, &holds, err);
    *supported = holds != 0;
    return failed;
}

int job_check_supported(const struct job *job, struct error *err)
{
    for (size_t p = 0; p < job->problem_count; p++) {
        bool supported;
        if (is_supported(job, p, &supported, err)) return job_locate_error(job, "verification.supported", err);
        if (!supported)
            return error_set(err, "%s:%d: problem %s is not one that 'verification.supported' allows", job->path,
                             job->problems[p].line, job->problems[p].name);
    }
    return 0;
}

// A random number from first to last, uniform on a logarithmic scale.
static int64_t draw_between(int64_t first, int64_t last)
{
    if (first < 1 || last <= first)
        return first + (int64_t)entropy_below((uint64_t)(last > first ? last - first : 0) + 1);
    double low = log((double)first), high = log((double)last + 1);
    int64_t at = (int64_t)exp(low + entropy_unit() * (high - low));
    return at < first ? first : at > last ? last : at;
}

// The kinds of sizes at which kernels tend to fail.
enum { SIZE_SMALL, SIZE_POWER, SIZE_ABOVE_POWER, SIZE_BELOW_POWER, SIZE_WARPS, SIZE_TILES, SIZE_KINDS = 8 };
enum { SMALL = 511, WARPS = 64, TILES = 4096 };

// A random size of the given kind from the range, but at most `most`. The last two kinds allow any size.
static int64_t draw_size(const struct size_range *r, int64_t most, uint64_t kind)
{
    const int64_t unit = r->multiple, first = r->least / unit, last = most / unit;
    const int64_t small = SMALL / unit;
    int64_t at = draw_between(first, kind == SIZE_SMALL && small >= first && small < last ? small : last);
    if (kind == SIZE_WARPS && unit < WARPS) at = (at * unit + WARPS - 1) / WARPS * WARPS / unit;
    if (kind == SIZE_TILES && unit < TILES) at = (at * unit + TILES - 1) / TILES * TILES / unit;
    if (kind >= SIZE_POWER && kind <= SIZE_BELOW_POWER && at > 0) {
        int64_t power = 1;
        while (power <= at / 2) power *= 2;
        at = power + (kind == SIZE_ABOVE_POWER) - (kind == SIZE_BELOW_POWER);
    }
    return unit * (at < first ? first : at > last ? last : at);
}

// The cost of a problem: bytes, and operations if the job gives them. -1 if it cannot be computed.
struct cost {
    int64_t bytes;
    double flops;
};

static int cost_of(const struct job *job, size_t problem, struct cost *cost)
{
    struct error ignored;
    autofree int64_t *values = memory_new(symbols_count(job->symbols), sizeof *values);
    int64_t flops = 0;
    cost->bytes = job_problem_bytes(job, problem, &ignored);
    int failed = cost->bytes < 0 || job_problem_values(job, NULL, problem, values, &ignored);
    if (!failed && job->work.flops) failed = expr_eval(job->work.flops, values, &flops, &ignored);
    cost->flops = (double)flops;
    return failed ? -1 : 0;
}

static bool by_cpu(const struct job *job)
{
    const struct operation *op = job_operation(job);
    return op && (!op->reference || (job->others.reference.by && !strcmp(job->others.reference.by, "cpu")));
}

// The largest cost that a drawn problem may have.
static struct cost limit_of(const struct job *job)
{
    struct cost limit = {0, 0};
    for (size_t p = 0; p < job->problem_count; p++) {
        struct cost c;
        if (cost_of(job, p, &c)) continue;
        if (!limit.bytes || c.bytes < limit.bytes) limit = c;
    }
    double small = by_cpu(job) ? flops_small_on_cpu : flops_small;
    limit.bytes = limit.bytes > bytes_most ? 0 : limit.bytes + bytes_small;
    if (limit.flops < small) limit.flops = small;
    return limit;
}

static bool is_new(const struct job *job, const struct job *drawn, const int64_t *sizes)
{
    const struct job *lists[] = {job, drawn};
    for (int l = 0; l < 2; l++)
        for (size_t p = 0; p < lists[l]->problem_count; p++)
            if (!memcmp(lists[l]->problems[p].sizes, sizes, job->names.size_count * sizeof *sizes)) return false;
    return true;
}

// Adds one problem to `drawn`. False if no suitable sizes were found.
static bool draw_problem(struct job *job, struct job *drawn, const struct size_range *ranges, const struct cost *limit)
{
    struct problem *p = &drawn->problems[drawn->problem_count];
    *p = (struct problem){.weight = 1, .size_count = job->names.size_count};
    p->sizes = job_new(job, job->names.size_count, sizeof *p->sizes);
    for (int attempt = 0; attempt < ATTEMPTS; attempt++) {
        struct cost cost;
        struct error ignored;
        bool supported;
        for (size_t s = 0; s < job->names.size_count; s++) { // from smaller and smaller ranges
            int64_t spread = (ranges[s].most - ranges[s].least) >> attempt / ATTEMPTS_EACH;
            // At first, each size moves on to its next kind with every drawn problem.
            uint64_t kind = attempt < ATTEMPTS_EACH ? (drawn->problem_count + ranges[s].turn) % SIZE_KINDS
                                                    : entropy_below(SIZE_KINDS);
            p->sizes[s] = draw_size(&ranges[s], ranges[s].least + spread, kind);
        }
        if (!is_new(job, drawn, p->sizes)) continue;
        p->name = job_keep(job, problem_label(job, p->sizes));
        drawn->problem_count++;
        bool good = !is_supported(drawn, drawn->problem_count - 1, &supported, &ignored) && supported &&
                    !cost_of(drawn, drawn->problem_count - 1, &cost) && cost.bytes <= limit->bytes &&
                    cost.flops <= limit->flops;
        if (good) return true;
        drawn->problem_count--;
    }
    return false;
}

// Adds copies of the job's own small problems, to be filled with other values. Cycles through these problems until
// JOB_OWN_SIZES copies are added or no further copy fits into the memory allowed for them.
static void add_own(const struct job *job, struct job *drawn, const struct cost *limit)
{
    const size_t most = drawn->problem_count + JOB_OWN_SIZES;
    int64_t bytes = 0;
    bool found = true;
    while (found && drawn->problem_count < most) {
        found = false;
        for (size_t p = 0; p < job->problem_count && drawn->problem_count < most; p++) {
            struct cost cost;
            if (cost_of(job, p, &cost) || cost.bytes > limit->bytes || cost.flops > limit->flops) continue;
            if (bytes && bytes + cost.bytes > own_bytes) continue;
            drawn->problems[drawn->problem_count] = job->problems[p];
            drawn->problems[drawn->problem_count++].tune = false;
            bytes += cost.bytes;
            found = true;
        }
    }
}

// Whether buffers are filled from files. Such files hold the values of a single problem.
static bool has_files(const struct job *job)
{
    bool files = job->others.reference.kind == IMPLEMENTATION_FILES;
    for (size_t i = 0; i < job->buffer_count; i++) files |= job->buffers[i].fill.kind == FILL_NPY;
    return files;
}

struct job *job_draw_sizes(struct job *job)
{
    if (!job->verify.enabled || !job->names.size_count || has_files(job)) return NULL;
    bool slow =
        job->others.reference.kind == IMPLEMENTATION_COMMAND || job->others.reference.kind == IMPLEMENTATION_LIBRARY;
    autofree struct size_range *ranges = memory_new(job->names.size_count, sizeof *ranges);
    for (size_t p = 0; p < job->problem_count; p++)
        for (size_t s = 0; s < job->names.size_count; s++) size_range_add(&ranges[s], job->problems[p].sizes[s]);
    for (size_t s = 0; s < job->names.size_count; s++) ranges[s].turn = entropy_below(8);
    struct job *drawn = job_new(job, 1, sizeof *drawn);
    *drawn = *job;
    drawn->sizes.is_drawn = true;
    drawn->problems = job_new(job, JOB_DRAWN_SIZES + JOB_OWN_SIZES, sizeof *drawn->problems);
    drawn->problem_count = drawn->tuned_count = drawn->others.baseline_count = 0;
    struct cost limit = limit_of(job);
    size_t most = slow ? DRAWN_WITH_COMMAND : JOB_DRAWN_SIZES;
    while (drawn->problem_count < most && draw_problem(job, drawn, ranges, &limit)) {
    }
    if (job->sizes.domain) add_own(job, drawn, &limit);
    const uint64_t first = entropy_below(SIZE_KINDS);
    for (size_t p = 0; p < drawn->problem_count; p++) drawn->problems[p].variant = first + p;
    return drawn->problem_count ? drawn : NULL;
}
