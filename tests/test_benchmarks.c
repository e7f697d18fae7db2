// The figures in docs/benchmarks, BENCHMARKS.md and README.md: every file names its machine, commit and commands, every
// row of tests/measure/benchmarks.tsv has a job, and the tables are those that tests/measure/tables.sh generates from
// the files.
#include <glob.h>
#include <jansson.h>

#include "tests/e2e.h"
#include "tests/testing.h"

enum { LINES = 200, COLUMNS = 120, FIELDS = 7 };

TEST(BENCHMARKS_is_short_and_narrow)
{
    char *text = test_file("BENCHMARKS.md");
    int lines = 0;
    for (const char *at = text; *at; lines++) {
        size_t length = strcspn(at, "\n"), columns = 0;
        for (size_t i = 0; i < length; i++) columns += ((unsigned char)at[i] & 0xc0) != 0x80; // UTF-8
        if (columns > COLUMNS) fail_msg("BENCHMARKS.md:%d: %zu columns", lines + 1, columns);
        at += length + (at[length] == '\n');
    }
    if (lines > LINES) fail_msg("BENCHMARKS.md has %d lines", lines);
}

// A row of benchmarks.tsv, whose fields are cut out of `line`.
static bool read_row(char *line, char *fields[FIELDS])
{
    if (!*line || *line == '#') return false;
    int count = 0;
    for (char *at = line; at && count < FIELDS; count++) {
        fields[count] = at;
        if ((at = strchr(at, '\t'))) *at++ = 0;
    }
    if (count != FIELDS) fail_msg("benchmarks.tsv: '%s' has %d columns", line, count);
    return true;
}

TEST(every_row_is_a_job_and_README_shows_ten_at_most)
{
    char *text = test_file("tests/measure/benchmarks.tsv"), *fields[FIELDS], *rest;
    int rows = 0, readme = 0;
    for (char *line = strtok_r(text, "\n", &rest); line; line = strtok_r(NULL, "\n", &rest)) {
        if (!read_row(line, fields)) continue;
        char *path = test_text("configs/%s.cfg", fields[1]);
        if (access(path, F_OK)) fail_msg("benchmarks.tsv: there is no %s", path);
        assert_true(atoi(fields[2]) > 0 && atoi(fields[3]) > 0);
        readme += !strcmp(fields[4], "yes");
        rows++;
    }
    assert_true(rows > 20);
    assert_true(readme > 0 && readme <= 10);
}

static void expect_text(const char *path, const json_t *object, const char *key)
{
    const char *text = json_string_value(json_object_get(object, key));
    if (!text || !*text) fail_msg("%s does not say: %s", path, key);
}

static void check_file(const char *path)
{
    json_error_t error;
    json_t *root = test_json(json_load_file(path, 0, &error));
    if (!root) fail_msg("%s:%d: %s", path, error.line, error.text);
    const json_t *compare = json_object_get(root, "compare");
    static const char *const texts[] = {"job", "command", "compare_command", "commit", "program", "date"};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) expect_text(path, root, texts[i]);
    static const char *const machine[] = {"device", "driver", "compiler", "configuration"};
    for (size_t i = 0; i < sizeof machine / sizeof *machine; i++) expect_text(path, compare, machine[i]);
    if (!json_is_false(json_object_get(compare, "replayed"))) fail_msg("%s is not a measurement", path);
    if (!(json_number_value(json_object_get(root, "candidates")) > 0)) fail_msg("%s has no candidates", path);
    const char *job = json_string_value(json_object_get(root, "job"));
    char *begin = test_text(
        "sweetspot tune configs/%s.cfg --time %" JSON_INTEGER_FORMAT "s --seed %" JSON_INTEGER_FORMAT " ", job,
        json_integer_value(json_object_get(root, "seconds")), json_integer_value(json_object_get(root, "seed")));
    const char *command = json_string_value(json_object_get(root, "command"));
    if (strncmp(command, begin, strlen(begin)) != 0) fail_msg("%s: the command is not '%s...'", path, begin);
    const json_t *problems = json_object_get(compare, "problems");
    json_array_each(problems, p, problem) {
        size_t spread = 0;
        json_array_each(json_object_get(problem, "entries"), i, entry) {
            const json_t *time = json_object_get(entry, "time");
            double value = json_number_value(json_array_get(time, 0));
            spread += json_is_true(json_object_get(entry, "winner")) && value > 0 &&
                      json_number_value(json_array_get(time, 1)) <= value &&
                      value <= json_number_value(json_array_get(time, 2));
        }
        if (spread != 1) fail_msg("%s: problem %zu has no winner's time with an interval", path, p);
    }
    assert_true(json_array_size(problems) > 0);
}

