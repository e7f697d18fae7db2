// sweetspot judge --serve with a scripted worker: requests do not influence each other, and no client can do harm.
#include "tests/e2e.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/un.h>

#include "tuner/base/child_process.h"
#include "tuner/base/clock.h"

#define JOB(timeout)                                                                                                  \
    "name = \"fake\"; kernel = { template = \"x.cu\"; entry = \"x\"; };\n"                                            \
    "parameters = ( { name = \"X\"; values = [1, 2, 7]; }, { name = \"MODE\"; values = [ \"good\", \"wrong\", "       \
    "\"out_of_bounds\", \"hang\", \"abort\", \"says_crashed\", \"compile_error\", \"compile_crash\", \"registers\", " \
    "\"final_wrong\", \"final_crash\", \"count_crash\", \"flood\", \"sanitize_memcheck\", \"other_word\", "           \
    "\"restart\" ]; } );\nproblems = ( { N = 1024; } );\n"                                                            \
    "launch = { grid = [\"N\"]; block = [512]; };\n"                                                                  \
    "arguments = ( { buffer = \"y\"; type = \"f32\"; shape = [\"N\"]; direction = \"out\"; } );\n"                    \
    "measure = { timeout = \"" timeout "\"; final = { candidates = 2; rounds = 10; }; };\n"                           \
    "reference = { kernel = \"x\"; launch = { grid = [\"N\"]; block = [512]; }; };\n"

static char *make_folder(const char *name)
{
    char *folder = e2e_folder(name), *top = test_owned(getcwd(NULL, 0)),
         *worker = test_text("%s/fake_worker", e2e_bin());
    setenv("SWEETSPOT_GPU_WORKER", worker, 1);
    setenv("SWEETSPOT_COMPILE_WORKER", worker, 1);
    setenv("SWEETSPOT_SANITIZER", test_text("%s/tests/fake_sanitizer.sh", top), 1);
    setenv("TMPDIR", test_text("%s/%s/tmp", top, folder), 1);
    e2e_pass(folder, "mkdir $DIR/tmp $DIR/inner");
    e2e_write(folder, "job.cfg", JOB("1s"));
    e2e_write(folder, "patient.cfg", JOB("100s"));
    e2e_write(folder, "broken.cfg", "name = ;\n");
    e2e_write(folder, "x.cu", "extern \"C\" __global__ void x(float *y) {} // X MODE\n");
    e2e_write(folder, "other.cu",
              "#include \"inner/near.h\"\nextern \"C\" __global__ void other(float *y) {} // X MODE\n");
    e2e_write(folder, "inner/near.h", "#include \"../far.h\"\n");
    e2e_write(folder, "far.h", "\n");
    e2e_write(folder, "leak.cu", "#include \"/etc/passwd\"\nextern \"C\" __global__ void x(float *y) {} // X MODE\n");
    assert_int_equal(symlink("/etc/passwd", test_text("%s/link.cu", folder)), 0);
    return folder;
}

// Fails if a request's folder is left behind.
static void expect_tidy(const char *folder)
{
    struct e2e_result r = e2e_run(folder, "ls $DIR/tmp");
    assert_string_equal(r.out, "");
}

// Two hundred requests ------------------------------------------------------------------------------------------------

