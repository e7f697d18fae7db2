// sweetspot-gpu: owns one device's CUDA context, and verifies, times and counts candidates for the driver, as
// protocol.h specifies. Candidates are other people's kernels. If a kernel destroys the context, this process answers
// and exits. If a kernel never ends, the driver notices and kills this process.
//
//     sweetspot-gpu [--device N|GPU-uuid]
//     sweetspot-gpu --call TEXT            for itself: one call of a function in a user's library (library_call.h)
//
// Answers go to the file that was standard output at the start. Standard output itself becomes standard error, because
// otherwise the printf of a kernel or a reference library would end up between the answers.
#include <unistd.h>

#include "kernels/parallel.h"
#include "tuner/gpu/baselines.h"
#include "tuner/gpu/ceilings.h"
#include "tuner/gpu/gpu_counting.h"
#include "tuner/gpu/gpu_requests.h"
#include "tuner/gpu/library_call.h"
#include "tuner/gpu/plausibility.h"
#include "tuner/gpu/program_call.h"
#include "tuner/gpu/sizes.h"
#include "tuner/gpu/workload.h"

struct gpu_worker {
    int out; // the protocol's file descriptor
    const char *device;
    struct machine machine;
    struct gpu_counting *counting;
    struct workload workload;
    struct baselines baselines;
    struct gpu_final *final; // the next request may continue it; NULL: none
    bool has_job;
    struct arena job; // for the request that the workload and the baselines use
    const json_t *id; // of the request being answered
};

// Opens the device and NVML, unless they are open.
static int machine_open(struct machine *m, const char *device, struct error *err)
{
    if (m->cuda) return 0;
    if (cuda_open(&m->cuda, device, err)) return -1;
    m->nvml = nvml_open(cuda_info(m->cuda)->uuid);
    return 0;
}

static void machine_close(struct machine *m)
{
    blas_close(m->blas);
    nvml_close(m->nvml);
    cuda_close(m->cuda);
}

static json_t *device_json(const struct gpu_worker *w)
{
    const struct cuda_info *i = cuda_info(w->machine.cuda);
    json_t *d = json_pack("{s:s, s:s, s:s, s:i, s:i, s:i, s:i, s:i}", "name", i->name, "arch", i->arch, "uuid", i->uuid,
                          "ordinal", i->ordinal, "sm_count", i->sm_count, "max_shared", i->shared.most, "shared_per_sm",
                          i->shared.per_sm, "reserved_shared", i->shared.reserved);
    int clock = nvml_max_clock(w->machine.nvml);
    json_t *more =
        json_pack("{s:i, s:i, s:i, s:i, s:i, s:i, s:i, s:i, s:i, s:i, s:I, s:I, s:s, s:s}", "registers_per_sm",
                  i->registers_per_sm, "max_registers", 255, "max_threads", i->max_threads, "threads_per_sm",
                  i->threads_per_sm, "blocks_per_sm", i->blocks_per_sm, "warp_size", i->warp_size, "l2_bytes",
                  i->l2_bytes, "max_cluster", i->max_cluster, "clock_mhz", clock ? clock : i->clock_mhz,
                  "memory_bus_bits", i->memory_bus_bits, "memory_bytes", (json_int_t)i->memory_bytes, "memory_free",
                  (json_int_t)cuda_memory_left(), "driver", nvml_driver(w->machine.nvml), "cuda", i->cuda);
    json_object_update(d, more);
    json_decref(more);
    return d;
}

static json_t *libraries_json(void)
{
    char version[32];
    struct error missing = {""};
    return blas_probe(version, &missing) ? json_pack("{s:s}", "missing", missing.message)
                                         : json_pack("{s:s}", "cublas", version);
}

