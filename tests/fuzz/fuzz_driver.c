// Answers of compilers and GPU workers to the driver. In a whole run of `tune`, with a store, a search, counters and a
// final, all answers come from the input. The first line names the job ("plain" or "each"). Each further line is a
// request's "op" and the answer to this request. Requests of one kind get the lines of that kind in order. When these
// run out, the last one is repeated; requests of a kind without lines get a valid answer. "op die" ends the worker
// instead.
//
// Promise: whatever workers answer, the run ends with one of the documented exit statuses, and its store can be read.
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>

#include "tests/fuzz/fuzz_json.h"
#include "tuner/base/hash.h"
#include "tuner/base/json.h"
#include "tuner/base/memory.h"
#include "tuner/base/protocol.h"
#include "tuner/run/tune.h"
#include "tuner/store/store.h"

enum { STREAMS = 32, LINES = 64, EMPTY_READS = 300 };

// A worker without a process: a request written to `to` is answered at once, and the answer is read from `from`.
struct stream {
    int to, from;
    char *request, *answers;
    size_t request_size, answers_size;
    int empty; // reads since the last answer
    bool dead;
};
static struct stream streams[STREAMS];
static size_t stream_count;
static int last_pipes[3][2];
static size_t pipe_count;

static struct {
    const char *op, *answer;
    bool used;
} lines[LINES];
static size_t line_count;
static char template_path[600], template_hash[HASH_TEXT_SIZE];
static char *empty_store; // the bytes of its file, because creating a store takes as much time as the run
static size_t empty_store_size;

// Replacements for the system calls of worker.c and child_process.c. Descriptors refer to /dev/null, which poll(2)
// finds ready.
static int fuzz_pipe(int fds[2])
{
    fds[0] = open("/dev/null", O_RDWR | O_CLOEXEC);
    fds[1] = open("/dev/null", O_RDWR | O_CLOEXEC);
    memcpy(last_pipes[pipe_count++ % 3], fds, sizeof last_pipes[0]);
    return 0;
}

static pid_t fuzz_fork(void)
{
    if (stream_count == STREAMS) return errno = EAGAIN, -1;
    streams[stream_count] = (struct stream){.to = last_pipes[0][1], .from = last_pipes[1][0]};
    return (pid_t)(++stream_count + 100000);
}

static pid_t fuzz_waitpid(pid_t pid, int *status)
{
    if (status) *status = 0;
    return pid;
}

// A worker ends as soon as it is asked to.
static int fuzz_waitid(siginfo_t *info)
{
    info->si_pid = 1;
    return 0;
}

// The newest stream with the descriptor.
static struct stream *find_stream(int fd)
{
    for (size_t i = stream_count; i-- > 0;)
        if (streams[i].to == fd || streams[i].from == fd) return &streams[i];
    return NULL;
}

static const char *sound_answer(const char *op)
{
    static const char *const sound[][2] = {
        {"hello", "{\"protocol\":2,\"compiler\":\"fuzz "
                  "1\",\"device\":{\"name\":\"F\",\"arch\":\"sm_90a\",\"uuid\":\"G\",\"driver\":"
                  "\"1\",\"memory_bytes\":17179869184,\"memory_free\":8589934592},\"counters\":{\"available\":true}}"},
        {"compile",
         "{\"status\":\"ok\",\"cubin\":\"x.cu\",\"cached\":false,\"seconds\":0.1,\"warnings\":[],\"entries\":"
         "[{\"entry\":\"x\",\"symbol\":\"x\",\"registers\":32,\"code_bytes\":100}]}"},
        {"job",
         "{\"status\":\"ok\",\"baselines\":[{\"name\":\"cublas\",\"problems\":[{\"time\":0.0011}]}],\"least\":[],"
         "\"metrics\":[\"icache_misses\"],\"missing\":[]}"},
        {"trial", "{\"status\":\"ok\",\"busy\":0.01,\"wall\":0.02,\"problems\":[{\"problem\":0,\"time\":0.001},"
                  "{\"problem\":1,\"time\":0.002}]}"},
        {"count",
         "{\"status\":\"ok\",\"trials\":[{\"trial\":1,\"counters\":[{\"problem\":0,\"stage\":0,\"values\":[7]}]}]}"},
        {"ceilings", "{\"status\":\"ok\",\"flops_per_second\":6e13,\"bytes_per_second\":4e12}"},
    };
    for (size_t i = 0; i < sizeof sound / sizeof *sound; i++)
        if (!strcmp(sound[i][0], op)) return sound[i][1];
    return "{\"status\":\"ok\"}";
}

static const char *choose_answer(const char *op)
{
    const char *answer = NULL;
    for (size_t i = 0; i < line_count; i++) {
        if (strcmp(lines[i].op, op) != 0) continue;
        answer = lines[i].answer;
        if (lines[i].used) continue;
        lines[i].used = true;
        break;
    }
    return answer ? answer : sound_answer(op);
}

