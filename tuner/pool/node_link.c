// See node_link.h.
#include "tuner/pool/node_link.h"

#include <unistd.h>

#include "tuner/base/clock.h"
#include "tuner/node/node_message.h"

static const double gap = 2; // s between polls; if more time has passed, the driver was silent, not the node

extern char **environ;

static void log_text(void *link, const char *text)
{
    const struct node_link *l = link;
    if (!l->settings->report || !*text) return;
    autofree char *line = text_format("node %s: %s", l->name, text);
    l->settings->report(l->settings->user, false, line);
}

static void forget_files(struct node_link_files *f)
{
    node_arrival_drop(&f->arrival);
    free(f->arriving);
    free(f->cache);
    json_decref(f->have);
    json_decref(f->trees);
    json_decref(f->brought);
}

int node_link_start(struct node_link *l, char *const argv[], struct error *err)
{
    l->refused = strchr(argv[0], '/') && access(argv[0], X_OK); // a restart does not bring a missing program
    if (child_start(&l->child, argv, NULL, false, err)) return -1;
    l->state = LINK_GREETING;
    l->started = l->heard = l->heartbeat_at = l->served = clock_now();
    l->refused = false;
    forget_files(&l->files);
    l->files = (struct node_link_files){.have = json_object(), .trees = json_object(), .brought = json_object()};
    l->words = l->banner = (struct child_output){0};
    return 0;
}

const char *node_link_why(const struct node_link *l)
{
    return l->why ? l->why : "it was not started";
}

static void read_child_output(struct node_link *l)
{
    child_output_read(&l->words, &l->child.errors, log_text, l);
}

void node_link_stop(struct node_link *l, bool refused, const char *format, ...)
{
    int status;
    if (l->state == LINK_DOWN) return;
    TEXT_FROM(format, why);
    read_child_output(l);
    free(l->why);
    l->why = text_copy(why);
    l->refused = refused;
    l->state = LINK_DOWN;
    child_close(&l->child.to);
    child_kill(&l->child, &status);
    child_close_all(&l->child);
    byte_queue_release(&l->in);
    frame_writer_release(&l->out);
    node_arrival_drop(&l->files.arrival);
    for (size_t i = 0; i < l->channel_count; i++) l->channels[i]->lost = !l->channels[i]->ended;
}

// Handles the end of the pipe. A shell, ssh and env exit with 127 if a program is missing, and with 126 if it cannot be
// run.
static void end(struct node_link *l)
{
    int status = 0;
    char how[96] = "closed its pipe";
    for (int i = 0; i < 50 && l->child.pid; i++) {
        if (child_ended(&l->child, &status))
            child_describe(status, how, sizeof how);
        else
            usleep(1000);
    }
    read_child_output(l);
    bool missing = WIFEXITED(status) && (WEXITSTATUS(status) == 127 || WEXITSTATUS(status) == 126);
    node_link_stop(l, missing && l->state == LINK_GREETING, "the %s %s%s%s",
                   l->state == LINK_GREETING ? "command that starts its agent" : "agent", how,
                   *l->words.last ? ": " : "", l->words.last);
}

// Greeting -----------------------------------------------------------------------------------------------------------

// Sends the welcome, with sweetspot's environment variables.
static void send_welcome(struct node_link *l)
{
    static const char prefix[] = "SWEETSPOT_";
    const struct node_link_settings *s = l->settings;
    autorelease(arena_release) struct arena memory = {NULL};
    autofree char *folder = text_join_path(".", ".");
    struct node_welcome welcome = {.folder = folder,
                                   .heartbeat = s->heartbeat,
                                   .timeout = NAN,
                                   .probes = s->probes,
                                   .probe_count = s->probe_count};
    size_t count = 0;
    while (environ[count]) count++;
    struct record_named_text *env = arena_new(&memory, count * sizeof *env);
    for (char **entry = environ; *entry; entry++) {
        char *name = (char *)(uintptr_t)arena_copy(&memory, *entry), *value = strchr(name, '=');
        if (strncmp(name, prefix, sizeof prefix - 1) || !value || !json_takes(name)) continue;
        *value = 0;
        env[welcome.env_count++] = (struct record_named_text){name, value + 1};
    }
    welcome.env = env;
    node_message_put(&l->out, FRAME_WELCOME, 0, &welcome);
}

