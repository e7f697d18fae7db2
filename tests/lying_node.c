// A command that wraps a node's agent and changes its messages, to simulate a node that sends false data or breaks.
//
//     lying_node HOW TEXT AGENT..
//
// HOW is one of the changes below. The agent keeps its own stdin, so the driver's messages reach it unchanged.
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tuner/base/hash.h"
#include "tuner/base/json.h"
#include "tuner/base/memory.h"
#include "tuner/base/text.h"
#include "tuner/node/node_message.h"

static const char *how, *text;
static struct frame_writer out;

static bool lies(const char *lie)
{
    return !strcmp(how, lie);
}

// The greeting with a different number of cores.
static char *greeting(const char *line)
{
    const char *brace = strchr(line, '{');
    autojson json_t *object = lies("cores") && brace ? json_loads(brace, 0, NULL) : NULL;
    if (!object) return text_copy(line);
    json_object_set_new(object, "cores", json_integer(atoll(text)));
    char *written = json_dumps(object, JSON_COMPACT),
         *changed = text_format("%.*s%s", (int)(brace - line), line, written);
    free(written);
    return changed;
}

// A compiler's answer, changed to name another file.
static char *name_another(const struct frame *f)
{
    autojson json_t *answer = json_loads(f->data, 0, NULL);
    const char *member = json_object_get(answer, "cubin")     ? "cubin"
                         : json_object_get(answer, "library") ? "library"
                                                              : NULL;
    if (member) json_object_set_new(answer, member, json_string(text));
    char *written = member ? json_dumps(answer, JSON_COMPACT) : NULL,
         *line = written ? text_format("%s\n", written) : NULL;
    free(written);
    return line;
}

// Sends a file that is unknown and that no answer names.
static void send_file(int number, int64_t size)
{
    char hash[HASH_TEXT_SIZE], *path = text_format("/nowhere/%d.cubin", number);
    hash_content("", 0, hash);
    node_message_put(&out, FRAME_FILE, 0, &(struct node_file){.path = path, .hash = hash, .size = size});
    free(path);
}

// The agent's answer to the welcome, with names added.
static char *have_much(const struct frame *f)
{
    json_t *ready = json_loads(f->data, 0, NULL), *have = json_array();
    for (int i = 0; i < atoi(text); i++) json_array_append_new(have, json_sprintf("files/%x", (unsigned)i));
    json_object_set_new(ready, "have", have);
    char *changed = json_dumps(ready, JSON_COMPACT);
    json_decref(ready);
    return changed;
}

// Sends the header of a frame of this size.
static void put_header(uint32_t size)
{
    unsigned char header[12] = {'s', 'n', FRAME_READY};
    for (int i = 0; i < 4; i++) header[8 + i] = (unsigned char)(size >> 8 * i);
    while (frame_pending(&out) && !frame_flush(&out, STDOUT_FILENO)) continue;
    if (write(STDOUT_FILENO, header, sizeof header) < 0) exit(1);
}

// Every worker writes without ending a line, until TEXT MiB have been sent.
static void flood(void)
{
    enum { PIECE = 1 << 20, WORKERS = 8 };
    autofree char *bytes = memory_new(PIECE, 1);
    memset(bytes, ' ', PIECE);
    for (int i = 0; i < atoi(text); i++) {
        frame_put(&out, FRAME_OUTPUT, 1 + (uint32_t)i % WORKERS, bytes, PIECE);
        while (frame_pending(&out))
            if (frame_flush(&out, STDOUT_FILENO)) exit(1);
    }
}

static void carry(const struct frame *f)
{
    static int carried;
    char *changed = NULL;
    if (lies("silence") && ++carried > atoi(text)) pause();
    if (lies("tamper") && ++carried > atoi(text)) put_header(UINT32_MAX >> carried % 4);
    for (int i = 0; lies("files") && f->type == FRAME_READY && i < atoi(text); i++) send_file(i, 0);
    if (lies("file") && f->type == FRAME_READY) send_file(0, atoll(text));
    if (lies("have") && f->type == FRAME_READY) changed = have_much(f);
    if (lies("frame") && f->type == FRAME_READY) put_header((uint32_t)atoll(text));
    if (lies("never_ready") && f->type == FRAME_READY) return;
    if (lies("flood") && f->type == FRAME_OUTPUT) flood();
    if (lies("path") && f->type == FRAME_OUTPUT) changed = name_another(f);
    if (changed)
        frame_put(&out, f->type, f->channel, changed, strlen(changed));
    else
        frame_put(&out, f->type, f->channel, f->data, f->size);
    free(changed);
}

static int flush(void)
{
    while (frame_pending(&out))
        if (frame_flush(&out, STDOUT_FILENO)) return -1;
    return 0;
}

static void listen_to(int from)
{
    struct byte_queue in = {0};
    struct frame f;
    char *line;
    bool greeted = false, open = true;
    while (open && !flush()) {
        poll(&(struct pollfd){.fd = from, .events = POLLIN}, 1, -1);
        open = frame_read(&in, from);
        while (!greeted && frame_next_line(&in, &line) > 0) {
            greeted = *line == 's';
            autofree char *said = greeting(line);
            printf("%s\n", said);
            fflush(stdout);
        }
        while (greeted && frame_next(&in, &f, NULL) > 0) carry(&f);
    }
    flush();
    byte_queue_release(&in);
    frame_writer_release(&out);
}

int main(int argc, char **argv)
{
    int ends[2];
    if (argc < 4 || pipe(ends)) return 2;
    how = argv[1];
    text = argv[2];
    pid_t agent = fork();
    if (!agent) {
        if (dup2(ends[1], STDOUT_FILENO) < 0) _exit(127);
        close(ends[0]);
        close(ends[1]);
        execv(argv[3], argv + 3);
        _exit(127);
    }
    close(ends[1]);
    close(STDIN_FILENO);
    fcntl(ends[0], F_SETFL, O_NONBLOCK);
    listen_to(ends[0]);
    close(ends[0]);
    return waitpid(agent, NULL, 0) < 0;
}
