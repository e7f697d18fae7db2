// Decimal values in a job file.
#include "tests/e2e.h"
#include "tests/loaded_job.h"
#include "tests/shared_job.h"
#include "tests/testing.h"

#include "tuner/base/memory.h"
#include "tuner/cli/commands.h"
#include "tuner/job/job.h"

static struct job *load_text(const char *text)
{
    finished_write(job.job, text);
    return loaded_job(job.job);
}

static struct job *load_with(const char *from, const char *to)
{
    autofree char *text = text_replaced(finished_job_text, from, to);
    return load_text(text);
}

static void refused(const char *from, const char *to, const char *message)
{
    struct mistakes mistakes = {0};
    struct job *out;
    autofree char *text = text_replaced(finished_job_text, from, to);
    finished_write(job.job, text);
    assert_int_equal(job_load(job.job, &out, &mistakes), -1);
    bool found = false;
    for (size_t i = 0; i < mistakes.count; i++)
        found |= strstr(mistakes.list[i].text, message) && mistakes.list[i].line;
    if (!found) fail_msg("'%s' is not among the mistakes, the first of which is: %s", message, mistakes.list[0].text);
    mistakes_release(&mistakes);
}

static void add_define(void *to, const char *name, const char *value)
{
    char **text = to, *longer = text_format("%s%s=%s ", *text, name, value);
    free(*text);
    *text = longer;
}

// "NAME=value " for all macros of a configuration. malloc'ed.
static char *macros_of(const struct job *j, const char *configuration)
{
    uint16_t config[SPACE_MAX_PARAMETERS];
    struct error err;
    char *text = text_copy("");
    if (space_parse(j->space, configuration, config, &err)) fail_msg("%s", err.message);
    job_defines(j, config, add_define, &text);
    return text;
}

#define UNROLL "{ name = \"UNROLL_K\"; unroll = [0, 1, 4]; }"
#define FIRST "BLOCK_M=64,UNROLL_K=0,REDUCTION=shared"

TEST_WITH(decimals_are_macros_as_short_as_they_can_be_and_in_numerical_order, setup, teardown)
{
    static const struct {
        double value;
        const char *text;
    } cases[] = {{0.5, "0.5"},
                 {1, "1.0"},
                 {-2, "-2.0"},
                 {0.1, "0.1"},
                 {1e300, "1e+300"},
                 {-1000, "-1000.0"},
                 {1e-7, "1e-07"},
                 {1.0 / 3, "0.3333333333333333"},
                 {0.1 + 0.2, "0.30000000000000004"},
                 {123456, "123456.0"}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        autofree char *text = text_of_number(cases[i].value);
        assert_string_equal(text, cases[i].text);
        assert_true(strtod(text, NULL) == cases[i].value);
    }
    struct job *j = load_with(UNROLL, "{ name = \"UNROLL_K\"; values = (2, 0.5, 1.25, 10.0); }");
    const struct parameter *p = space_parameter(j->space, 1);
    char digits[32];
    assert_int_equal(p->kind, PARAMETER_REAL);
    static const char *const order[] = {"0.5", "1.25", "2", "10.0"};
    for (size_t i = 0; i < 4; i++) assert_string_equal(space_value_text(j->space, 1, i, digits), order[i]);
    char *macros = macros_of(j, "BLOCK_M=64,UNROLL_K=0.5,REDUCTION=shared");
    assert_string_equal(macros, "BLOCK_M=64 UNROLL_K=0.5 REDUCTION=shared ALPHA=2 ");
    free(macros);
    j = load_with("ALPHA = 2;", "ALPHA = 0.1;");
    macros = macros_of(j, FIRST);
    assert_string_equal(macros, "BLOCK_M=64 UNROLL_K= REDUCTION=shared ALPHA=0.1 ");
    free(macros);
    // A configuration in the job file matches a value numerically, however it is written.
    autofree char *text = text_replaced(finished_job_text, UNROLL, "{ name = \"UNROLL_K\"; values = [0.5, 1.0]; }");
    j = load_text(test_text("%sfallback = { BLOCK_M = 64; UNROLL_K = 1.00; REDUCTION = \"shared\"; };\n", text));
    assert_int_equal(j->others.fallback.config[1], 1);
    refused(UNROLL, "{ name = \"UNROLL_K\"; values = (1, 0.5, 1.0); }", "has the value 1");
    refused(UNROLL "", "{ name = \"UNROLL_K\"; values = [0.5]; }, { name = \"OTHER\"; values = (0.5, \"x\"); }",
            "must be all integers or all strings");
    refused("\"BYTES <= device.max_shared\"", "\"BYTES <= device.max_shared * R\"", "unknown name 'R'");
    autofree char *decimals = text_replaced(finished_job_text, "\"BYTES <= device.max_shared\"", "\"UNROLL_K > 0\"");
    autofree char *both = text_replaced(decimals, UNROLL, "{ name = \"UNROLL_K\"; values = [0.5, 1.0]; }");
    struct mistakes mistakes = {0};
    finished_write(job.job, both);
    assert_int_equal(job_load(job.job, &j, &mistakes), -1);
    assert_string_equal(
        mistakes.list[0].text,
        "'UNROLL_K' has decimal values, but expressions work only on integers at column 1: 'UNROLL_K > 0'");
    assert_int_equal(mistakes.list[0].line, 9);
    mistakes_release(&mistakes);
}

TEST_MAIN(NULL, NULL)