// Lines before the greeting come from other programs, such as a shell's start-up files.
static void read_greeting(struct node_link *l)
{
    char *line;
    int got = 0;
    while (l->state == LINK_GREETING && got >= 0 && (got = frame_next_line(&l->in, &line)) > 0) {
        struct error err;
        if (strncmp(line, NODE_GREETING, strlen(NODE_GREETING)) != 0) {
            child_output_take(&l->banner, line, strlen(line), log_text, l);
            child_output_take(&l->banner, "\n", 1, log_text, l);
            if (l->banner.heard > CHILD_OUTPUT_MOST) got = -1; // refused below
            continue;
        }
        arena_release(&l->memory);
        if (node_identity_read(line, l->name, &l->identity, &l->memory, &err)) {
            node_link_stop(l, true, "%s", err.message);
        } else {
            l->state = LINK_WELCOMED;
            send_welcome(l);
        }
    }
    if (got < 0) node_link_stop(l, true, "it sends endless text instead of the agent's greeting");
}

static void take_ready(struct node_link *l, const struct node_ready *ready)
{
    l->files.shared = ready->shared;
    if (ready->have_count > NODE_FILES_REPORTED) {
        node_link_stop(l, true, "it reports more than %d files", NODE_FILES_REPORTED);
        return;
    }
    free(l->files.cache);
    l->files.cache = text_copy(ready->cache);
    for (size_t i = 0; i < ready->have_count; i++) json_object_set_new(l->files.have, ready->have[i], json_true());
    l->state = LINK_UP;
    log_text(l, l->files.shared ? "it sees the driver's files" : "it does not see the driver's files, which are sent");
}

// Frames -------------------------------------------------------------------------------------------------------------

static struct node_channel *find(const struct node_link *l, uint32_t number)
{
    for (size_t i = 0; i < l->channel_count; i++)
        if (l->channels[i]->number == number) return l->channels[i];
    return NULL; // it was closed; the rest of its bytes are ignored
}

// Records a file as present once it is complete.
static void end_file(struct node_link *l)
{
    struct error err;
    autofree char *here = l->files.arrival.path ? text_copy(l->files.arrival.path) : NULL;
    int ended = node_arrival_end(&l->files.arrival, &err);
    if (ended < 0) node_link_stop(l, true, "%s", err.message);
    if (ended > 0) {
        json_object_set_new(l->files.have, here + strlen(l->settings->keep) + 1, json_true());
        json_object_set_new(l->files.brought, l->files.arriving, json_string(here));
    }
}

static void begin_file(struct node_link *l, const struct node_file *file)
{
    struct error err;
    if (file->size > NODE_FILE_MOST || ++l->files.unnamed > NODE_MOST_CORES) { // a compiler sends one file at a time
        node_link_stop(l, true,
                       file->size > NODE_FILE_MOST ? "it sends a file of %" PRId64 " bytes"
                                                   : "it sends files that no answer names, the last of %" PRId64
                                                     " bytes",
                       file->size);
        return;
    }
    autofree char *name = node_file_name(file->path, file->hash), *here = text_format("%s/%s", l->settings->keep, name);
    free(l->files.arriving);
    l->files.arriving = text_copy(file->path);
    if (node_arrival_begin(&l->files.arrival, here, file->hash, file->size, &err))
        node_link_stop(l, true, "%s", err.message);
    else
        end_file(l);
}

static void take_frame(struct node_link *l, const struct frame *f)
{
    struct error err;
    struct node_channel *c = f->channel ? find(l, f->channel) : NULL;
    union node_message m;
    autorelease(arena_release) struct arena memory = {NULL};
    if (node_message_read(f, &m, &memory, &err)) {
        node_link_stop(l, true, "its agent sends an invalid message: %s", err.message);
        return;
    }
    switch (f->type) {
    case FRAME_READY:
        if (l->state == LINK_WELCOMED) take_ready(l, &m.ready);
        break;
    case FRAME_OUTPUT:
        if (c) byte_queue_add(&c->output, f->data, f->size);
        break;
    case FRAME_ERRORS:
        if (c) byte_queue_add(&c->errors, f->data, f->size);
        break;
    case FRAME_EXIT:
        if (!c) break;
        c->ended = true;
        c->killed = m.exit.killed;
        c->status = m.exit.status;
        break;
    case FRAME_STATE:
        if (c) c->stopped = m.state.stopped;
        break;
    case FRAME_FILE:
        begin_file(l, &m.file);
        break;
    case FRAME_DATA:
        if (node_arrival_take(&l->files.arrival, f->data, f->size, &err))
            node_link_stop(l, true, "%s", err.message);
        else
            end_file(l);
        break;
    case FRAME_TROUBLE:
        node_link_stop(l, true, "%.500s", *m.trouble.reason ? m.trouble.reason : "its agent gives no reason");
        break;
    default: // a heartbeat
        break;
    }
}

static size_t output_waiting(const struct node_link *l)
{
    size_t all = 0;
    for (size_t i = 0; i < l->channel_count; i++)
        all += byte_queue_size(&l->channels[i]->output) + byte_queue_size(&l->channels[i]->errors);
    return all;
}