static void add_answer(struct stream *s, const char *text)
{
    size_t length = strlen(text);
    s->answers = memory_grow(s->answers, s->answers_size + length + 1, 1);
    memcpy(s->answers + s->answers_size, text, length);
    s->answers_size += length;
    s->answers[s->answers_size++] = '\n';
}

// If an answer has "x.cu", the template replaces the cubin, and the template's hash replaces the hash of the bytes that
// ran.
static void put_template(json_t *object)
{
    if (!strcmp(json_get_string(object, "cubin", ""), "x.cu"))
        json_object_set_new(object, "cubin", json_string(template_path));
    json_array_each(json_object_get(object, "entries"), i, entry)
        if (!strcmp(json_get_string(entry, "cubin_hash", ""), "x.cu"))
            json_object_set_new(entry, "cubin_hash", json_string(template_hash));
}

// Answers a request, with the request's id unless the answer has its own.
static void answer(struct stream *s, const char *line)
{
    struct error err;
    autojson json_t *request = json_parse(line, &err);
    FUZZ_CHECK(request, "the driver's request: %s", err.message);
    const char *text = choose_answer(json_get_string(request, "op", ""));
    autojson json_t *object = json_loads(text, 0, NULL);
    if (!strcmp(text, "die")) {
        s->dead = true;
    } else if (json_is_object(object)) {
        if (!json_object_get(object, "id")) json_object_set(object, "id", json_object_get(request, "id"));
        put_template(object);
        autofree char *dumped = json_dumps(object, JSON_COMPACT | JSON_REAL_PRECISION(17));
        add_answer(s, dumped);
    } else {
        add_answer(s, text);
    }
    s->empty = 0;
}

static ssize_t fuzz_write(int fd, const void *bytes, size_t size)
{
    struct stream *s = find_stream(fd);
    if (!s || s->dead) return errno = EPIPE, -1;
    s->request = memory_grow(s->request, s->request_size + size + 1, 1);
    memcpy(s->request + s->request_size, bytes, size);
    s->request_size += size;
    for (char *end; s->request_size && (end = memchr(s->request, '\n', s->request_size));) {
        size_t length = (size_t)(end - s->request) + 1;
        *end = 0;
        answer(s, s->request);
        s->request_size -= length;
        memmove(s->request, s->request + length, s->request_size);
    }
    return (ssize_t)size;
}

static ssize_t fuzz_read(int fd, void *bytes, size_t size)
{
    struct stream *s = find_stream(fd);
    if (!s || fd != s->from) return errno = EAGAIN, -1; // nothing on stderr
    if (!s->answers_size && (s->dead || s->empty++ > EMPTY_READS)) return 0;
    if (!s->answers_size) return errno = EAGAIN, -1;
    size_t n = size < s->answers_size ? size : s->answers_size;
    memcpy(bytes, s->answers, n);
    s->answers_size -= n;
    memmove(s->answers, s->answers + n, s->answers_size);
    return (ssize_t)n;
}

#define pipe2(fds, flags) fuzz_pipe(fds)
#define fork() fuzz_fork()
#define read(fd, bytes, size) fuzz_read(fd, bytes, size)
#define write(fd, bytes, size) fuzz_write(fd, bytes, size)
#define waitpid(pid, status, flags) fuzz_waitpid(pid, status)
#define waitid(type, pid, info, flags) fuzz_waitid(info)
#define kill(pid, number) ((void)(pid), 0)
#define setpgid(pid, group) ((void)0)
#define access(path, mode) 0
#define usleep(time) ((void)0)
#include "tuner/base/byte_queue.c" // NOLINT: included as text, so that it calls the functions above
#define make_room child_make_room
#include "tuner/base/child_process.c" // NOLINT: the same
#include "tuner/pool/worker.c"        // NOLINT: the same
#undef pipe2
#undef fork
#undef read
#undef write
#undef waitpid
#undef waitid
#undef kill
#undef setpgid
#undef access
#undef usleep

static const char template_text[] = "__global__ void x(int n, const float *x, float *r) {}\n";
static const char job_text[] =
    "name = \"fuzz\"; kernel = { template = \"x.cu\"; entry = \"x\"; };\n"
    "parameters = ( { name = \"X\"; values = [1, 2, 3]; }, { name = \"KIND\"; values = [\"a\", \"b\"]; } );\n"
    "problems = ( { N = 1000; }, { N = 2000; weight = 2.0; } );\n"
    "launch = { grid = [ \"ceil_div(N, 32 * X)\" ]; block = [ \"32 * X\" ]; };\n"
    "arguments = ( { scalar = \"N\"; type = \"i32\"; }, { buffer = \"x\"; type = \"f32\"; shape = [\"N\"]; },\n"
    "  { buffer = \"r\"; type = \"f32\"; shape = [1]; direction = \"out\"; } );\n"
    "reference = { operation = \"sum\"; result = \"r\"; n = \"N\"; };\n"
    "work = { bytes = \"4 * N\"; };\n"
    "verification = { problems = ( { N = 7; } ); };\n";