// A request, and either the command line for the same judgement or a part of the expected error.
static const struct {
    const char *request, *options, *error;
} kinds[] = {
    {"\"set\":{\"X\":1}", "job.cfg --set X=1", NULL},
    {"\"set\":{\"MODE\":\"wrong\"}", "job.cfg --set MODE=wrong", NULL},
    {"\"set\":{\"X\":2}", "job.cfg --set X=2", NULL},
    {"\"set\":{\"MODE\":\"abort\"}", "job.cfg --set MODE=abort", NULL},
    {"\"set\":{\"X\":\"7\",\"MODE\":\"good\"}", "job.cfg --set X=7,MODE=good", NULL},
    {"\"set\":{\"MODE\":\"says_crashed\"}", "job.cfg --set MODE=says_crashed", NULL},
    {"\"implementation\":\"other.cu\",\"entry\":\"other\"", "job.cfg --implementation other.cu --entry other", NULL},
    {"\"set\":{\"MODE\":\"compile_crash\"}", NULL, "killed by signal"},
    {"\"counters\":false", "job.cfg", NULL},
    {"\"set\":{\"MODE\":\"other_word\"}", NULL, "the GPU worker answered 'excellent'"},
    {"\"set\":{\"MODE\":\"restart\"}", "job.cfg --set MODE=restart", NULL},
    {"\"set\":{\"MODE\":\"flood\"}", "job.cfg --set MODE=flood", NULL},
    {"\"set\":{\"X\":2,\"MODE\":\"good\"}", "job.cfg --set X=2,MODE=good", NULL},
    {"\"set\":{\"MODE\":\"final_crash\"}", "job.cfg --set MODE=final_crash", NULL},
    {"\"entry\":\"x\"", "job.cfg --entry x", NULL},
    {"\"implementation\":\"leak.cu\"", NULL, "it includes \"/etc/passwd\", which is not below"},
    {"\"set\":{\"X\":7}", "job.cfg --set X=7", NULL},
    {"\"set\":{\"MODE\":\"final_wrong\"}", "job.cfg --set MODE=final_wrong", NULL},
    {"\"set\":{\"MODE\":\"registers\"}", "job.cfg --set MODE=registers", NULL},
    {"\"set\":{\"X\":3}", NULL, "X cannot be 3"},
};
enum { KINDS = sizeof kinds / sizeof *kinds, REQUESTS = 200 };

// The document without its seed. Only the seed differs between two judgements of one kernel.
static char *plain(json_t *document)
{
    json_object_set_new(document, "seed", json_null());
    return test_owned(json_dumps(document, JSON_COMPACT | JSON_SORT_KEYS));
}

TEST(two_hundred_requests_half_of_them_hostile_do_not_influence_each_other)
{
    char *folder = make_folder("serve_many"), *expected[KINDS] = {NULL};
    struct text requests = {0};
    struct error err;
    int answered[KINDS] = {0};
    for (size_t i = 0; i < KINDS; i++) {
        if (!kinds[i].options) continue;
        struct e2e_result r =
            e2e_in(folder, "SWEETSPOT_SANITIZER=none %s $BIN/sweetspot judge %s -f json --cache cache",
                   strstr(kinds[i].request, "\"counters\":false") ? "SWEETSPOT_COUNTERS=none" : "", kinds[i].options);
        json_t *document = json_parse(r.out, &err);
        if (!document) fail_msg("%s: %s%s", kinds[i].options, r.out, r.err);
        expected[i] = plain(test_json(document));
    }
    for (int i = 0; i < REQUESTS; i++)
        text_add(&requests, "{\"id\":%d,\"job\":\"job.cfg\",\"sanitize\":false,%s}\n", i, kinds[i % KINDS].request);
    e2e_write(folder, "requests", requests.text);
    text_release(&requests);
    struct e2e_result r = e2e_passed(e2e_in(folder, "$BIN/sweetspot judge --serve --cache cache <requests"));
    for (char *line = strtok(r.out, "\n"); line; line = strtok(NULL, "\n")) {
        json_t *answer = test_json(json_parse(line, &err)), *judgement = json_object_get(answer, "judgement");
        size_t kind = (size_t)json_get_integer(answer, "id", -1) % KINDS;
        const char *error = json_get_string(answer, "error", "");
        answered[kind]++;
        if (!kinds[kind].options != !judgement) fail_msg("%s: %s", kinds[kind].request, line);
        if (judgement)
            assert_string_equal(plain(judgement), expected[kind]);
        else
            assert_contains(error, kinds[kind].error);
    }
    for (size_t i = 0; i < KINDS; i++) assert_int_equal(answered[i], REQUESTS / KINDS);
    expect_tidy(folder);
}

// A server and its clients --------------------------------------------------------------------------------------------

struct served {
    char *folder, *path;
    struct child child;
};

static void release(void *what)
{
    struct child *c = what;
    int status;
    child_kill(c, &status);
    child_close_all(c);
    free(c);
}

static struct served serve_in(char *folder)
{
    struct served s = {.folder = folder, .path = test_text("%s/s", folder)};
    struct child *c = memory_new(1, sizeof *c);
    struct error err;
    struct stat there = {0};
    char *argv[] = {test_text("%s/sweetspot", e2e_bin()), "judge", "--serve", "s", "--cache", "cache", NULL};
    char *absolute = test_owned(realpath(argv[0], NULL));
    argv[0] = absolute;
    if (child_start(c, argv, folder, false, &err)) fail_msg("%s", err.message);
    testing_later(release, c);
    s.child = *c;
    for (int i = 0; i < 1000 && stat(s.path, &there); i++) usleep(10000);
    assert_true(S_ISSOCK(there.st_mode));
    assert_int_equal(there.st_mode & 0777, 0600);
    return s;
}

