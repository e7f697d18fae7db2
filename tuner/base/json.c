// See json.h.
#include "tuner/base/json.h"

#include <errno.h>

#include "tuner/base/output_file.h"

double json_get_number(const json_t *object, const char *key, double fallback)
{
    const json_t *value = json_object_get(object, key);
    return json_is_number(value) ? json_number_value(value) : fallback;
}

int64_t json_get_integer(const json_t *object, const char *key, int64_t fallback)
{
    const json_t *value = json_object_get(object, key);
    if (json_is_integer(value)) return (int64_t)json_integer_value(value);
    const double most = 9223372036854775808.0; // 2^63, which fits in no integer
    double real = json_is_real(value) ? json_real_value(value) : most;
    return real >= -most && real < most ? (int64_t)real : fallback;
}

bool json_get_bool(const json_t *object, const char *key, bool fallback)
{
    const json_t *value = json_object_get(object, key);
    return json_is_boolean(value) ? json_is_true(value) : fallback;
}

const char *json_get_string(const json_t *object, const char *key, const char *fallback)
{
    const json_t *value = json_object_get(object, key);
    return json_is_string(value) ? json_string_value(value) : fallback;
}

bool json_array_has(const json_t *array, const char *text)
{
    for (size_t i = 0; i < json_array_size(array); i++) {
        const char *element = json_string_value(json_array_get(array, i));
        if (element && !strcmp(element, text)) return true;
    }
    return false;
}

json_t *json_brief_or_null(double value)
{
    char text[32];
    if (!isfinite(value)) return json_null();
    if (value == floor(value) && fabs(value) < 1e15) return json_integer((json_int_t)value);
    snprintf(text, sizeof text, "%.7g", value);
    return json_real(strtod(text, NULL));
}

json_t *json_interval(const struct interval *i)
{
    return json_pack("[o, o, o]", json_real(i->value), json_real(i->low), json_real(i->high));
}

struct interval json_get_interval(const json_t *object, const char *key)
{
    const json_t *list = json_object_get(object, key);
    double v[3] = {NAN, NAN, NAN};
    for (size_t i = 0; i < 3; i++)
        if (json_is_number(json_array_get(list, i))) v[i] = json_number_value(json_array_get(list, i));
    return (struct interval){v[0], v[1], v[2]};
}

json_t *json_parse(const char *text, struct error *err)
{
    json_error_t why;
    json_t *value = json_loads(text, JSON_REJECT_DUPLICATES, &why);
    if (!value) error_set(err, "not JSON (%s): '%.80s'", why.text, text);
    return value;
}

void json_print(const json_t *value, FILE *file)
{
    json_dumpf(value, file, JSON_INDENT(2) | JSON_REAL_PRECISION(17) | JSON_ENCODE_ANY);
    fputc('\n', file);
}

json_t *json_document(const char *format, int version, json_t *members)
{
    json_t *all = json_pack("{s:s, s:i}", "format", format, "version", version);
    json_object_update(all, members);
    json_decref(members);
    return all;
}

void json_print_document(const char *format, int version, json_t *members, FILE *file)
{
    autojson json_t *all = json_document(format, version, members);
    json_print(all, file);
}

int json_write_line(int fd, const json_t *value, struct error *err)
{
    autofree char *text = json_dumps(value, JSON_COMPACT | JSON_REAL_PRECISION(9));
    size_t length = strlen(text);
    text[length++] = '\n';
    return output_all(fd, text, length) ? error_set(err, "cannot write: %s", strerror(errno)) : 0;
}