static void keep_time(struct node_link *l, double now)
{
    const struct node_link_settings *s = l->settings;
    if (now - l->served > gap) l->heard += now - l->served;
    l->served = now;
    if (l->state != LINK_UP && now - l->started > s->greeting)
        node_link_stop(l, false, "its agent did not %s within %.0f s%s%s",
                       l->state == LINK_GREETING ? "greet" : "become ready", s->greeting, *l->words.last ? ": " : "",
                       l->words.last);
    if (l->state <= LINK_GREETING) return;
    if (now - l->heard > s->timeout)
        node_link_stop(l, false, "nothing was received from it for %.0f s", now - l->heard);
    if (l->state == LINK_DOWN || now - l->heartbeat_at < s->heartbeat) return;
    frame_put_first(&l->out, FRAME_BEAT);
    l->heartbeat_at = now;
}

void node_link_io(struct node_link *l)
{
    struct frame f;
    struct error err;
    int got = 0;
    if (l->state == LINK_DOWN) return;
    double now = clock_now();
    size_t before = byte_queue_size(&l->in);
    bool open = frame_read(&l->in, l->child.from);
    if (byte_queue_size(&l->in) != before) l->heard = fmax(now, l->heard);
    read_child_output(l);
    if (l->state == LINK_GREETING) read_greeting(l);
    while (l->state > LINK_GREETING && (got = frame_next(&l->in, &f, &err)) > 0) take_frame(l, &f);
    if (got < 0) node_link_stop(l, true, "%s", err.message);
    if (output_waiting(l) > NODE_OUTPUT_MOST)
        node_link_stop(l, true, "its workers write more than %d MiB without the end of a line", NODE_OUTPUT_MOST >> 20);
    if (l->state != LINK_DOWN && !open) end(l);
    if (l->state != LINK_DOWN) keep_time(l, now);
    if (l->state != LINK_DOWN && frame_flush(&l->out, l->child.to)) end(l);
}

void node_links_wait(const struct node_links *links, struct pollfd *others, int count, int milliseconds)
{
    size_t link_count = links ? links->count : 0;
    autofree struct pollfd *p = memory_new((size_t)count + CHILD_POLLED * link_count, sizeof *p);
    int n = count;
    if (count) memcpy(p, others, (size_t)count * sizeof *p);
    for (size_t i = 0; i < link_count; i++) {
        const struct node_link *l = links->list[i];
        if (l->state != LINK_DOWN) n += child_poll(&l->child, true, frame_pending(&l->out), p + n);
    }
    poll(p, (nfds_t)n, milliseconds);
    if (count) memcpy(others, p, (size_t)count * sizeof *p);
    for (size_t i = 0; i < link_count; i++) node_link_io(links->list[i]);
}

void node_link_end_wait(struct node_link *l, double limit)
{
    int status;
    while (l->state != LINK_DOWN && l->child.pid && clock_now() < limit && !child_ended(&l->child, &status)) {
        char ignored[4096]; // a full pipe must not keep the agent from ending
        while (read(l->child.from, ignored, sizeof ignored) > 0) {
        }
        usleep(1000);
    }
}

void node_link_release(struct node_link *l)
{
    node_link_stop(l, false, "the run is over");
    for (size_t i = 0; i < l->channel_count; i++) free(l->channels[i]); // its worker has been released
    free(l->channels);
    forget_files(&l->files);
    free(l->why);
    arena_release(&l->memory);
    *l = (struct node_link){.child = CHILD_NONE};
}

// Channels -----------------------------------------------------------------------------------------------------------

struct node_channel *node_link_open(struct node_link *l, char *const argv[], struct error *err)
{
    if (l->state != LINK_UP) return error_set(err, "node %s cannot be reached: %s", l->name, node_link_why(l)), NULL;
    struct node_channel *c = memory_new(1, sizeof *c);
    struct node_start order = {.argv = (const char *const *)argv};
    while (argv[order.argv_count]) order.argv_count++;
    *c = (struct node_channel){.link = l, .number = ++l->next_channel};
    memory_add(l->channels, l->channel_count) = c;
    node_message_put(&l->out, FRAME_START, c->number, &order);
    return c;
}

void node_channel_put(struct node_channel *c, enum frame_type type, const void *bytes, size_t size)
{
    if (!c->ended && !c->lost) frame_put(&c->link->out, type, c->number, bytes, size);
}

void node_link_close(struct node_link *l, struct node_channel *c)
{
    node_channel_put(c, FRAME_KILL, NULL, 0);
    for (size_t i = 0; i < l->channel_count; i++) {
        if (l->channels[i] != c) continue;
        l->channels[i] = l->channels[--l->channel_count];
        break;
    }
    byte_queue_release(&c->output);
    byte_queue_release(&c->errors);
    free(c);
}
