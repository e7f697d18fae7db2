// The GPU worker's answers when memory is short or when its reference writes where it must not. The device is a fake
// one, whose memory is host memory (tests/fuzz/fake_cuda.h). All data and all expected results are zeros.
#include <sys/mman.h>
#include <unistd.h>

#include "tests/fuzz/fake_cuda.h"
#include "tests/opened_buffers.h"
#include "tuner/base/protocol.h"
#include "tuner/base/text.h"
#include "tuner/gpu/gpu_requests.h"
#include "tuner/gpu/integrity.h"
#include "tuner/gpu/placement.h"
#include "tuner/gpu/sizes.h"
#include "tuner/gpu/workload.h"
#include "tuner/protocol/final_message.h"

#define STAGE                                                                                                        \
    "{\"symbol\":\"%s\",\"grid\":[1,1,1],\"block\":[32,1,1],\"cluster\":[1,1,1],\"shared\":0,\"cooperative\":false," \
    "\"overlap\":false,\"args\":[{\"buffer\":\"x\"},{\"buffer\":\"y\"}]}"
static const char job[] =
    "{\"op\":\"job\",\"support\":\"%s\",\"ceilings\":\"%s\",\"seed\":1,\"drawn\":%s,\"problems\":[{\"name\":\"N=16\","
    "\"tune\":true,\"buffers\":[{\"name\":\"x\",\"type\":\"f32\",\"cols\":16,\"fill\":{\"kind\":\"uniform\"}},"
    "{\"name\":\"y\",\"type\":\"f32\",\"cols\":16,\"direction\":\"out\",\"fill\":{\"kind\":\"uniform\"}}]}],"
    "\"reference\":{\"kind\":\"kernel\",\"cubin\":\"%s\",\"problems\":[{\"problem\":0,\"drawn\":%s,\"stages\":[" STAGE
    "]}]},\"verify\":{\"enabled\":true,\"guard_bytes\":64},\"measure\":{\"min_samples\":3,\"max_samples\":5,\"cache\":"
    "\"cold\",\"max_time\":0.01}}";

static char cubin[64];

static void set_up(void)
{
    size_t size;
    char *text = test_owned(text_read_file("tests/fuzz/corpus/cubin/variables", &size)),
         *image = strchr(text, '\n') + 1;
    int file = memfd_create("cubin", MFD_CLOEXEC);
    size -= (size_t)(image - text);
    assert_true(write(file, image, size) == (ssize_t)size);
    snprintf(cubin, sizeof cubin, "/proc/self/fd/%d", file);
}

static const struct job_request *request_of(const char *reference, bool drawn)
{
    struct error err = {""};
    const char *word = drawn ? "true" : "false";
    const char *text = test_text(job, cubin, cubin, word, cubin, word, reference);
    const struct job_request *request = read_request(&job_request_record, text, &err);
    if (!request) fail_msg("%s", err.message);
    return request;
}

static int launches;

// Replaces the worker's kernel for guards. Each kind of content is represented by one byte value.
static void run_guards(void **args)
{
    const struct region *regions = args[0];
    const struct copies *in = args[1];
    const struct guard_contents *held = args[2];
    struct verify_finding *findings = *(struct verify_finding **)args[3];
    for (unsigned r = 0; r < fake_geometry.grid[1]; r++)
        for (unsigned c = 0; c < fake_geometry.grid[2]; c++)
            for (uint64_t i = 0; i < regions[r].bytes; i++) {
                unsigned char *at = (unsigned char *)(uintptr_t)(regions[r].address + (uint64_t)in->shift[c] + i);
                if (!findings)
                    *at = held->kind[c];
                else
                    findings[regions[r].buffer].guard_bad += *at != held->kind[c];
            }
}

// Replaces the worker's kernel for checksums, with another hash.
static void run_checksums(void **args)
{
    const struct checked *list = args[0];
    const uint64_t old_key = *(uint64_t *)args[1], new_key = *(uint64_t *)args[2];
    uint64_t *sums = *(uint64_t **)args[3];
    for (unsigned k = 0; k < fake_geometry.grid[1]; k++)
        for (uint64_t i = 0; i < list->bytes[k]; i++) {
            const uint64_t byte = ((const unsigned char *)(uintptr_t)list->address[k])[i];
            sums[2 * k] += (byte ^ old_key) * (2 * i + 1);
            sums[2 * k + 1] += (byte ^ new_key) * (2 * i + 1);
        }
}

static void run_kernel(void **args)
{
    if (!strcmp(fake_launched, "support_checksums")) run_checksums(args);
    if (!strcmp(fake_launched, "support_guards")) run_guards(args);
    if (!strcmp(fake_launched, "careless")) (*(float **)args[1])[16] = 1;
    launches += !strcmp(fake_launched, "k");
}

