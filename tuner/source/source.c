// See source.h.
#include "tuner/source/source.h"

#include <sys/stat.h>
#include <unistd.h>

#include "tuner/base/input_file.h"
#include "tuner/source/cuda_tokens.h"
#include "tuner/source/host_headers.h"

// Options of NVRTC: folders of headers --------------------------------------------------------------------------------

enum option_kind { OPTION_FOLDER, OPTION_REFUSED };

// An option's value follows "=" or is the next word; if `joined`, it may directly follow the name.
static const struct {
    const char *name;
    enum option_kind kind;
    bool joined;
} option_table[] = {
    {"-I", OPTION_FOLDER, true},          {"--include-path", OPTION_FOLDER, false},
    {"-include", OPTION_REFUSED, false},  {"--pre-include", OPTION_REFUSED, false},
    {"-pch", OPTION_REFUSED, false},      {"--pch", OPTION_REFUSED, false},
    {"--use-pch", OPTION_REFUSED, false}, {"-use-pch", OPTION_REFUSED, false},
};

struct source_options {
    struct text_list folders; // the user's, absolute, in search order: the options', then the request's
    struct text_list rest;    // the options without the user's folders; handed over, not released
};

bool source_options_toolkit(const char *folder)
{
    static const char *const places[] = {"cuda_runtime_api.h", "../cuda_runtime_api.h"}; // the latter for include/cccl
    bool found = false;
    for (size_t i = 0; i < sizeof places / sizeof *places && !found; i++) {
        autofree char *path = text_format("%s/%s", folder, places[i]);
        found = !access(path, F_OK);
    }
    return found;
}

// Only the user's folders are searched here; the compiler searches a toolkit's folders.
static void add_folder(struct source_options *o, const char *folder)
{
    if (source_options_toolkit(folder))
        text_list_add(&o->rest, text_format("-I%s", folder));
    else
        text_list_add(&o->folders, text_join_path(".", folder));
}

// The index of a known option, and its value (NULL: the next word); -1: another option.
static int find_option(const char *option, const char **value)
{
    for (size_t i = 0; i < sizeof option_table / sizeof *option_table; i++) {
        size_t length = strlen(option_table[i].name);
        if (strncmp(option, option_table[i].name, length)) continue;
        *value = option[length] == '=' ? option + length + 1 : option + length + strspn(option + length, " \t");
        if (!option[length]) *value = NULL;
        if (!option[length] || option[length] == '=' || option_table[i].joined) return (int)i;
    }
    return -1;
}

// Returns -1 with a message for an option that would make the compiler read unhashed files.
static int read_options(struct source_options *o, const struct source_request *request, struct error *err)
{
    *o = (struct source_options){0};
    for (size_t i = 0; i < request->option_count; i++) {
        const char *option = request->option[i], *value = NULL;
        int which = find_option(option, &value);
        if (which >= 0 && option_table[which].kind == OPTION_REFUSED)
            return error_set(err, "option '%s' reads headers that are not part of the source's hash", option);
        if (which >= 0 && !value && i + 1 < request->option_count) value = request->option[++i];
        if (which < 0 || !value)
            text_list_add(&o->rest, text_copy(option));
        else
            add_folder(o, value);
    }
    for (size_t i = 0; i < request->include_count; i++) add_folder(o, request->include[i]);
    return 0;
}

void source_options_move(json_t *options, const char *root)
{
    for (size_t i = 0; i < json_array_size(options); i++) {
        const char *option = json_string_value(json_array_get(options, i)), *value = NULL;
        int which = option ? find_option(option, &value) : -1;
        if (which < 0 || option_table[which].kind != OPTION_FOLDER) continue;
        size_t after = value ? (size_t)(value - option) : 0; // length of the text before the value, which is kept
        if (!value && ++i < json_array_size(options)) value = option = json_string_value(json_array_get(options, i));
        autofree char *path = value ? text_join_path(".", value) : NULL;
        if (path && !source_options_toolkit(path))
            json_array_set_new(options, i, json_sprintf("%.*s%s%s", (int)after, option, root, path));
    }
}

