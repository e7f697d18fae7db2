// Random sizes for a job: small sizes from the range that the header accepts, in the form in which workers receive
// them.
#include "tests/e2e.h"
#include "tests/loaded_job.h"

#include <math.h>

#include "kernels/operation.h"
#include "tuner/base/memory.h"
#include "tuner/job/job.h"
#include "tuner/setup/request.h"

static struct error err; // from the last call that failed

// A job with these problems and these verification settings.
static struct job *job_with(const char *problems, const char *verification, char **mistake)
{
    char *folder = e2e_folder("sizes"), *path = test_text("%s/job.cfg", folder);
    char *text = test_text(
        "name = \"t\"; kernel = { template = \"x.cu\"; entry = \"x\"; };\n"
        "parameters = ( { name = \"BLOCK\"; values = [64, 128]; } );\nproblems = ( %s );\n"
        "launch = { grid = [ \"ceil_div(N, BLOCK)\" ]; block = [ \"BLOCK\" ]; };\narguments = (\n"
        "  { buffer = \"x\"; type = \"f32\"; shape = [\"M\", \"N\"]; },\n"
        "  { buffer = \"y\"; type = \"f32\"; shape = [\"M\", \"N\"]; direction = \"out\"; } );\n"
        "reference = { kernel = \"x\"; launch = { grid = [ 1 ]; block = [ 64 ]; }; };\nverification = { %s };\n",
        problems, verification);
    struct mistakes mistakes = {0};
    struct job *job = NULL;
    e2e_write(folder, "x.cu", "extern \"C\" __global__ void x() {}\n");
    e2e_write(folder, "job.cfg", text);
    if (job_load(path, &job, &mistakes)) {
        *mistake = text_copy(mistakes.list[0].text);
    } else if (job_build_space(job, &device_limits_h200, &err)) {
        *mistake = text_copy(err.message);
        job_free(job);
        job = NULL;
    }
    mistakes_release(&mistakes);
    return job;
}

static struct job *sound_job(const char *problems, const char *verification)
{
    char *mistake;
    struct job *job = job_with(problems, verification, &mistake);
    if (!job) fail_msg("%s: %s", problems, mistake);
    return test_job(job);
}

static const char problems[] = "{ M = 8; N = 65536; }, { M = 24; N = 1048576; }";

TEST(drawn_sizes_are_new_ones_of_the_range_that_the_header_accepts)
{
    struct job *job = sound_job(problems, "problems = ( { M = 400; N = 512; } );");
    struct job *drawn = job_draw_sizes(job);
    assert_non_null(drawn);
    assert_int_equal(drawn->problem_count, JOB_DRAWN_SIZES);
    assert_int_equal(drawn->tuned_count, 0);
    assert_int_equal(drawn->others.baseline_count, 0);
    assert_int_equal(job->problem_count, 3);
    for (size_t p = 0; p < drawn->problem_count; p++) {
        const int64_t m = drawn->problems[p].sizes[0], n = drawn->problems[p].sizes[1];
        if (m % 8 || m < 8 || m > 400 || n % 512 || n < 512 || n > 1048576)
            fail_msg("%s is outside of the range", drawn->problems[p].name);
        if (job_problem_bytes(drawn, p, &err) > 18 << 20) fail_msg("%s is not small", drawn->problems[p].name);
        for (size_t q = 0; q < job->problem_count; q++)
            assert_string_not_equal(drawn->problems[p].name, job->problems[q].name);
        for (size_t q = 0; q < p; q++) assert_string_not_equal(drawn->problems[p].name, drawn->problems[q].name);
    }
}

