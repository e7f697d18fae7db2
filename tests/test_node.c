// Tests a node's agent by itself, by exchanging frames with it: its greeting, its workers, files sent to it, and its
// end.
#include "tests/e2e.h"

#include <poll.h>
#include <signal.h>

#include "tuner/base/child_process.h"
#include "tuner/base/installation.h"
#include "tuner/base/memory.h"
#include "tuner/base/output_file.h"
#include "tuner/node/node_file.h"
#include "tuner/node/node_frame.h"
#include "tuner/node/node_message.h"
#include "tuner/pool/pool_spec.h"

static struct error err; // from the last call that failed

struct agent {
    struct child child;
    struct byte_queue in;
    struct frame_writer out;
    char *folder;
};

// Writes pending frames, and waits for input.
static void turn(struct agent *a)
{
    assert_int_equal(frame_flush(&a->out, a->child.to), 0);
    struct pollfd p[2] = {{.fd = a->child.from, .events = POLLIN},
                          {.fd = a->child.to, .events = frame_pending(&a->out) ? POLLOUT : 0}};
    assert_true(poll(p, 2, 10000) > 0);
    if (p[0].revents) frame_read(&a->in, a->child.from);
}

// Returns the next frame that is not a heartbeat. The test fails if this frame does not have the type `type`.
static struct frame expect(struct agent *a, enum frame_type type)
{
    struct frame f;
    for (;;) {
        int got = frame_next(&a->in, &f, &err);
        assert_true(got >= 0);
        if (got && f.type == FRAME_BEAT) continue;
        if (got && f.type != type) fail_msg("frame '%c' in place of '%c': %s", f.type, type, f.data);
        if (got) return f;
        turn(a);
    }
}

static struct agent start(const char *option)
{
    struct agent a = {.folder = e2e_folder("node")};
    char *program = test_text("%s/sweetspot-node", e2e_bin()), *cache = test_text("%s/cache", a.folder), *line;
    char *argv[] = {program, "--cache", cache, (char *)(uintptr_t)option, NULL};
    assert_int_equal(child_start(&a.child, argv, NULL, false, &err), 0);
    for (int got = 0; got != 1 || !*line;) // an empty line precedes the greeting
        if (!(got = frame_next_line(&a.in, &line))) turn(&a);
    struct node_identity identity;
    struct arena memory = {NULL};
    if (node_identity_read(line, "here", &identity, &memory, &err)) fail_msg("%s", err.message);
    assert_true(identity.cores >= 1);
    arena_release(&memory);
    return a;
}

// Returns the agent's answer; a new reference.
static json_t *welcome(struct agent *a, const char *probe, const char *hash)
{
    autofree char *folder = text_join_path(".", ".");
    node_message_put(&a->out, FRAME_WELCOME, 0,
                     &(struct node_welcome){.folder = folder,
                                            .heartbeat = 0.05,
                                            .timeout = NAN,
                                            .env = &(struct record_named_text){"SWEETSPOT_GPU_WORKER", "/bin/cat"},
                                            .env_count = 1,
                                            .probes = &(struct node_probe){probe, hash},
                                            .probe_count = 1});
    return json_parse(expect(a, FRAME_READY).data, NULL);
}

static void begin_worker(struct agent *a, uint32_t channel)
{
    node_message_put(&a->out, FRAME_START, channel, &(struct node_start){&(const char *){"sweetspot-gpu"}, 1});
}

static void finish(struct agent *a)
{
    int status = -1;
    child_close(&a->child.to);
    for (int i = 0; i < 2000 && !child_ended(&a->child, &status); i++) {
        frame_read(&a->in, a->child.from);
        usleep(1000);
    }
    assert_int_equal(status, 0);
    child_close_all(&a->child);
    byte_queue_release(&a->in);
    frame_writer_release(&a->out);
}

