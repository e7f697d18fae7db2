// Data that a node's agent sends to the driver. Each line of the input is one piece: "greeting OBJECT", a greeting with
// these members; "raw TEXT", unchanged bytes; or "TYPE CHANNEL TEXT", a frame. As soon as the link is up, two workers
// are started on the node, and their answers are read.
//
// Promise: a link that is down has a reason. Files are kept only below the folder for them, and only under the hash of
// their content. An answer names only files in this folder.
#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>

#include "tests/fuzz/fuzz_json.h"

#include "tuner/base/input_file.h"
#include "tuner/pool/node_files.h"
#include "tuner/pool/worker.h"

enum { WORKERS = 2 };

static struct worker workers[WORKERS];

// The folder for files, the only entry of its parent folder.
static const char *keep_folder(void)
{
    static char path[700];
    if (!*path) {
        snprintf(path, sizeof path, "%s/only", fuzz_folder());
        if (mkdir(path, 0700)) abort();
        strcat(path, "/keep");
    }
    return path;
}

static void check_answer(const json_t *answer)
{
    static const char *const members[] = {"cubin", "library"};
    for (size_t i = 0; i < sizeof members / sizeof *members; i++) {
        const char *path = json_get_string(answer, members[i], "");
        autofree char *absolute = text_join_path(".", path);
        int fd = *path ? input_file_open_below(keep_folder(), absolute, NULL) : -1;
        FUZZ_CHECK(!*path || fd >= 0, "an answer names '%s'", path);
        if (fd >= 0) close(fd);
    }
}

static void use_workers(struct node_link *l)
{
    char *argv[] = {(char[]){"sweetspot-compile"}, NULL};
    struct error err = {""};
    for (size_t i = 0; i < WORKERS; i++) {
        struct worker *w = &workers[i];
        const struct pollfd *none = NULL;
        json_t *answer;
        int got;
        w->link = l;
        if (l->state == LINK_UP && !w->name && !worker_start(w, "worker", argv, &err))
            worker_send(w, json_pack("{s:s}", "op", "hello"));
        if (w->name && worker_polled(w, &none, &err)) FUZZ_CHECK(*err.message, "a worker ended without a message");
        while (w->name && (got = worker_receive(w, &answer, &err)) > 0) {
            check_answer(answer);
            json_decref(answer);
        }
        if (w->name && got < 0) worker_kill(w);
    }
}

static char *greeting_with(const char *members)
{
    char *line = node_identity_line(), *brace = strchr(line, '{');
    autojson json_t *object = json_loads(brace, 0, NULL), *changes = json_loads(members, 0, NULL);
    json_object_update(object, changes);
    char *text = json_dumps(object, JSON_COMPACT), *changed = text_format("%.*s%s\n", (int)(brace - line), line, text);
    free(text);
    free(line);
    return changed;
}

// Sends one line as an agent would.
static void send_line(int pipe_end, const char *line)
{
    struct frame_writer out = {0};
    unsigned channel;
    int at = 0;
    if (!strncmp(line, "greeting ", 9) || !strncmp(line, "raw ", 4)) {
        autofree char *text = *line == 'g' ? greeting_with(line + 9) : text_copy(line + 4);
        if (write(pipe_end, text, strlen(text)) < 0) abort();
    } else if (sscanf(line, "%*c %u %n", &channel, &at) == 1 && at) {
        autofree char *text = text_format("%s%s", line + at, *line == FRAME_OUTPUT ? "\n" : "");
        frame_put(&out, (enum frame_type) * line, channel, text, strlen(text));
        while (frame_pending(&out))
            if (frame_flush(&out, pipe_end)) abort();
        frame_writer_release(&out);
    }
}

static void check_files(const struct node_link *l)
{
    json_object_each(l->files.brought, there, here) {
        char hash[HASH_TEXT_SIZE];
        const char *path = json_string_value(here), *name = strrchr(path, '/') + 1;
        int64_t size;
        FUZZ_CHECK(input_file_is_below(keep_folder(), path), "'%s' is kept as '%s'", there, path);
        if (access(path, F_OK)) continue; // another name of a file that was removed
        FUZZ_CHECK(!node_file_hash(path, hash, &size, NULL) && !strncmp(name, hash, HASH_TEXT_SIZE - 1),
                   "'%s' has another content", path);
        unlink(path);
    }
}

static void check_outside(void)
{
    autofree char *folder = text_format("%s/..", keep_folder());
    DIR *d = opendir(folder);
    for (struct dirent *entry; d && (entry = readdir(d));)
        FUZZ_CHECK(*entry->d_name == '.' || !strcmp(entry->d_name, "keep"), "it wrote '%s'", entry->d_name);
    if (d) closedir(d);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct node_link_settings settings = {
        .heartbeat = 1e9, .timeout = 1e9, .greeting = 1e9, .keep = (char *)(uintptr_t)keep_folder()};
    double now = clock_now();
    struct node_link l = {.name = "node",
                          .settings = &settings,
                          .state = LINK_GREETING,
                          .child = CHILD_NONE,
                          .started = now,
                          .heard = now,
                          .served = now,
                          .files = {.have = json_object(), .trees = json_object(), .brought = json_object()}};
    char *text = fuzz_text(data, size), *rest = text, *line;
    int ends[2];
    if (pipe2(ends, O_CLOEXEC | O_NONBLOCK)) abort();
    l.child.from = ends[0];
    l.child.to = open("/dev/null", O_WRONLY | O_CLOEXEC);
    for (size_t i = 0; i < WORKERS; i++) workers[i] = WORKER_NONE;
    while ((line = strsep(&rest, "\n")) && l.state != LINK_DOWN) {
        send_line(ends[1], line);
        node_link_io(&l);
        use_workers(&l);
        check_outside();
    }
    close(ends[1]);
    node_link_io(&l);
    use_workers(&l);
    FUZZ_CHECK(l.state == LINK_DOWN && *node_link_why(&l), "a closed pipe leaves the link open");
    check_files(&l);
    for (size_t i = 0; i < WORKERS; i++) worker_release(&workers[i]);
    node_link_release(&l);
    free(text);
    return 0;
}