TEST(powers_of_two_their_neighbours_and_others_are_drawn)
{
    int powers = 0, above = 0, below = 0, others = 0, least = 0;
    for (int run = 0; run < 60; run++) {
        struct job *job = sound_job("{ M = 1; N = 3; }, { M = 1; N = 1048573; }", "");
        struct job *drawn = job_draw_sizes(job);
        for (size_t p = 0; p < drawn->problem_count; p++) {
            int64_t n = drawn->problems[p].sizes[1];
            assert_int_equal(drawn->problems[p].sizes[0], 1);
            if (n < 64)
                least += n <= 4;
            else if (!(n & (n - 1)))
                powers++;
            else if (!((n + 1) & n))
                below++;
            else if (!((n - 1) & (n - 2)))
                above++;
            else
                others++;
        }
    }
    if (powers < 20 || above < 20 || below < 20 || others < 60 || least < 1)
        fail_msg("%d powers, %d above, %d below, %d others, %d of the least", powers, above, below, others, least);
}

TEST(conditions_limit_what_is_drawn)
{
    struct job *job = sound_job(problems, "supported = ( \"N % 4096 == 0\", \"M < N\" );");
    struct job *drawn = job_draw_sizes(job);
    assert_non_null(drawn);
    for (size_t p = 0; p < drawn->problem_count; p++) assert_int_equal(drawn->problems[p].sizes[1] % 4096, 0);
}

TEST(nothing_is_drawn_where_no_other_size_is_accepted_or_could_be_verified)
{
    static const struct {
        const char *problems, *verification;
    } cases[] = {
        {"{ M = 8; N = 65536; }", ""},  // one size
        {problems, "enabled = false;"}, // nothing is verified
        {problems, "supported = ( \"N == 65536 || M == 24\", \"M == 8 || N > 65536\", \"N % 65536 == 0\", "
                   "\"N == 65536 || N == 1048576\", \"M != 16\" );"},
        {"{ M = 1048576; N = 65536; }, { M = 2097152; N = 65536; }", ""}, // 512 GiB
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct job *job = sound_job(cases[i].problems, cases[i].verification);
        if (job_draw_sizes(job)) fail_msg("case %zu", i);
    }
}