TEST(long_lines_arrive_whole_and_beats_go_before_them)
{
    enum { SIZE = 8 << 20 };
    struct agent a = start("--private");
    json_decref(welcome(&a, "/nowhere", ""));
    autofree char *line = memory_new(SIZE, 1);
    for (size_t i = 0; i < SIZE; i++) line[i] = (char)('a' + i % 26);
    line[SIZE - 1] = '\n';
    begin_worker(&a, 7);
    frame_put(&a.out, FRAME_INPUT, 7, line, SIZE);
    size_t got = 0, heartbeats = 0;
    while (frame_pending(&a.out)) { // output stays unread until a heartbeat is due
        assert_int_equal(frame_flush(&a.out, a.child.to), 0);
        usleep(1000);
    }
    usleep(200000);
    while (got < SIZE) {
        struct frame f;
        while (frame_next(&a.in, &f, &err) > 0) {
            heartbeats += f.type == FRAME_BEAT;
            if (f.type != FRAME_OUTPUT) continue;
            assert_int_equal(f.channel, 7);
            assert_memory_equal(f.data, line + got, f.size);
            got += f.size;
        }
        if (got < SIZE) turn(&a);
    }
    assert_true(heartbeats);
    frame_put(&a.out, FRAME_END_INPUT, 7, NULL, 0);
    json_t *exit = test_json(json_parse(expect(&a, FRAME_EXIT).data, NULL));
    assert_int_equal(json_get_integer(exit, "status", -1), 0);
    finish(&a);
}

// Otherwise the agent would keep the whole line in memory.
TEST(a_line_that_is_too_long_is_carried_before_it_ends)
{
    enum { SIZE = 32 << 20 };
    struct agent a = start("--private");
    json_decref(welcome(&a, "/nowhere", ""));
    autofree char *bytes = memory_new(SIZE, 1);
    memset(bytes, 'x', SIZE);
    begin_worker(&a, 7);
    frame_put(&a.out, FRAME_INPUT, 7, bytes, SIZE);
    size_t got = 0;
    while (got < SIZE - (8 << 20)) got += expect(&a, FRAME_OUTPUT).size;
    frame_put(&a.out, FRAME_INPUT, 7, "\nshort\n", 7);
    struct frame f;
    do f = expect(&a, FRAME_OUTPUT);
    while ((got += f.size) < SIZE + 7);
    assert_int_equal(got, SIZE + 7);
    assert_string_equal(f.data, "short\n");
    finish(&a);
}

TEST(workers_end_with_the_pipe_and_a_cut_frame_is_none)
{
    struct agent a = start("--private");
    json_decref(welcome(&a, "/nowhere", ""));
    begin_worker(&a, 1);
    begin_worker(&a, 2);
    frame_put(&a.out, FRAME_INPUT, 1, "ready\n", 6);
    assert_string_equal(expect(&a, FRAME_OUTPUT).data, "ready\n");
    struct e2e_result r = e2e_run(a.folder, "%s", test_text("pgrep -P %ld -x cat | wc -l", (long)a.child.pid));
    assert_string_equal(r.out, "2\n");
    // The beginning of a line for worker 2, and then the end of the pipe.
    frame_put(&a.out, FRAME_INPUT, 2, "never\n", 6);
    struct frame_writer cut = a.out;
    a.out = (struct frame_writer){0};
    int ends[2];
    assert_int_equal(pipe(ends), 0);
    frame_flush(&cut, ends[1]);
    char bytes[64];
    ssize_t n = read(ends[0], bytes, sizeof bytes);
    assert_int_equal(write(a.child.to, bytes, (size_t)n - 3), n - 3);
    frame_writer_release(&cut);
    close(ends[0]);
    close(ends[1]);
    pid_t agent = a.child.pid;
    child_close(&a.child.to);
    int status = -1;
    struct frame f;
    for (int i = 0; i < 2000 && !child_ended(&a.child, &status); i++) {
        frame_read(&a.in, a.child.from);
        while (frame_next(&a.in, &f, &err) > 0) assert_int_not_equal(f.type, FRAME_OUTPUT);
        usleep(1000);
    }
    assert_int_equal(status, 0);
    r = e2e_run(a.folder, "pgrep -P %ld | wc -l", (long)agent);
    assert_string_equal(r.out, "0\n");
    child_close_all(&a.child);
    byte_queue_release(&a.in);
}

