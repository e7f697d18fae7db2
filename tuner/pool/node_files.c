// See node_files.h. A single file is "files/ab/<hash>.<extension>" below the node's cache. A source has includes that
// are found by their places, so the files of one compilation lie in a tree of their own, "trees/<hash>/", under their
// paths here. Folders of a toolkit are the node's own.
#include "tuner/pool/node_files.h"

#include <ctype.h>
#include <unistd.h>

#include "tuner/base/base.h"
#include "tuner/base/hash.h"
#include "tuner/base/input_file.h"
#include "tuner/source/source.h"

// Members that are files, in whatever object they stand; and those that are folders to write to.
static const char *const file_members[] = {"cubin", "support", "ceilings", "path", "library", "built"};
static const char *const cache_members[] = {"cache"};
// Settings, which name no files ("cache" is "cold" there).
static const char *const settings_members[] = {"measure", "verify"};
// Lists of files, objects whose members are files, and lists of such objects.
static const char *const file_groups[] = {"files"};
// Members of answers that are files of the node.
static const char *const found_members[] = {"cubin", "library"};

static bool is_among(const char *key, const char *const *names, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (!strcmp(key, names[i])) return true;
    return false;
}
#define IS_AMONG(key, names) is_among(key, names, sizeof(names) / sizeof *(names))

// A file to send. Other nodes may have named it if it is in the compile cache.
static int open_file(const struct node_link *l, const char *path)
{
    char *absolute = text_join_path(".", path);
    const char *keep = l->settings->keep;
    bool kept = keep && input_file_is_below(keep, absolute);
    int fd = kept ? input_file_open_below(keep, absolute, NULL) : input_file_open(path, NULL);
    free(absolute);
    return fd;
}

char *node_files_path(struct node_link *l, const char *path)
{
    char hash[HASH_TEXT_SIZE], *there = NULL;
    int64_t size;
    int fd = l->shared || !*path ? -1 : open_file(l, path);
    if (fd < 0) return text_copy(path);
    if (node_file_hash_open(fd, hash, &size, NULL)) {
        close(fd);
        return text_copy(path);
    }
    char *name = node_file_name(path, hash);
    bool known = json_object_get(l->have, name);
    if (known) close(fd);
    if (known || !node_file_send(&l->out, fd, &(struct node_file){.name = name, .hash = hash, .size = size}, NULL)) {
        there = text_format("%s/%s", l->cache, name);
        json_object_set_new(l->have, name, json_true());
    }
    free(name);
    return there ? there : text_copy(path);
}

static json_t *placed(struct node_link *l, const json_t *path)
{
    char *there = node_files_path(l, json_string_value(path));
    json_t *value = json_string(there);
    free(there);
    return value;
}

static json_t *placed_group(struct node_link *l, json_t *group)
{
    size_t i;
    json_t *member, *out;
    const char *name;
    if (json_is_string(group)) return placed(l, group);
    if (!json_is_array(group) && !json_is_object(group)) return json_incref(group);
    out = json_is_array(group) ? json_array() : json_object();
    json_array_foreach(group, i, member) json_array_append_new(out, placed_group(l, member));
    json_object_foreach(group, name, member) json_object_set_new(out, name, placed_group(l, member));
    return out;
}

// Options that name one of the files get its new path.
static void move_options(json_t *options, const json_t *before, const json_t *after)
{
    for (size_t f = 0; f < json_array_size(before); f++) {
        const char *old = json_string_value(json_array_get(before, f)),
                   *new = json_string_value(json_array_get(after, f));
        for (size_t i = 0; i < json_array_size(options) && old && new &&*old; i++) {
            const char *option = json_string_value(json_array_get(options, i)),
                       *at = option ? strstr(option, old) : NULL;
            const char *rest = at ? at + strlen(old) : NULL;
            if (!at || isalnum((unsigned char)*rest) || (*rest && strchr("._-/", *rest))) continue; // another file
            json_array_set_new(options, i, json_sprintf("%.*s%s%s", (int)(at - option), option, new, rest));
        }
    }
}