// Files ---------------------------------------------------------------------------------------------------------------

struct closure {
    struct source *source;
    const struct source_request *request;
    bool host_headers;
    struct source_options options;
    struct hash *hash;
    bool ambiguous; // the texts do not tell which file each include means
};

static int visit(struct closure *c, const char *path, const struct stat *info, size_t *file, struct error *err);

// Whether this path is a file, and which of the known files it is (SOURCE_NONE: none). Returns -1 if it cannot be read.
static int look(const struct closure *c, const char *path, struct stat *info, size_t *file, struct error *err)
{
    *file = SOURCE_NONE;
    if (stat(path, info) || S_ISDIR(info->st_mode)) return 0;
    if (!S_ISREG(info->st_mode)) return error_set(err, "'%s' is not a regular file", path);
    for (size_t i = 0; i < c->source->file_count && *file == SOURCE_NONE; i++)
        if (c->source->files[i].inode == info->st_ino && c->source->files[i].device == info->st_dev) *file = i;
    return 1;
}

// Tries a name in a folder. Returns 1 if *file was found (and visited), 0 if not, or -1 with a message. `except`: a
// file to ignore.
static int try_folder(struct closure *c, const char *folder, const char *name, size_t except, size_t *file,
                      struct error *err)
{
    struct stat info, plain;
    autofree char *path = *name == '/' ? text_copy(name) : text_format("%s/%s", folder, name),
                  *normal = text_join_path(folder, name);
    int found = look(c, path, &info, file, err);
    // Without its "..", a path through a symbolic link may lead to another file.
    bool same = found > 0 && !stat(normal, &plain) && plain.st_ino == info.st_ino && plain.st_dev == info.st_dev;
    if (found > 0 && *file == SOURCE_NONE && visit(c, same ? normal : path, &info, file, err)) found = -1;
    if (found > 0 && *file == except) found = 0;
    if (found > 0) c->ambiguous |= strcmp(c->source->files[*file].path, same ? normal : path) != 0; // a link
    return found;
}

// Finds the file that `name` means in `from`. Returns 0 with SOURCE_NONE if it is not one of the user's.
static int resolve(struct closure *c, size_t from, const char *name, bool next, size_t *file, struct error *err)
{
    size_t length = strlen(name), begin = 0;
    autofree char *plain = text_format("%.*s", (int)(length - 2), name + 1),
                  *beside = text_directory(c->source->files[from].path);
    int found = 0;
    size_t except = next ? from : SOURCE_NONE;
    if (*plain && *name == '"' && !next) found = try_folder(c, beside, plain, except, file, err);
    // include_next continues after the folder in which the including file was found.
    for (size_t i = 0; next && i < c->options.folders.count && !begin; i++) {
        struct stat info;
        autofree char *path = text_format("%s/%s", c->options.folders.list[i], plain);
        size_t which;
        if (look(c, path, &info, &which, NULL) > 0 && which == from) begin = i + 1;
    }
    for (size_t i = begin; *plain && i < c->options.folders.count && !found; i++)
        found = try_folder(c, c->options.folders.list[i], plain, except, file, err);
    if (!found) *file = SOURCE_NONE;
    return found < 0 ? -1 : 0;
}

static int add(struct closure *c, const char *path, char *text, size_t size, const struct stat *info, size_t *file,
               struct error *err);

// Finds the stand-in with this name, and adds it as a file if necessary. Returns 0 with SOURCE_NONE if there is none.
static int stand_in(struct closure *c, const char *name, size_t *file, struct error *err)
{
    const struct host_header *h = c->host_headers ? host_header_find(name) : NULL;
    *file = SOURCE_NONE;
    if (!h) return 0;
    autofree char *path = text_format("sweetspot/%s", name);
    for (size_t i = 0; i < c->source->file_count && *file == SOURCE_NONE; i++)
        if (!strcmp(c->source->files[i].path, path)) *file = i;
    return *file == SOURCE_NONE ? add(c, path, text_copy(h->text), strlen(h->text), NULL, file, err) : 0;
}

