// See reader.h. A `struct node` is a config_setting_t under another name, so that no other file needs libconfig.
#include "tuner/job/job_parts.h"

#include <ctype.h>
#include <errno.h>
#include <libconfig.h>
#include <stdarg.h>

#include "tuner/base/input_file.h"

// libconfig compares each name with all others in its group. Real jobs stay far below these limits.
enum { MOST_SETTINGS = 1000, MOST_GROUPS = 64 }; // per group; nested

struct reader {
    config_t config;
    struct mistakes *mistakes, old; // `old`: spellings of earlier versions that were rewritten
    char *folder;                   // of the job file
    struct text text;               // with the contents of included files in place of `@include`
    int lines;                      // number of lines in the text so far
    size_t origin_count;
    struct origin {
        int line;   // from this line on, the text's lines come from `file`, starting at line `own`
        char *file; // path of an included file; NULL: the job file
        int own;
    } * origins;
    size_t settings[MOST_GROUPS + 1]; // settings so far in each open group, while the text is scanned
    size_t depth;
    size_t blanks;
    bool any_undefined;
    size_t undefined_count;
    char **undefined;
    size_t explained_count;
    struct explained {
        const struct node *group;
        char *name;
    } * explained;
};

static const config_setting_t *setting(const struct node *node)
{
    return (const config_setting_t *)node;
}

static const struct node *node(const config_setting_t *s)
{
    return (const struct node *)s;
}

// The path of the included file that the node is in, malloc'ed; NULL: the job file itself.
static char *file_of(const struct node *n)
{
    const char *file = config_setting_source_file(setting(n));
    return file ? text_copy(file) : NULL;
}

// Takes ownership of `file`.
static void add(struct mistakes *m, char *file, int line, const char *format, va_list args)
{
    memory_add(m->list, m->count) =
        (struct mistake){.file = file, .line = line, .text = text_format_list(format, args)};
}

void mistakes_add_in(struct mistakes *m, const char *file, int line, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    add(m, file ? text_copy(file) : NULL, line, format, args);
    va_end(args);
}

// Whether the last two mistakes are one: elements of a list in one line may all be wrong in the same way.
static bool is_repeated(const struct mistakes *m)
{
    const struct mistake *b = m->list + m->count - 1, *a = b - 1;
    return m->count > 1 && a->line == b->line && !strcmp(a->file ? a->file : "", b->file ? b->file : "") &&
           !strcmp(a->text, b->text);
}

int reader_mistake(struct reader *r, const struct node *n, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    add(r->mistakes, n ? file_of(n) : NULL, n ? node_line(n) : 0, format, args);
    va_end(args);
    struct mistake *last = &r->mistakes->list[r->mistakes->count - 1];
    last->about = n ? n : reader_root(r);
    if (is_repeated(r->mistakes)) {
        free(last->file);
        free(last->text);
        r->mistakes->count--;
    }
    return -1;
}

void reader_undefined(struct reader *r, const char *name)
{
    if (name)
        memory_add(r->undefined, r->undefined_count) = text_copy(name);
    else
        r->any_undefined = true;
}

void reader_explains(struct reader *r, const struct node *group, const char *name)
{
    memory_add(r->explained, r->explained_count) = (struct explained){group, text_copy(name)};
    r->mistakes->list[r->mistakes->count - 1].about = NULL;
}

// Whether a mistake is about an explained group, one of its members, or the list that contains the group.
static bool is_explained(const struct reader *r, const struct mistake *m)
{
    const config_setting_t *about = m->about;
    bool follows = false;
    for (size_t i = 0; about && i < r->explained_count && !follows; i++) {
        const config_setting_t *group = setting(r->explained[i].group);
        autofree char *alone = text_format("'%s'", r->explained[i].name),
                      *inner = text_format(".%s'", r->explained[i].name);
        bool in_list = !config_setting_is_group(about) && config_setting_parent(group) == about;
        follows = (group == about || group == config_setting_parent(about) || in_list) &&
                  (strstr(m->text, alone) || strstr(m->text, inner));
    }
    return follows;
}

// The text after the words, up to a quotation mark; NULL if the words do not occur. malloc'ed.
static char *name_after(const char *text, const char *words)
{
    const char *found = strstr(text, words), *name = found ? found + strlen(words) : NULL;
    return name ? text_format("%.*s", (int)strcspn(name, "'"), name) : NULL;
}