TEST(how_a_worker_ended_or_stopped_is_told)
{
    struct agent a = start("--private");
    json_decref(welcome(&a, "/nowhere", ""));
    begin_worker(&a, 1);
    frame_put(&a.out, FRAME_INPUT, 1, "ready\n", 6);
    expect(&a, FRAME_OUTPUT);
    char *line = test_text("pkill -STOP -P %ld", (long)a.child.pid);
    assert_int_equal(system(line), 0);
    json_t *reported = test_json(json_parse(expect(&a, FRAME_STATE).data, NULL));
    assert_true(json_get_bool(reported, "stopped", false));
    line = test_text("pkill -KILL -P %ld", (long)a.child.pid);
    assert_int_equal(system(line), 0);
    reported = test_json(json_parse(expect(&a, FRAME_EXIT).data, NULL));
    int status = (int)json_get_integer(reported, "status", 0);
    assert_true(WIFSIGNALED(status));
    assert_int_equal(WTERMSIG(status), SIGKILL);
    assert_false(json_get_bool(reported, "killed", true));
    // This is not one of an agent's programs.
    node_message_put(&a.out, FRAME_START, 2, &(struct node_start){&(const char *){"/bin/sh"}, 1});
    assert_contains(expect(&a, FRAME_ERRORS).data, "'/bin/sh' is not one of the programs of an agent");
    reported = test_json(json_parse(expect(&a, FRAME_EXIT).data, NULL));
    assert_int_equal(WEXITSTATUS((int)json_get_integer(reported, "status", 0)), 3);
    finish(&a);
}

static void send_file(struct agent *a, const char *name, const char *hash, const char *bytes, int64_t size)
{
    node_message_put(&a->out, FRAME_FILE, 0, &(struct node_file){.name = name, .hash = hash, .size = size});
    frame_put_data(&a->out, bytes, strlen(bytes));
}

TEST(files_have_their_name_when_their_content_is_right)
{
    char hash[HASH_TEXT_SIZE], right[HASH_TEXT_SIZE];
    hash_content("abc", 3, right);
    static const struct {
        const char *name, *bytes, *trouble;
        int64_t size;
    } cases[] = {
        {"files/ab/x.cubin", "abc", NULL, 3},
        {"trees/1/a/b/x.h", "abc", NULL, 3},
        {"files/ab/y", "abd", "was changed on its way", 3},
        {"files/../../y", "abc", "outside of the cache", 3},
        {"/etc/y", "abc", "outside of the cache", 3},
        {"files/..", "abc", "outside of the cache", 3},
        {"files/z", "abcd", "bytes that belong to no file", 3},
        {"files/z", "abc", "without size or hash", -1},
    };
    struct agent a = start("--private");
    json_decref(welcome(&a, "/nowhere", ""));
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char *path = test_text("%s/cache/%s", a.folder, cases[i].name);
        int64_t size;
        send_file(&a, cases[i].name, right, cases[i].bytes, cases[i].size);
        if (cases[i].trouble) {
            assert_contains(expect(&a, FRAME_TROUBLE).data, cases[i].trouble);
            assert_int_not_equal(node_file_hash(path, hash, &size, NULL), 0);
        } else {
            // An answer to a later request shows that the file has arrived.
            begin_worker(&a, (uint32_t)i + 1);
            frame_put(&a.out, FRAME_INPUT, (uint32_t)i + 1, "\n", 1);
            expect(&a, FRAME_OUTPUT);
            assert_int_equal(node_file_hash(path, hash, &size, NULL), 0);
            assert_string_equal(hash, right);
        }
    }
    finish(&a);
}

// The driver uses the hash as a file name.
TEST(what_is_no_hash_is_refused_before_anything_is_written)
{
    struct node_arrival a = {.fd = -1};
    char *folder = e2e_folder("arrival"), *path = test_text("%s/file", folder);
    assert_int_equal(node_arrival_begin(&a, path, "../../../../../../../../../../..", 3, &err), -1);
    assert_contains(err.message, "without size or hash");
    assert_null(a.path);
}

