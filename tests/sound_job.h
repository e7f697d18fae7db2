// A valid job, line by line, for tests that replace one of its lines. All tests of the program share one folder.
#pragma once

#include "tests/e2e.h"
#include "tests/loaded_job.h"

#include "tuner/base/memory.h"
#include "tuner/job/job.h"

static const char *const sound_lines[] = {
    /* 1 */ "name = \"t\";",
    /* 2 */ "kernel = { template = \"x.cu\"; entry = \"x\"; };",
    /* 3 */ // NOLINTNEXTLINE(bugprone-suspicious-missing-comma): one long line
    "parameters = ( { name = \"BLOCK\"; values = [32, 64]; }, { name = \"KIND\"; values = [\"a\", \"b\"]; }, { name = "
    "\"U\"; unroll = [0, 1, 4]; } );",
    /* 4 */ "derived = { DOUBLE = \"2 * BLOCK\"; };",
    /* 5 */ "constraints = ( \"DOUBLE <= 128\", \"KIND == \\\"a\\\" || BLOCK == 32\" );",
    /* 6 */ "problems = ( { N = 1000; } );",
    /* 7 */ "launch = { grid = [ \"ceil_div(N, BLOCK)\" ]; block = [ \"BLOCK\" ]; shared = \"4 * BLOCK\"; };",
    /* 8 */
    "arguments = ( { scalar = \"N\"; type = \"i32\"; }, { buffer = \"x\"; type = \"f32\"; shape = [\"N\"]; }, { buffer "
    "= \"r\"; type = \"f32\"; shape = [1]; direction = \"out\"; } );",
    /* 9 */ "reference = { operation = \"sum\"; result = \"r\"; n = \"N\"; };",
    /* 10 */ "work = { bytes = \"4 * N\"; };",
    /* 11 */ "budget = { time = \"1h\"; };",
    /* 12 */ "measure = { cache = \"cold\"; };",
    /* 13 */ "verification = { problems = ( { N = 7; } ); };",
};
enum { SOUND_LINES = sizeof sound_lines / sizeof *sound_lines };

static char *folder; // shared by all tests of a program
static char sound_path[128];

static inline void sound_setup(void)
{
    folder = e2e_folder("job");
    snprintf(sound_path, sizeof sound_path, "%s/job.cfg", folder);
    e2e_write(folder, "x.cu", "BLOCK KIND U\n");
}

static inline void sound_teardown(void)
{
}

// Writes the job with another text for one line (0: unchanged).
static inline void sound_write(int line, const char *text)
{
    FILE *file = fopen(sound_path, "w");
    assert_non_null(file);
    for (int i = 0; i < SOUND_LINES; i++) fprintf(file, "%s\n", i + 1 == line ? text : sound_lines[i]);
    fclose(file);
}

// Loads the job at sound_path, which must be valid. Freed after the test.
static inline struct job *sound_load(void)
{
    struct job *job;
    struct mistakes m = {0};
    if (job_load(sound_path, &job, &m)) fail_msg("%d: %s", m.list[0].line, m.list[0].text);
    return test_job(job);
}

// Loads the job like sound_load, and builds its space for an H200.
static inline struct job *sound_build(void)
{
    struct job *job = sound_load();
    struct error err;
    if (job_build_space(job, &device_limits_h200, &err)) fail_msg("%s", err.message);
    return job;
}

// Loads a job file and returns the number of reported mistakes, or 0 if none of them has this text at this line.
static inline size_t reports(const char *path, int line, const char *text)
{
    struct job *job;
    struct mistakes m = {0};
    bool found = false;
    int result = job_load(path, &job, &m);
    assert_int_equal(result, m.count ? -1 : 0);
    for (size_t k = 0; k < m.count; k++) found |= m.list[k].line == line && strstr(m.list[k].text, text);
    if (!found)
        for (size_t k = 0; k < m.count; k++) print_message("%d: %s\n", m.list[k].line, m.list[k].text);
    assert_true(!m.count == (job != NULL));
    size_t count = found ? m.count : 0;
    job_free(job);
    mistakes_release(&m);
    return count;
}

// Runs a command on the job. Expects exit status 2 and this message on stderr, or exit status 0 if the message is NULL.
static inline void sound_run(const char *command, const char *expected)
{
    struct e2e_result r = e2e_run(folder, "$BIN/sweetspot %s %s", command, sound_path);
    if (r.status != (expected ? 2 : 0)) fail_msg("status %d: %s%s", r.status, r.out, r.err);
    if (expected) assert_contains(r.err, expected);
}