// Once CUPTI is loaded, it stays hooked into the driver and makes launches half a microsecond longer. So it is loaded
// before anything is timed or, with "counters": false, not at all.
static int hello(struct gpu_worker *w, const void *request, void *answer, struct arena *memory, struct error *err)
{
    bool count = json_get_bool(request, "counters", true);
    (void)memory;
    if (!w->counting && count && gpu_counting_open(&w->counting, &w->machine, NULL, 0, err)) return -1;
    json_object_set_new(answer, "status", json_string(status_name(STATUS_OK)));
    json_object_set_new(answer, "protocol", json_integer(PROTOCOL_VERSION));
    json_object_set_new(answer, "device_count", json_integer(cuda_info(w->machine.cuda)->device_count));
    json_object_set_new(answer, "device", device_json(w));
    json_object_set_new(answer, "libraries", libraries_json());
    json_object_set_new(answer, "nvml", json_boolean(w->machine.nvml != NULL));
    if (w->counting) json_object_set_new(answer, "counters", gpu_counting_describe(w->counting));
    return 0;
}

static int identify(struct gpu_worker *w, const void *request, void *answer, struct arena *memory, struct error *err)
{
    struct cuda_info info;
    (void)request, (void)memory;
    if (cuda_identify(w->device, &info, err)) return -1;
    struct nvml *nvml = nvml_open(info.uuid);
    json_object_set_new(answer, "status", json_string(status_name(STATUS_OK)));
    json_object_set_new(answer, "device", json_pack("{s:s, s:s}", "name", info.name, "driver", nvml_driver(nvml)));
    nvml_close(nvml);
    return 0;
}

static void forget_job(struct gpu_worker *w)
{
    baselines_release(&w->baselines);
    sizes_close(&w->workload);
    workload_release(&w->workload);
    arena_release(&w->job);
    w->has_job = false;
}

static int set_job(struct gpu_worker *w, const void *request, void *to, struct arena *memory, struct error *err)
{
    struct job_request job;
    struct job_answer *answer = to;
    if (w->has_job) forget_job(w);
    arena_release(&w->job); // from a job that was refused
    int failed = record_read(&job_request_record, request, &job, &w->job, err);
    if (!failed && job.counters &&
        !(w->counting && gpu_counting_is_for(w->counting, job.counters, job.counter_count))) {
        gpu_counting_close(w->counting);
        w->counting = NULL;
        failed = gpu_counting_open(&w->counting, &w->machine, job.counters, job.counter_count, err);
    }
    if (failed) return failed;
    w->has_job = true;
    failed = workload_open(&w->workload, &w->machine, &job, err);
    if (!failed) failed = sizes_open(&w->workload, job.sizes, err);
    if (!failed && w->workload.tuned_count) failed = ceilings_warm_up(&w->workload, err);
    if (!failed) failed = baselines_open(&w->baselines, &w->workload, &job, err);
    // Baselines leave their results in the outputs, but whatever uses the outputs next resets them first.
    if (!failed && !(answer->baselines = baselines_measure(&w->baselines, err))) failed = CUDA_CRASHED;
    if (failed) {
        if (w->baselines.culprit) answer->head.baseline = arena_copy(memory, w->baselines.culprit);
        if (failed != CUDA_CRASHED) forget_job(w);
        return failed;
    }
    answer->head.status = status_name(STATUS_OK);
    answer->baseline_count = w->baselines.count;
    answer->energy = isfinite(nvml_energy(w->machine.nvml));
    answer->least = plausibility_least(&w->workload, &answer->least_count, memory);
    if (w->counting) answer->metrics = gpu_counting_keys(w->counting, &answer->metric_count, memory);
    if (w->counting) answer->missing = gpu_counting_missing(w->counting, &answer->missing_count);
    return 0;
}

static void tell_of(struct gpu_worker *w, const char *what, double share, int64_t trial)
{
    const struct progress_message sign = {share, what, trial > 0 ? trial : 0};
    autojson json_t *line = record_write(&progress_record, &sign);
    json_object_set(line, "id", (json_t *)(uintptr_t)w->id);
    json_write_line(w->out, line, NULL);
}

static void tell_progress(void *user, double share, int64_t trial)
{
    tell_of(user, NULL, share, trial);
}

