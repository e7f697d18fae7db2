// See workload.h.
#include "tuner/gpu/workload.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <unistd.h>

#include "tuner/base/clock.h"
#include "tuner/base/entropy.h"
#include "tuner/gpu/ceilings.h"
#include "tuner/gpu/integrity.h"
#include "tuner/gpu/mixed_data.h"
#include "tuner/gpu/placement.h"
#include "tuner/gpu/reference.h"
#include "tuner/gpu/reference_library.h"

static int read_settings(struct workload *w, const struct job_request *job, struct error *err)
{
    w->settings.objective = job->objective;
    w->settings.seed = (uint64_t)job->seed;
    w->drawn = job->drawn;
    w->reference = *job->reference;
    if (isnan(w->reference.timeout)) w->reference.timeout = 600; // the default of the job file
    return settings_read(verify_table, job->verify, &w->settings.verify, err) ||
                   settings_read(measure_table, job->measure, &w->settings.measure, err)
               ? -1
               : 0;
}

// Checks before allocating whether everything fits. A buffer that is too large is a mistake in the job file, and needs
// a clear message.
static int check_memory(const struct workload *w, const struct job_request *job, struct error *err)
{
    size_t total = 0;
    const struct cuda_info *info = cuda_info(w->cuda);
    for (size_t i = 0; i < job->problem_count; i++) {
        const struct problem_request *p = &job->problems[i];
        size_t bytes = buffers_bytes(p->buffers, p->buffer_count, (size_t)w->settings.verify.guard_bytes, err);
        if (!bytes) return error_prefix(err, "problem %s", p->name);
        total += bytes;
        if (bytes > info->memory_bytes || total > info->memory_bytes)
            return error_set(
                err, "the buffers of problem %s need %.1f GiB (%.1f GiB with those before it), the device has %.1f",
                p->name, (double)bytes / 0x1p30, (double)total / 0x1p30, (double)info->memory_bytes / 0x1p30);
    }
    return 0;
}

// Notes which buffers have no guards, once per job.
static void note_unguarded(const struct device_problem *p)
{
    for (size_t i = 0; i < p->buffers.count; i++) {
        const struct device_buffer *b = &p->buffers.list[i];
        if (b->direction != DIRECTION_IN && (b->seen.symbol || b->seen.image.array))
            fprintf(stderr, "%s is %s, which has no guards: writes outside of it are not detected\n", b->name,
                    b->seen.symbol ? "a variable of the module" : "in an array");
    }
}

static void release_problem(struct device_problem *p)
{
    reference_library_release(p);
    buffers_release(&p->buffers);
    for (int set = 0; set < SETS_MAX; set++) cuda_free(p->set[set].results);
}

static int open_problem(struct workload *w, struct device_problem *p, const struct problem_request *from,
                        struct error *err)
{
    p->workload = w;
    p->name = from->name;
    p->tune = from->tune;
    p->weight = isnan(from->weight) ? 1 : from->weight;
    p->request = from;
    int failed = buffers_open(&p->buffers, w->cuda, w->support, from->buffers, from->buffer_count,
                              (size_t)w->settings.verify.guard_bytes, err);
    if (!failed && w->operation) failed = reference_bind(w, p, err);
    p->filled = &p->set[0];
    if (!failed) failed = reference_prepare(w, p, err);
    return failed;
}

// Makes room for a second set of data and its expected values. If memory is insufficient, only one set is used, and a
// note is printed on stderr.
static void open_second(struct workload *w, struct device_problem *p)
{
    struct error err;
    p->filled = &p->set[1];
    if (!buffers_second(&p->buffers, &err) && !reference_prepare(w, p, &err)) return;
    buffers_single(&p->buffers);
    fprintf(stderr, "problem %s: verified on one set of data only: %s\n", p->name, err.message);
}

// Without the placement, launches at drawn addresses are left out, with a note on stderr. `bytes`: size of all sets of
// data, expected values and kept outputs.
static void open_placement(struct workload *w, size_t bytes)
{
    struct error err;
    int failed = 0;
    if (!w->settings.verify.enabled) return;
    if (bytes > (size_t)cuda_info(w->cuda)->memory_bytes / 5 * 2) // libraries need room, too
        failed = error_set(&err, "data and expected values take more than 40%% of the device's memory");
    if (failed || placement_open(&w->placement, w, &err))
        fprintf(stderr, "not verified at drawn addresses, nor with other data at the same address: %s\n", err.message);
}

static int open_support(struct workload *w, const struct job_request *job, struct error *err)
{
    autofree char *image = text_read_file(job->support, NULL);
    if (!image) return error_set(err, "cannot read the support kernels '%s': %s", job->support, strerror(errno));
    int failed = support_open(&w->support, w->cuda, image, err);
    w->device.context.support = w->support;
    return failed ? failed : ceilings_open(&w->ceilings, w->cuda, job->ceilings, err);
}

