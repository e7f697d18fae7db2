// sweetspot-node: the agent of a node, started by the driver through a command prefix (nothing, ssh, srun). It starts,
// watches and kills workers for a driver on another machine, forwards their lines over one pipe, and keeps the files
// that they need. When the pipe ends, the agent and all its workers end. node_frame.h has the protocol.
//
// It is one thread around one poll(2). Nothing depends on the node's clock agreeing with another clock.

#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tuner/base/clock.h"
#include "tuner/base/input_file.h"
#include "tuner/base/installation.h"
#include "tuner/base/output_file.h"
#include "tuner/base/protocol.h"
#include "tuner/node/node_file.h"
#include "tuner/node/node_worker.h"

enum {
    WAITING_MOST = 16 << 20, // most bytes that wait for a slow driver; beyond that, workers wait
    TOLD_FROM = 1 << 20,     // bytes; larger files are reported at the start, so that they are not sent again
    LONGEST_SLEEP = 1000,    // ms
};
// The largest total size of all reported files. Each file is read before it is reported, because its content must be
// correct.
static const int64_t REPORTED_MOST = (int64_t)4 << 30;
static const double poll_every = 1; // s between polls for workers that are stopped

struct agent {
    char *cache, *folder; // folder: the workers' working directory; NULL before the welcome
    bool private, shared;
    double heartbeat, timeout; // s between heartbeats; s of silence after which the driver is considered gone
    double heard, heartbeat_at, polled;
    struct byte_queue in;
    struct frame_writer out;
    struct node_arrival arrival;
    size_t worker_count;
    struct node_worker *workers;
    json_t *sent; // files of this node that the driver has: path -> hash
    json_t *used; // files of the cache with the correct content: name -> result of stat(2)
    bool over;
};

static volatile sig_atomic_t signalled;

static void on_signal(int number)
{
    signalled = number;
}

static char *node_agent_cache(void)
{
    const char *home = getenv("XDG_CACHE_HOME"), *temporary = getenv("TMPDIR");
    if (home && *home) return text_format("%s/sweetspot-node", home);
    return text_format("%s/sweetspot-node-%ld", temporary && *temporary ? temporary : "/tmp", (long)getuid());
}

// Reports that the node cannot continue, and why. The driver then ends the agent.
static void tell_trouble(struct agent *a, const char *reason)
{
    node_message_put(&a->out, FRAME_TROUBLE, 0, &(struct node_trouble){reason});
}

// Creates and checks the cache's folder, because its files are executed here. In /tmp, another user could have created
// it as a link to some other folder.
static int make_cache(const char *path, struct error *err)
{
    struct stat about;
    if (output_make_folders(path, err)) return -1;
    if (mkdir(path, 0700) && errno != EEXIST)
        return error_set(err, "cannot make the node's cache '%s': %s", path, strerror(errno));
    if (lstat(path, &about)) return error_set(err, "cannot examine the node's cache '%s': %s", path, strerror(errno));
    if (S_ISLNK(about.st_mode))
        return error_set(err, "the node's cache '%s' is a symbolic link; name the folder itself", path);
    if (!S_ISDIR(about.st_mode) || access(path, W_OK))
        return error_set(err, "cannot write to the node's cache '%s'", path);
    if (about.st_uid != getuid()) return error_set(err, "the node's cache '%s' belongs to another user", path);
    if (about.st_mode & (S_IWGRP | S_IWOTH))
        return error_set(err, "other users can write to the node's cache '%s'; chmod 700 it, or remove it", path);
    return 0;
}

// The welcome --------------------------------------------------------------------------------------------------------

// Whether a file below "files/" has the content that its name stands for.
static bool is_right(const char *path)
{
    char hash[HASH_TEXT_SIZE];
    int64_t size;
    const char *name = strrchr(path, '/') + 1;
    return !node_file_hash(path, hash, &size, NULL) && !strncmp(name, hash, HASH_TEXT_SIZE - 1);
}

static struct text_list reported; // static, as nftw has no argument for it
static size_t reported_from;
static int64_t reported_bytes;

static int tell_file(const char *path, const struct stat *about, int kind, struct FTW *where)
{
    (void)where;
    if (kind != FTW_F || about->st_size < TOLD_FROM) return 0;
    if (reported.count == NODE_FILES_REPORTED || (reported_bytes += about->st_size) > REPORTED_MOST) return 1;
    if (is_right(path))
        text_list_add(&reported, text_copy(path + reported_from));
    else
        unlink(path); // it is damaged and will be sent again
    return 0;
}

