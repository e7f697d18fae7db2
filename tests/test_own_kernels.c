// The kernels that are compiled before any candidate (kernels/support.cu, kernels/ceilings.cu, a reference's). Tests
// the driver's compile requests, and that NVRTC (no GPU needed) produces the kernels that the GPU worker looks up.
#include "tests/e2e.h"

#include "kernels/element.h"
#include "tuner/base/embedded.h"
#include "tuner/base/json.h"
#include "tuner/base/protocol.h"

#define FAKE "SWEETSPOT_GPU_WORKER=$BIN/fake_worker SWEETSPOT_COMPILE_WORKER=$BIN/fake_worker "

// A job with buffers of three types, one of which occurs twice. `reference` is a kernel.
static const char job_text[] =
    "name = \"own\";\n"
    "kernel = { template = \"x.cu\"; entry = \"x\"; };\n"
    "parameters = ( { name = \"X\"; values = [1]; } );\n"
    "problems = ( { N = 1024; } );\n"
    "launch = { grid = [\"N\"]; block = [32]; };\n"
    "arguments = ( { buffer = \"a\"; type = \"i64\"; shape = [\"N\"]; }, { buffer = \"b\"; type = \"bf16\"; shape = "
    "[\"N\"]; },\n"
    "  { buffer = \"c\"; type = \"i64\"; shape = [\"N\"]; }, { scalar = \"N\"; type = \"i32\"; },\n"
    "  { buffer = \"y\"; type = \"f32\"; shape = [\"N\"]; direction = \"out\"; } );\n"
    "reference = { kernel = \"naive\"; launch = { grid = [1]; block = [32]; }; };\n"
    "compile = { timeout = \"1s\"; };\n"
    "strategy = \"exhaustive\";\n";

static struct e2e_result tune(const char *folder, int compilers, const char *before)
{
    e2e_write(folder, "job.cfg", job_text);
    e2e_write(folder, "x.cu", "// empty\n");
    return e2e_run(folder,
                   "export FAKE_LOG=$DIR/log; %s " FAKE
                   "$BIN/sweetspot tune $DIR/job.cfg --store $DIR/job.db -q --no-final --workers %d",
                   before, compilers);
}

TEST(own_kernels_are_compiled_at_the_same_time_for_the_types_of_the_buffers_alone)
{
    char *folder = e2e_folder("own"), *path = test_text("%s/log", folder);
    e2e_passed(tune(folder, 3, "FAKE_HELPERS=3"));
    char *log = test_file("%s", path);
    assert_contains(log, "helper support {\"SUPPORT_F32\":\"1\",\"SUPPORT_BF16\":\"1\",\"SUPPORT_I64\":\"1\"}\n",
                    "helper ceilings {}\n", "helper reference {\"X\":\"1\"}\n");
    assert_null(strstr(log, "alone"));
}

TEST(fewer_compilers_than_own_kernels_do_one_after_another)
{
    for (int compilers = 1; compilers < 3; compilers++) {
        char *folder = e2e_folder("own_few"), *path = test_text("%s/log", folder);
        e2e_passed(tune(folder, compilers, "FAKE_HELPERS=1"));
        assert_contains(test_file("%s", path), "helper reference {\"X\":\"1\"}\n", "X=1"); // measured
    }
}