static void place_files(struct node_link *l, json_t *value)
{
    size_t i;
    json_t *member;
    const char *key;
    json_array_foreach(value, i, member) place_files(l, member);
    if (!json_is_object(value)) return;
    json_t *changed = json_object();
    json_object_foreach(value, key, member)
    {
        if (json_is_string(member) && IS_AMONG(key, file_members))
            json_object_set_new(changed, key, placed(l, member));
        else if (json_is_string(member) && IS_AMONG(key, cache_members))
            json_object_set_new(changed, key, json_sprintf("%s/compiled", l->cache));
        else if (IS_AMONG(key, file_groups))
            json_object_set_new(changed, key, placed_group(l, member));
        else if (!IS_AMONG(key, settings_members))
            place_files(l, member);
    }
    move_options(json_object_get(value, "options"), json_object_get(value, "files"), json_object_get(changed, "files"));
    json_object_update(value, changed);
    json_decref(changed);
}

// Sources ------------------------------------------------------------------------------------------------------------

// The strings of a list, borrowed.
static const char **texts(const json_t *list, size_t *count)
{
    const char **out = memory_new(json_array_size(list) + 1, sizeof *out);
    *count = 0;
    for (size_t i = 0; i < json_array_size(list); i++)
        if (json_is_string(json_array_get(list, i))) out[(*count)++] = json_string_value(json_array_get(list, i));
    return out;
}

// The name of a tree: by what is in it, and where.
static void name_tree(const struct source *s, char hash[HASH_TEXT_SIZE])
{
    struct hash *h = hash_new();
    for (size_t i = 0; i < s->file_count; i++) {
        hash_text(h, s->files[i].path);
        hash_text(h, s->files[i].text);
    }
    hash_finish(h, hash);
}

// Folders in which nothing was found are of no use there, but may be named: a file makes them exist.
static void send_folder(struct node_link *l, const char *tree, const char *folder)
{
    char *name = text_format("trees/%s%s/.sweetspot", tree, folder), hash[HASH_TEXT_SIZE];
    if (!json_object_get(l->have, name)) {
        hash_content("", 0, hash);
        node_message_put(&l->out, FRAME_FILE, 0, &(struct node_file){.name = name, .hash = hash});
        json_object_set_new(l->have, name, json_true());
    }
    free(name);
}

static void send_source(struct node_link *l, const char *tree, const struct source_file *file)
{
    char hash[HASH_TEXT_SIZE], *name = text_format("trees/%s%s", tree, file->path);
    size_t size = strlen(file->text);                            // a source has no NUL byte
    if (*file->path == '/' && !json_object_get(l->have, name)) { // what has no path is made there
        hash_content(file->text, size, hash);
        node_message_put(&l->out, FRAME_FILE, 0,
                         &(struct node_file){.name = name, .hash = hash, .size = (int64_t)size});
        frame_put_data(&l->out, file->text, size);
        json_object_set_new(l->have, name, json_true());
    }
    free(name);
}

// Sends all that the compilation may read. The tree's folder there (malloc'ed), or NULL where the source cannot be
// read.
static char *send_tree(struct node_link *l, const char *source, const json_t *request)
{
    struct source s;
    struct source_request r = {.path = source, .host_headers = json_get_bool(request, "host_headers", true)};
    const char **include = texts(json_object_get(request, "include"), &r.include_count),
               **options = texts(json_object_get(request, "options"), &r.option_count),
               **macros = texts(json_object_get(request, "macros"), &r.macro_count);
    r.include = include;
    r.option = options;
    r.macro = macros;
    char tree[HASH_TEXT_SIZE], *root = NULL;
    if (!source_open(&s, &r, NULL)) {
        name_tree(&s, tree);
        for (size_t i = 0; i < s.file_count; i++) send_source(l, tree, &s.files[i]);
        for (size_t i = 0; i < r.include_count; i++) {
            char *folder = text_join_path(".", r.include[i]);
            if (!source_options_toolkit(folder)) send_folder(l, tree, folder);
            free(folder);
        }
        root = text_format("%s/trees/%s", l->cache, tree);
    }
    source_release(&s);
    free(include);
    free(options);
    free(macros);
    return root;
}