static void open_workload(struct workload *w, struct machine *machine, bool drawn)
{
    struct error err = {""};
    fake_kernel = run_kernel;
    if (workload_open(w, machine, request_of("k", drawn), &err)) fail_msg("%s", err.message);
}

static void progress(void *user, double share, int64_t trial)
{
    (void)user, (void)share, (void)trial;
}

TEST(a_finalist_whose_proof_ends_early_does_not_win)
{
    struct machine machine = {.cuda = &fake_device};
    char *text = test_text(
        "{\"op\":\"final\",\"seed\":7,\"process\":0,\"rounds\":3,\"places\":1,\"candidates\":[{\"trial\":"
        "17,\"binary\":\"nvrtc\",\"config\":\"\",\"cubin\":\"%s\",\"problems\":[{\"problem\":0,\"stages\":[" STAGE
        "]}]}],\"baselines\":[]}",
        cubin, "k");
    for (int n = -1; n < 5; n++) { // two launches of a pass, then three timed ones
        struct workload w;
        struct baselines none = {.workload = &w};
        struct arena memory = {NULL};
        struct gpu_final *final = NULL;
        struct final_answer answer;
        struct error err = {""};
        open_workload(&w, &machine, false);
        json_t *json = test_json(json_parse(text, &err));
        record_clear(&final_answer_record, &answer);
        fake_memory_for.kernel = n < 0 ? NULL : "k";
        fake_memory_for.launches = n + 2; // the references of two sets are computed first
        launches = 0;
        int failed = gpu_final_run(&final, &w, &none, json, &answer, &memory, progress, NULL, &err);
        fake_memory_for.kernel = NULL;
        bool won = !failed && answer.entry_count == 1 && answer.entries[0].status == STATUS_OK;
        if (won != (n < 0)) fail_msg("memory for %d launches: %d %s", n, failed, err.message);
        if (n < 0) assert_true(launches > 64);
        assert_int_equal(gpu_final_end(&final, &err), 0);
        arena_release(&memory);
        workload_release(&w);
    }
}

static char *final_text(int process, int part, int rounds, double seconds, const char *candidates)
{
    return test_text("{\"op\":\"final\",\"seed\":7,\"process\":%d,\"part\":%d,\"rounds\":%d,\"seconds\":%g,"
                     "\"candidates\":[%s],\"baselines\":[]}",
                     process, part, rounds, seconds, candidates);
}

// Runs one part of a final, which may continue an earlier part. Returns 0 or the error.
static int run_part(struct gpu_final **final, struct workload *w, const char *text, struct final_answer *answer,
                    struct arena *memory, struct error *err)
{
    struct baselines none = {.workload = w};
    json_t *json = test_json(json_parse(text, err));
    if (!json) fail_msg("%s", err->message);
    record_clear(&final_answer_record, answer);
    arena_release(memory);
    return gpu_final_run(final, w, &none, json, answer, memory, progress, NULL, err);
}

TEST(the_rounds_of_a_final_come_in_parts_for_those_who_are_left)
{
    struct machine machine = {.cuda = &fake_device};
    struct workload w;
    struct gpu_final *final = NULL;
    struct arena memory = {NULL};
    struct final_answer answer;
    struct error err = {""};
    static const char candidate[] = "{\"trial\":%d,\"binary\":\"nvrtc\",\"config\":\"\",\"cubin\":\"%s\","
                                    "\"problems\":[{\"problem\":0,\"stages\":[" STAGE "]}]}";
    char *one = test_text(candidate, 17, cubin, "k"), *other = test_text(candidate, 18, cubin, "k"),
         *both = test_text("%s,%s", one, other);
    open_workload(&w, &machine, false);
    uint64_t seed = w.settings.seed;
    // No earlier part of this process was run, so part 1 is refused.
    assert_true(run_part(&final, &w, final_text(0, 1, 9, 0, both), &answer, &memory, &err) < 0);
    assert_non_null(strstr(err.message, "part 1 of process 0 of the final does not follow"));
    assert_int_equal(run_part(&final, &w, final_text(0, 0, 9, 0, both), &answer, &memory, &err), 0);
    assert_int_equal(answer.entry_count, 2);
    assert_true(answer.entries[0].problems[0].time_count == 9 && answer.entries[1].problems[0].time_count == 9);
    assert_true(w.settings.seed == 7);
    // One candidate has left. No module is loaded and nothing is verified again, so each round is one launch.
    launches = 0;
    assert_int_equal(run_part(&final, &w, final_text(0, 1, 6, 0, other), &answer, &memory, &err), 0);
    assert_int_equal(answer.entry_count, 1);
    assert_int_equal(answer.entries[0].trial, 18);
    assert_int_equal(answer.entries[0].problems[0].time_count, 6);
    assert_int_equal(answer.entries[0].launches_judged, launches);
    assert_true(launches >= 6);
    // The candidate that left does not come back, and the time has run out.
    assert_int_equal(run_part(&final, &w, final_text(0, 2, 99, 1e-6, both), &answer, &memory, &err), 0);
    assert_int_equal(answer.entry_count, 1);
    assert_int_equal(answer.entries[0].problems[0].time_count, FINAL_LEAST);
    assert_true(run_part(&final, &w, final_text(1, 3, 9, 0, other), &answer, &memory, &err) < 0);     // another process
    assert_int_equal(run_part(&final, &w, final_text(1, 0, 5, 0, other), &answer, &memory, &err), 0); // from scratch
    assert_int_equal(gpu_final_end(&final, &err), 0);
    assert_true(!final && w.settings.seed == seed);
    arena_release(&memory);
    workload_release(&w);
}