static int join(const struct served *s)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    struct timeval patience = {.tv_sec = 60};
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    snprintf(address.sun_path, sizeof address.sun_path, "%s", s->path);
    for (int i = 0; i < 100 && connect(fd, (struct sockaddr *)&address, sizeof address); i++) usleep(10000);
    setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
    return fd;
}

static void say(int fd, const char *text)
{
    assert_int_equal(send(fd, text, strlen(text), MSG_NOSIGNAL), strlen(text));
}

// The next line from the server; NULL at the end. Reads byte by byte, so that later lines stay in the socket.
static json_t *hear(int fd)
{
    autorelease(text_release) struct text line = {0};
    struct error err;
    char c;
    ssize_t n;
    while ((n = recv(fd, &c, 1, 0)) == 1 && c != '\n') text_add(&line, "%c", c);
    if (n != 1) return NULL;
    json_t *answer = json_parse(line.text, &err);
    if (!answer) fail_msg("%s", err.message);
    return test_json(answer);
}

static const char *error_of(json_t *answer)
{
    return json_get_string(answer, "error", "");
}

static const char *status_of(json_t *answer)
{
    return json_get_string(json_object_get(answer, "judgement"), "status", error_of(answer));
}

static void expect_service(const struct served *s)
{
    int fd = join(s);
    say(fd, "{\"id\":[1],\"job\":\"job.cfg\",\"sanitize\":false}\n");
    json_t *answer = hear(fd);
    assert_string_equal(status_of(answer), "ok");
    assert_true(json_is_array(json_object_get(answer, "id")));
    close(fd);
}

__attribute__((unused)) static long most_memory(const struct served *s)
{
    char *status = test_file("/proc/%d/status", (int)s->child.pid), *peak = strstr(status, "VmHWM:");
    assert_non_null(peak);
    return atol(peak + strlen("VmHWM:")); // kB
}

// Lists up to `most` children of a process.
static size_t children_of(pid_t pid, pid_t *to, size_t most)
{
    char *text = test_owned(text_read_file(test_text("/proc/%d/task/%d/children", (int)pid, (int)pid), NULL));
    size_t count = 0;
    for (char *at = text ? text : "", *end; count < most; at = end) {
        long one = strtol(at, &end, 10);
        if (end == at) break;
        to[count++] = (pid_t)one;
    }
    return count;
}

static bool is_there(pid_t pid)
{
    char *text = text_read_file(test_text("/proc/%d/stat", (int)pid), NULL), *name = text ? strchr(text, ')') : NULL;
    bool alive = name && name[2] != 'Z';
    free(text);
    return alive;
}

TEST(a_socket_has_one_server_and_is_removed_with_it)
{
    struct served s = serve_in(make_folder("serve_socket"));
    pid_t spare[4], workers[4];
    expect_service(&s);
    struct e2e_result r = e2e_ended(2, e2e_in(s.folder, "$BIN/sweetspot judge --serve s"));
    assert_contains(r.err, "'s' is in use");
    r = e2e_ended(2, e2e_in(s.folder, "$BIN/sweetspot judge --serve job.cfg")); // no socket
    assert_contains(r.err, "'job.cfg' is in use");
    expect_service(&s);
    kill(s.child.pid, SIGKILL);
    while (is_there(s.child.pid)) usleep(10000);
    assert_int_equal(access(s.path, F_OK), 0);
    s = serve_in(s.folder); // the file was left behind
    usleep(200000);
    expect_service(&s);
    for (int i = 0; i < 1000 && children_of(s.child.pid, spare, 4) != 1; i++) usleep(10000);
    size_t count = children_of(spare[0], workers, 4);
    int fd = join(&s), status;
    say(fd, "{\"job\":\"patient.cfg\",\"sanitize\":false,\"set\":{\"MODE\":\"hang\"}}\n");
    usleep(300000);
    kill(s.child.pid, SIGTERM);
    assert_null(hear(fd));
    assert_int_equal(waitpid(s.child.pid, &status, 0), s.child.pid);
    assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 143);
    assert_int_equal(access(s.path, F_OK), -1);
    for (size_t i = 0; i < count; i++) assert_false(is_there(workers[i]));
    assert_false(is_there(spare[0]));
    close(fd);
    e2e_pass(s.folder, "rm -rf $DIR/tmp/*"); // left by the killed server
}

