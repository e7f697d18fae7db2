// See environment.h.
#include "tuner/trial/environment.h"

struct environment environment_copy(struct arena *m, const struct environment *e)
{
    return (struct environment){arena_copy(m, e->key),      arena_copy(m, e->job),     arena_copy(m, e->source_hash),
                                arena_copy(m, e->compiler), arena_copy(m, e->device),  arena_copy(m, e->arch),
                                arena_copy(m, e->driver),   arena_copy(m, e->settings)};
}

const struct environment_setting environment_settings[] = {
    {"job", true, "the job's name"},
    {"source", true, "hash of the template and the files that it includes"},
    {"stages.#", true,
     "a stage's entry, or its operation and the library that computes it; its macros, loops and exchanges"},
    {"options.#", true, "an option for the compiler, or the content of a file that one names"},
    {"defines.#", true, "a macro that all configurations share: NAME=VALUE"},
    {"parameters.#", true, "a tuning parameter's name; its value is part of the configuration"},
    {"compiled.#", true, "a constraint on the compiler's result, which rejects candidates before they are measured"},
    {"compiler", true, "the compiler and its version"},
    {"device", true, "the device's name"},
    {"arch", true, "the architecture that is compiled for"},
    {"driver", true, "the driver's version"},
    {"replayed", true, "whether the trials come from a recording"},
    {"cache", true, "whether the L2 is cold or warm when a launch is timed"},
    {"problems.#.name", true, "a problem's name"},
    {"problems.#.tune", true, "whether it is measured, not only verified"},
    {"problems.#.weight", true, "its weight in the objective"},
    {"problems.#.sizes.*", true, "one of its sizes"},
    {"problems.#.roles.**", true, "a size or scalar that the reference is computed from"},
    {"problems.#.flops", true, "its work: operations"},
    {"problems.#.bytes", true, "its work: bytes"},
    {"problems.#.buffers.#.name", true, "a buffer's name"},
    {"problems.#.buffers.#.type", true, "the type of its elements"},
    {"problems.#.buffers.#.rows", true, "how many rows it has"},
    {"problems.#.buffers.#.cols", true, "how many elements a row has"},
    {"problems.#.buffers.#.ld", true, "elements from one row to the next"},
    {"problems.#.buffers.#.direction", true, "in, out, inout or scratch"},
    {"problems.#.buffers.#.symbol", true, "of a variable of the module: whether every candidate must have it"},
    {"problems.#.buffers.#.image.memory", true, "of a texture or surface: an array, or the buffer's own memory"},
    {"problems.#.buffers.#.image.size.#", true, "its sizes in texels, the contiguous dimension first"},
    {"problems.#.buffers.#.image.channels", true, "elements of a texel"},
    {"problems.#.buffers.#.image.surface", true, "whether kernels see it as a surface"},
    {"problems.#.buffers.#.image.filter", true, "whether a texture interpolates"},
    {"problems.#.buffers.#.image.address.#", true, "what it gives outside, by dimension"},
    {"problems.#.buffers.#.image.normalized", true, "whether coordinates are from 0 to 1"},
    {"problems.#.buffers.#.image.read", true, "whether integers are read as fractions"},
    {"problems.#.buffers.#.restore", true, "whether an input is restored before each timed or judged launch"},
    {"problems.#.buffers.#.compare.sizes.#", true, "the shape of an output that is compared in part"},
    {"problems.#.buffers.#.compare.first.#", true, "the first index that is compared, by dimension"},
    {"problems.#.buffers.#.compare.count.#", true, "how many indices are compared, by dimension"},
    {"problems.#.buffers.#.fill.total", true, "the last one of its row starts"},
    {"problems.#.buffers.#.fill.kind", true, "what it is filled with"},
    {"problems.#.buffers.#.fill.value", true, "the constant that it is filled with"},
    {"problems.#.buffers.#.fill.low", true, "the lower end of the values that it is filled with"},
    {"problems.#.buffers.#.fill.high", true, "the upper end of the values that it is filled with"},
    {"problems.#.buffers.#.addresses.#.*", true, "the places in other buffers whose addresses it holds"},
    {"problems.#.buffers.#.fill.path", true, "the file that it is filled from"},
    {"reference.kind", true, "what results are compared with"},
    {"reference.name", true, "the reference's operation"},
    {"reference.by", true, "the library that computes the operation"},
    {"reference.buffers.*", true, "the buffer that has a role in the operation"},
    {"reference.path", true, "the shared library that computes the reference"},
    {"reference.function", true, "the function in that library"},
    {"reference.generate", true, "the function in that library that makes the inputs"},
    {"reference.verify", true, "the function in that library that verifies outputs"},
    {"reference.hash", true, "hash of a library or of its source, or of a command and the files that it names"},
    {"reference.command", true, "the command that computes the reference"},
    {"reference.folder", false, "a path: the job file's own folder"},
    {"reference.built", false, "a path: of what was built from the library's source"},
    {"reference.timeout", false, "a limit that does not change a result"},
    {"reference.files.*", true, "the file that holds a buffer's expected values"},
    {"reference.problems.#.problem", true, "a problem for which the reference's kernel has a launch"},
    {"reference.problems.#.stages.#.symbol", true, "the reference's kernel"},
    {"reference.problems.#.stages.#.grid.#", true, "its blocks"},
    {"reference.problems.#.stages.#.block.#", true, "its threads"},
    {"reference.problems.#.stages.#.cluster.#", true, "its blocks per cluster"},
    {"reference.problems.#.stages.#.shared", true, "its dynamic shared memory"},
    {"reference.problems.#.stages.#.cooperative", true, "whether it is launched cooperatively"},
    {"reference.problems.#.stages.#.overlap", true, "whether it may begin before the previous kernel has ended"},
    {"reference.problems.#.stages.#.args.#.*", true, "one of its arguments: a scalar, a buffer or a tensor map"},
    {"reference.problems.#.stages.#.args.#.addresses.#.*", true, "an address in a struct by value"},
    {"reference.problems.#.stages.#.args.#.*.#", true, "a list of its tensor map: sizes, strides or box"},
    {"reference.cubin", false, "a path: the kernel's source is the template's or the reference's own"},
    {"verify.enabled", true, "whether results are verified"},
    {"verify.tolerance", true, "what multiplies an operation's error bound"},
    {"verify.absolute", true, "the absolute error allowed where there is no operation"},
    {"verify.relative", true, "the relative error allowed where there is no operation"},
    {"verify.exact", true, "whether only the exact expected values are correct"},
    {"verify.error_ratio", true, "how many times a library's error a winner may have"},
    {"verify.deterministic", true, "two runs must agree bit by bit"},
    {"verify.guard_bytes", true, "size of the guards around every buffer"},
    {0},
};

