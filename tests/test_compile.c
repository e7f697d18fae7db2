// The compiler (NVRTC, no GPU needed) driven directly through its protocol, and the shipped templates for two
// architectures.
#include "tests/e2e.h"
#include "tests/testing.h"

#include <sys/time.h>

#include "tuner/base/json.h"

static const char source[] =
    "#include \"part.h\"\n"
    "#ifndef N\n#define N 4\n#endif\n"
    "template <int n> __global__ void scale(float *x) { UNROLL for (int i = 0; i < n * PART; i++) x[i] *= 2; }\n"
    "extern \"C\" __global__ void plain(float *x) { __shared__ float s[64]; s[threadIdx.x] = x[0]; __syncthreads(); "
    "x[1] = s[3]; }\n";

static json_t *ask(const char *folder, const char *request, double *seconds)
{
    struct timeval from, to;
    struct error err;
    e2e_write(folder, "request", request);
    gettimeofday(&from, NULL);
    struct e2e_result r = e2e_run(folder, "$BIN/sweetspot-compile <$DIR/request");
    gettimeofday(&to, NULL);
    if (seconds) *seconds = (double)(to.tv_sec - from.tv_sec) + 1e-6 * (double)(to.tv_usec - from.tv_usec);
    json_t *answer = json_parse(r.out, &err);
    if (!answer) fail_msg("%s (stderr: %s)", err.message, r.err);
    return answer;
}

static json_t *compile(const char *folder, const char *rest)
{
    char *request = test_text("{\"id\":1,\"op\":\"compile\",\"arch\":\"sm_90a\",\"source\":\"%s/"
                              "x.cu\",\"include\":[\"%s\"],\"cache\":\"%s/cache\",\"deadline\":60,%s}\n",
                              folder, folder, folder, rest);
    json_t *answer = ask(folder, request, NULL);
    return answer;
}

static void write_source(const char *folder)
{
    e2e_write(folder, "x.cu", source);
    e2e_write(folder, "part.h", "#define PART 2\n");
}

static void expect_status(json_t *answer, const char *status)
{
    if (strcmp(json_get_string(answer, "status", ""), status))
        fail_msg("status %s, expected %s: %s", json_get_string(answer, "status", ""), status,
                 json_get_string(answer, "reason", ""));
}

TEST(entries_have_symbols_and_what_ptxas_says)
{
    char *folder = e2e_folder("entries");
    write_source(folder);
    json_t *answer = test_json(compile(
        folder,
        "\"entries\":[\"plain\",\"scale<N>\"],\"defines\":{\"N\":\"8\",\"UNROLL\":\"_Pragma(\\\"unroll 4\\\")\"}"));
    expect_status(answer, "ok");
    const json_t *entries = json_object_get(answer, "entries"), *plain = json_array_get(entries, 0),
                 *scale = json_array_get(entries, 1);
    assert_string_equal(json_get_string(plain, "symbol", ""), "plain");
    assert_int_equal(json_get_integer(plain, "shared", -1), 256);
    assert_string_equal(json_get_string(scale, "symbol", ""), "_Z5scaleILi8EEvPf");
    assert_true(json_get_integer(scale, "registers", -1) > 0);
    assert_true(json_get_integer(scale, "code_bytes", -1) > 0);
    assert_int_equal(json_get_integer(scale, "spill_loads", -1), 0);
}

TEST(what_ptxas_refuses_without_a_word_has_a_reason)
{
    char *folder = e2e_folder("refused");
    e2e_write(folder, "x.cu",
              "__constant__ float a[12000], b[12000];\n"
              "extern \"C\" __global__ void plain(float *y) { y[0] = a[threadIdx.x] + b[threadIdx.x]; }\n");
    json_t *answer = test_json(compile(folder, "\"entries\":[\"plain\"],\"defines\":{}"));
    expect_status(answer, "compile_error");
    const char *reason = json_get_string(answer, "reason", "");
    if (strncmp(reason, "error: ptxas rejects the code", 29) != 0 || !strstr(reason, "64 KiB")) fail_msg("%s", reason);
}

TEST(unroll_pragmas_reach_the_compiler)
{
    char *folder = e2e_folder("pragma");
    int64_t bytes[2];
    static const char *const pragmas[] = {"_Pragma(\\\"unroll 1\\\")", "_Pragma(\\\"unroll\\\")"};
    write_source(folder);
    for (int i = 0; i < 2; i++) {
        char *rest = test_text("\"entries\":[\"scale<64>\"],\"defines\":{\"UNROLL\":\"%s\"}", pragmas[i]);
        json_t *answer = test_json(compile(folder, rest));
        expect_status(answer, "ok");
        bytes[i] = json_get_integer(json_array_get(json_object_get(answer, "entries"), 0), "code_bytes", -1);
    }
    assert_true(bytes[0] > 0 && bytes[1] > 4 * bytes[0]);
}