TEST(files_outside_the_folder_are_refused)
{
    static const struct {
        const char *request, *error;
    } cases[] = {
        {"{\"job\":\"/etc/passwd\"}", "'/etc/passwd' is not a file below"},
        {"{\"job\":\"../../../Makefile\"}", "'../../../Makefile' is not a file below"},
        {"{\"job\":\"inner/../../../../Makefile\"}", "is not a file below"},
        {"{\"job\":\"configs/sgemm.cfg\"}", "is not a file below"},
        {"{\"job\":\"nothing.cfg\"}", "is not a file below"},
        {"{\"job\":\"job.cfg\",\"implementation\":\"link.cu\"}", "'link.cu' is not a file below"},
        {"{\"job\":\"job.cfg\",\"source\":\"#include </etc/passwd>\\n// X MODE\"}", "includes </etc/passwd>"},
        {"{\"job\":\"job.cfg\",\"source\":\"#include \\\"../../job.cfg\\\"\\n// X MODE\"}", NULL},
        {"{\"job\":\"job.cfg\",\"source\":\"x\",\"implementation\":\"x.cu\"}", "not both"},
        {"{\"job\":\"job.cfg\",\"implementation\":\"f.so\",\"entry\":\"f\"}", "a request must not contain host code"},
        {"{\"job\":\"job.cfg\",\"folder\":\"/\"}", "unknown member 'folder'"},
        {"{\"job\":\"broken.cfg\"}", "broken.cfg:1: "},
        {"{\"job\":7}", "'job' of a request"},
        {"{\"set\":{}}", "'job' of a request is missing"},
        {"[\"job.cfg\"]", "a request is not an object"},
        {"{\"job\":\"job.cfg\",\"time\":601}", "'time' of a request"},
        {"{\"job\":\"job.cfg\"", "not JSON"},
        {"{\"job\":\"job.cfg\",\"job\":\"x.cfg\"}", "not JSON"},
        {"\\xff\\xfe", "not JSON"},
        {"{\"job\":\"job.cfg\",\"source\":\"extern \\\"C\\\" __global__ void x(float *y) {} // X MODE\"}", NULL},
        {"{\"job\":\"nvcc.cfg\"}", NULL},
        {"{\"job\":\"job.cfg\"}", NULL},
    };
    char *folder = make_folder("serve_paths");
    e2e_pass(folder,
             "sed 's/entry = /compiler = \"nvcc\"; &/' $DIR/job.cfg >$DIR/nvcc.cfg; grep -q nvcc $DIR/nvcc.cfg && echo "
             "'int f(void) { return 0; }' | cc -shared -fPIC -x c - -o $DIR/f.so");
    setenv("FAKE_NVCC", "1", 1);
    struct served s = serve_in(folder);
    unsetenv("FAKE_NVCC");
    int fd = join(&s);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        say(fd, test_text("\n%s\r\n", cases[i].request));
        json_t *answer = hear(fd);
        if (cases[i].error)
            assert_contains(error_of(answer), cases[i].error);
        else
            assert_string_equal(status_of(answer), "ok");
    }
    assert_false(json_is_null(
        json_object_get(json_object_get(hear((say(fd, "{\"job\":\"job.cfg\"}\n"), fd)), "judgement"), "sanitizer")));
    close(fd);
}

TEST(a_client_that_disconnects_takes_its_requests_with_it)
{
    struct served s = serve_in(make_folder("serve_gone"));
    static const char request[] = "{\"job\":\"patient.cfg\",\"sanitize\":false,\"set\":{\"MODE\":\"hang\"}}\n";
    double begun = clock_now();
    int fd = join(&s), half = join(&s);
    for (int i = 0; i < 30; i++) say(fd, request);
    usleep(300000); // the first is in progress
    close(fd);
    expect_service(&s);
    say(half, "{\"id\":5,\"job\":\"job.cfg\",\"sanitize\":false}"); // it closes its side, but still listens
    shutdown(half, SHUT_WR);
    assert_int_equal(json_get_integer(hear(half), "id", 0), 5);
    assert_null(hear(half));
    close(half);
    assert_true(clock_now() - begun < 60);
}