static json_t *below(const char *root, const char *path)
{
    char *absolute = text_join_path(".", path);
    json_t *value = source_options_toolkit(absolute) ? json_string(path) : json_sprintf("%s%s", root, absolute);
    free(absolute);
    return value;
}

static void place_source(struct node_link *l, json_t *request)
{
    const char *source = json_get_string(request, "source", NULL);
    size_t i;
    json_t *folder;
    if (!source) return;
    // Most candidates are of the same files: what decides about them is looked up.
    json_t *what =
        json_pack("{s:s, s:O*, s:O*, s:O*, s:O*}", "source", source, "include", json_object_get(request, "include"),
                  "options", json_object_get(request, "options"), "macros", json_object_get(request, "macros"), "hash",
                  json_object_get(request, "source_hash"));
    char *key = json_dumps(what, JSON_COMPACT | JSON_SORT_KEYS);
    const char *known = json_get_string(l->trees, key, NULL);
    char *root = known ? text_copy(known) : send_tree(l, source, request);
    if (root) {
        json_t *include = json_array(), *options = json_deep_copy(json_object_get(request, "options"));
        json_object_set_new(l->trees, key, json_string(root));
        json_array_foreach(json_object_get(request, "include"), i, folder)
        {
            if (json_is_string(folder)) json_array_append_new(include, below(root, json_string_value(folder)));
        }
        json_object_set_new(request, "source", below(root, source));
        json_object_set_new(request, "include", include);
        source_options_move(options, root);
        if (options) json_object_set_new(request, "options", options);
    }
    json_decref(what);
    free(key);
    free(root);
}

json_t *node_files_place(struct node_link *l, json_t *request)
{
    if (l->shared) return request;
    json_t *own = json_deep_copy(request); // the answer is held against the request as it was
    json_decref(request);
    place_source(l, own);
    place_files(l, own);
    return own;
}

// Where a file that a node names is here. NULL with a message.
static char *found(struct node_link *l, const char *path, struct error *why)
{
    if (!l->shared) {
        const char *here = json_get_string(l->brought, path, NULL);
        if (!here) error_set(why, "it names a file that it did not send: '%.200s'", path);
        l->unnamed = 0;
        return here ? text_copy(here) : NULL;
    }
    const char *keep = l->settings->keep;
    char *absolute = text_join_path(".", path);
    int fd = input_file_open_below(keep, absolute, NULL);
    free(absolute);
    if (fd < 0) return error_set(why, "it names a file that is not in the compile cache: '%.200s'", path), NULL;
    close(fd);
    return text_copy(path);
}

int node_files_found(struct node_link *l, json_t *answer, struct error *why)
{
    for (size_t i = 0; i < sizeof found_members / sizeof *found_members; i++) {
        const json_t *path = json_object_get(answer, found_members[i]);
        if (!json_is_string(path) || !json_string_length(path)) continue;
        char *here = found(l, json_string_value(path), why);
        if (!here) return -1;
        json_object_set_new(answer, found_members[i], json_string(here));
        free(here);
    }
    return 0;
}

bool node_files_refuse(const struct node_link *l, const json_t *job, struct error *why)
{
    const json_t *reference = json_object_get(job, "reference");
    if (!l || l->shared || strcmp(json_get_string(reference, "kind", ""), "command") != 0) return false;
    error_set(
        why,
        "the job's reference is the command '%.200s', which runs where the GPU is, and this node does not see the "
        "files of the driver's machine; give it a folder that both see, or a reference of another kind",
        json_get_string(reference, "command", ""));
    return true;
}
