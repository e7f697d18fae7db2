// See node_files.h. A single file is "files/ab/<hash>.<extension>" below the node's cache. A source finds its includes
// by their paths, so each compilation has its own tree: the driver's file PATH becomes "trees/<hash>/" + PATH in the
// cache. Toolkit folders are not sent; the node uses its own.
#include "tuner/pool/node_files.h"

#include <unistd.h>

#include "tuner/base/buffer_kind.h"
#include "tuner/base/input_file.h"
#include "tuner/protocol/compile_message.h"
#include "tuner/source/source.h"

// Members of any object whose values are paths of files. "files" is an object whose members are files, and "cache" is a
// folder to write to.
static const char *const file_members[] = {"cubin", "support", "ceilings", "path", "library", "built", NULL};
// Settings objects, which do not name files ("cache" has values such as "cold" there).
static const char *const settings_members[] = {"measure", "verify", NULL};
// Members of answers that are files on the node.
static const char *const found_members[] = {"cubin", "library", NULL};

// Opens a file to send. A path in the compile cache may come from another node, so it must not lead out of that folder.
static int open_file(const struct node_link *l, const char *path)
{
    autofree char *absolute = text_join_path(".", path);
    const char *keep = l->settings->keep;
    bool kept = keep && input_file_is_below(keep, absolute);
    return kept ? input_file_open_below(keep, absolute, NULL) : input_file_open(path, NULL);
}

char *node_files_path(struct node_link *l, const char *path)
{
    char hash[HASH_TEXT_SIZE];
    int64_t size;
    int fd = l->files.shared || !*path ? -1 : open_file(l, path);
    if (fd < 0) return text_copy(path);
    if (node_file_hash_open(fd, hash, &size, NULL)) {
        close(fd);
        return text_copy(path);
    }
    autofree char *name = node_file_name(path, hash);
    const struct node_file file = {.name = name, .hash = hash, .size = size};
    bool known = json_object_get(l->files.have, name);
    if (known) {
        close(fd);
        node_message_put(&l->out, FRAME_USE, 0, &file);
    }
    if (!known && node_file_send(&l->out, fd, &file, NULL)) return text_copy(path);
    json_object_set_new(l->files.have, name, json_true());
    return text_format("%s/%s", l->files.cache, name);
}

// `files`: all members of the object are files.
static void place_files(struct node_link *l, json_t *value, bool files)
{
    json_array_each(value, i, element) place_files(l, element, false);
    if (!json_is_object(value)) return;
    autojson json_t *changed = json_object();
    json_object_each(value, key, member) {
        if (json_is_string(member) && (files || word_find(file_members, key) >= 0)) {
            autofree char *there = node_files_path(l, json_string_value(member));
            json_object_set_new(changed, key, json_string(there));
        } else if (json_is_string(member) && !strcmp(key, "cache")) {
            json_object_set_new(changed, key, json_sprintf("%s/compiled", l->files.cache));
        } else if (word_find(settings_members, key) < 0) {
            place_files(l, member, !strcmp(key, "files"));
        }
    }
    json_object_update(value, changed);
}

// Sources ------------------------------------------------------------------------------------------------------------

// The name of a tree, from its files' contents and paths.
static void name_tree(const struct source *s, char hash[HASH_TEXT_SIZE])
{
    struct hash *h = hash_new();
    for (size_t i = 0; i < s->file_count; i++) {
        hash_text(h, s->files[i].path);
        hash_text(h, s->files[i].text);
    }
    hash_finish(h, hash);
}

// Sends a file with this content, unless the node has it already. Takes ownership of the name.
static void send_text(struct node_link *l, char *name, const char *text)
{
    char hash[HASH_TEXT_SIZE];
    size_t size = strlen(text); // a source has no NUL byte
    if (!json_object_get(l->files.have, name)) {
        hash_content(text, size, hash);
        node_message_put(&l->out, FRAME_FILE, 0,
                         &(struct node_file){.name = name, .hash = hash, .size = (int64_t)size});
        frame_put_data(&l->out, text, size);
        json_object_set_new(l->files.have, name, json_true());
    }
    free(name);
}