// Whether a path matches a name of the table, part by part. A final ** stands for one or more parts.
static bool stands_for(const char *name, const char *path)
{
    for (;;) {
        if (!strcmp(name, "**")) return *path;
        size_t wanted = strcspn(name, "."), found = strcspn(path, ".");
        bool digits = found > 0 && strspn(path, "0123456789") >= found;
        if (wanted == 1 && *name == '#') {
            if (!digits) return false;
        } else if (wanted != 1 || *name != '*') {
            if (wanted != found || strncmp(name, path, found) != 0) return false;
        }
        name += wanted;
        path += found;
        if (!*name || !*path) return *name == *path;
        name++;
        path++;
    }
}

static const struct environment_setting *find(const char *path)
{
    for (const struct environment_setting *s = environment_settings; s->name; s++)
        if (stands_for(s->name, path)) return s;
    return NULL;
}

// A value as text that can be read back: a real has a point or an exponent, a string has quotes.
static char *value_text(const json_t *value)
{
    if (!json_is_real(value)) return json_dumps(value, JSON_ENCODE_ANY | JSON_COMPACT);
    double real = json_real_value(value);
    autofree char *text = text_format("%.17g", real);
    return text_format(strpbrk(text, ".en") ? "%s" : "%s.0", text);
}

static int collect(struct text_list *lines, const char *path, const json_t *value, struct error *err)
{
    int result = 0;
    json_object_each((json_t *)value, key, part) {
        autofree char *deeper = text_format("%s%s%s", path, *path ? "." : "", key);
        if (!result) result = collect(lines, deeper, part, err);
    }
    json_array_each(value, i, part) {
        autofree char *deeper = text_format("%s.%zu", path, i);
        if (!result) result = collect(lines, deeper, part, err);
    }
    if (json_is_object(value) || json_is_array(value)) return result;
    const struct environment_setting *setting = find(path);
    if (!setting)
        return error_set(
            err, "'%s' is not in the table of tuner/trial/environment.c: add whether it matters for a trial", path);
    if (!setting->matters) return 0;
    autofree char *text = value_text(value);
    if (!text) return error_set(err, "'%s' is not UTF-8", path);
    text_list_add(lines, text_format("%s %s\n", path, text));
    return 0;
}

