// See source.h: builds the source text that a compiler receives.
#include "tuner/source/source.h"

struct edited {
    const char *from; // the text being copied; done up to `at`
    size_t at;
    struct text text;
};

// Copies the text before `end`.
static void append(struct edited *e, size_t end)
{
    text_add(&e->text, "%.*s", (int)(end - e->at), e->from + e->at);
    e->at = end;
}

// Replaces the text between `begin` and `end` by `text`, and keeps the number of lines.
static void replace(struct edited *e, size_t begin, size_t end, const char *text)
{
    append(e, begin);
    text_add(&e->text, "%s", text);
    for (size_t i = begin; i < end; i++)
        if (e->from[i] == '\n') text_add(&e->text, "\\\n");
    e->at = end;
}

// The path as written in an #include, malloc'ed. Returns NULL with a message if that is impossible.
static char *header_name(const char *path, struct error *err)
{
    if (!strpbrk(path, "\"\n")) return text_format("\"%s\"", path);
    if (!strpbrk(path, ">\n")) return text_format("<%s>", path);
    error_set(err, "no #include can name the path '%s'", path);
    return NULL;
}

static int edit(struct edited *e, const struct source *s, const struct include *m, size_t target, struct error *err)
{
    static const char *const words[] = {[INCLUDE_DIRECTIVE] = "include ", [INCLUDE_ASKED] = "__has_include("};
    static const char *const unknown[] = {
        [INCLUDE_DIRECTIVE] = "error the file that this macro names is not part of the hash of the source; "
                              "include it by its name: ",
        [INCLUDE_ASKED] = "not_part_of_the_hash_of_the_source",
    };
    if (!m->real) return 0;
    if (m->computed) replace(e, m->word, m->end, unknown[m->kind]);
    if (m->next && !m->computed) replace(e, m->word, m->operand, words[m->kind]);
    if (target == SOURCE_NONE) return 0;
    autofree char *name = header_name(s->files[target].path, err);
    if (!name) return -1;
    replace(e, m->operand, m->end, name);
    return 0;
}

static char *edit_file(const struct source *s, size_t file, struct error *err)
{
    const struct source_file *f = &s->files[file];
    struct edited e = {.from = f->text};
    for (size_t i = 0; i < f->includes.count; i++) {
        if (f->includes.list[i].word < e.at) continue; // inside a replaced include
        if (edit(&e, s, &f->includes.list[i], f->target[i], err)) {
            free(e.text.text);
            return NULL;
        }
    }
    append(&e, strlen(f->text));
    return e.text.text;
}

static int add(struct source_texts *t, char *name, char *text)
{
    t->name[t->header_count] = name;
    t->text[t->header_count++] = text;
    return name && text ? 0 : -1;
}

int source_texts_make(struct source_texts *t, const struct source *s, struct error *err)
{
    size_t most = s->file_count + s->alias_count;
    *t = (struct source_texts){.name = memory_new(most, sizeof *t->name), .text = memory_new(most, sizeof *t->text)};
    for (size_t i = 0; i < s->file_count; i++)
        if (add(t, text_copy(s->files[i].path), edit_file(s, i, err))) return -1;
    t->program = text_copy(t->text[0]);
    for (size_t i = 0; i < s->alias_count; i++)
        add(t, text_copy(s->aliases[i].name), text_format("#include \"%s\"\n", s->files[s->aliases[i].file].path));
    return 0;
}

void source_texts_release(struct source_texts *t)
{
    free(t->program);
    for (size_t i = 0; i < t->header_count; i++) {
        free(t->name[i]);
        free(t->text[i]);
    }
    free(t->name);
    free(t->text);
    *t = (struct source_texts){0};
}