// Sends all files that the compilation may read. Returns the tree's folder on the node (malloc'ed), or NULL if the
// source cannot be read.
static char *send_tree(struct node_link *l, const struct compile_request *c)
{
    const struct source_request r = {.path = c->program.source,
                                     .include_count = c->include_count,
                                     .include = c->include,
                                     .option_count = c->option_count,
                                     .option = c->options,
                                     .host_headers = c->program.host_headers,
                                     .edits = c->program.edits,
                                     .edit_count = c->program.edit_count};
    autorelease(source_release) struct source s = {0};
    char tree[HASH_TEXT_SIZE];
    if (source_open(&s, &r, NULL)) return NULL;
    name_tree(&s, tree);
    for (size_t i = 0; i < s.file_count; i++)
        if (*s.files[i].path == '/') // the node itself creates files without an absolute path
            send_text(l, text_format("trees/%s%s", tree, s.files[i].path), s.files[i].text);
    // A request may name include folders in which nothing was found. A file in each of these folders makes the folder
    // exist on the node.
    for (size_t i = 0; i < r.include_count; i++) {
        autofree char *folder = text_join_path(".", r.include[i]);
        if (!source_options_toolkit(folder)) send_text(l, text_format("trees/%s%s/.sweetspot", tree, folder), "");
    }
    return text_format("%s/trees/%s", l->files.cache, tree);
}

static json_t *below(const char *root, const char *path)
{
    autofree char *absolute = text_join_path(".", path);
    return source_options_toolkit(absolute) ? json_string(path) : json_sprintf("%s%s", root, absolute);
}

static void place_source(struct node_link *l, json_t *request)
{
    struct compile_request c;
    autorelease(arena_release) struct arena memory = {NULL};
    if (!json_object_get(request, "source")) return;
    // Most candidates have the same files, so the tree is looked up by the members that determine them.
    autojson json_t *what =
        json_pack("{s:O*, s:O*, s:O*, s:O*, s:O*}", "source", json_object_get(request, "source"), "include",
                  json_object_get(request, "include"), "options", json_object_get(request, "options"), "hash",
                  json_object_get(request, "source_hash"), "edits", json_object_get(request, "edits"));
    if (record_read(&compile_request_record, request, &c, &memory, NULL) || !*c.program.source) return;
    autofree char *key = json_dumps(what, JSON_COMPACT | JSON_SORT_KEYS);
    const char *known = json_get_string(l->files.trees, key, NULL);
    autofree char *root = known ? text_copy(known) : send_tree(l, &c);
    if (!root) return;
    json_t *include = json_array(), *options = json_deep_copy(json_object_get(request, "options"));
    json_object_set_new(l->files.trees, key, json_string(root));
    for (size_t i = 0; i < c.include_count; i++) json_array_append_new(include, below(root, c.include[i]));
    json_object_set_new(request, "source", below(root, c.program.source));
    json_object_set_new(request, "include", include);
    json_object_del(request, "edits"); // they are already applied in the tree
    source_options_move(options, root);
    if (options) json_object_set_new(request, "options", options);
}

json_t *node_files_place(struct node_link *l, json_t *request)
{
    if (l->files.shared) return request;
    json_t *own = json_deep_copy(request); // the answer is checked against the request as it was
    json_decref(request);
    place_source(l, own);
    place_files(l, own, false);
    return own;
}

// The path on this machine of a file that a node names. Returns NULL with a message on failure.
static char *found(struct node_link *l, const char *path, struct error *why)
{
    if (!l->files.shared) {
        const char *here = json_get_string(l->files.brought, path, NULL);
        if (!here) error_set(why, "it names a file that it did not send: '%.200s'", path);
        l->files.unnamed = 0;
        return here ? text_copy(here) : NULL;
    }
    autofree char *absolute = text_join_path(".", path);
    int fd = input_file_open_below(l->settings->keep, absolute, NULL);
    if (fd < 0) return error_set(why, "it names a file that is not in the compile cache: '%.200s'", path), NULL;
    close(fd);
    return text_copy(path);
}

int node_files_found(struct node_link *l, json_t *answer, struct error *why)
{
    for (size_t i = 0; found_members[i] && !l->settings->recorded; i++) {
        const json_t *path = json_object_get(answer, found_members[i]);
        if (!json_is_string(path) || !json_string_length(path)) continue;
        autofree char *here = found(l, json_string_value(path), why);
        if (!here) return -1;
        json_object_set_new(answer, found_members[i], json_string(here));
    }
    return 0;
}

bool node_files_refuse(const struct node_link *l, const json_t *job, struct error *why)
{
    const json_t *reference = json_object_get(job, "reference");
    if (!l || l->files.shared || strcmp(json_get_string(reference, "kind", ""), "command") != 0) return false;
    error_set(
        why,
        "the job's reference is the command '%.200s', which runs where the GPU is, and this node does not see the "
        "files of the driver's machine; give it a folder that both see, or a reference of another kind",
        json_get_string(reference, "command", ""));
    return true;
}