static bool is_consequence(struct reader *r, const struct mistake *m)
{
    autofree char *name = name_after(m->text, "unknown name '"), *other = name_after(m->text, "unknown setting '");
    bool follows = is_explained(r, m) || (name && r->any_undefined);
    for (size_t i = 0; (name || other) && i < r->undefined_count; i++)
        follows |= !strcmp(name ? name : other, r->undefined[i]);
    if (name && !follows) reader_undefined(r, name);
    return follows;
}

void reader_drop_consequences(struct reader *r)
{
    struct mistakes *m = r->mistakes;
    size_t kept = 0, all = m->count;
    for (size_t i = 0; i < all; i++) {
        if (is_consequence(r, &m->list[i])) {
            free(m->list[i].file);
            free(m->list[i].text);
        } else {
            m->list[kept++] = m->list[i];
        }
    }
    m->count = kept;
    if (kept < all)
        mistakes_add_in(m, NULL, 0, "%zu more mistake%s follow%s from these", all - kept, all - kept == 1 ? "" : "s",
                        all - kept == 1 ? "s" : "");
}

static bool comes_after(const struct mistakes *m, size_t a, size_t b)
{
    const char *file_a = m->list[a].file ? m->list[a].file : "", *file_b = m->list[b].file ? m->list[b].file : "";
    int order = strcmp(file_a, file_b);
    return order ? order > 0 : m->list[a].line > m->list[b].line;
}

// Uses insertion sort, because it is stable and the lists are short.
void mistakes_sort(struct mistakes *m)
{
    for (size_t i = 1; i < m->count; i++)
        for (size_t j = i; j > 0 && comes_after(m, j - 1, j); j--) memory_swap(m->list[j - 1], m->list[j]);
}

void mistakes_release(struct mistakes *m)
{
    for (size_t i = 0; i < m->count; i++) {
        free(m->list[i].file);
        free(m->list[i].text);
    }
    free(m->list);
    *m = (struct mistakes){0};
}

// libconfig silently truncates integers beyond 32 bits that do not end in L, and all integers beyond 64 bits. The scan
// adds a missing L, collects numbers that libconfig would read wrongly, and replaces each `@include` by the included
// file.
struct scan {
    struct reader *reader;
    const char *file; // path of the included file; NULL: the job file
    int line;
    bool long_array; // within an array of integers that do not all fit in 32 bits; libconfig needs one type
};

// Notes that the next lines of the text come from this file and line.
static void add_origin(struct reader *r, const char *file, int line)
{
    memory_add(r->origins, r->origin_count) = (struct origin){r->lines, file ? text_copy(file) : NULL, line};
}

// Returns the origin of a line of the text. *line becomes the line's number in its file.
static const struct origin *origin_of(const struct reader *r, int *line)
{
    const struct origin *o = &r->origins[r->origin_count - 1];
    while (o > r->origins && o->line > *line) o--;
    *line += o->own - o->line;
    return o;
}

#define scan_mistake(s, ...) mistakes_add_in((s)->reader->mistakes, (s)->file, (s)->line, __VA_ARGS__)

static void copy(struct scan *s, const char *from, size_t length)
{
    int lines = 0;
    for (size_t i = 0; i < length; i++) lines += from[i] == '\n';
    s->line += lines;
    s->reader->lines += lines;
    text_add(&s->reader->text, "%.*s", (int)length, from);
}

// Scans a word of `length` characters that begins with a digit: a number.
static void scan_number(struct scan *s, const char *p, size_t length)
{
    bool hexadecimal = *p == '0' && (p[1] == 'x' || p[1] == 'X');
    const char *digits = hexadecimal ? "0123456789abcdefABCDEF" : "0123456789";
    size_t start = hexadecimal ? 2 : 0, count = strspn(p + start, digits), end = start + count;
    bool is_long = end < length && p[end] == 'L';
    copy(s, p, length);
    if (!count || (end < length && !is_long)) return; // a real number, or invalid in libconfig
    errno = 0;
    unsigned long long value = strtoull(p, NULL, hexadecimal ? 16 : 10);
    if (errno || value > INT64_MAX) {
        scan_mistake(s, "%.*s does not fit into a 64-bit integer", (int)length, p);
    } else if (!is_long && (value > INT32_MAX || s->long_array)) {
        copy(s, "L", 1);
    }
}

// Whether the array that begins here has an integer beyond 32 bits.
static bool has_long(const char *p)
{
    for (const char *end = p + strcspn(p, "]"); p < end; p += strspn(p, "0123456789")) {
        p += strcspn(p, "0123456789]");
        if (strtoull(p, NULL, 10) > INT32_MAX) return true;
    }
    return false;
}