TEST(every_figure_names_machine_commit_and_command)
{
    glob_t found;
    assert_int_equal(glob("docs/benchmarks/*.json", 0, NULL, &found), 0);
    assert_true(found.gl_pathc > 10);
    for (size_t i = 0; i < found.gl_pathc; i++) check_file(found.gl_pathv[i]);
    globfree(&found);
}

// The README of the experiments names the machine and lists every experiment. Every experiment states the command that
// produces its figures.
TEST(every_experiment_is_listed_and_names_machine_and_command)
{
    glob_t found;
    char *list = test_file("docs/experiments/README.md");
    assert_contains(list, "NVIDIA H200");
    assert_int_equal(glob("docs/experiments/*.md", 0, NULL, &found), 0);
    assert_true(found.gl_pathc > 5);
    for (size_t i = 0; i < found.gl_pathc; i++) {
        const char *name = strrchr(found.gl_pathv[i], '/') + 1;
        if (!strcmp(name, "README.md")) continue;
        char *text = test_owned(text_read_file(found.gl_pathv[i], NULL)), *link = test_text("](%s)", name);
        assert_contains(list, link);
        assert_contains(text, "](README.md)");
        if (!strstr(text, "sweetspot ") && !strstr(text, "tests/measure/") && !strstr(text, "out/bin/") &&
            !strstr(text, ".cfg"))
            fail_msg("%s names no command", found.gl_pathv[i]);
    }
    globfree(&found);
}

static char *folder;

static void make_folder(void)
{
    folder = e2e_folder("benchmarks");
}

static void remove_folder(void)
{
}

static void skip_without_jq(void)
{
    struct e2e_result r = e2e_run(folder, "command -v jq");
    int missing = r.status;
    if (missing) skip();
}

TEST(the_tables_are_what_the_files_say)
{
    skip_without_jq();
    struct e2e_result r = e2e_run(folder, "bash tests/measure/tables.sh check");
    if (r.status) fail_msg("run `make benchmarks`: %s%s", r.out, r.err);
}

// Changes one figure in a copy of the documents: first in a file, then in both tables that contain it.
TEST(a_changed_figure_is_noticed)
{
    skip_without_jq();
    static const char *const changes[] = {
        "sed -i '/\"time\": *\\[/{n;s/[1-9]/0/}' docs/benchmarks/gemv.json",
        "sed -i 's/^| gemv | 5 s/| gemv | 6 s/' BENCHMARKS.md && sed -i 's/| `gemv` | 5 s/| `gemv` | 6 s/' README.md",
    };
    for (size_t i = 0; i < sizeof changes / sizeof *changes; i++) {
        struct e2e_result r =
            e2e_run(folder,
                    "rm -rf $DIR/tree && mkdir -p $DIR/tree/docs && cp -r docs/benchmarks $DIR/tree/docs && cp *.md "
                    "$DIR/tree && (cd $DIR/tree && %s) && TREE=$DIR/tree bash tests/measure/tables.sh check",
                    changes[i]);
        if (!r.status) fail_msg("not noticed: %s", changes[i]);
        assert_contains(r.out, "\n-| gemv | ", "\n-| matrix times vector, FP32, 16384² | `gemv` | ");
    }
}

TEST_MAIN(make_folder, remove_folder)