// This includes a process that a tool has started and that outlives the tool.
TEST(a_request_that_is_late_ends_with_all_that_it_started)
{
    char *folder = make_folder("serve_late"), *file = test_text("%s/child", folder);
    setenv("FAKE_SANITIZER_HANG", "memcheck", 1);
    setenv("FAKE_SANITIZER_CHILD", test_text("%s/child", (char *)test_owned(realpath(folder, NULL))), 1);
    struct served s = serve_in(folder);
    unsetenv("FAKE_SANITIZER_HANG");
    int fd = join(&s);
    say(fd, "{\"job\":\"patient.cfg\",\"time\":4}\n");
    assert_contains(error_of(hear(fd)), "no verdict within 4 s");
    pid_t tool = (pid_t)atoi(test_file("%s", file)), left[8];
    assert_true(tool > 0);
    for (int i = 0; i < 200 && is_there(tool); i++) usleep(10000);
    assert_false(is_there(tool));
    for (int i = 0; i < 200 && children_of(s.child.pid, left, 8) != 1; i++) usleep(10000);
    assert_int_equal(children_of(s.child.pid, left, 8), 1); // the spare process
    expect_service(&s);
    close(fd);
}

TEST(a_spare_process_whose_workers_were_killed_judges_all_the_same)
{
    struct served s = serve_in(make_folder("serve_killed"));
    pid_t spare[4], workers[4];
    for (int i = 0; i < 1000 && !(children_of(s.child.pid, spare, 4) == 1 && children_of(*spare, workers, 4) == 2); i++)
        usleep(10000);
    assert_int_equal(children_of(*spare, workers, 4), 2);
    usleep(300000);
    kill(workers[0], SIGKILL);
    kill(workers[1], SIGKILL);
    expect_service(&s);
    for (int i = 0; i < 1000 && children_of(s.child.pid, spare, 4) != 1; i++) usleep(10000);
    kill(*spare, SIGKILL);
    usleep(300000);
    expect_service(&s);
}

TEST(a_line_of_a_gigabyte_is_refused_and_memory_stays_bounded)
{
    struct served s = serve_in(make_folder("serve_long"));
    int fd = join(&s), deaf = join(&s);
    size_t sent = 0, piece = 1 << 20;
    char *bytes = test_owned(memory_new(piece, 1));
    memset(bytes, 'x', piece);
    for (ssize_t n = 0; sent < (size_t)1 << 30 && n >= 0; sent += n > 0 ? (size_t)n : 0)
        n = send(fd, bytes, piece, MSG_NOSIGNAL);
    assert_true(sent < (size_t)16 << 20);
    assert_contains(error_of(hear(fd)), "a line of more than 1 MiB");
    assert_null(hear(fd));
    close(fd);
    // Answers that are never read.
    for (size_t i = 1; i < piece; i += 2) bytes[i] = '\n';
    fcntl(deaf, F_SETFL, O_NONBLOCK);
    double until = clock_now() + 60;
    for (ssize_t n = 0; (n >= 0 || errno == EAGAIN) && clock_now() < until;) n = send(deaf, bytes, piece, MSG_NOSIGNAL);
    assert_true(clock_now() < until);
    close(deaf);
    expect_service(&s);
#ifndef __SANITIZE_ADDRESS__
    assert_true(most_memory(&s) < 128 << 10);
#endif
}

TEST(the_server_takes_no_other_options)
{
    char *folder = make_folder("serve_options");
    struct e2e_result r = e2e_ended(2, e2e_in(folder, "$BIN/sweetspot judge --serve --entry x"));
    assert_contains(r.err, "--serve accepts no options other than --device and --cache");
    r = e2e_ended(2, e2e_in(folder, "$BIN/sweetspot judge"));
    assert_contains(r.err, "JOB is missing");
    r = e2e_ended(2, e2e_in(folder, "$BIN/sweetspot judge -"));
    assert_contains(r.err, "not JSON");
    setenv("FAKE_ENVIRONMENT", "no CUDA driver", 1);
    r = e2e_passed(e2e_in(folder, "echo '{\"job\": \"job.cfg\"}' | $BIN/sweetspot judge --serve -"));
    unsetenv("FAKE_ENVIRONMENT");
    assert_contains(r.out, "{\"id\":null,\"error\":\"sweetspot: ", "no CUDA driver");
    expect_tidy(folder);
}