static void scan_group(struct scan *s, char sign)
{
    struct reader *r = s->reader;
    if (sign == '{' && r->depth == MOST_GROUPS) {
        if (r->settings[r->depth] <= MOST_SETTINGS) scan_mistake(s, "more than %d nested groups", MOST_GROUPS);
        r->settings[r->depth] = MOST_SETTINGS + 1; // report it only once
    } else if (sign == '{') {
        r->settings[++r->depth] = 0;
    } else if (sign == '}') {
        r->depth -= r->depth > 0;
    } else if (++r->settings[r->depth] == MOST_SETTINGS + 1) {
        scan_mistake(s, "a group has more than %d settings", MOST_SETTINGS);
    }
}

static void scan_include(struct scan *from, const char *path, int depth);

static void scan(struct scan *s, const char *text, int depth)
{
    bool line_start = true;
    for (const char *p = text_after_mark(text); *p;) {
        size_t n = 1;
        if (line_start && !strncmp(p + strspn(p, " \t"), "@include", 8)) {
            n = strcspn(p, "\n");
            const char *quote = memchr(p, '"', n),
                       *end = quote ? memchr(quote + 1, '"', n - (size_t)(quote + 1 - p)) : NULL;
            if (end) {
                autofree char *path = text_format("%s/%.*s", s->reader->folder, (int)(end - quote - 1), quote + 1);
                scan_include(s, path, depth + 1);
                p = end + 1;
                line_start = false;
                continue;
            }
        } else if (*p == '"') {
            while (p[n] && p[n] != '"') {
                if (!strncmp(p + n, "\\x00", 4)) scan_mistake(s, "a string cannot hold the character \\x00");
                n += p[n] == '\\' && p[n + 1] ? 2 : 1;
            }
            n += p[n] == '"';
        } else if (*p == '#' || (*p == '/' && p[1] == '/')) {
            n = strcspn(p, "\n");
        } else if (*p == '/' && p[1] == '*') {
            const char *end = strstr(p + 2, "*/");
            n = end ? (size_t)(end - p) + 2 : strlen(p);
        } else if (isalnum((unsigned char)*p) || *p == '_' || *p == '.') {
            bool number = isdigit((unsigned char)*p); // a name may contain '-' and '*'
            while (isalnum((unsigned char)p[n]) || p[n] == '_' || p[n] == '.' ||
                   (!number && strchr("-*", p[n]) && p[n]))
                n++;
            if (number) {
                scan_number(s, p, n);
                line_start = false;
                p += n;
                continue;
            }
        } else if (strchr("{}=:", *p)) {
            scan_group(s, *p);
        } else if (*p == '[' || *p == ']') {
            s->long_array = *p == '[' && has_long(p + 1);
        }
        copy(s, p, n);
        line_start = p[n - 1] == '\n';
        p += n;
    }
}

static void scan_include(struct scan *from, const char *path, int depth)
{
    enum { DEPTH_MAX = 10 };
    struct reader *r = from->reader;
    struct error err = {"files include each other too deeply, or are too long together"};
    bool possible = depth <= DEPTH_MAX && r->text.length <= INPUT_FILE_TEXT_MOST;
    if (r->mistakes->count) return; // otherwise a file that is included many times could repeat its mistakes
    autofree char *text = possible ? input_file_read(path, INPUT_FILE_TEXT_MOST, NULL, &err) : NULL;
    if (!text) {
        scan_mistake(from, "@include: %s", err.message);
        return;
    }
    struct scan s = {r, path, 1, false};
    add_origin(r, path, 1);
    scan(&s, text, depth);
    copy(&s, "\n", 1);
    add_origin(r, from->file, from->line);
}

// Whether the setting is a blank in a draft made by `init`: a string that consists of ? and a hint.
static bool is_blank(const config_setting_t *s)
{
    const char *text = config_setting_get_string(s);
    return text && *text == '?';
}

static void add_blank(struct reader *r, const config_setting_t *s, const char *path)
{
    const char *hint = config_setting_get_string(s) + 1;
    hint += strspn(hint, " ");
    r->blanks++;
    reader_mistake(r, node(s), "'%s' still has to be filled in%s%s", path, *hint ? ": " : "", hint);
}

