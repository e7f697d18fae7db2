// Names that would be impossible in a job's header are refused when the job file is read. The rule knows every name
// that the header itself defines.
#include "tests/e2e.h"
#include "tests/testing.h"

#include <ctype.h>

#include "tuner/job/header_names.h"

// A job with these parameters, macros and stages, one per line from line 3 on.
static char *job_text(const char *defines, const char *parameters, const char *second)
{
    return text_format(
        "name = \"llmc_layernorm\";\n"
        "kernel = { template = \"job.cu\"; entry = \"one\"; defines = {\n%s\n}; };\n"
        "parameters = (\n%s\n);\n"
        "problems = ( { N = 4; } );\n"
        "stages = ( { entry = \"one\"; launch = { grid = [1]; block = [1]; };\n"
        "  arguments = ( { buffer = \"x\"; type = \"f32\"; shape = [\"N\"]; direction = \"out\"; } ); }%s );\n"
        "verification = { enabled = false; };\n",
        defines, parameters, second);
}

#define VALUES "\"; values = [1, 2]; }"
#define SECOND                                                                                                \
    ",\n  { name = \"%s\"; entry = \"two\"; launch = { grid = [1]; block = [1]; }; arguments = ( { buffer = " \
    "\"x\"; } ); }"

static const struct {
    const char *defines, *parameters, *second, *message; // NULL: the job is correct
} cases[] = {
    {"", "{ name = \"BLOCK" VALUES ", { name = \"MIN_REGISTERS" VALUES, "last", NULL},
    {"X = 1;", "{ name = \"Error" VALUES, "last",
     "job.cfg:6: parameter 'Error' is not possible: the job's header already has a macro LLMC_LAYERNORM_ERROR"},
    {"", "{ name = \"BLOCK" VALUES ",\n{ name = \"KERNEL" VALUES, "last",
     "job.cfg:7: parameter 'KERNEL' is not possible: the job's header already has a macro LLMC_LAYERNORM_KERNEL"},
    {"", "{ name = \"BLOCK" VALUES ",\n{ name = \"Block" VALUES, "last",
     "job.cfg:7: parameter 'Block' would be the macro LLMC_LAYERNORM_BLOCK of the job's header, as parameter 'BLOCK'"},
    {"", "{ name = \"RATIO_X" VALUES, "last", "job.cfg:6: parameter 'RATIO_X' is not possible"},
    {"", "{ name = \"double" VALUES, "last",
     "job.cfg:6: parameter 'double' cannot be the name of a macro: it is a key"},
    {"", "{ name = \"xor" VALUES, "last", "job.cfg:6: parameter 'xor' cannot be the name of a macro: it is a keyword"},
    {"", "{ name = \"a.b" VALUES, "last", "job.cfg:6: parameter 'a.b' cannot be the name of a macro: it is not an id"},
    {"", "{ name = \"SWEETSPOT_VARIANT" VALUES, "last", "job.cfg:6: parameter 'SWEETSPOT_VARIANT' begins with 'SWEET"},
    {"", "{ name = \"LLMC_LAYERNORM_SECONDS" VALUES, "last", "'LLMC_LAYERNORM_SECONDS' is a macro of the job's header"},
    {"", "{ name = \"X" VALUES ",\n{ name = \"LLMC_LAYERNORM_X" VALUES, "last",
     "job.cfg:7: parameter 'LLMC_LAYERNORM_X' is the macro that the job's header has for parameter 'X'"},
    {"BLOCK = \"a\";", "{ name = \"BLOCK" VALUES, "last", "job.cfg:3: macro 'BLOCK' is also a parameter"},
    {"while = 1;", "{ name = \"BLOCK" VALUES, "last", "job.cfg:3: macro 'while' cannot be the name of a macro"},
    {"", "{ name = \"BLOCK" VALUES, "ONE",
     "job.cfg:11: stage 'ONE' would have the same names in the job's header as stage 'one'"},
};

TEST(names_that_the_header_cannot_have_are_refused_with_file_and_line)
{
    char *folder = e2e_folder("names");
    e2e_write(folder, "job.cu", "__global__ void one() {}\n__global__ void two() { BLOCK + MIN_REGISTERS; }\n");
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char *second = test_text(SECOND, cases[i].second),
             *text = job_text(cases[i].defines, cases[i].parameters, second);
        e2e_write(folder, "job.cfg", text);
        struct e2e_result r = e2e_run(folder, "$BIN/sweetspot check $DIR/job.cfg --compile 0");
        if (r.status != (cases[i].message ? 2 : 0)) fail_msg("case %zu: status %d: %s", i, r.status, r.err);
        if (cases[i].message) assert_contains(r.err, cases[i].message);
        free(text);
    }
}

// Writes the name of the macro that the line defines, without the prefix, to `macro`. False if it defines something
// else.
static bool own_macro(const char *line, const char *prefix, char macro[128])
{
    if (strncmp(line, "#define ", 8) != 0) return false;
    const char *name = line + 8;
    if (strncmp(name, prefix, strlen(prefix)) != 0) return false;
    name += strlen(prefix);
    size_t length = 0;
    while (isalnum((unsigned char)name[length]) || name[length] == '_') length++;
    snprintf(macro, 128, "%.*s", (int)length, name);
    return true;
}

// Every new name in the header must be added to the rule; otherwise a job could have a parameter with that name.
TEST(every_macro_of_a_header_is_known_to_the_rule)
{
    static const char *const parameters[] = {"X", "MODE"};
    char *text = test_file("tests/golden/header.txt"), macro[128];
    size_t found = 0;
    for (char *rest, *line = strtok_r(text, "\n", &rest); line; line = strtok_r(NULL, "\n", &rest)) {
        if (!own_macro(line, "GOLDEN_", macro)) continue;
        found++;
        if (!strcmp(macro, parameters[0]) || !strcmp(macro, parameters[1])) continue;
        if (!header_macro_taken(macro)) fail_msg("GOLDEN_%s is not in the table of header_names.c", macro);
    }
    assert_true(found > 20);
}

TEST_MAIN(NULL, NULL)