// Adds the stand-ins that a vendor's header needs, under the names that the header includes. The header declares host
// functions, which NVRTC treats as device functions if -default-device is given.
static int stand_in_for_vendor(struct closure *c, const char *vendor, struct error *err)
{
    static const char option[] = "-default-device";
    int result = 0;
    bool given = false;
    for (size_t i = 0; i < c->options.rest.count; i++) given |= strstr(c->options.rest.list[i], option) != NULL;
    for (const struct host_word *w = host_includes; c->host_headers && w->word && !result; w++) {
        size_t file;
        if (strcmp(w->word, vendor) != 0) continue;
        if (!given) text_list_add(&c->options.rest, text_copy(option));
        given = true;
        result = stand_in(c, w->header, &file, err);
        if (!result) memory_add(c->source->aliases, c->source->alias_count) = (struct source_alias){w->header, file};
    }
    return result;
}

// Adds a file and all files that it includes by name. Takes ownership of `text`.
static int add(struct closure *c, const char *path, char *text, size_t size, const struct stat *info, size_t *file,
               struct error *err)
{
    struct source *s = c->source;
    size_t at = *file = s->file_count;
    if (!(at & (at - 1))) s->files = memory_grow(s->files, at ? 2 * at : 1, sizeof *s->files);
    s->files[at] = (struct source_file){
        .path = text_copy(path), .text = text, .device = info ? info->st_dev : 0, .inode = info ? info->st_ino : 0};
    s->file_count++;
    if (strlen(text) != size) return error_set(err, "'%s' has a NUL byte: it is not text, or not in UTF-8", path);
    if (at == SOURCE_FILES_MOST) return error_set(err, "more than %d files are included", SOURCE_FILES_MOST);
    hash_bytes(c->hash, &size, sizeof size);
    hash_bytes(c->hash, text, size);
    includes_find(&s->files[at].includes, text);
    const struct includes m = s->files[at].includes; // `files` moves
    size_t *target = s->files[at].target = memory_new(m.count, sizeof *target);
    for (size_t i = 0; i < m.count; i++) {
        target[i] = SOURCE_NONE;
        if (m.list[i].computed) continue;
        if (resolve(c, at, m.list[i].name, m.list[i].next, &target[i], err)) return -1;
        c->ambiguous |= m.list[i].kind == INCLUDE_ASKED && target[i] != SOURCE_NONE;
        autofree char *plain = text_format("%.*s", (int)strlen(m.list[i].name) - 2, m.list[i].name + 1);
        int result = target[i] == SOURCE_NONE ? stand_in(c, plain, &target[i], err) : 0;
        if (!result && target[i] == SOURCE_NONE) result = stand_in_for_vendor(c, plain, err);
        if (result) return -1;
    }
    return 0;
}

// If a file has several names, or __has_include found it, the same texts in the same order may still mean another
// program. Other sources keep the hash of their texts, so that results in existing stores remain valid.
static void hash_targets(const struct closure *c)
{
    const struct source *s = c->source;
    for (size_t i = 0; i < s->file_count && c->ambiguous; i++)
        hash_bytes(c->hash, s->files[i].target, s->files[i].includes.count * sizeof *s->files[i].target);
}

static int visit(struct closure *c, const char *path, const struct stat *info, size_t *file, struct error *err)
{
    size_t size;
    char *text = input_file_read(path, INPUT_FILE_TEXT_MOST, &size, err);
    const bool whole = text && strlen(text) == size;
    if (whole) memmove(text, text_after_mark(text), strlen(text_after_mark(text)) + 1); // NVRTC refuses the mark
    for (size_t i = 0; whole && i < c->request->edit_count; i++) {
        if (!input_file_is_same(c->request->edits[i].file, path)) continue;
        if (text_edit_apply(&c->request->edits[i], &text, err)) return free(text), -1;
    }
    return text ? add(c, path, text, whole ? strlen(text) : size, info, file, err) : -1;
}