// Goes through all settings once and collects blanks, numbers that are too large, and strings that JSON cannot
// represent.
static void look_through(struct reader *r, const config_setting_t *group, const char *path)
{
    bool named = config_setting_is_group(group);
    for (int i = 0; i < config_setting_length(group); i++) {
        config_setting_t *s = config_setting_get_elem(group, (unsigned)i);
        autofree char *own =
            named ? text_format("%s%s%s", path, *path ? "." : "", config_setting_name(s)) : text_format("%s[]", path);
        if (config_setting_type(s) == CONFIG_TYPE_FLOAT && !isfinite(config_setting_get_float(s)))
            reader_mistake(r, node(s), "a number is too large");
        if (config_setting_type(s) == CONFIG_TYPE_STRING && !json_takes(config_setting_get_string(s)))
            reader_mistake(r, node(s), "a string is not UTF-8");
        else if (is_blank(s))
            add_blank(r, s, own);
        if (config_setting_is_aggregate(s)) look_through(r, s, own);
    }
}

// Sets the file and the line of each setting's origin.
static void set_origins(const struct reader *r, config_setting_t *s)
{
    int line = (int)s->line;
    s->file = origin_of(r, &line)->file;
    s->line = (unsigned)line;
    for (int i = 0; config_setting_is_aggregate(s) && i < config_setting_length(s); i++)
        set_origins(r, config_setting_get_elem(s, (unsigned)i));
}

static bool read_text(struct reader *r, const char *path, const char *text, size_t size)
{
    size_t before = r->mistakes->count;
    struct scan s = {r, NULL, 1, false};
    r->lines = 1;
    add_origin(r, NULL, 1);
    text_add(&r->text, "%s", "");
    scan(&s, text, 0);
    if (strlen(text) != size)
        mistakes_add_in(r->mistakes, NULL, s.line,
                        strncmp(text, "SQLite", 6) ? "the file has a NUL byte: it is not text, or not in UTF-8"
                                                   : "this is a store, not a job file: give the job file");
    if (r->mistakes->count > before) return false;
    autofree char *today = old_spellings_rewrite(r->text.text, true, &r->old);
    for (size_t i = 0; i < r->old.count; i++) {
        const char *file = origin_of(r, &r->old.list[i].line)->file;
        if (file) r->old.list[i].file = text_copy(file);
    }
    if (config_read_string(&r->config, today)) {
        set_origins(r, config_root_setting(&r->config));
        return true;
    }
    int line = config_error_line(&r->config);
    const char *file = origin_of(r, &line)->file;
    const char *what = config_error_text(&r->config);
    autofree char *hint = strstr(what, "mismatched") ? text_copy("( ... ) instead of [ ... ] may mix several types")
                          : strcmp(what, "syntax error") || file ? NULL
                                                                 : syntax_hint(path, text, line);
    mistakes_add_in(r->mistakes, file, line, "%s%s%s", what, hint ? ": " : "", hint ? hint : "");
    return false;
}

struct reader *reader_open(const char *path, struct mistakes *mistakes)
{
    struct reader *r = memory_new(1, sizeof *r);
    size_t size;
    r->mistakes = mistakes;
    r->folder = text_directory(path);
    config_init(&r->config);
    bool good = json_takes(path);
    autofree char *text = good ? input_file_read(path, INPUT_FILE_TEXT_MOST, &size, NULL) : NULL;
    if (!good)
        mistakes_add_in(mistakes, NULL, 0, "the path of a job file must be UTF-8");
    else if (!text)
        mistakes_add_in(mistakes, NULL, 0, "cannot read: %s", errno == EINVAL ? "not a regular file" : strerror(errno));
    else if (read_text(r, path, text, size))
        look_through(r, config_root_setting(&r->config), "");
    else
        good = false;
    if (text && good && !r->blanks) return r; // blanks would only lead to mistakes about missing values
    reader_close(r);
    return NULL;
}

void reader_close(struct reader *r)
{
    if (!r) return;
    config_destroy(&r->config);
    for (size_t i = 0; i < r->mistakes->count; i++) r->mistakes->list[i].about = NULL;
    for (size_t i = 0; i < r->undefined_count; i++) free(r->undefined[i]);
    free(r->undefined);
    for (size_t i = 0; i < r->explained_count; i++) free(r->explained[i].name);
    free(r->explained);
    for (size_t i = 0; i < r->origin_count; i++) free(r->origins[i].file);
    free(r->origins);
    text_release(&r->text);
    mistakes_release(&r->old);
    free(r->folder);
    free(r);
}

struct mistakes reader_old_spellings(struct reader *r)
{
    struct mistakes old = r->old;
    r->old = (struct mistakes){0};
    return old;
}

const struct node *reader_root(const struct reader *r)
{
    return node(config_root_setting(&r->config));
}