// Opens all problems. Drawn sizes that the reference cannot compute are left out.
static int open_problems(struct workload *w, const struct job_request *job, size_t *bytes, struct error *err)
{
    for (size_t i = 0; i < job->problem_count; i++) {
        struct device_problem *p = &w->problems[w->problem_count++];
        p->number = (int)i;
        int failed = open_problem(w, p, &job->problems[i], err);
        if (failed && !(w->drawn && failed != CUDA_CRASHED)) return error_prefix(err, "problem %s", p->name), failed;
        if (failed) {
            fprintf(stderr, "not verified on the size %s: %s\n", p->name, err->message);
            release_problem(p);
            memset(p, 0, sizeof *p);
            w->problem_count--;
            continue;
        }
        if (w->problem_count == 1 && !w->drawn) note_unguarded(p);
        *bytes += 2 * p->buffers.arena_bytes;
        w->tuned_count += p->tune;
    }
    return 0;
}

int workload_open(struct workload *w, struct machine *machine, const struct job_request *job, struct error *err)
{
    const char *nearest;
    size_t bytes = 0; // of one set of data; its expected values need about as much
    int failed;
    memset(w, 0, sizeof *w);
    w->mask_key = entropy_draw();
    w->checksums.key = entropy_draw();
    w->machine = machine;
    w->cuda = machine->cuda;
    w->device.context.machine = machine;
    device_operations_init(&w->device.operations, &w->device.context);
    if (read_settings(w, job, err)) return -1;
    const size_t count = job->problem_count;
    if (count < 1 || count > WORKLOAD_PROBLEMS_MAX)
        return error_set(err, "%zu problems; 1 to %d are possible", count, WORKLOAD_PROBLEMS_MAX);
    if (w->reference.kind == IMPLEMENTATION_OPERATION) {
        const char *name = w->reference.candidate.name;
        w->operation = operation_find(name, &nearest);
        if (!w->operation)
            return error_set(err, "no operation '%s'%s%s", name, nearest ? "; did you mean " : "",
                             nearest ? nearest : "");
    }
    w->problems = memory_try(count, sizeof *w->problems, err);
    if (!w->problems) return -1;
    void *findings = NULL, *samples = NULL;
    if ((failed = check_memory(w, job, err)) || (failed = open_support(w, job, err)) ||
        (failed = measure_open(&w->measure, w->cuda, w->support, machine->nvml, &w->settings.measure, err)) ||
        (failed = cuda_host_alloc(2 * count * sizeof *w->judged.findings, &findings, err)))
        return failed;
    w->judged.findings = findings;
    if ((failed = cuda_host_alloc(MEASURE_BATCH * sizeof *w->judged.samples, &samples, err))) return failed;
    w->judged.samples = samples;
    if (reference_library_judges(w) &&
        (!(w->judged.verdicts = memory_try(2 * count, sizeof *w->judged.verdicts, err)) ||
         !(w->judged.sample_verdicts = memory_try(MEASURE_BATCH, sizeof *w->judged.verdicts, err))))
        return -1;
    w->events.list = memory_try(2 * count + 1, sizeof *w->events.list, err);
    if (!w->events.list) return -1;
    w->events.count = 2 * count + 1;
    for (size_t i = 0; i < w->events.count; i++)
        if ((failed = cuda_event_create(&w->events.list[i], err))) return failed;
    if ((failed = open_problems(w, job, &bytes, err))) return failed;
    // Twice the allocated memory must fit, plus a third of that for copies and libraries.
    for (size_t k = 0; k < w->problem_count && !reference_is_fixed(w) &&
                       8 * bytes < 3 * (size_t)cuda_info(machine->cuda)->memory_bytes;
         k++)
        open_second(w, &w->problems[k]);
    open_placement(w, 2 * bytes);
    return workload_fill(w, w->settings.seed, err);
}

void workload_release(struct workload *w)
{
    for (size_t i = 0; i < w->events.count; i++) cuda_event_destroy(w->events.list[i]);
    free(w->events.list);
    free(w->judged.verdicts);
    free(w->judged.sample_verdicts);
    for (size_t i = 0; i < w->problem_count; i++) release_problem(&w->problems[i]);
    placement_close(w->placement);
    free(w->problems);
    device_operations_free_scratch(&w->device.context);
    cuda_host_free(w->judged.findings);
    cuda_host_free(w->judged.samples);
    cuda_host_free(w->checksums.host);
    cuda_free(w->checksums.sums);
    measure_close(w->measure);
    ceilings_close(w->ceilings);
    support_close(w->support);
    memset(w, 0, sizeof *w);
}

// The references of mixed sets are computed if the reference of the second set took less than this (s).
static const double mixed_below = 0.05;

// A seed that kernels do not know. If the reference is slow, the seed is kept in this machine's folder of computed
// values.
static uint64_t other_seed(const struct workload *w)
{
    const char *folder = w->reference.cache;
    uint64_t seed = entropy_draw();
    if (!*folder || !reference_is_slow(w)) return seed;
    char path[PATH_MAX];
    if (snprintf(path, sizeof path, "%s/other-data", folder) >= (int)sizeof path) return seed;
    int file = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    uint64_t kept;
    if (file >= 0 && read(file, &kept, sizeof kept) == sizeof kept)
        seed = kept;
    else if (file >= 0 && write(file, &seed, sizeof seed) != sizeof seed)
        unlink(path); // the disk is full: another number next time
    if (file >= 0) close(file);
    return seed;
}