static int visit_program(struct closure *c, const struct source_request *request, struct error *err)
{
    struct stat info = {0};
    size_t file;
    if (request->text) {
        char *text = text_copy(request->text);
        return add(c, request->path ? request->path : "text.cu", text, strlen(text), NULL, &file, err);
    }
    autofree char *path = text_join_path(".", request->path);
    bool there = look(c, path, &info, &file, NULL) > 0; // if it is false, reading the file gives the reason
    return visit(c, path, there ? &info : NULL, &file, err);
}

// Words that nvcc knows without an #include ---------------------------------------------------------------------------

// Whether a word precedes this position in a string.
static bool follows(const char *text, const char *at, const char *word)
{
    size_t length = strlen(word);
    while (at > text && (at[-1] == ' ' || at[-1] == '\t')) at--;
    return (size_t)(at - text) >= length && !strncmp(at - length, word, length);
}

// Whether a source has the word; *own: the source declares it (`typedef int word;`, `using word =`, `#define word`).
static bool has_word(const char *text, const char *word, bool *own)
{
    size_t length = strlen(word);
    bool found = false;
    for (const char *at = strstr(text, word); at; at = strstr(at + length, word)) {
        if ((at > text && cuda_in_name(at[-1])) || cuda_in_name(at[length])) continue;
        const char *after = at + length + strspn(at + length, " \t\n");
        *own |= *after == ';' || follows(text, at, "using") || follows(text, at, "define");
        found = true;
    }
    return found;
}

// Whether one of the source's files has the word and no file declares it.
static bool needs_word(const struct closure *c, const char *word)
{
    bool found = false, own = false;
    for (size_t f = 0; f < c->source->file_count; f++) found |= has_word(c->source->files[f].text, word, &own);
    return found && !own;
}

static int visit_tokens(struct closure *c, struct error *err)
{
    for (const struct host_word *w = host_words; c->host_headers && w->word; w++) {
        size_t file;
        autofree char *option = text_format("--pre-include=sweetspot/%s", w->header);
        bool there = false; // another word has already added the header
        for (size_t i = 0; i < c->options.rest.count; i++) there |= !strcmp(c->options.rest.list[i], option);
        if (there || !needs_word(c, w->word)) continue;
        text_list_add(&c->options.rest, text_copy(option));
        if (stand_in(c, w->header, &file, err)) return -1;
    }
    return 0;
}

int source_open(struct source *s, const struct source_request *request, struct error *err)
{
    struct closure c = {.source = s, .request = request, .host_headers = request->host_headers, .hash = hash_new()};
    *s = (struct source){0};
    int result = read_options(&c.options, request, err);
    if (!result) result = visit_program(&c, request, err);
    if (!result) result = visit_tokens(&c, err);
    if (!result) hash_targets(&c);
    hash_finish(c.hash, s->hash);
    s->options = c.options.rest;
    text_list_release(&c.options.folders);
    return result;
}

void source_release(struct source *s)
{
    for (size_t i = 0; i < s->file_count; i++) {
        free(s->files[i].path);
        free(s->files[i].text);
        free(s->files[i].target);
        includes_release(&s->files[i].includes);
    }
    text_list_release(&s->options);
    free(s->files);
    free(s->aliases);
    *s = (struct source){0};
}

bool source_has(const struct source *s, const char *path)
{
    bool found = false;
    for (size_t i = 0; i < s->file_count && !found; i++) found = input_file_is_same(s->files[i].path, path);
    return found;
}

int source_hash(const struct source_request *request, char hash[HASH_TEXT_SIZE], struct error *err)
{
    autorelease(source_release) struct source s;
    int result = source_open(&s, request, err);
    memcpy(hash, s.hash, sizeof s.hash);
    return result;
}