static void tell_reference(void *user, double share)
{
    tell_of(user, "the reference on the CPU", share, 0);
}

static int serve_trial(struct gpu_worker *w, const void *request, void *answer, struct arena *memory, struct error *err)
{
    return gpu_trial_run(&w->workload, request, answer, memory, tell_progress, w, err);
}

static int serve_count(struct gpu_worker *w, const void *request, void *answer, struct arena *memory, struct error *err)
{
    if (!w->counting && gpu_counting_open(&w->counting, &w->machine, NULL, 0, err)) return -1;
    return gpu_counting_run(w->counting, &w->workload, &w->baselines, request, answer, memory, err);
}

static int serve_final(struct gpu_worker *w, const void *request, void *answer, struct arena *memory, struct error *err)
{
    return gpu_final_run(&w->final, &w->workload, &w->baselines, request, answer, memory, tell_progress, w, err);
}

static int serve_profile(struct gpu_worker *w, const void *request, void *answer, struct arena *memory,
                         struct error *err)
{
    return gpu_profile_run(&w->workload, request, answer, memory, err);
}

static int serve_sanitize(struct gpu_worker *w, const void *request, void *answer, struct arena *memory,
                          struct error *err)
{
    return gpu_sanitize_run(&w->workload, request, answer, memory, err);
}

static int serve_metrics(struct gpu_worker *w, const void *request, void *answer, struct arena *memory,
                         struct error *err)
{
    (void)w, (void)memory;
    return gpu_counting_list(json_get_string(request, "chip", ""), answer, err);
}

static int serve_ceilings(struct gpu_worker *w, const void *request, void *answer, struct arena *memory,
                          struct error *err)
{
    (void)memory;
    return ceilings_measure(&w->workload, request, answer, err);
}

enum needs { NO_DEVICE, NO_JOB, A_JOB, A_JOB_AND_CANDIDATES };
static const struct {
    const char *op;
    const struct record *request, *answer; // NULL: JSON as it is
    int (*serve)(struct gpu_worker *, const void *request, void *answer, struct arena *, struct error *);
    enum needs needs;
} served[] = {
    {"hello", NULL, NULL, hello, NO_JOB},
    {"identify", NULL, NULL, identify, NO_DEVICE},
    {"metrics", NULL, NULL, serve_metrics, NO_DEVICE},
    {"job", NULL, &job_answer_record, set_job, NO_JOB},
    {"ceilings", NULL, NULL, serve_ceilings, A_JOB},
    {"trial", &trial_request_record, &trial_answer_record, serve_trial, A_JOB_AND_CANDIDATES},
    {"count", &count_request_record, &count_answer_record, serve_count, A_JOB_AND_CANDIDATES},
    {"final", NULL, &final_answer_record, serve_final, A_JOB_AND_CANDIDATES},
    {"profile", &profile_request_record, &profile_answer_record, serve_profile, A_JOB_AND_CANDIDATES},
    {"sanitize", &candidate_record, &answer_head_record, serve_sanitize, A_JOB_AND_CANDIDATES},
};

enum { SERVED = sizeof served / sizeof *served };

// SERVED: there is no such request.
static size_t find_op(const char *op)
{
    size_t i = 0;
    while (i < SERVED && strcmp(op, served[i].op) != 0) i++;
    return i;
}

