// For tests: a job with two parameters, X and MODE, which the driver tunes on scripted workers (fake_worker.c). A
// candidate's MODE says what its worker does; the best X is 7.
#pragma once

#include "tests/scripted.h"

#include "tests/opened_store.h"
#include "tuner/base/protocol.h"

#define SWEETSPOT SCRIPTED "$BIN/sweetspot "

// Makes the folder and writes job.cfg with these values of X and MODE, such as "5, 7" and "\"good\", \"wrong\"".
static inline char *job_folder(const char *name, const char *xs, const char *modes)
{
    char *folder = e2e_folder(name);
    char *parameters = test_text("{ name = \"X\"; values = [%s]; }, { name = \"MODE\"; values = [%s]; }", xs, modes);
    SCRIPTED_JOB(folder, .parameters = parameters, .block = "512",
                 .more = "measure = { timeout = \"60s\"; final = { candidates = 3; rounds = 10; }; };\n"
                         "compile = { timeout = \"1s\"; }; strategy = \"exhaustive\";");
    return folder;
}

// Sets a trial's timeout, for tests of answers that come too late. In other tests a trial may take a minute, so that a
// busy machine does not matter.
static inline void set_timeout(const char *folder, const char *time)
{
    e2e_pass(folder, "sed -i 's/measure = { timeout = \"[0-9]*s\"/measure = { timeout = \"%s\"/' $DIR/job.cfg", time);
}

// "0, 1, 2", and so on up to `count` numbers. malloc'ed.
static inline char *numbers(int count)
{
    struct text list = {0};
    for (int i = 0; i < count; i++) text_add(&list, "%s%d", i ? ", " : "", i);
    return list.text;
}

// Tunes with the store job.db and fails unless the exit status is `status`. `before` sets shell variables.
static inline struct e2e_result tune_to(int status, const char *folder, const char *before, const char *options)
{
    struct e2e_result r =
        e2e_run(folder, "export FAKE_LOG=$DIR/measured; %s " SWEETSPOT "tune $DIR/job.cfg --store $DIR/job.db -q %s",
                before, options);
    if (r.status != status) fail_msg("status %d, expected %d: %s", r.status, status, r.err);
    return r;
}

static inline void tune(const char *folder, const char *before, const char *options)
{
    tune_to(0, folder, before, options);
}

// Returns the content of a file in the folder (malloc'ed). The file must exist.
static inline char *folder_file(const char *folder, const char *name)
{
    char *path = test_text("%s/%s", folder, name), *text = text_read_file(path, NULL);
    if (!text) fail_msg("there is no '%s'", path);
    return text;
}

// The configurations measured since the last call, one per line. malloc'ed.
static inline char *newly_measured(const char *folder)
{
    char *text = folder_file(folder, "measured"), *path = test_text("%s/measured", folder);
    unlink(path);
    return text;
}

// The number of lines of a string that begin with `beginning`.
static inline size_t count_lines(const char *text, const char *beginning)
{
    size_t n = 0, length = strlen(beginning);
    for (const char *p = text; p && *p; p = strchr(p, '\n') ? strchr(p, '\n') + 1 : NULL)
        n += !strncmp(p, beginning, length);
    return n;
}

static inline size_t lines_measured(const char *folder)
{
    size_t n = count_lines(test_owned(folder_file(folder, "measured")), "");
    return n;
}

static inline int64_t stored_count(const char *folder, enum trial_status status)
{
    struct store *store = opened_store("%s/job.db", folder);
    int64_t counts[STATUS_COUNT];
    struct error err;
    assert_int_equal(store_counts(store, counts, &err), 0);
    store_close(store);
    return counts[status];
}

// Fails unless the trial has this status and its reason contains this text.
static inline void expect_stored(const char *folder, const char *config, enum trial_status status, const char *reason)
{
    struct store *store = opened_store("%s/job.db", folder);
    struct error err;
    struct trial t;
    if (store_find(store, config, &t, &err)) fail_msg("%s is not in the store", config);
    if (t.status != status || !strstr(t.reason, reason))
        fail_msg("%s is %s (%s), expected %s (%s)", config, status_name(t.status), t.reason, status_name(status),
                 reason);
    store_close(store);
}
