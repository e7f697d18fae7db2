// See text.h.
#include "tuner/base/text.h"

#include <ctype.h>
#include <unistd.h>

#include "tuner/base/input_file.h"

char *text_copy(const char *text)
{
    char *copy = strdup(text);
    if (!copy) error_abort("out of memory");
    return copy;
}

const char *text_after_mark(const char *text)
{
    return text + (strncmp(text, "\xef\xbb\xbf", 3) ? 0 : 3);
}

char *text_pattern(const char *path, const char *rest)
{
    struct text pattern = {0};
    size_t length = strlen(path);
    while (length > 1 && path[length - 1] == '/') length--;
    for (size_t i = 0; i < length; i++) text_add(&pattern, strchr("*?[\\", path[i]) ? "\\%c" : "%c", path[i]);
    text_add(&pattern, "%s", rest);
    return pattern.text;
}

char *text_format_list(const char *format, va_list args)
{
    char *text = NULL;
    if (vasprintf(&text, format, args) < 0) error_abort("out of memory");
    return text;
}

char *text_format(const char *format, ...)
{
    va_list args;
    va_start(args, format);
    char *text = text_format_list(format, args);
    va_end(args);
    return text;
}

void text_add(struct text *t, const char *format, ...)
{
    for (;;) {
        va_list args;
        va_start(args, format);
        int n = vsnprintf(t->text ? t->text + t->length : NULL, t->room - t->length, format, args);
        va_end(args);
        if (n < 0) abort();
        if ((size_t)n < t->room - t->length) {
            t->length += (size_t)n;
            return;
        }
        t->room = 2 * t->room + (size_t)n + 256;
        t->text = memory_grow(t->text, t->room, 1);
    }
}

size_t text_control(const char *text)
{
    unsigned char first = (unsigned char)text[0];
    if (first == 0xc2 && ((unsigned char)text[1] & 0xe0) == 0x80) return 2;
    return first && iscntrl(first);
}

char *text_plain(const char *text)
{
    char *plain = memory_new(strlen(text) + 1, 1), *out = plain;
    for (size_t length; *text; text += length ? length : 1) {
        length = text_control(text);
        *out++ = !length ? *text : strchr("\t\n\r", *text) ? ' ' : '?';
    }
    return plain;
}

size_t text_distance(const char *a, const char *b)
{
    enum { LONGEST = 63 };
    size_t m = strlen(a), n = strlen(b);
    if (m > LONGEST || n > LONGEST) return m > n ? m : n;
    size_t rows[3][LONGEST + 1];
    size_t *before = rows[0], *last = rows[1], *row = rows[2];
    for (size_t j = 0; j <= n; j++) last[j] = j;
    for (size_t i = 1; i <= m; i++) {
        row[0] = i;
        for (size_t j = 1; j <= n; j++) {
            int x = tolower((unsigned char)a[i - 1]), y = tolower((unsigned char)b[j - 1]);
            size_t best = last[j - 1] + (x != y);
            if (last[j] + 1 < best) best = last[j] + 1;
            if (row[j - 1] + 1 < best) best = row[j - 1] + 1;
            if (i > 1 && j > 1 && x == tolower((unsigned char)b[j - 2]) && y == tolower((unsigned char)a[i - 2]) &&
                before[j - 2] + 1 < best)
                best = before[j - 2] + 1;
            row[j] = best;
        }
        size_t *oldest = before;
        before = last;
        last = row;
        row = oldest;
    }
    return last[n];
}

const char *text_nearest(const char *word, const char *const *words)
{
    const char *nearest = NULL;
    size_t limit = strlen(word) / 3, best = (limit ? limit : 1) + 1;
    for (; *words; words++) {
        size_t distance = text_distance(word, *words);
        bool other = !word[0] || (!word[1] && strcasecmp(word, *words) != 0); // a different letter, not a misspelling
        if (distance < best && !other) {
            best = distance;
            nearest = *words;
        }
    }
    return nearest;
}

char *text_join(const char *const *words, const char *separator)
{
    struct text all = {0};
    text_add(&all, "%s", "");
    for (size_t i = 0; words[i]; i++) text_add(&all, "%s%s", i ? separator : "", words[i]);
    return all.text;
}

char *text_unknown(const char *what, const char *word, const char *const *words)
{
    const char *nearest = text_nearest(word, words);
    autofree char *all = text_join(words, ", ");
    return nearest ? text_format("unknown %s '%s'; did you mean '%s'? (known: %s)", what, word, nearest, all)
                   : text_format("unknown %s '%s' (known: %s)", what, word, all);
}

int text_duration(const char *text, double *seconds)
{
    static const struct {
        const char *unit;
        double seconds;
    } units[] = {{"ms", 1e-3}, {"us", 1e-6}, {"ns", 1e-9}, {"d", 86400}, {"h", 3600}, {"min", 60}, {"m", 60}, {"s", 1}};
    double total = 0;
    const char *p = text;
    if (!*p) return -1;
    while (*p) {
        char *end;
        if (!isdigit((unsigned char)*p) && *p != '.') return -1;
        double value = strtod(p, &end);
        if (end == p || !isfinite(value)) return -1;
        if (!*end && p == text) { // a plain number
            *seconds = value;
            return 0;
        }
        size_t i = 0, count = sizeof units / sizeof *units;
        while (i < count && strncmp(end, units[i].unit, strlen(units[i].unit))) i++;
        if (i == count) return -1;
        total += value * units[i].seconds;
        p = end + strlen(units[i].unit);
    }
    *seconds = total;
    return isfinite(total) ? 0 : -1;
}