static const char *in_folder(const char *name)
{
    static char paths[8][700];
    static unsigned next;
    char *path = paths[next++ % 8];
    snprintf(path, sizeof paths[0], "%s/%s", fuzz_folder(), name);
    return path;
}

static void write_file(const char *name, const char *text, const char *more)
{
    FILE *file = fopen(in_folder(name), "w");
    if (!file || fputs(text, file) < 0 || fputs(more, file) < 0 || fclose(file)) abort();
}

int LLVMFuzzerInitialize(int *argc, char ***argv);
int LLVMFuzzerInitialize(int *argc, char ***argv)
{
    (void)argc;
    (void)argv;
    stderr = fopen("/dev/null", "w"); // for the run's messages; sanitizers write to the descriptor
    unsetenv("SWEETSPOT_NVCC");       // allows builds by nvcc, which is simulated too
    write_file("x.cu", template_text, "");
    hash_content(template_text, sizeof template_text - 1, template_hash);
    snprintf(template_path, sizeof template_path, "%s", in_folder("x.cu"));
    write_file("plain.cfg", job_text, "measure = { final = { candidates = 2; rounds = 5; }; };\n");
    write_file("each.cfg", job_text,
               "objective = \"each\"; regret = 0.05; measure = { final = { rounds = 5; processes = 1; }; };\n");
    struct store *store;
    if (store_open(&store, in_folder("empty.db"), true, NULL)) abort();
    store_close(store);
    empty_store = text_read_file(in_folder("empty.db"), &empty_store_size);
    return 0;
}

static void put_empty_store(void)
{
    static const char *const left[] = {"fuzz.db-wal", "fuzz.db-shm", "fuzz.db.lock", "log"};
    for (size_t i = 0; i < sizeof left / sizeof *left; i++) unlink(in_folder(left[i]));
    FILE *file = fopen(in_folder("fuzz.db"), "w");
    if (!file || fwrite(empty_store, 1, empty_store_size, file) != empty_store_size || fclose(file)) abort();
}

static struct job *read_script(char *text)
{
    struct job *job;
    struct mistakes mistakes = {0};
    char *rest = text, *line = strsep(&rest, "\n");
    const char *name = line && !strcmp(line, "each") ? "each.cfg" : "plain.cfg";
    for (line_count = 0; line_count < LINES && (line = strsep(&rest, "\n"));) {
        const char *op = strsep(&line, " ");
        if (line) lines[line_count].op = op, lines[line_count].used = false, lines[line_count++].answer = line;
    }
    if (job_load(in_folder(name), &job, &mistakes)) {
        dprintf(2, "%s: %s\n", name, mistakes.count ? mistakes.list[0].text : "?");
        abort();
    }
    return job;
}

static int look(void *user, const struct trial *trial)
{
    (void)user;
    FUZZ_CHECK(trial->status >= 0 && trial->status < STATUS_COUNT, "trial %lld", (long long)trial->id);
    return 0;
}

static void read_store(const char *path)
{
    struct store *store;
    struct environment environment;
    struct error err;
    if (store_open(&store, path, false, &err)) return; // the run ended before it created a store
    if (!store_last_environment(store, &environment, &err)) {
        FUZZ_CHECK(!store_each(store, false, 0, STORE_WHOLE, look, NULL, &err), "%s", err.message);
        json_decref(store_get_document(store, 0, "final", NULL, &err));
    }
    store_close(store);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    autofree char *text = fuzz_text(data, size);
    struct job *job = read_script(text);
    put_empty_store();
    stream_count = pipe_count = 0;
    struct tune_options options = {.device = "0",
                                   .files.store_path = in_folder("fuzz.db"),
                                   .again = "sweetspot tune",
                                   .files.log_path = in_folder("log"),
                                   .files.cache = in_folder("cache"),
                                   .evaluations = 5,
                                   .workers = 1,
                                   .earlier.alone = true,
                                   .strategy = "random",
                                   .seed = 1,
                                   .counters = true,
                                   .final = true,
                                   .checks = true,
                                   .quiet = true};
    int status = tune(job, &options, NULL);
    FUZZ_CHECK(status >= 0 && status <= EXIT_GATE, "exit status %d", status);
    job_free(job);
    read_store(in_folder("fuzz.db"));
    for (size_t i = 0; i < stream_count; i++) {
        free(streams[i].request);
        free(streams[i].answers);
    }
    return 0;
}
