// See pool_slots.h.
#include "tuner/pool/pool_slots.h"

#include <stdarg.h>

#include "tuner/base/base.h"
#include "tuner/base/protocol.h"
#include "tuner/pool/node_files.h"

static void on_chatter(void *user, const struct worker *w, const char *line)
{
    const struct pool_settings *s = user;
    if (!s->log) return;
    char *text = text_format("%s: %s", w->name, line);
    s->log(s->user, text);
    free(text);
}

static void on_progress(void *user, const struct worker *w, const char *what, double share)
{
    const struct pool_settings *s = user;
    if (s->progress) s->progress(s->user, w->name, what, share);
}

static void tell(const struct worker_pool *p, void (*to)(void *, const char *), const char *format, va_list args)
{
    if (!to) return;
    char *text = text_format_list(format, args);
    to(p->settings.user, text);
    free(text);
}

void pool_log(const struct worker_pool *p, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    tell(p, p->settings.log, format, args);
    va_end(args);
}

void pool_say(const struct worker_pool *p, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    tell(p, p->settings.say, format, args);
    va_end(args);
}

static struct worker new_worker(struct worker_pool *p, struct node_link *link)
{
    struct worker w = WORKER_NONE;
    w.link = link;
    w.links = &p->links;
    w.chatter = on_chatter;
    w.progress = on_progress;
    w.chatter_user = &p->settings;
    return w;
}

void pool_add_gpu(struct worker_pool *p, size_t node, struct node_link *link, char *name, char *device)
{
    memory_add(p->gpus, p->gpu_count) =
        (struct gpu_slot){.worker = new_worker(p, link), .node = node, .name = name, .device = device};
}

void pool_add_compiler(struct worker_pool *p, size_t node, struct node_link *link, char *name)
{
    memory_add(p->compilers, p->compiler_count) =
        (struct compile_slot){.worker = new_worker(p, link), .node = node, .name = name};
}

// The program and its first arguments: on a node by its name, with the node's path of the recording.
static int start(struct worker_pool *p, struct worker *w, const char *name, const char *program, char *const path,
                 const char *option, char *device, struct error *err)
{
    char *recording = !p->replay                             ? NULL
                      : w->link && w->link->state == LINK_UP ? node_files_path(w->link, p->replay_file)
                                                             : text_copy(p->replay_file);
    char *first = w->link ? text_copy(program) : text_copy(path),
         *second = recording ? recording : (char *)(uintptr_t)option;
    char *argv[] = {first, second, second ? device : NULL, NULL};
    int failed = worker_start(w, name, argv, err);
    free(first);
    free(recording);
    return failed;
}

int pool_start_compiler(struct worker_pool *p, size_t i, struct error *err)
{
    struct compile_slot *slot = &p->compilers[i];
    slot->dead = false;
    return start(p, &slot->worker, slot->name, p->replay ? "sweetspot-replay" : "sweetspot-compile", p->compile_program,
                 NULL, NULL, err);
}

int pool_start_gpu(struct worker_pool *p, size_t i, struct error *err)
{
    struct gpu_slot *slot = &p->gpus[i];
    slot->dead = slot->ending = false;
    while (slot->queued) pool_forget_head(slot);
    if (start(p, &slot->worker, slot->name, p->replay ? "sweetspot-replay" : "sweetspot-gpu", p->gpu_program,
              "--device", p->replay ? NULL : slot->device, err))
        return -1;
    slot->state = GPU_HELLO;
    slot->stopped = 0;
    slot->setup_id =
        worker_send(&slot->worker, json_pack("{s:s, s:b}", "op", "hello", "counters", (int)p->settings.counters));
    slot->deadline = clock_now() + POOL_SETUP_TIMEOUT;
    return 0;
}

json_t *pool_compiler_hello(const struct worker_pool *p)
{
    return json_pack("{s:s, s:s}", "op", "hello", "compiler", p->settings.nvcc ? PROTOCOL_NVCC : PROTOCOL_NVRTC);
}

void pool_set_uuid(struct gpu_slot *slot, const json_t *device)
{
    free(slot->uuid);
    slot->uuid = text_copy(json_get_string(device, "uuid", ""));
}

void pool_forget_head(struct gpu_slot *slot)
{
    json_decref(slot->queue[0].request);
    memmove(&slot->queue[0], &slot->queue[1], --slot->queued * sizeof slot->queue[0]);
    slot->begun = false;
}

void pool_forget_gpu(struct gpu_slot *slot)
{
    worker_kill(&slot->worker);
    slot->state = GPU_DOWN;
    while (slot->queued) pool_forget_head(slot);
    slot->at = 0;
    slot->dead = slot->ending = false;
}

void pool_release_slots(struct worker_pool *p)
{
    for (size_t i = 0; i < p->gpu_count; i++) {
        worker_release(&p->gpus[i].worker);
        while (p->gpus[i].queued) pool_forget_head(&p->gpus[i]);
        free(p->gpus[i].name);
        free(p->gpus[i].device);
        free(p->gpus[i].uuid);
        free(p->gpus[i].aside_why);
        free(p->gpus[i].queue);
    }
    for (size_t i = 0; i < p->compiler_count; i++) {
        worker_release(&p->compilers[i].worker);
        json_decref(p->compilers[i].request);
        free(p->compilers[i].name);
    }
    free(p->gpus);
    free(p->compilers);
}

int pool_refusal(const json_t *answer, struct error *err)
{
    const char *word = json_get_string(answer, "status", "");
    error_set(err, "%s", json_get_string(answer, "reason", "the GPU worker refuses the job"));
    return strcmp(word, PROTOCOL_ENVIRONMENT) ? EXIT_USAGE : EXIT_ENVIRONMENT;
}

bool pool_give_up_baseline(struct worker_pool *p, const json_t *answer)
{
    const char *name = json_get_string(answer, "baseline", NULL);
    size_t i;
    json_t *each;
    if (!name || status_find(json_get_string(answer, "status", "")) != STATUS_CRASHED) return false;
    json_array_foreach(json_object_get(p->job_request, "baselines"), i, each)
    {
        if (strcmp(json_get_string(each, "name", ""), name) != 0) continue;
        if (json_object_get(each, "reason")) return false; // it was not called
        json_object_set_new(each, "reason", json_string(json_get_string(answer, "reason", "it crashed")));
        return true;
    }
    return false;
}
