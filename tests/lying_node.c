// A command that stands before a node's agent and changes what the agent says: a node that lies, or breaks.
//
//     lying_node HOW TEXT AGENT..
//
// HOW is one of the lies below. The agent keeps its own stdin, so that the driver's words reach it unchanged.
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tuner/base/json.h"
#include "tuner/base/memory.h"
#include "tuner/base/text.h"
#include "tuner/node/node_frame.h"

static const char *how, *text;
static struct frame_writer out;

static bool lies(const char *lie)
{
    return !strcmp(how, lie);
}

// The greeting with another number of cores.
static char *greeting(const char *line)
{
    const char *brace = strchr(line, '{');
    json_t *object = lies("cores") && brace ? json_loads(brace, 0, NULL) : NULL;
    if (!object) return text_copy(line);
    json_object_set_new(object, "cores", json_integer(atoll(text)));
    char *written = json_dumps(object, JSON_COMPACT),
         *changed = text_format("%.*s%s", (int)(brace - line), line, written);
    json_decref(object);
    free(written);
    return changed;
}

// An answer of a compiler that names another file.
static char *name_another(const struct frame *f)
{
    json_t *answer = json_loads(f->data, 0, NULL);
    const char *member = json_object_get(answer, "cubin")     ? "cubin"
                         : json_object_get(answer, "library") ? "library"
                                                              : NULL;
    if (member) json_object_set_new(answer, member, json_string(text));
    char *written = member ? json_dumps(answer, JSON_COMPACT) : NULL,
         *line = written ? text_format("%s\n", written) : NULL;
    json_decref(answer);
    free(written);
    return line;
}

static void carry(const struct frame *f)
{
    static int carried;
    char *changed = NULL;
    if (lies("silence") && ++carried > atoi(text)) pause();
    if (lies("never_ready") && f->type == FRAME_READY) return;
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
    struct frame_reader in = {0};
    struct frame f;
    char *line;
    bool greeted = false, open = true;
    while (open && !flush()) {
        poll(&(struct pollfd){.fd = from, .events = POLLIN}, 1, -1);
        open = frame_read(&in, from);
        while (!greeted && frame_next_line(&in, &line) > 0) {
            greeted = *line == 's';
            char *said = greeting(line);
            printf("%s\n", said);
            fflush(stdout);
            free(said);
        }
        while (greeted && frame_next(&in, &f, NULL) > 0) carry(&f);
    }
    flush();
    frame_reader_release(&in);
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
        dup2(ends[1], STDOUT_FILENO);
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