TEST(guards_that_could_not_be_written_blame_no_candidate)
{
    struct machine machine = {.cuda = &fake_device};
    char *text = test_text(
        "{\"op\":\"trial\",\"config\":\"\",\"cubin\":\"%s\",\"problems\":[{\"problem\":0,\"stages\":[" STAGE "]}]}",
        cubin, "k");
    bool short_of = true;
    for (int n = 0; short_of; n++) {
        struct workload w;
        struct arena memory = {NULL};
        struct trial_request request;
        struct trial_answer answer;
        struct error err = {""};
        open_workload(&w, &machine, false);
        json_t *json = test_json(json_parse(text, &err));
        if (record_read(&trial_request_record, json, &request, &memory, &err)) fail_msg("%s", err.message);
        record_clear(&trial_answer_record, &answer);
        fake_memory_for.kernel = "support_guards";
        fake_memory_for.launches = n;
        if (gpu_trial_run(&w, &request, &answer, &memory, progress, NULL, &err)) fail_msg("%s", err.message);
        short_of = fake_memory_for.launches < 0;
        fake_memory_for.kernel = NULL;
        if (!strcmp(answer.head.status, status_name(STATUS_OUT_OF_BOUNDS)))
            fail_msg("memory for %d guards: %s", n, answer.head.reason);
        arena_release(&memory);
        workload_release(&w);
    }
}

// When a module cannot be loaded, the verdict depends on how much memory other processes left.
TEST(a_candidate_is_not_blamed_where_others_have_the_memory)
{
    struct machine machine = {.cuda = &fake_device};
    char *candidate = test_text("\"cubin\":\"%s\",\"problems\":[{\"problem\":0,\"stages\":[" STAGE "]}]}", cubin, "k"),
         *trial = test_text("{\"op\":\"trial\",\"config\":\"\",%s", candidate),
         *final = test_text("{\"op\":\"final\",\"seed\":7,\"process\":0,\"rounds\":3,\"places\":1,\"candidates\":[{"
                            "\"trial\":17,\"binary\":\"nvrtc\",\"config\":\"\",%s],\"baselines\":[]}",
                            candidate);
    static const struct {
        int failure;
        size_t left;
        bool blamed;
    } loads[] = {
        {CUDA_MEMORY, FAKE_MEMORY / 2, true}, {CUDA_MEMORY, FAKE_MEMORY / 100, false}, {CUDA_FAILED, 0, false}};
    for (size_t i = 0; i < 2 * sizeof loads / sizeof *loads; i++) {
        const bool in_final = i % 2;
        struct workload w;
        struct baselines none = {.workload = &w};
        struct arena memory = {NULL};
        struct gpu_final *begun = NULL;
        struct trial_request request;
        struct trial_answer tried;
        struct final_answer raced;
        struct error err = {""};
        open_workload(&w, &machine, false);
        json_t *json = test_json(json_parse(in_final ? final : trial, &err));
        if (!in_final && record_read(&trial_request_record, json, &request, &memory, &err)) fail_msg("%s", err.message);
        record_clear(&trial_answer_record, &tried);
        record_clear(&final_answer_record, &raced);
        fake_load_fails = loads[i / 2].failure;
        fake_loads = in_final ? SETS_MAX : 0; // the reference, on all sets of data
        fake_memory_left = loads[i / 2].left;
        int failed = in_final ? gpu_final_run(&begun, &w, &none, json, &raced, &memory, progress, NULL, &err)
                              : gpu_trial_run(&w, &request, &tried, &memory, progress, NULL, &err);
        fake_load_fails = 0;
        fake_memory_left = FAKE_MEMORY;
        if (!failed != loads[i / 2].blamed) fail_msg("case %zu: %d %s", i, failed, err.message);
        if (!failed && in_final) assert_int_equal(raced.entries[0].status, STATUS_LAUNCH_ERROR);
        if (!failed && !in_final) assert_string_equal(tried.head.status, status_name(STATUS_LAUNCH_ERROR));
        if (failed) assert_string_equal(err.message, "no memory for a module");
        assert_int_equal(gpu_final_end(&begun, &err), 0);
        arena_release(&memory);
        workload_release(&w);
    }
}