static void list_files(const struct agent *a)
{
    autofree char *files = text_format("%s/files", a->cache);
    reported_from = strlen(a->cache) + 1;
    reported_bytes = 0;
    nftw(files, tell_file, 16, FTW_PHYS);
}

// Whether this node sees the driver's files under the same paths.
static bool sees_all(const struct node_welcome *w)
{
    char hash[HASH_TEXT_SIZE];
    int64_t size;
    for (size_t i = 0; i < w->probe_count; i++)
        if (node_file_hash(w->probes[i].path, hash, &size, NULL) || strcmp(hash, w->probes[i].hash)) return false;
    return w->probe_count > 0;
}

static void take_welcome(struct agent *a, const struct node_welcome *w)
{
    static const char prefix[] = "SWEETSPOT_";
    struct stat about;
    if (w->heartbeat > 0) a->heartbeat = w->heartbeat;
    if (w->timeout > 0) a->timeout = w->timeout;
    for (size_t i = 0; i < w->env_count; i++)
        if (!strncmp(w->env[i].name, prefix, sizeof prefix - 1)) setenv(w->env[i].name, w->env[i].value, 1);
    a->shared = !a->private && !stat(w->folder, &about) && S_ISDIR(about.st_mode) && sees_all(w);
    free(a->folder);
    a->folder = text_copy(a->shared ? w->folder : a->cache);
    struct node_ready ready = {.shared = a->shared, .cache = a->cache};
    if (!a->shared) list_files(a);
    ready.have = (const char *const *)reported.list;
    ready.have_count = reported.count;
    node_message_put(&a->out, FRAME_READY, 0, &ready);
    text_list_release(&reported);
}

// Files --------------------------------------------------------------------------------------------------------------

// Whether a name is below the cache's folder and does not lead out of it.
static bool name_is_good(const char *name)
{
    bool below = !strncmp(name, "files/", 6) || !strncmp(name, "trees/", 6);
    return below && !strstr(name, "/../") && !(strlen(name) > 2 && !strcmp(name + strlen(name) - 3, "/.."));
}

static void begin_file(struct agent *a, const struct node_file *file)
{
    struct error err;
    autofree char *path = text_format("%s/%s", a->cache, file->name);
    if (!name_is_good(file->name)) {
        tell_trouble(a, "a file is to be written outside of the cache");
    } else if (node_arrival_begin(&a->arrival, path, file->hash, file->size, &err) ||
               node_arrival_end(&a->arrival, &err) < 0) {
        tell_trouble(a, err.message);
    }
}

// Checks a file that the next frame names. It is read again only if it was written or replaced since the last check.
static void use_file(struct agent *a, const char *name)
{
    struct stat is;
    autofree char *path = text_format("%s/%s", a->cache, name), *state = NULL;
    if (name_is_good(name) && !stat(path, &is))
        state = text_format("%ju %jd %jd.%09ld %jd.%09ld", (uintmax_t)is.st_ino, (intmax_t)is.st_size,
                            (intmax_t)is.st_mtim.tv_sec, is.st_mtim.tv_nsec, (intmax_t)is.st_ctim.tv_sec,
                            is.st_ctim.tv_nsec);
    if (state && (!strcmp(state, json_get_string(a->used, name, "")) || is_right(path))) {
        json_object_set_new(a->used, name, json_string(state));
    } else {
        autofree char *reason = text_format("'%s' was changed or removed while it was in use", path);
        tell_trouble(a, reason);
    }
}

static void take_data(struct agent *a, const struct frame *f)
{
    struct error err;
    if (!a->arrival.path) return; // it was already refused
    if (node_arrival_take(&a->arrival, f->data, f->size, &err) || node_arrival_end(&a->arrival, &err) < 0)
        tell_trouble(a, err.message);
}

// Sends a file that a compiler's answer names; the driver gets it before the answer. The file is also kept under the
// name of its content, where a GPU worker of this node finds it.
static void send_result(struct agent *a, const char *path)
{
    char hash[HASH_TEXT_SIZE];
    int64_t size;
    struct error err;
    int fd = input_file_open(path, NULL);
    if (fd < 0) return;
    if (node_file_hash_open(fd, hash, &size, NULL) || !strcmp(json_get_string(a->sent, path, ""), hash)) {
        close(fd);
        return;
    }
    autofree char *name = node_file_name(path, hash), *kept = text_format("%s/%s", a->cache, name);
    if (!access(kept, R_OK) && !is_right(kept)) unlink(kept);
    if (access(kept, R_OK) && !output_make_folders(kept, NULL) && link(path, kept) && errno != EEXIST)
        tell_trouble(a, "cannot link what was compiled into the node's cache");
    json_object_set_new(a->sent, path, json_string(hash));
    if (node_file_send(&a->out, fd, &(struct node_file){.path = path, .hash = hash, .size = size}, &err))
        tell_trouble(a, err.message);
}