TEST(the_same_request_comes_from_the_cache_until_an_included_file_changes)
{
    char *folder = e2e_folder("cache");
    static const bool expected[] = {false, true, false, true};
    write_source(folder);
    for (int i = 0; i < 4; i++) {
        if (i == 2) e2e_write(folder, "part.h", "#define PART 3\n");
        if (i == 3) e2e_write(folder, "part.h", "#define PART 2\n");
        json_t *answer = test_json(compile(folder, "\"entries\":[\"scale<4>\"],\"defines\":{\"UNROLL\":\"\"}"));
        expect_status(answer, "ok");
        assert_int_equal(json_get_bool(answer, "cached", false), expected[i]);
        assert_int_equal(access(json_get_string(answer, "cubin", ""), R_OK), 0);
    }
}

TEST(a_cubin_that_is_gone_is_compiled_again)
{
    char *folder = e2e_folder("gone");
    write_source(folder);
    for (int i = 0; i < 3; i++) {
        json_t *answer = test_json(compile(folder, "\"entries\":[\"scale<4>\"],\"defines\":{\"UNROLL\":\"\"}"));
        const char *cubin = json_get_string(answer, "cubin", "");
        expect_status(answer, "ok");
        assert_int_equal(json_get_bool(answer, "cached", true), i == 2);
        assert_int_equal(access(cubin, R_OK), 0);
        if (i == 0) assert_int_equal(unlink(cubin), 0); // as if the user had cleared a full cache
    }
}

TEST(errors_name_the_line_and_a_missing_kernel_is_one)
{
    char *folder = e2e_folder("errors");
    write_source(folder);
    json_t *answer = test_json(compile(folder, "\"entries\":[\"scale<4>\"],\"defines\":{\"UNROLL\":\"what\"}"));
    expect_status(answer, "compile_error");
    assert_contains(json_get_string(answer, "reason", ""), "x.cu(5): error");
    answer = test_json(compile(folder, "\"entries\":[\"nosuch\"],\"defines\":{\"UNROLL\":\"\"}"));
    expect_status(answer, "compile_error");
    assert_contains(json_get_string(answer, "reason", ""), "nosuch");
    answer = test_json(compile(
        folder,
        "\"entries\":[\"plain\"],\"source_hash\":\"00000000000000000000000000000000\",\"defines\":{\"UNROLL\":\"\"}"));
    expect_status(answer, "source_changed");
}

TEST(a_compile_is_cancelled_at_its_deadline)
{
    char *folder = e2e_folder("deadline");
    autorelease(text_release) struct text text = {0};
    text_add(&text, "extern \\\"C\\\" __global__ void k(float *x) { ");
    for (int i = 0; i < 2000; i++)
        text_add(&text, "x[%d] = x[%d] * x[%d] + sinf(x[%d]); ", i, i + 1, (i * 7) % 2000, (i * 13) % 2000);
    char *request = test_text(
        "{\"id\":1,\"op\":\"compile\",\"arch\":\"sm_90a\",\"text\":\"%s }\",\"entries\":[\"k\"],\"deadline\":0.2}\n",
        text.text);
    double seconds;
    json_t *answer = test_json(ask(folder, request, &seconds));
    expect_status(answer, "compile_timeout");
    assert_true(seconds < 10);
}

TEST(nonsense_is_answered)
{
    char *folder = e2e_folder("nonsense");
    static const char *const requests[] = {"{\"id\":1,\"op\":\"dance\"}\n", "no json\n",
                                           "{\"id\":1,\"op\":\"compile\"}\n",
                                           "{\"id\":1,\"op\":\"compile\",\"source\":\"/nosuch.cu\"}\n"};
    for (size_t i = 0; i < sizeof requests / sizeof *requests; i++) {
        json_t *answer = test_json(ask(folder, requests[i], NULL));
        expect_status(answer, "error");
    }
}

// A long list for a request: `count` numbered elements in this format.
static char *numbered(const char *format, int count)
{
    struct text list = {0};
    for (int i = 0; i < count; i++) text_add(&list, "%s%s", i ? "," : "", test_text(format, i, i));
    return test_owned(list.text);
}

