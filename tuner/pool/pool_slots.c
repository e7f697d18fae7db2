// See pool_slots.h.
#include "tuner/pool/pool_slots.h"

#include "tuner/pool/node_files.h"
#include "tuner/protocol/message.h"

static void on_chatter(void *user, const struct worker *w, const char *line)
{
    pool_report(user, false, "%s: %s", w->name, line);
}

static void on_progress(void *user, const struct worker *w, const char *what, double share)
{
    const struct pool_settings *s = user;
    if (s->progress) s->progress(s->user, w->name, what, share);
}

void pool_report(const struct pool_settings *s, bool shown, const char *format, ...)
{
    if (!s->report) return;
    TEXT_FROM(format, text);
    s->report(s->user, shown, text);
}

static struct pool_slot new_slot(struct worker_pool *p, size_t node, char *name)
{
    struct worker w = WORKER_NONE;
    w.link = node == POOL_HERE ? NULL : &p->remote.nodes[node]->link;
    w.links = &p->remote.links;
    w.chatter = on_chatter;
    w.progress = on_progress;
    w.chatter_user = &p->settings;
    return (struct pool_slot){.worker = w, .node = node, .name = name};
}

void pool_add_gpu(struct worker_pool *p, size_t node, char *name, char *device)
{
    memory_add(p->gpus, p->gpu_count) = new_slot(p, node, name);
    p->gpus[p->gpu_count - 1].device = device;
}

void pool_add_compiler(struct worker_pool *p, size_t node, char *name)
{
    memory_add(p->compilers, p->compiler_count) = new_slot(p, node, name);
    p->compilers[p->compiler_count - 1].compiles = true;
}

// Starts the program. On a node, the program is given by its name, and the recording by its path on that node.
int slot_start(struct worker_pool *p, struct pool_slot *slot, struct error *err)
{
    struct worker *w = &slot->worker;
    autofree char *recording = !p->replay                             ? NULL
                               : w->link && w->link->state == LINK_UP ? node_files_path(w->link, p->replay_file)
                                                                      : text_copy(p->replay_file);
    const char *program = p->replay ? "sweetspot-replay" : slot->compiles ? "sweetspot-compile" : "sweetspot-gpu";
    autofree char *first = text_copy(w->link ? program : slot->compiles ? p->compile_program : p->gpu_program);
    bool takes_device = !p->replay && !slot->compiles;
    char *argv[] = {first, takes_device ? "--device" : recording, takes_device ? slot->device : NULL, NULL};
    slot->dead = slot->ending = false;
    while (slot->queued) slot_forget_head(slot);
    int failed = worker_start(w, slot->name, argv, err);
    if (failed || slot->compiles) return failed;
    slot->state = GPU_HELLO;
    slot->stopped = 0;
    slot->setup_id = worker_send(w, json_pack("{s:s, s:b}", "op", "hello", "counters", (int)p->settings.counters));
    slot->deadline = clock_now() + POOL_SETUP_TIMEOUT;
    return 0;
}

json_t *pool_compiler_hello(const struct worker_pool *p)
{
    return json_pack("{s:s, s:s}", "op", "hello", "compiler", p->settings.nvcc ? PROTOCOL_NVCC : PROTOCOL_NVRTC);
}

void slot_set_uuid(struct pool_slot *slot, const json_t *device)
{
    free(slot->uuid);
    slot->uuid = text_copy(json_get_string(device, "uuid", ""));
}

void slot_send(struct pool_slot *slot, json_t *request, double seconds)
{
    json_incref(request);
    memory_add(slot->queue, slot->queued) = (struct pool_sent){worker_send(&slot->worker, request), request, seconds};
    if (slot->queued > 1) return;
    slot->stopped = 0;
    slot->deadline = clock_now() + seconds;
}

void slot_forget_head(struct pool_slot *slot)
{
    json_decref(slot->queue[0].request);
    memmove(&slot->queue[0], &slot->queue[1], --slot->queued * sizeof slot->queue[0]);
    slot->begun = false;
}

void slot_stop(struct pool_slot *slot)
{
    worker_kill(&slot->worker);
    while (slot->queued) slot_forget_head(slot);
    slot->state = GPU_DOWN;
    slot->at = 0;
    slot->dead = slot->ending = slot->compiler.greeting = false;
}

static void release(struct pool_slot *slots, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        worker_release(&slots[i].worker);
        while (slots[i].queued) slot_forget_head(&slots[i]);
        free(slots[i].queue);
        free(slots[i].name);
        free(slots[i].device);
        free(slots[i].uuid);
        free(slots[i].disabled);
    }
    free(slots);
}

void pool_release_slots(struct worker_pool *p)
{
    release(p->gpus, p->gpu_count);
    release(p->compilers, p->compiler_count);
}

int pool_refusal(const json_t *answer, struct error *err)
{
    error_set(err, "%s", answer_reason(answer, "the GPU worker rejects the job"));
    return strcmp(json_get_string(answer, "status", ""), PROTOCOL_ENVIRONMENT) ? EXIT_USAGE : EXIT_ENVIRONMENT;
}

void pool_keep_libraries(struct worker_pool *p, const json_t *answer)
{
    json_array_each(json_object_get(answer, "baselines"), i, from)
        json_array_each(json_object_get(p->job_request, "baselines"), k, to) {
            const char *reason = json_get_string(from, "reason", "");
            bool library = !strcmp(json_get_string(to, "kind", ""), "operation"),
                 known = json_object_get(to, "ways") || json_object_get(to, "reason");
            if (!library || known) continue;
            if (strcmp(json_get_string(from, "name", ""), json_get_string(to, "name", "")) != 0) continue;
            if (*reason) json_object_set_new(to, "reason", json_string(reason));
            if (*reason || !json_object_get(from, "ways")) continue;
            json_object_set(to, "ways", json_object_get(from, "ways"));
            json_object_set(to, "detail", json_object_get(from, "detail"));
        }
}

bool pool_give_up_baseline(struct worker_pool *p, const json_t *answer)
{
    const char *name = json_get_string(answer, "baseline", NULL);
    if (!name || answer_status(answer) != STATUS_CRASHED) return false;
    json_array_each(json_object_get(p->job_request, "baselines"), i, each) {
        if (strcmp(json_get_string(each, "name", ""), name) != 0) continue;
        if (json_object_get(each, "reason")) return false; // it was not called, so it did not crash
        json_object_set_new(each, "reason", json_string(answer_reason(answer, "it crashed")));
        return true;
    }
    return false;
}