static void send_results(void *user, const char *line)
{
    static const char *const members[] = {"cubin", "library"};
    if (!strstr(line, "\"cubin\"") && !strstr(line, "\"library\"")) return;
    autojson json_t *answer = json_parse(line, NULL);
    for (size_t i = 0; i < sizeof members / sizeof *members; i++) {
        const char *path = json_get_string(answer, members[i], NULL);
        if (path) send_result(user, path);
    }
}

// Workers ------------------------------------------------------------------------------------------------------------

static struct node_worker *find(struct agent *a, uint32_t channel)
{
    for (size_t i = 0; i < a->worker_count; i++)
        if (a->workers[i].channel == channel && !a->workers[i].dying) return &a->workers[i];
    return NULL;
}

static void start(struct agent *a, uint32_t channel, const struct node_start *order)
{
    struct error err;
    struct node_worker w;
    if (!a->folder || find(a, channel) || node_worker_start(&w, channel, order, a->folder, &err)) {
        autofree char *line = text_format("%s\n", a->folder ? err.message : "no welcome message came");
        frame_put(&a->out, FRAME_ERRORS, channel, line, strlen(line));
        node_message_put(&a->out, FRAME_EXIT, channel, &(struct node_exit){.status = EXIT_ENVIRONMENT << 8});
        return;
    }
    w.lines = !a->shared;
    memory_add(a->workers, a->worker_count) = w;
}

static void drop_ended(struct agent *a)
{
    size_t kept = 0;
    for (size_t i = 0; i < a->worker_count; i++) {
        if (a->workers[i].ended)
            node_worker_release(&a->workers[i]);
        else
            a->workers[kept++] = a->workers[i];
    }
    a->worker_count = kept;
}

static void take_frame(struct agent *a, const struct frame *f)
{
    struct node_worker *w = f->channel ? find(a, f->channel) : NULL;
    union node_message m;
    autorelease(arena_release) struct arena memory = {NULL};
    struct error err;
    if (node_message_read(f, &m, &memory, &err)) {
        tell_trouble(a, err.message);
        return;
    }
    switch (f->type) {
    case FRAME_WELCOME:
        take_welcome(a, &m.welcome);
        break;
    case FRAME_START:
        start(a, f->channel, &m.start);
        break;
    case FRAME_INPUT:
        if (w) byte_queue_add(&w->input, f->data, f->size);
        break;
    case FRAME_END_INPUT:
        if (w) w->end_input = true;
        break;
    case FRAME_KILL:
        if (w) node_worker_kill(w);
        break;
    case FRAME_FILE:
        begin_file(a, &m.file);
        break;
    case FRAME_USE:
        use_file(a, m.file.name);
        break;
    case FRAME_DATA:
        take_data(a, f);
        break;
    default: // a heartbeat
        break;
    }
}

// The loop -----------------------------------------------------------------------------------------------------------

static void hear(struct agent *a, double now)
{
    struct frame f;
    struct error err;
    bool open = frame_read(&a->in, STDIN_FILENO);
    int got;
    a->heard = now;
    while ((got = frame_next(&a->in, &f, &err)) > 0) take_frame(a, &f);
    if (got < 0) fprintf(stderr, "sweetspot-node: %s\n", err.message);
    if (got < 0 || !open) a->over = true; // a truncated frame is ignored
}

static void keep_time(struct agent *a, double now)
{
    if (now - a->heartbeat_at >= a->heartbeat) {
        frame_put_first(&a->out, FRAME_BEAT);
        a->heartbeat_at = now;
    }
    if (now - a->polled >= poll_every) {
        for (size_t i = 0; i < a->worker_count; i++) node_worker_check(&a->workers[i], &a->out);
        a->polled = now;
    }
    if (now - a->heard < a->timeout) return;
    fprintf(stderr, "sweetspot-node: the driver has been silent for %.0f s\n", now - a->heard);
    a->over = true;
}

