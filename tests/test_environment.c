// The settings on which results depend: the table has a line for every setting of a job, and keys depend on the lines
// that matter.
#include "tests/e2e.h"

#include <glob.h>

#include "tuner/setup/request.h"
#include "tuner/setup/run_environment.h"

static struct error err; // of the last call that failed

static json_t *facts_of(const char *path, struct job **job)
{
    struct mistakes mistakes = {0};
    static const struct environment known = {
        .source_hash = "aa", .compiler = "nvrtc 13.0", .device = "NVIDIA H200", .arch = "sm_90a", .driver = "1"};
    if (job_load(path, job, &mistakes)) fail_msg("%s", path);
    if (job_build_space(*job, &device_limits_h200, &err)) fail_msg("%s", err.message);
    json_t *request = test_json(request_job(*job, 0, NULL, 1, &err)), *facts;
    if (!request) fail_msg("%s", err.message);
    facts = run_environment_facts(*job, request, &known, false);
    assert_non_null(facts);
    return facts;
}

TEST(somebody_has_said_of_every_setting_of_a_job_whether_it_matters)
{
    glob_t found;
    assert_int_equal(glob("configs/*.cfg", 0, NULL, &found), 0);
    assert_int_equal(glob("tests/stores/*.cfg", GLOB_APPEND, NULL, &found), 0);
    assert_int_equal(glob("tests/v1/jobs/*.cfg", GLOB_APPEND, NULL, &found), 0);
    for (size_t i = 0; i < found.gl_pathc; i++) {
        struct job *job;
        autojson json_t *facts = facts_of(found.gl_pathv[i], &job);
        autofree char *text = environment_text(facts, &err);
        if (!text) fail_msg("%s: %s", found.gl_pathv[i], err.message);
        assert_int_equal(strncmp(text, "environment 1\narch \"sm_90a\"\n", 28), 0);
        job_free(job);
    }
    globfree(&found);
}

TEST(the_key_follows_what_matters_and_nothing_else)
{
    static const struct {
        const char *facts;
        bool same; // as in the first case
    } cases[] = {
        {"{\"job\":\"j\",\"verify\":{\"enabled\":true,\"tolerance\":1.0},\"problems\":[{\"name\":\"a\"}]}", true},
        {"{\"problems\":[{\"name\":\"a\"}],\"verify\":{\"tolerance\":1.0,\"enabled\":true},\"job\":\"j\"}", true},
        {"{\"job\":\"j\",\"verify\":{\"enabled\":true,\"tolerance\":1.0},\"problems\":[{\"name\":\"a\"}],"
         "\"reference\":{\"cubin\":\"/x\"}}",
         true},
        {"{\"job\":\"j\",\"verify\":{\"enabled\":true,\"tolerance\":1},\"problems\":[{\"name\":\"a\"}]}", false},
        {"{\"job\":\"j\",\"verify\":{\"enabled\":false,\"tolerance\":1.0},\"problems\":[{\"name\":\"a\"}]}", false},
        {"{\"job\":\"j\",\"verify\":{\"enabled\":true,\"tolerance\":1.0},\"problems\":[{\"name\":\"a\\nb\"}]}", false},
    };
    char first[HASH_TEXT_SIZE], key[HASH_TEXT_SIZE];
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        json_t *facts = test_json(json_parse(cases[i].facts, &err));
        autofree char *text = environment_text(facts, &err);
        if (!text) fail_msg("case %zu: %s", i, err.message);
        environment_key(text, i ? key : first);
        if (i && !strcmp(key, first) != cases[i].same) fail_msg("case %zu: %s", i, text);
    }
    json_t *facts = test_json(json_parse("{\"verify\":{\"novelty\":1}}", &err));
    assert_null(environment_text(facts, &err));
    assert_contains(err.message, "'verify.novelty'");
    // The table gives a meaning for every name and contains no duplicate names.
    const struct environment_setting *settings = environment_settings;
    for (size_t i = 0; settings[i].name; i++) {
        assert_true(strlen(settings[i].meaning) > 0);
        for (size_t k = 0; k < i; k++) assert_string_not_equal(settings[i].name, settings[k].name);
    }
}

// Facts that contain only the value at a path such as "problems.0.name".
static json_t *facts_with(const char *path, const char *value)
{
    char *copy = test_owned(text_copy(path));
    json_t *facts = json_string(value);
    for (char *dot; (dot = strrchr(copy, '.')); *dot = 0) facts = json_pack("{s:o}", dot + 1, facts);
    facts = json_pack("{s:o}", copy, facts);
    assert_non_null(facts);
    return facts;
}

TEST(trials_differ_by_every_setting_but_paths_and_limits_of_the_reference)
{
    const struct environment_setting *settings = environment_settings;
    for (size_t i = 0; settings[i].name; i++) {
        char keys[2][HASH_TEXT_SIZE], *path = test_owned(text_copy(settings[i].name));
        for (char *c = path; *c; c++) *c = *c == '#' ? '0' : *c == '*' ? 'x' : *c;
        for (int k = 0; k < 2; k++) {
            autojson json_t *facts = facts_with(path, k ? "this" : "that");
            autofree char *text = environment_text(facts, &err);
            if (!text) fail_msg("%s: %s", path, err.message);
            environment_key(text, keys[k]);
        }
        bool same = strcmp(keys[0], keys[1]) == 0;
        static const char *const without[] = {"reference.cubin", "reference.folder", "reference.built",
                                              "reference.timeout"};
        bool matters = true;
        for (size_t k = 0; k < sizeof without / sizeof *without; k++) matters &= strcmp(path, without[k]) != 0;
        if (same == matters) fail_msg("%s %s", path, same ? "makes no difference" : "makes a difference");
    }
}

TEST_MAIN(NULL, NULL)
