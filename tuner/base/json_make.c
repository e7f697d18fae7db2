// The constructors that json.h uses in place of the library's own. The library's constructors return NULL for a string
// that is not UTF-8, for NaN, and when memory is exhausted. This NULL then drops a member, shortens an array or causes
// a crash. The functions here always return a value. Input that has to reach a compiler or a kernel unchanged (job
// files, arguments, variables) is refused earlier if it is not UTF-8. So only strings that are merely reported can be
// invalid here, such as a message that was truncated within a character.
#include "tuner/base/json.h"

#undef json_object
#undef json_array
#undef json_string
#undef json_stringn
#undef json_integer
#undef json_real
#undef json_object_set
#undef json_object_set_new
#undef json_array_append
#undef json_array_append_new
#undef json_dumps

#include <stdarg.h>

static json_t *made(json_t *value)
{
    if (!value) error_abort("out of memory");
    return value;
}

json_t *json_make_object(void)
{
    return made(json_object());
}

json_t *json_make_array(void)
{
    return made(json_array());
}

json_t *json_make_integer(int64_t value)
{
    return made(json_integer(value));
}

json_t *json_make_real(double value)
{
    return made(isfinite(value) ? json_real(value) : json_null());
}

// The number of bytes of the UTF-8 character at `at` (RFC 3629, table 3-7 of the Unicode standard); 0 if there is none.
static size_t character(const unsigned char *at, size_t left)
{
    unsigned char lead = *at;
    size_t bytes = lead < 0x80 ? 1 : lead < 0xc2 ? 0 : lead < 0xe0 ? 2 : lead < 0xf0 ? 3 : lead < 0xf5 ? 4 : 0;
    if (bytes > left) return 0;
    for (size_t i = 1; i < bytes; i++)
        if ((at[i] & 0xc0) != 0x80) return 0;
    bool overlong = (lead == 0xe0 && at[1] < 0xa0) || (lead == 0xf0 && at[1] < 0x90);
    bool outside = (lead == 0xed && at[1] > 0x9f) || (lead == 0xf4 && at[1] > 0x8f);
    return overlong || outside ? 0 : bytes;
}

bool json_takes(const char *text)
{
    size_t left = strlen(text);
    for (size_t n; left; text += n, left -= n)
        if (!(n = character((const unsigned char *)text, left))) return false;
    return true;
}

// malloc'ed, with a NUL after it.
static char *fixed(const char *bytes, size_t length)
{
    char *copy = memory_new(length + 1, 1);
    memcpy(copy, bytes, length);
    for (size_t i = 0, n; i < length; i += n)
        if (!(n = character((const unsigned char *)copy + i, length - i))) {
            copy[i] = '?';
            n = 1;
        }
    return copy;
}

json_t *json_text(const char *bytes, size_t length)
{
    json_t *string = json_stringn(bytes, length);
    if (string) return string;
    autofree char *copy = fixed(bytes, length);
    return made(json_stringn(copy, length));
}

json_t *json_make_string(const char *text)
{
    return text ? json_text(text, strlen(text)) : made(json_null());
}

json_t *json_make_format(const char *format, ...)
{
    TEXT_FROM(format, text);
    return json_make_string(text);
}

int json_put(json_t *object, const char *key, json_t *value)
{
    if (!value || !json_is_object(object)) {
        json_decref(value);
        return -1;
    }
    autofree char *copy = json_takes(key) ? NULL : fixed(key, strlen(key));
    if (json_object_set_new(object, copy ? copy : key, value)) error_abort("out of memory");
    return 0;
}

int json_add(json_t *array, json_t *value)
{
    if (!json_is_array(array)) {
        json_decref(value);
        return -1;
    }
    if (json_array_append_new(array, value ? value : made(json_null()))) error_abort("out of memory");
    return 0;
}

char *json_make_text(const json_t *value, size_t flags)
{
    char *text = value ? json_dumps(value, flags | JSON_ENCODE_ANY) : strdup("null");
    if (!text) error_abort("out of memory");
    return text;
}

// json_pack's formats are constants of this program, so a mistake in one ends the program.
struct packing {
    const char *at; // in the format
    va_list values;
};

// Skips blanks and separators, and returns the character after them.
static char next_sign(struct packing *p)
{
    p->at += strspn(p->at, " \t\n,:");
    return *p->at ? *p->at++ : 0;
}

static json_t *pack_value(struct packing *p, char sign, bool *left_out);

// json_make starts the list of arguments, a member of the struct.
// NOLINTBEGIN(clang-analyzer-valist.Uninitialized)
static json_t *pack_object(struct packing *p)
{
    json_t *object = json_make_object();
    for (char sign; (sign = next_sign(p)) != '}';) {
        bool left_out;
        if (sign != 's') error_abort("a wrong format of json_pack");
        const char *key = va_arg(p->values, const char *);
        json_t *value = pack_value(p, next_sign(p), &left_out);
        if (left_out)
            json_decref(value);
        else
            json_put(object, key, value);
    }
    return object;
}

static json_t *pack_array(struct packing *p)
{
    json_t *array = json_make_array();
    for (char sign; (sign = next_sign(p)) != ']';) {
        bool left_out;
        json_t *value = pack_value(p, sign, &left_out);
        if (left_out)
            json_decref(value);
        else
            json_add(array, value);
    }
    return array;
}

// A NULL string or value becomes null, or is left out if the format says so (`*`).
static json_t *pack_value(struct packing *p, char sign, bool *left_out)
{
    *left_out = false;
    if (sign == '{') return pack_object(p);
    if (sign == '[') return pack_array(p);
    if (sign == 'n') return made(json_null());
    if (sign == 'b') return made(json_boolean(va_arg(p->values, int)));
    if (sign == 'i') return json_make_integer(va_arg(p->values, int));
    if (sign == 'I') return json_make_integer(va_arg(p->values, json_int_t));
    if (sign == 'f') return json_make_real(va_arg(p->values, double));
    json_t *value = NULL;
    const char *text = NULL;
    if (sign == 's')
        text = va_arg(p->values, const char *);
    else if (sign == 'o' || sign == 'O')
        value = va_arg(p->values, json_t *);
    else
        error_abort("a wrong format of json_pack");
    *left_out = *p->at == '*' && !text && !value;
    p->at += *p->at == '*' || *p->at == '?';
    if (sign == 's') return json_make_string(text);
    if (sign == 'O') json_incref(value);
    return value ? value : made(json_null());
}
// NOLINTEND(clang-analyzer-valist.Uninitialized)

json_t *json_make(const char *format, ...)
{
    struct packing p = {.at = format};
    bool left_out;
    va_start(p.values, format);
    json_t *value = pack_value(&p, next_sign(&p), &left_out);
    va_end(p.values);
    return value;
}