void reader_write_problems(struct reader *r, FILE *f, const char *name, const struct job *job, const int64_t *sizes,
                           size_t count)
{
    config_setting_t *root = config_root_setting(&r->config);
    config_setting_remove(root, "name");
    config_setting_remove(root, "problems");
    config_setting_set_string(config_setting_add(root, "name", CONFIG_TYPE_STRING), name);
    config_setting_t *list = config_setting_add(root, "problems", CONFIG_TYPE_LIST);
    for (size_t p = 0; p < count; p++) {
        config_setting_t *problem = config_setting_add(list, NULL, CONFIG_TYPE_GROUP);
        for (size_t i = 0; i < job->names.size_count; i++)
            config_setting_set_int64(config_setting_add(problem, job->names.size_names[i], CONFIG_TYPE_INT64),
                                     *sizes++);
    }
#if LIBCONFIG_VER_MAJOR > 1 || LIBCONFIG_VER_MINOR > 5
    config_set_float_precision(&r->config, 17);
#endif
    config_write(&r->config, f);
}

static void add_places(const struct reader *r, const config_setting_t *group, const char *path, struct job *job)
{
    bool named = config_setting_is_group(group);
    for (int i = 0; i < config_setting_length(group); i++) {
        const config_setting_t *s = config_setting_get_elem(group, (unsigned)i);
        if (!named && config_setting_is_number(s)) continue;
        char *own = job_keep(job, named ? text_format("%s%s%s", path, *path ? "." : "", node_name(node(s)))
                                        : text_format("%s[%d]", path, i));
        job->file.locations = job_room(job, job->file.locations, job->file.location_count, sizeof *job->file.locations);
        job->file.locations[job->file.location_count++] =
            (struct location){.path = own, .file = job_keep(job, file_of(node(s))), .line = node_line(node(s))};
        if (config_setting_is_aggregate(s)) add_places(r, s, own, job);
    }
}

static int by_path(const void *a, const void *b)
{
    const struct location *x = a, *y = b;
    return strcmp(x->path, y->path);
}

void reader_places(const struct reader *r, struct job *job)
{
    add_places(r, config_root_setting(&r->config), "", job);
    if (job->file.location_count)
        qsort(job->file.locations, job->file.location_count, sizeof *job->file.locations, by_path);
}

int node_line(const struct node *n)
{
    return (int)config_setting_source_line(setting(n));
}

const char *node_name(const struct node *n)
{
    return config_setting_name(setting(n));
}

char *node_full_name(const struct node *n)
{
    const config_setting_t *group = config_setting_parent(setting(n)), *around = config_setting_parent(group);
    bool inner =
        around && config_setting_is_group(around) && !config_setting_is_root(around) && !config_setting_name(around);
    return text_format("%s%s%s", inner ? config_setting_name(group) : "", inner ? "." : "", node_name(n));
}

bool node_is_group(const struct node *n)
{
    return config_setting_is_group(setting(n));
}

bool node_is_sequence(const struct node *n)
{
    return config_setting_is_array(setting(n)) || config_setting_is_list(setting(n));
}

bool node_is_string(const struct node *n)
{
    return config_setting_type(setting(n)) == CONFIG_TYPE_STRING;
}

bool node_is_integer(const struct node *n)
{
    int type = config_setting_type(setting(n));
    return type == CONFIG_TYPE_INT || type == CONFIG_TYPE_INT64;
}

bool node_is_number(const struct node *n)
{
    return config_setting_is_number(setting(n));
}

bool node_is_bool(const struct node *n)
{
    return config_setting_type(setting(n)) == CONFIG_TYPE_BOOL;
}

const struct node *node_parent(const struct node *n)
{
    return node(config_setting_parent(setting(n)));
}

size_t node_count(const struct node *n)
{
    return (size_t)config_setting_length(setting(n));
}

const struct node *node_at(const struct node *n, size_t i)
{
    return node(config_setting_get_elem(setting(n), (unsigned)i));
}

const struct node *node_member(const struct node *group, const char *name)
{
    return group && node_is_group(group) ? node(config_setting_get_member(setting(group), name)) : NULL;
}

const char *node_string(const struct node *n)
{
    return config_setting_get_string(setting(n));
}

int64_t node_integer(const struct node *n)
{
    return config_setting_get_int64(setting(n));
}

double node_real(const struct node *n)
{
    return node_is_integer(n) ? (double)node_integer(n) : config_setting_get_float(setting(n));
}

bool node_bool(const struct node *n)
{
    return config_setting_get_bool(setting(n));
}