static const struct {
    const char *reference;
    size_t left;
    bool verified;
} cases[] = {{"k", FAKE_MEMORY, true}, {"careless", FAKE_MEMORY, false}, {"k", FAKE_MEMORY / 100, false}};

TEST(drawn_sizes_are_left_out_where_their_reference_or_memory_does_not_allow_them)
{
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct machine machine = {.cuda = &fake_device};
        struct workload w = {.machine = &machine, .cuda = &fake_device};
        struct error err = {""};
        fake_kernel = run_kernel;
        fake_memory_left = cases[i].left;
        if (sizes_open(&w, request_of(cases[i].reference, true), &err)) fail_msg("%s", err.message);
        if ((w.sizes != NULL) != cases[i].verified) fail_msg("case %zu", i);
        sizes_close(&w);
        fake_memory_left = FAKE_MEMORY;
    }
}

TEST(damage_that_cannot_be_repaired_ends_the_worker)
{
    struct machine machine = {.cuda = &fake_device};
    struct workload w;
    enum trial_status status;
    struct error reason, err = {""};
    open_workload(&w, &machine, false);
    assert_int_equal(workload_mend(&w, &status, &reason, &err), 0);
    assert_int_equal(status, STATUS_OK);
    for (int n = 0; n < 2; n++) {
        const struct operand *y = &w.problems[0].buffers.list[1].view;
        ((float *)(uintptr_t)y->device)[16] = 1;
        fake_memory_for.kernel = n ? "k" : NULL;
        fake_memory_for.launches = 0;
        assert_int_equal(workload_mend(&w, &status, &reason, &err), n ? CUDA_CRASHED : 0);
        assert_int_equal(status, STATUS_OUT_OF_BOUNDS);
    }
    fake_memory_for.kernel = NULL;
    workload_release(&w);
}

TEST(memory_that_is_not_the_kernel_s_is_checked_in_every_copy)
{
    struct machine machine = {.cuda = &fake_device};
    struct workload w;
    struct error err = {""};
    open_workload(&w, &machine, false);
    struct device_problem *p = &w.problems[0];
    assert_int_equal(p->buffers.sets, 2);
    if (buffers_clone(&p->buffers, 4, &err) || placement_fill(w.placement, &w, 0, 1, &err)) fail_msg("%s", err.message);
    if (buffers_write_guards(&w.placement->placed[0], 0, CONTENT_NAN, &err)) fail_msg("%s", err.message);
    const uint64_t x = p->buffers.list[0].view.device;
    struct {
        uint64_t address;
        const char *said; // NULL: no byte is changed
    } changes[] = {
        {0, NULL},
        {x, "changed the input x"},
        {x + (uint64_t)p->buffers.shift[1] + 60, "changed the input x"},
        {x + (uint64_t)p->buffers.shift[3] + 60, "changed the input x"},
        {w.placement->placed[0].list[0].view.device, "changed the input x"},
        {p->set[0].bound[1].expected, "the expected values of y"},
        {p->set[1].bound[1].expected + 8, "the expected values of y"},
        {p->set[SET_MIXED].bound[1].expected, "the expected values of y"},
        {0, NULL},
    };
    for (size_t i = 0; i < sizeof changes / sizeof *changes; i++) {
        enum trial_status status;
        struct error reason = {""};
        for (int n = 0; n < 2; n++) // the second time under a new key
            if (integrity_check(&w, &status, &reason, &err) || status != STATUS_OK)
                fail_msg("case %zu: %s%s", i, err.message, reason.message);
        unsigned char *at = (unsigned char *)(uintptr_t)changes[i].address;
        if (at) *at ^= 1;
        if (integrity_check(&w, &status, &reason, &err)) fail_msg("%s", err.message);
        if (at) *at ^= 1;
        if ((status != STATUS_OK) != (changes[i].said != NULL)) fail_msg("case %zu: %s", i, reason.message);
        if (changes[i].said && !strstr(reason.message, changes[i].said)) fail_msg("case %zu: %s", i, reason.message);
    }
    workload_release(&w);
}

TEST_MAIN(set_up, NULL)
