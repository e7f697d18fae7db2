// See flat_csv.h.
#include "tuner/base/flat_csv.h"

#include "tuner/base/table.h"

static void print_value(const char *key, const json_t *value, const char *const *before, FILE *file)
{
    char number[32], *text = json_is_string(value) ? text_copy(json_string_value(value))
                             : json_is_real(value)
                                 ? text_copy(text_show_number(json_real_value(value), number, sizeof number))
                                 : json_dumps(value, JSON_ENCODE_ANY);
    for (; before && *before; before++) {
        csv_print(*before, file);
        fputc(',', file);
    }
    csv_print(key, file);
    fputc(',', file);
    csv_print(text, file);
    fputc('\n', file);
    free(text);
}

static void print_part(const char *key, const json_t *value, const char *const *before, FILE *file)
{
    const char *name;
    json_t *part;
    size_t i;
    if (!json_is_object(value) && !json_is_array(value)) print_value(key, value, before, file);
    json_object_foreach((json_t *)(uintptr_t)value, name, part)
    {
        char *deeper = text_format("%s%s%s", key, *key ? "." : "", name);
        print_part(deeper, part, before, file);
        free(deeper);
    }
    json_array_foreach(value, i, part)
    {
        char *deeper = text_format("%s%s%zu", key, *key ? "." : "", i);
        print_part(deeper, part, before, file);
        free(deeper);
    }
}

void flat_csv_print(const json_t *document, const char *const *before, FILE *file)
{
    print_part("", document, before, file);
}

void flat_csv_or_json(const char *format, int version, const json_t *document, bool csv, FILE *file)
{
    if (!csv) {
        json_print_document(format, version, document, file);
        return;
    }
    fputs("key,value\n", file);
    flat_csv_print(document, NULL, file);
}