static void turn(struct agent *a)
{
    autofree struct pollfd *polled = memory_new(CHILD_POLLED * a->worker_count + 2, sizeof *polled);
    bool reads = a->out.waiting < WAITING_MOST;
    int n = 0, sleep = LONGEST_SLEEP;
    polled[n++] = (struct pollfd){.fd = STDIN_FILENO, .events = POLLIN};
    if (frame_pending(&a->out)) polled[n++] = (struct pollfd){.fd = STDOUT_FILENO, .events = POLLOUT};
    for (size_t i = 0; i < a->worker_count; i++) {
        n += child_poll(&a->workers[i].child, reads, byte_queue_size(&a->workers[i].input), polled + n);
        if (a->workers[i].closed_at > 0 || a->workers[i].dying) sleep = 10;
    }
    double before = clock_now();
    if (a->heartbeat < 1) sleep = (int)fmin(sleep, 1e3 * a->heartbeat);
    poll(polled, (nfds_t)n, sleep);
    double now = clock_now();
    // Time in which the agent itself was suspended does not count as the driver's silence.
    if (now - before > 2e-3 * LONGEST_SLEEP) a->heard += now - before;
    if (polled[0].revents) hear(a, now);
    for (size_t i = 0; i < a->worker_count; i++) node_worker_io(&a->workers[i], &a->out, reads, now, send_results, a);
    drop_ended(a);
    keep_time(a, now);
    if (frame_flush(&a->out, STDOUT_FILENO) || signalled) a->over = true;
}

static int greet(void)
{
    // Begins with a newline, because a banner may have ended without one.
    autofree char *line = node_identity_line(), *text = text_format("\n%s\n", line);
    return output_all(STDOUT_FILENO, text, strlen(text));
}

static void watch_signals(void)
{
    static const int numbers[] = {SIGTERM, SIGINT, SIGHUP};
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++)
        sigaction(numbers[i], &(struct sigaction){.sa_handler = on_signal}, NULL);
    signal(SIGPIPE, SIG_IGN);
}

// Handles the protocol on stdin and stdout until stdin ends. Returns an exit status. `cache`: folder for the files and
// the compile cache; NULL: $XDG_CACHE_HOME/sweetspot-node, otherwise $TMPDIR/sweetspot-node-<uid>, otherwise the same
// below /tmp. `private`: do not use the driver's files, even if they can be seen.
static int serve(const char *cache, bool private)
{
    struct error err;
    struct agent a = {.private = private, .heartbeat = 5, .timeout = 600, .arrival = {.fd = -1}};
    autofree char *wanted = cache ? text_copy(cache) : node_agent_cache();
    a.cache = text_join_path(".", wanted);
    watch_signals();
    orphans_adopt();
    int status = EXIT_ENVIRONMENT;
    a.heard = a.heartbeat_at = a.polled = clock_now();
    if (make_cache(a.cache, &err)) {
        fprintf(stderr, "sweetspot-node: %s\n", err.message);
    } else if (!greet()) {
        status = EXIT_DONE;
        a.sent = json_object();
        a.used = json_object();
        fcntl(STDIN_FILENO, F_SETFL, fcntl(STDIN_FILENO, F_GETFL) | O_NONBLOCK);
        fcntl(STDOUT_FILENO, F_SETFL, fcntl(STDOUT_FILENO, F_GETFL) | O_NONBLOCK);
        while (!a.over) turn(&a);
    }
    for (size_t i = 0; i < a.worker_count; i++) node_worker_kill(&a.workers[i]); // kill all before waiting for one
    for (size_t i = 0; i < a.worker_count; i++) node_worker_release(&a.workers[i]);
    free(a.workers);
    node_arrival_drop(&a.arrival);
    byte_queue_release(&a.in);
    frame_writer_release(&a.out);
    json_decref(a.sent);
    json_decref(a.used);
    free(a.cache);
    free(a.folder);
    return status;
}

int main(int argc, char **argv)
{
    const char *cache = NULL;
    bool private = false;
    for (int i = 1; i < argc; i++) {
        if (!strcmp(argv[i], "--version")) {
            printf("sweetspot-node " SWEETSPOT_VERSION "\n");
            return EXIT_DONE;
        }
        if (!strcmp(argv[i], "--private")) {
            private = true;
        } else if (!strcmp(argv[i], "--cache") && i + 1 < argc) {
            cache = argv[++i];
        } else {
            fprintf(stderr, "usage: sweetspot-node [--cache FOLDER] [--private] [--version]\n"
                            "The agent of a node: `sweetspot tune --pool` starts it.\n");
            return !strcmp(argv[i], "--help") ? EXIT_DONE : EXIT_USAGE;
        }
    }
    return serve(cache, private);
}