char *text_show_duration(double s, char *out, size_t size)
{
    long whole = fabs(s) < 1e15 ? lround(s) : 0;
    if (!isfinite(s))
        snprintf(out, size, "-");
    else if (s > 0 && s < 0.99995e-6)
        snprintf(out, size, "%.4gns", s * 1e9);
    else if (s < 0.99995e-3) // 1000 of one unit are shown as 1 of the next
        snprintf(out, size, "%.4gus", s * 1e6);
    else if (s < 0.99995)
        snprintf(out, size, "%.4gms", s * 1e3);
    else if (s < 59.95 || s >= 1e15)
        snprintf(out, size, "%.3gs", s);
    else if (whole < 3600)
        snprintf(out, size, "%ldm%02lds", whole / 60, whole % 60);
    else
        snprintf(out, size, "%ldh%02ldm", whole / 3600, whole % 3600 / 60);
    return out;
}

char *text_show_number(double value, char *out, size_t size)
{
    for (int digits = 15; digits <= 17; digits++) {
        snprintf(out, size, "%.*g", digits, value);
        if (strtod(out, NULL) == value) break;
    }
    return out;
}

char *text_join_path(const char *directory, const char *path)
{
    char *joined;
    if (path[0] == '/') {
        joined = text_copy(path);
    } else if (directory[0] == '/') {
        joined = text_format("%s/%s", directory, path);
    } else {
        autofree char *here = getcwd(NULL, 0);
        joined = text_format("%s/%s/%s", here ? here : ".", directory, path);
    }
    // Drops "//", "/./" and "/x/..". Only the names matter, so this also works for a file that does not exist yet.
    char *out = joined;
    for (const char *p = joined; *p;) {
        while (*p == '/') p++;
        const char *end = p;
        while (*end && *end != '/') end++;
        size_t n = (size_t)(end - p);
        if (n == 2 && !strncmp(p, "..", 2)) {
            while (out > joined && *--out != '/') {
            }
        } else if (n && !(n == 1 && *p == '.')) {
            *out++ = '/';
            memmove(out, p, n);
            out += n;
        }
        p = end;
    }
    if (out == joined) *out++ = '/';
    *out = 0;
    return joined;
}

const char *text_next_item(const char *text, size_t *length)
{
    for (const char *comma = text; (comma = strchr(comma, ',')); comma++) {
        const char *end = comma + 1;
        while (isalnum((unsigned char)*end) || *end == '_' || *end == '.') end++;
        if (*end != '=' || end == comma + 1) continue;
        if (length) *length = (size_t)(comma - text);
        return comma + 1;
    }
    if (length) *length = strlen(text);
    return NULL;
}

bool text_begins(const char *text, const char *const *beginnings)
{
    for (; *beginnings; beginnings++)
        if (!strncmp(text, *beginnings, strlen(*beginnings))) return true;
    return false;
}

void text_list_add(struct text_list *l, char *text)
{
    l->list = memory_grow(l->list, l->count + 2, sizeof *l->list);
    l->list[l->count++] = text;
    l->list[l->count] = NULL;
}

void text_list_release(struct text_list *l)
{
    for (size_t i = 0; i < l->count; i++) free(l->list[i]);
    free(l->list);
    *l = (struct text_list){0};
}

// Puts a word in single quotes if it needs them. Within these, only a single quote itself must be escaped.
static char *quote_word(const char *word)
{
    static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-./,:=+%@";
    if (*word && !word[strspn(word, plain)]) return text_copy(word);
    char *quoted = memory_new(4 * strlen(word) + 3, 1), *out = quoted;
    *out++ = '\'';
    for (; *word; word++) {
        if (*word == '\'')
            out = stpcpy(out, "'\\''");
        else
            *out++ = *word;
    }
    *out++ = '\'';
    return quoted;
}

char *text_command(const char *const *words)
{
    autorelease(text_list_release) struct text_list quoted = {0};
    for (size_t i = 0; words[i]; i++) text_list_add(&quoted, quote_word(words[i]));
    return quoted.list ? text_join((const char *const *)quoted.list, " ") : text_copy("");
}

int text_architecture(const char *arch)
{
    if (strncmp(arch, "sm_", 3) || !isdigit((unsigned char)arch[3])) return 0;
    enum { GREATEST = 9999 };
    char *end;
    long number = strtol(arch + 3, &end, 10);
    bool whole = !*end || (isalpha((unsigned char)*end) && !end[1]);
    return whole && number <= GREATEST ? (int)number : 0;
}

char *text_directory(const char *path)
{
    const char *slash = strrchr(path, '/');
    if (!slash) return text_copy(".");
    if (slash == path) return text_copy("/");
    return text_format("%.*s", (int)(slash - path), path);
}

const char *text_file_name(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

size_t text_before(const char *text, const char *ending)
{
    size_t length = strlen(text), tail = strlen(ending);
    return length > tail && !strcmp(text + length - tail, ending) ? length - tail : 0;
}

char *text_read_file(const char *path, size_t *size)
{
    return input_file_read(path, 0, size, NULL);
}

char *text_of_number(double value)
{
    const char *text = text_show_number(value, TEXT_ROOM);
    return text_format("%s%s", text, text[strcspn(text, ".en")] ? "" : ".0");
}