TEST(conditions_that_are_no_property_of_a_problem_are_refused)
{
    static const struct {
        const char *verification, *mistake;
    } cases[] = {
        {"supported = ( \"N % BLOCK == 0\" );", "'supported' depends on 'BLOCK', which differs between configurations"},
        {"supported = ( \"N < 1024\" );", "problem M=8,N=65536 is not one that 'verification.supported' allows"},
        {"supported = ( \"N / (M - 8) > 0\" );", "division by zero"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char *mistake = NULL;
        assert_null(job_with(problems, cases[i].verification, &mistake));
        assert_contains(mistake, cases[i].mistake);
        free(mistake);
    }
}

TEST(launches_on_drawn_sizes_are_marked_and_computed_from_them)
{
    struct job *job = sound_job(problems, "");
    struct job *drawn = job_draw_sizes(job);
    struct planned_launch *launches;
    size_t count;
    assert_non_null(drawn);
    json_t *one = request_problem(drawn, (uint16_t[]){1}, NULL, 2, &launches, &count, &err);
    if (!one) fail_msg("%s", err.message);
    assert_true(json_is_true(json_object_get(one, "drawn")));
    assert_int_equal(json_integer_value(json_object_get(one, "problem")), 2);
    assert_int_equal(count, 1);
    assert_int_equal(launches[0].shape.grid[0], (drawn->problems[2].sizes[1] + 127) / 128);
    json_decref(one);
    free(launches);
    one = request_problem(job, (uint16_t[]){1}, NULL, 0, &launches, &count, &err);
    assert_null(json_object_get(one, "drawn"));
    json_decref(one);
    free(launches);
    json_t *request = test_json(request_job(drawn, 0, NULL, 1, &err));
    if (!request) fail_msg("%s", err.message);
    const json_t *reference = json_array_get(json_object_get(json_object_get(request, "reference"), "problems"), 0);
    assert_true(json_is_true(json_object_get(reference, "drawn")));
}

// Whether this fill of the second set of data belongs to the named domain (value_domain_text).
static bool is_of(const char *word, const json_t *other)
{
    const char *kind = json_get_string(other, "kind", "");
    double low = json_get_number(other, "low", NAN), high = json_get_number(other, "high", NAN),
           value = json_get_number(other, "value", NAN);
    if (!strcmp(word, "zero")) return !strcmp(kind, "zeros") || (!strcmp(kind, "constant") && value == 0);
    if (!strcmp(word, "subnormal")) return low == -0x1p-126 && high == 0x1p-126;
    if (!strcmp(word, "negative")) return low == -1 && high < 0;
    if (!strcmp(word, "shifted")) return high - low == 2 && fabs(low + high) == 200;
    if (!strcmp(word, "scaled")) return low == -high && fabs(log2(high)) >= 7 && fabs(log2(high)) <= 10;
    return false;
}

// Returns the fill of buffer `number` in the second set of data of a job's first problem. New reference, or NULL.
static json_t *other_fill(const struct job *job, size_t number)
{
    json_t *request = test_json(request_job(job, 0, NULL, 1, &err));
    if (!request) fail_msg("%s", err.message);
    const json_t *buffers = json_object_get(json_array_get(json_object_get(request, "problems"), 0), "buffers");
    return json_incref(json_object_get(json_array_get(buffers, number), "other"));
}

TEST(other_values_are_those_that_the_job_allows)
{
    for (int i = 0; value_domain_text[i]; i++) {
        char *verification = test_text("values = ( \"%s\" );", value_domain_text[i]);
        struct job *job = sound_job("{ M = 8; N = 65536; }", verification), *drawn = job_draw_sizes(job);
        bool integers = !strcmp(value_domain_text[i], "full");
        assert_non_null(drawn); // the job's own problem
        assert_int_equal(drawn->problem_count, JOB_OWN_SIZES);
        for (size_t p = 0; p < drawn->problem_count; p++) {
            struct job one = *drawn;
            one.problems = &drawn->problems[p];
            one.problem_count = 1;
            autojson json_t *other = other_fill(&one, 0);
            if (integers ? other != NULL : !is_of(value_domain_text[i], other)) fail_msg("%s", value_domain_text[i]);
            assert_null(other_fill(&one, 1)); // an output
        }
        assert_null(other_fill(job, 0));
    }
}

// All kinds of values occur for a job with one problem.
TEST(every_kind_of_values_is_tried)
{
    struct job *job = loaded_job("tests/hostile/domains.cfg"), *drawn = job_draw_sizes(job);
    int found[4] = {0};
    assert_non_null(drawn);
    for (size_t p = 0; p < drawn->problem_count; p++) {
        static const char *const words[] = {"zero", "negative", "shifted", "scaled"};
        struct job one = *drawn;
        one.problems = &drawn->problems[p];
        one.problem_count = 1;
        autojson json_t *other = other_fill(&one, 0);
        for (int k = 0; k < 4; k++) found[k] += is_of(words[k], other);
    }
    for (int k = 0; k < 4; k++)
        if (found[k] < 1 + (k != 1)) fail_msg("%d: %d times", k, found[k]);
}

TEST(drawn_sizes_of_every_shipped_job_can_be_described)
{
    static const char *const jobs[] = {"sum",   "nrm2",           "transpose",  "sgemm_each",
                                       "bgemm", "softmax",        "prefix_sum", "column_sums",
                                       "gemv",  "smith_waterman", "dgemm",      "convolution_7"};
    for (size_t i = 0; i < sizeof jobs / sizeof *jobs; i++) {
        char *path = test_text("configs/%s.cfg", jobs[i]);
        struct job *job = loaded_job(path), *drawn = job_draw_sizes(job);
        if (!drawn) fail_msg("%s: nothing is drawn", path);
        json_t *request = test_json(request_job(drawn, 0, NULL, 1, &err));
        if (!request) fail_msg("%s: %s", path, err.message);
    }
}

TEST_MAIN(NULL, NULL)