// Answers one request. CUDA_CRASHED: the process must end.
static int serve(struct gpu_worker *w, const json_t *from, json_t *to, struct error *err)
{
    const char *op = json_get_string(from, "op", "");
    size_t i = find_op(op);
    if (i == SERVED) return error_set(err, "unknown request '%s'", op);
    if (served[i].needs > NO_JOB && !w->has_job) return error_set(err, "a \"job\" request must come first");
    // From now on, the driver knows which trial is to blame if the worker ends.
    if (served[i].needs == A_JOB_AND_CANDIDATES) tell_of(w, NULL, 0, 0);
    autorelease(arena_release) struct arena memory = {NULL};
    const struct record *asked = served[i].request, *answered = served[i].answer;
    void *request = asked ? arena_new(&memory, asked->size) : NULL,
         *answer = answered ? arena_new(&memory, answered->size) : to;
    if (answered) record_clear(answered, answer);
    int failed = strcmp(op, "final") ? gpu_final_end(&w->final, err) : 0;
    if (!failed && asked) failed = record_read(asked, from, request, &memory, err);
    if (failed) return failed;
    failed = served[i].serve(w, asked ? request : from, answer, &memory, err);
    if (answered) record_write_into(answered, answer, to);
    return failed;
}

// Reads, serves and answers one line. Returns the exit status if the process must end, otherwise -1.
static int handle(struct gpu_worker *w, const char *line)
{
    struct error err = {""};
    autojson json_t *request = json_parse(line, &err), *answer = json_object();
    int status = -1, failed = 0;
    w->id = json_object_get(request, "id");
    if (w->id) json_object_set(answer, "id", (json_t *)(uintptr_t)w->id);
    program_call_answers(w->out, w->id);
    size_t op = find_op(json_get_string(request, "op", ""));
    bool needs_device = op == SERVED || served[op].needs != NO_DEVICE;
    if (request && needs_device && machine_open(&w->machine, w->device, &err)) {
        json_object_set_new(answer, "status", json_string(PROTOCOL_ENVIRONMENT));
        status = EXIT_ENVIRONMENT;
    } else {
        failed = request ? serve(w, request, answer, &err) : -1;
        if (failed == CUDA_CRASHED) {
            status = EXIT_NOTHING;
            if (!json_object_get(answer, "status"))
                json_object_set_new(answer, "status", json_string(status_name(STATUS_CRASHED)));
        } else if (failed) {
            json_object_set_new(answer, "status", json_string(PROTOCOL_ERROR));
        }
    }
    if ((failed || status >= 0) && !json_object_get(answer, "reason"))
        json_object_set_new(answer, "reason", json_string(err.message));
    if (json_get_bool(answer, "restart", false)) status = EXIT_DONE;
    if (json_write_line(w->out, answer, &err)) status = EXIT_NOTHING; // the reader is gone
    w->id = NULL;
    return status;
}

static int print_version(void)
{
    char version[32];
    struct error err;
    bool failed = blas_probe(version, &err) != 0;
    printf("%-9s %s\n", "cuBLAS", failed ? err.message : version);
    return EXIT_DONE;
}

int main(int argc, char **argv)
{
    struct gpu_worker w = {0};
    for (int i = 1; i < argc; i++) {
        if (!strcmp(argv[i], "--device") && i + 1 < argc) {
            w.device = argv[++i];
        } else if (!strcmp(argv[i], "--call") && i + 1 < argc) {
            return library_call_serve(argv[i + 1]);
        } else if (!strcmp(argv[i], "--version")) {
            return print_version();
        } else {
            fprintf(stderr, "usage: sweetspot-gpu [--version] [--device N|GPU-uuid]   (requests on standard input, see "
                            "protocol.h)\n");
            return EXIT_USAGE;
        }
    }
    w.out = dup(STDOUT_FILENO);
    parallel_watch(tell_reference, &w);
    if (w.out < 0 || dup2(STDERR_FILENO, STDOUT_FILENO) < 0) return EXIT_ENVIRONMENT;
    autofree char *line = NULL;
    size_t room = 0;
    int status = -1;
    while (status < 0 && getline(&line, &room, stdin) > 0) {
        if (line[strspn(line, " \t\r\n")]) status = handle(&w, line);
    }
    // A lost context cannot be released properly; exiting is faster than waiting for the driver's errors.
    if (status >= 0) _exit(status);
    gpu_final_free(&w.final);
    if (w.has_job) forget_job(&w);
    gpu_counting_close(w.counting);
    machine_close(&w.machine);
    return EXIT_DONE;
}