TEST(no_option_entry_folder_or_macro_is_dropped)
{
    char *folder = e2e_folder("many"), *options = numbered("\"-DX%d=%d\"", 600),
         *defines = numbered("\"Y%d\":\"%d\"", 600), *entries = numbered("\"k<%d>\"", 70),
         *folders = numbered("\"nosuch/%d\"", 600);
    e2e_write(folder, "last.h", "#define Z 7\n");
    e2e_write(folder, "x.cu",
              "#include <last.h>\n"
              "static_assert(X0 == 0 && X599 == 599 && Y0 == 0 && Y599 == 599 && Z == 7, \"something is missing\");\n"
              "template <int n> __global__ void k(int *x) { *x = n; }\n");
    autofree char *request =
        text_format("{\"id\":1,\"op\":\"compile\",\"arch\":\"sm_90a\",\"source\":\"%s/x.cu\",\"options\":[%s],"
                    "\"include\":[%s,\"%s\"],\"entries\":[%s],\"defines\":{%s},\"deadline\":60}\n",
                    folder, options, folders, folder, entries, defines);
    json_t *answer = test_json(ask(folder, request, NULL));
    expect_status(answer, "ok");
    const json_t *found = json_object_get(answer, "entries");
    assert_int_equal(json_array_size(found), 70);
    assert_string_equal(json_get_string(json_array_get(found, 69), "entry", ""), "k<69>");
    assert_string_equal(json_get_string(json_array_get(found, 69), "symbol", ""), "_Z1kILi69EEvPi");
}

TEST(what_is_not_a_string_is_refused_by_name)
{
    char *folder = e2e_folder("strings");
    static const struct {
        const char *member, *reason;
    } wrong[] = {
        {"\"options\":[\"-DA=1\",7]", "entry 1: 'options' of the request is not a text"},
        {"\"include\":[null]", "entry 0: 'include' of the request is not a text"},
        {"\"entries\":[\"k\",{}]", "entry 1: 'entries' of the request is not a text"},
        {"\"entries\":\"k\"", "'entries' of the request is not a list"},
        {"\"defines\":{\"A\":1}", "'A': 'defines' of the request is not a text"},
    };
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        char *request = test_text("{\"id\":1,\"op\":\"compile\",\"text\":\"\",%s}\n", wrong[i].member);
        json_t *answer = test_json(ask(folder, request, NULL));
        expect_status(answer, "error");
        assert_contains(json_get_string(answer, "reason", ""), wrong[i].reason);
    }
}

TEST(a_log_is_shown_whatever_its_bytes_and_says_how_much_is_left_out)
{
    char *folder = e2e_folder("log"), *lines = numbered("int x%d = undefined_name_%d;\n", 90);
    static const char *const members = "\"entries\":[]";
    for (char *comma = lines; (comma = strchr(comma, ','));) *comma = ' ';
    e2e_write(folder, "x.cu", "#error caf\xe9\n");
    json_t *answer = test_json(compile(folder, members));
    expect_status(answer, "compile_error");
    assert_contains(json_get_string(answer, "reason", ""), "caf?");
    e2e_write(folder, "x.cu", lines);
    answer = test_json(compile(folder, members));
    expect_status(answer, "compile_error");
    assert_contains(json_get_string(answer, "reason", ""), "undefined_name_0", " bytes more)");
}

// wgmma and TMA exist only on Hopper: templates refuse other architectures with a message.
TEST(a_template_for_hopper_alone_says_so)
{
    char *folder = e2e_folder("hopper");
    struct e2e_result r =
        e2e_run(folder, "$BIN/sweetspot check configs/bgemm.cfg --compile 1 --arch sm_80 --cache $DIR/cache");
    assert_int_equal(r.status, 1);
    assert_contains(r.out, "gemm_wgmma.cu needs sm_90a");
}

// Compiles three configurations of each template's first job, one configuration of each remaining job, and for Ampere
// one configuration of each job.
TEST(the_shipped_templates_compile_for_hopper_and_ampere)
{
    char *folder = e2e_folder("templates");
    struct e2e_result r = e2e_pass(
        folder, "check() { $BIN/sweetspot check $1 --compile $2 --arch $3 --cache $DIR/cache || exit 1; }\n"
                "for job in configs/*.cfg configs/layers/layer_m1_n4096_k4096.cfg tests/jobs/gemm_shifted.cfg; do\n"
                "template=$(grep -o -m1 'template = \"[^\"]*\\|@include \"[^\"]*' $job)\n"
                "case $seen in *\"$template;\"*) check $job 1 sm_90a ;; *) check $job 3 sm_90a ;; esac\n"
                "seen=\"$seen$template;\"\n"
                "grep -q 'gemm_wgmma\\|_tokens.inc' $job || check $job 1 sm_80\n"
                "done");
    const char *seen = r.out;
    int compiled = 0;
    while ((seen = strstr(seen, " code bytes"))) compiled++, seen++;
    assert_true(compiled > 100);
}

TEST_MAIN(NULL, NULL)