static int compare_lines(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

char *environment_text(const json_t *facts, struct error *err)
{
    autorelease(text_list_release) struct text_list lines = {0};
    struct text text = {0};
    int failed = facts ? collect(&lines, "", facts, err) : error_set(err, "what the trials depend on is not UTF-8");
    if (lines.count) qsort(lines.list, lines.count, sizeof *lines.list, compare_lines);
    if (!failed) text_add(&text, "environment %d\n", ENVIRONMENT_VERSION);
    for (size_t i = 0; i < lines.count && !failed; i++) text_add(&text, "%s", lines.list[i]);
    return text.text;
}

void environment_key(const char *text, char key[HASH_TEXT_SIZE])
{
    struct hash *h = hash_new();
    hash_text(h, text);
    hash_finish(h, key);
}

// A line "path value" of the settings. next_line returns false at the end of the text.
struct setting_line {
    const char *path, *value;
    size_t path_length, value_length;
};

static bool next_line(const char **at, struct setting_line *line)
{
    if (!**at) return false;
    size_t length = strcspn(*at, "\n"), path = strcspn(*at, " \n");
    size_t value = path + (path < length);
    *line = (struct setting_line){*at, *at + value, path, length - value};
    *at += length + ((*at)[length] == '\n');
    return true;
}

static double value_distance(const struct setting_line *a, const struct setting_line *b)
{
    if (a->value_length == b->value_length && !memcmp(a->value, b->value, a->value_length)) return 0;
    char *end_a, *end_b;
    double x = strtod(a->value, &end_a), y = strtod(b->value, &end_b);
    bool numbers = end_a == a->value + a->value_length && end_b == b->value + b->value_length;
    return numbers && x > 0 && y > 0 ? fabs(log(x / y)) : 1;
}

double environment_distance(const char *one, const char *other)
{
    struct setting_line a, b;
    double distance = 0;
    bool more_a = next_line(&one, &a), more_b = next_line(&other, &b);
    while (more_a || more_b) {
        // The lines of both texts are sorted by path.
        int order = !more_a ? 1 : !more_b ? -1 : 0;
        if (!order) {
            size_t shorter = a.path_length < b.path_length ? a.path_length : b.path_length;
            order = memcmp(a.path, b.path, shorter);
            if (!order) order = (a.path_length > b.path_length) - (a.path_length < b.path_length);
        }
        distance += order ? 1 : value_distance(&a, &b);
        if (order <= 0) more_a = next_line(&one, &a);
        if (order >= 0) more_b = next_line(&other, &b);
    }
    return distance;
}