TEST(a_cache_that_others_could_change_is_refused)
{
    static const struct {
        const char *make, *message;
    } cases[] = {
        {"mkdir there; ln -s there cache", "is a symbolic link"},
        {"mkdir -m 777 cache", "other users can write to"},
        {"mkdir -m 770 cache", "other users can write to"},
        {": >cache", "cannot"},
        {":", NULL},
        {"mkdir -m 755 cache", NULL},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char *folder = e2e_folder("node_cache");
        struct e2e_result r = e2e_run(folder,
                                      "cd $DIR; umask 0; %s\n$BIN/sweetspot-node --cache cache </dev/null >greeting\n"
                                      "echo status $?; stat -Lc 'mode %%a' cache",
                                      cases[i].make);
        assert_contains(r.out, cases[i].message ? "status 3" : "status 0");
        if (cases[i].message) assert_contains(r.err, cases[i].message);
        if (!strcmp(cases[i].make, ":")) assert_contains(r.out, "mode 700");
    }
}

// The driver sends the files that the agent does not report, and uses those that it reports.
TEST(only_files_with_the_right_content_are_told)
{
    enum { SIZE = 1 << 20 };
    char hash[HASH_TEXT_SIZE], *bytes = memory_new(SIZE + 1, 1);
    memset(bytes, 'x', SIZE);
    hash_content(bytes, SIZE, hash);
    struct agent a = start("--private");
    for (int damaged = 0; damaged < 2; damaged++) {
        char *name = damaged ? text_copy("cache/files/00/00000000000000000000000000000000.cubin")
                             : text_format("cache/files/%.2s/%s.cubin", hash, hash),
             *path = test_text("%s/%s", a.folder, name);
        assert_int_equal(output_make_folders(path, NULL), 0);
        e2e_write(a.folder, name, bytes);
        free(name);
    }
    json_t *ready = test_json(welcome(&a, "/nowhere", "")), *have = json_object_get(ready, "have");
    assert_int_equal(json_array_size(have), 1);
    assert_contains(json_string_value(json_array_get(have, 0)), hash);
    free(bytes);
    finish(&a);
}

TEST(who_sees_the_drivers_files_is_told_by_their_content)
{
    char hash[HASH_TEXT_SIZE];
    hash_content("token", 5, hash);
    static const struct {
        const char *option, *text;
        bool shared;
    } cases[] = {{NULL, "token", true}, {NULL, "another", false}, {"--private", "token", false}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct agent a = start(cases[i].option);
        e2e_write(a.folder, "token", cases[i].text);
        char *here = test_owned(text_join_path(".", a.folder)), *path = test_text("%s/token", here);
        json_t *ready = test_json(welcome(&a, path, hash));
        assert_int_equal(json_get_bool(ready, "shared", !cases[i].shared), cases[i].shared);
        finish(&a);
    }
}

TEST(greetings_of_others_are_refused_with_what_they_are)
{
    char own[HASH_TEXT_SIZE];
    node_identity_programs(own);
    const struct {
        const char *line, *message;
    } cases[] = {
        {NODE_GREETING "2 {}", "node gpu07 uses version 2 of the protocol, this program uses version 1"},
        {NODE_GREETING "1 {\"version\":\"0.0\",\"program\":\"abcdefghij\"}",
         "node gpu07 runs sweetspot 0.0 (program abcdefgh), this is sweetspot " SWEETSPOT_VERSION " (program "},
        {NODE_GREETING "1 nonsense", "node gpu07"},
        {NODE_GREETING "1 {\"version\":\"" SWEETSPOT_VERSION "\"}", "(program ?), this is"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct node_identity identity;
        struct arena memory = {NULL};
        assert_int_equal(node_identity_read(cases[i].line, "gpu07", &identity, &memory, &err), -1);
        arena_release(&memory);
        assert_contains(err.message, cases[i].message);
    }
}

TEST(slurms_lists_of_numbers_are_read)
{
    assert_int_equal(pool_slurm_count("32(x2),16", 0), 32);
    assert_int_equal(pool_slurm_count("32(x2),16", 1), 32);
    assert_int_equal(pool_slurm_count("32(x2),16", 2), 16);
    assert_int_equal(pool_slurm_count("32(x2),16", 3), 0);
    assert_int_equal(pool_slurm_count("4", 0), 4);
    assert_int_equal(pool_slurm_count(NULL, 0), 0);
    assert_int_equal(pool_slurm_count("x", 0), 0);
}

static void ignore_broken_pipes(void)
{
    signal(SIGPIPE, SIG_IGN);
}

TEST_MAIN(ignore_broken_pipes, NULL)