static int compute_set(struct workload *w, size_t i, unsigned set, double *seconds, struct error *err)
{
    struct device_problem *p = &w->problems[i];
    int failed = set >= SET_MIXED ? mixed_data_fill(w, p, set, p->filled->seed, err)
                                  : buffers_fill(&p->buffers, set, p->filled->seed, err);
    if (!failed && set < SET_MIXED) failed = reference_library_generate(w, p, set, err);
    if (!failed) failed = integrity_take_inputs(w, i, err);
    double begin = clock_now();
    if (!failed) failed = reference_compute(w, i, err);
    *seconds = clock_now() - begin;
    return failed;
}

// Reduces the values of the second set that differ from those of the job's fills: scales them down or, in the last
// step, leaves them out.
static void reduce_other(struct device_problem *p, bool last)
{
    for (size_t i = 0; i < p->buffers.count; i++) {
        struct device_buffer *b = &p->buffers.list[i];
        if (!b->other.given) continue;
        b->other.low /= 16;
        b->other.high /= 16;
        b->other.given = !last;
    }
    fprintf(stderr, "problem %s: with other input values, results exceed the range of their type: %s\n", p->name,
            last ? "only the values of the job's fills are verified" : "these values, divided by 16, are tried next");
}

// Fills one set of problem i's data and computes its expected values. `seconds`: how long the reference took.
static int fill_set(struct workload *w, size_t i, unsigned set, uint64_t seed, double *seconds, struct error *err)
{
    enum { SMALLER = 3 };
    struct device_problem *p = &w->problems[i];
    p->filled = &p->set[set];
    p->filled->stored = false;
    p->filled->seed = seed * 0x9e3779b97f4a7c15u + i;
    int failed = compute_set(w, i, set, seconds, err);
    for (int n = 0; !failed && set == 1 && p->filled->too_large; n++) {
        reduce_other(p, n == SMALLER);
        failed = compute_set(w, i, set, seconds, err);
    }
    // A reference kernel may access memory outside its buffers at sizes that its author did not try.
    if (!failed && w->drawn) failed = integrity_check_reference(w, i, err);
    if (!failed) failed = reference_library_keep(w, p, err);
    if (!failed) failed = integrity_take_expected(w, i, err);
    return failed || set >= SET_MIXED ? failed : buffers_keep(&p->buffers, set, err);
}

// Fills the mixed sets. Each of their references takes as long as that of set 1, which took `seconds`.
static int fill_mixed(struct workload *w, size_t i, uint64_t seed, double seconds, struct error *err)
{
    struct device_problem *p = &w->problems[i];
    struct error dropped;
    bool possible = w->placement && seconds < mixed_below &&
                    (w->reference.kind == IMPLEMENTATION_OPERATION || w->reference.kind == IMPLEMENTATION_KERNEL);
    p->mixed.known = 0;
    if (!possible || !mixed_data_draw(p)) return 0;
    for (unsigned set = SET_MIXED; set < SETS_MAX; set++) {
        p->filled = &p->set[set];
        if (!p->filled->results && reference_prepare(w, p, &dropped)) break; // there is no room
        int failed = fill_set(w, i, set, seed, &seconds, err);
        if (failed) return failed;
        if (p->filled->too_large) break;
        p->mixed.known++;
    }
    return 0;
}

int workload_fill(struct workload *w, uint64_t seed, struct error *err)
{
    uint64_t other = other_seed(w);
    w->settings.seed = seed;
    if (w->placement) placement_draw(w->placement, w, 0); // its new addresses hold no data yet
    for (size_t i = 0; i < w->problem_count; i++) {
        struct device_problem *p = &w->problems[i];
        double seconds = 0;
        int failed = p->buffers.sets == 2 ? fill_set(w, i, 1, other, &seconds, err) : 0;
        if (!failed && p->buffers.sets == 2) failed = fill_mixed(w, i, seed, seconds, err);
        if (!failed) failed = fill_set(w, i, 0, seed, &seconds, err); // last, because it stays where it is
        if (failed) {
            p->buffers.set[0] = 0; // passes do not use mixed sets
            error_prefix(err, "problem %s", p->name);
            return failed;
        }
    }
    return cuda_sync(w->cuda, err);
}

int workload_mend(struct workload *w, enum trial_status *status, struct error *reason, struct error *err)
{
    int failed = integrity_check(w, status, reason, err);
    if (failed || *status == STATUS_OK || !(failed = workload_fill(w, w->settings.seed, err))) return failed;
    // Nothing can be verified on the data that is there now, but another process can fill its own memory.
    return error_prefix(err, "%s; filling memory again fails", reason->message), CUDA_CRASHED;
}

int workload_sound(struct workload *w, struct error *err)
{
    enum trial_status status;
    struct error reason;
    int failed = workload_mend(w, &status, &reason, err);
    if (!failed && status != STATUS_OK) fprintf(stderr, "a candidate has damaged memory: %s\n", reason.message);
    return failed;
}