TEST(an_own_kernel_that_cannot_be_compiled_is_named_and_ends_the_run)
{
    static const struct {
        const char *before, *said, *why;
        int status;
    } cases[] = {
        {"FAKE_HELPER_CRASH=support", "the worker's own kernels do not compile", "signal 6", EXIT_ENVIRONMENT},
        {"FAKE_HELPER_CRASH=ceilings", "the worker's own kernels do not compile", "signal 6", EXIT_ENVIRONMENT},
        {"FAKE_HELPER_CRASH=reference", "reference kernel 'naive'", "signal 6", EXIT_ENVIRONMENT},
        {"FAKE_HELPER_ERROR=ceilings", "the worker's own kernels do not compile", "scripted", EXIT_ENVIRONMENT},
        {"FAKE_HELPER_ERROR=reference", "reference kernel 'naive'", "scripted", EXIT_USAGE},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        for (int compilers = 1; compilers < 4; compilers += 2) {
            char *folder = e2e_folder("own_bad");
            struct e2e_result r = tune(folder, compilers, cases[i].before);
            if (r.status != cases[i].status)
                fail_msg("%s: status %d, not %d: %s", cases[i].before, r.status, cases[i].status, r.err);
            assert_contains(r.err, cases[i].said, cases[i].why);
        }
}

// Compiles source code for `entries`; a missing entry is an error. Checks the status of the answer.
static void compile(const char *text, json_t *entries, json_t *defines, const char *arch, const char *status)
{
    char *folder = e2e_folder("own_nvrtc");
    struct error err;
    json_t *request = test_json(json_pack("{s:i, s:s, s:s, s:s, s:o, s:o, s:f}", "id", 1, "op", "compile", "arch", arch,
                                          "text", text, "entries", entries, "defines", defines, "deadline", 300.0));
    e2e_write(folder, "request", test_owned(json_dumps(request, JSON_COMPACT)));
    struct e2e_result r = e2e_run(folder, "(cat $DIR/request; echo) | $BIN/sweetspot-compile");
    json_t *answer = test_json(json_parse(r.out, &err));
    if (!answer) fail_msg("%s (stderr: %s)", err.message, r.err);
    if (strcmp(json_get_string(answer, "status", ""), status))
        fail_msg("%s, not %s: %.2000s", json_get_string(answer, "status", ""), status,
                 json_get_string(answer, "reason", ""));
}

TEST(every_element_type_has_its_kernels_under_its_macro)
{
    static const char *const kernels[] = {"fill", "compare", "disturb", "judge", "widen", "sums"};
    json_t *entries = json_array(), *defines = json_object();
    for (int type = 0; type < ELEMENT_COUNT; type++) {
        char *macro = test_text("SUPPORT_%s", element_name((enum element)type));
        for (char *c = macro; *c; c++)
            if (*c >= 'a' && *c <= 'z') *c = (char)(*c - 'a' + 'A');
        json_object_set_new(defines, macro, json_string("1"));
        for (size_t i = 0; i < sizeof kernels / sizeof *kernels; i++)
            json_array_append_new(entries, json_sprintf("support_%s_%s", kernels[i], element_name((enum element)type)));
    }
    compile(embedded_support(), entries, defines, "sm_80", "ok");
}

TEST(without_its_macro_a_type_has_no_kernels)
{
    compile(embedded_support(), json_pack("[s]", "support_fill_f16"), json_pack("{s:s}", "SUPPORT_BF16", "1"), "sm_80",
            "compile_error");
    compile(embedded_support(), json_pack("[s, s]", "support_fill_bf16", "support_flush"),
            json_pack("{s:s}", "SUPPORT_BF16", "1"), "sm_80", "ok");
}

TEST(the_ceilings_compile_for_every_architecture_that_has_other_instructions)
{
    static const char *const archs[] = {"sm_75", "sm_80", "sm_90a"};
    static const struct {
        const char *macro, *kernels[4]; // ended by NULL
    } rare[] = {{"CEILING_F16", {"ceiling_tensor_f16", "ceiling_wgmma_f16"}},
                {"CEILING_INTEGER", {"ceiling_int_mad", "ceiling_int_add"}},
                {"CEILING_DPX", {"ceiling_dpx", "ceiling_dpx_pairs"}}};
    for (size_t i = 0; i < sizeof archs / sizeof *archs; i++) {
        compile(embedded_ceilings(),
                json_pack("[s, s, s, s, s, s, s, s, s, s, s, s, s, s, s]", "ceiling_fma", "ceiling_read",
                          "ceiling_fp64", "ceiling_copy", "ceiling_l2", "ceiling_shared", "ceiling_tensor_bf16",
                          "ceiling_tensor_tf32", "ceiling_tensor_fp64", "ceiling_tensor_int8", "ceiling_tensor_fp8",
                          "ceiling_wgmma_bf16", "ceiling_wgmma_tf32", "ceiling_wgmma_int8", "ceiling_wgmma_fp8"),
                json_object(), archs[i], "ok");
        for (size_t k = 0; k < sizeof rare / sizeof *rare; k++) {
            json_t *kernels = json_array();
            for (size_t n = 0; rare[k].kernels[n]; n++) json_array_append_new(kernels, json_string(rare[k].kernels[n]));
            compile(embedded_ceilings(), kernels, json_pack("{s:s}", rare[k].macro, "1"), archs[i], "ok");
        }
    }
}

TEST_MAIN(NULL, NULL)