// The text of a tool's answer, which must be an error if `failed`.
static const char *tool_text(const json_t *answer, bool failed)
{
    const json_t *result = json_object_get(answer, "result");
    assert_true(json_get_bool(result, "isError", !failed) == failed);
    return json_get_string(json_array_get(json_object_get(result, "content"), 0), "text", "");
}

TEST(the_mcp_server_judges_tunes_and_explains)
{
    static const char call[] = "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/call\",\"params\":{\"name\":";
    static const char *const calls[] = {
        "\"judge\",\"arguments\":{\"job\":\"job.cfg\"}}}",
        "\"judge\",\"arguments\":{\"job\":\"job.cfg\",\"set\":{\"MODE\":\"wrong\"},\"sanitize\":false}}}",
        "\"judge\",\"arguments\":{\"job\":\"/etc/passwd\"}}}",
        "\"judge\",\"arguments\":{\"jobs\":\"job.cfg\"}}}",
        "\"tune\",\"arguments\":{\"job\":\"small.cfg\",\"time\":\"20s\"}}}",
        "\"explain\",\"arguments\":{\"job\":\"small.cfg\"}}}",
        "\"explain\",\"arguments\":{\"job\":\"../../../configs/sgemm.cfg\"}}}",
        "\"explain\",\"arguments\":{\"job\":7}}}",
        "\"format\",\"arguments\":{}}}"};
    json_t *answers[16] = {NULL};
    struct text input = {0};
    struct error err;
    size_t count = 0;
    if (system("command -v python3 >/dev/null 2>&1")) skip();
    char *folder = make_folder("serve_mcp");
    e2e_write(folder, "small.cfg",
              "name = \"small\"; kernel = { template = \"x.cu\"; entry = \"x\"; }; problems = ( { N = 1024; } );\n"
              "launch = { grid = [\"N\"]; block = [512]; };\n"
              "arguments = ( { buffer = \"y\"; type = \"f32\"; shape = [\"N\"]; direction = \"out\"; } );\n"
              "reference = { kernel = \"x\"; launch = { grid = [\"N\"]; block = [512]; }; };\n");
    text_add(&input, "{\"jsonrpc\":\"2.0\",\"id\":0,\"method\":\"initialize\",\"params\":{\"protocolVersion\":\"x\"}}\n"
                     "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/initialized\"}\n"
                     "{\"jsonrpc\":\"2.0\",\"id\":0,\"method\":\"tools/list\"}\nnonsense\n"
                     "{\"jsonrpc\":\"2.0\",\"id\":0,\"method\":\"resources/list\"}\n");
    for (size_t i = 0; i < sizeof calls / sizeof *calls; i++) text_add(&input, "%s%s\n", call, calls[i]);
    e2e_write(folder, "input", input.text);
    text_release(&input);
    struct e2e_result r =
        e2e_pass(folder, "SWEETSPOT=$BIN/sweetspot python3 examples/mcp/sweetspot_mcp.py $DIR <$DIR/input");
    for (char *line = strtok(r.out, "\n"); line && count < 16; line = strtok(NULL, "\n"))
        answers[count++] = test_json(json_parse(line, &err));
    assert_int_equal(count, 4 + sizeof calls / sizeof *calls);
    assert_non_null(json_object_get(json_object_get(answers[0], "result"), "serverInfo"));
    assert_int_equal(json_array_size(json_object_get(json_object_get(answers[1], "result"), "tools")), 3);
    assert_int_equal(json_get_integer(json_object_get(answers[2], "error"), "code", 0), -32700);
    assert_int_equal(json_get_integer(json_object_get(answers[3], "error"), "code", 0), -32601);
    assert_contains(tool_text(answers[4], false), "\"right\": true", "\"sanitized\"");
    assert_contains(tool_text(answers[5], false), "\"right\": false", "\"status\": \"wrong\"");
    assert_contains(tool_text(answers[6], true), "'/etc/passwd' is not a file below");
    assert_contains(tool_text(answers[7], true), "unknown argument 'jobs'");
    assert_contains(tool_text(answers[8], false), "\"event\":\"winner\"");
    assert_contains(tool_text(answers[9], false), "\"sweetspot-profile\"", "bank_conflicts");
    assert_contains(tool_text(answers[10], true), "is not a file below");
    assert_contains(tool_text(answers[11], true), "'job' must be of type string");
    assert_contains(tool_text(answers[12], true), "there is no tool 'format'");
}

TEST_MAIN(NULL, NULL)
