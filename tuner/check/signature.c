// See signature.h. The compiler gets code that includes the source and defines a constant for each entry. Templates
// compute the constant's bytes from decltype(&entry). In the PTX, these constants are initialised arrays, so they can
// be read without ptxas and without name mangling.
#include "tuner/check/signature.h"

#include "tuner/check/check.h"
#include "tuner/protocol/message.h"

#define PROBE "sweetspot_probe"

// In the constants, a type is encoded as the number of its row plus one; higher numbers encode vector types.
static const struct kernel_type types[] = {
    {"void", "void", 0, 0, NULL},
    {"bool", "bool", 'u', 1, NULL},
    {"char", "char", 's', 1, "i8"},
    {"signed char", "signed char", 's', 1, "i8"},
    {"unsigned char", "unsigned char", 'u', 1, "u8"},
    {"short", "short", 's', 2, "i16"},
    {"unsigned short", "unsigned short", 'u', 2, "u16"},
    {"int", "int", 's', 4, "i32"},
    {"unsigned int", "unsigned int", 'u', 4, "u32"},
    {"long", "long", 's', 8, "i64"},
    {"unsigned long", "unsigned long", 'u', 8, "u64"},
    {"long long", "long long", 's', 8, "i64"},
    {"unsigned long long", "unsigned long long", 'u', 8, "u64"},
    {"float", "float", 'f', 4, "f32"},
    {"double", "double", 'f', 8, "f64"},
    {"::__half", "__half", 'f', 2, "f16"},
    {"::__nv_bfloat16", "__nv_bfloat16", 'f', 2, "bf16"},
    {"::__nv_fp8_e4m3", "__nv_fp8_e4m3", 'f', 1, "e4m3"},
    {"::__nv_fp8_e5m2", "__nv_fp8_e5m2", 'f', 1, "e5m2"},
};
enum { TYPE_COUNT = sizeof types / sizeof *types };

// The names begin with the program's name, so that no macro of a job can replace them.
static const char templates[] =
    "struct __half;\n"
    "struct __nv_bfloat16;\n"
    "struct __nv_fp8_e4m3;\n"
    "struct __nv_fp8_e5m2;\n"
    "struct __half2;\n"
    "struct __nv_bfloat162;\n"
    "struct __nv_fp8x2_e4m3;\n"
    "struct __nv_fp8x4_e4m3;\n"
    "struct __nv_fp8x2_e5m2;\n"
    "struct __nv_fp8x4_e5m2;\n"
    "namespace " PROBE " {\n"
    "template <class> struct sweetspot_code { static constexpr unsigned char sweetspot_v = 0; };\n"
    "template <class sweetspot_t> struct sweetspot_at {\n"
    "    static constexpr unsigned char sweetspot_k = 0, sweetspot_v = sweetspot_code<sweetspot_t>::sweetspot_v;\n"
    "};\n"
    "template <class sweetspot_t> struct sweetspot_at<sweetspot_t *> {\n"
    "    static constexpr unsigned char sweetspot_k = 1, sweetspot_v = sweetspot_code<sweetspot_t>::sweetspot_v;\n"
    "};\n"
    "template <class sweetspot_t> struct sweetspot_at<const sweetspot_t *> {\n"
    "    static constexpr unsigned char sweetspot_k = 2, sweetspot_v = sweetspot_code<sweetspot_t>::sweetspot_v;\n"
    "};\n"
    "template <class sweetspot_t> struct sweetspot_at<volatile sweetspot_t *> : sweetspot_at<sweetspot_t *> {};\n"
    "template <class sweetspot_t> struct sweetspot_at<const volatile sweetspot_t *> : sweetspot_at<const sweetspot_t "
    "*> {};\n"
    "template <unsigned long sweetspot_n> struct sweetspot_bytes { unsigned char sweetspot_v[sweetspot_n]; };\n"
    "template <class> struct sweetspot_of;\n"
    "template <class... sweetspot_t> struct sweetspot_of<void (*)(sweetspot_t...)> {\n"
    "    static constexpr unsigned long sweetspot_n = sizeof...(sweetspot_t);\n"
    "    static constexpr sweetspot_bytes<4 * sizeof...(sweetspot_t) + 2> sweetspot_v = {{sizeof...(sweetspot_t),\n"
    "        sweetspot_at<sweetspot_t>::sweetspot_k..., sweetspot_at<sweetspot_t>::sweetspot_v...,\n"
    "        (sizeof(sweetspot_t) & 255)..., (sizeof(sweetspot_t) >> 8)..., 255}};\n"
    "};\n"
    "}\n";

// Alternative names for the same type are left out, and so are types of 32 bytes, which CUDA 13 warns about.
static bool is_probed(const struct vector_type *v)
{
    return strcmp(v->name, "half2") && strcmp(v->name, "nv_bfloat162") && vector_type_size(v) < 32;
}

static const struct vector_type *vector_of(size_t code)
{
    size_t i = 0;
    while (vector_types[i].name && code != TYPE_COUNT + i + 1) i++;
    return vector_types[i].name ? &vector_types[i] : NULL;
}

// Writes the template that gives a type its number.
static void add_code(struct text *text, const char *type, size_t number)
{
    text_add(text,
             "template <> struct " PROBE
             "::sweetspot_code<%s> { static constexpr unsigned char sweetspot_v = %zu; };\n",
             type, number);
}

// The code that follows the source. `only`: the index of the entry to ask about; SIZE_MAX: all entries; the entry
// count: none.
static char *write_text(const json_t *entries, size_t only)
{
    struct text text = {0};
    text_add(&text, "%s", templates);
    for (size_t i = 0; i < TYPE_COUNT; i++) add_code(&text, types[i].expression, i + 1);
    for (const struct vector_type *v = vector_types; v->name; v++) {
        autofree char *expression = text_format("::%s", v->name);
        if (is_probed(v)) add_code(&text, expression, TYPE_COUNT + (size_t)(v - vector_types) + 1);
    }
    json_array_each(entries, i, entry) {
        if (only != SIZE_MAX && only != i) continue;
        text_add(&text,
                 "extern \"C\" __device__ const " PROBE "::sweetspot_bytes<4 * " PROBE
                 "::sweetspot_of<decltype(&%s)>::sweetspot_n + 2> " PROBE "_%zu = " PROBE
                 "::sweetspot_of<decltype(&%s)>::sweetspot_v;\n",
                 json_string_value(entry), i, json_string_value(entry));
    }
    return text.text;
}

// Returns the PTX of the source and additional code. If they do not compile, returns NULL and sets *log; after other
// failures, returns NULL with a message. nvcc gets the code in addition to the source, and NVRTC gets the code instead
// of the source.
static char *compile(struct worker *w, const json_t *request, char *text, double seconds, char **log, struct error *err)
{
    json_t *mine = json_copy((json_t *)(uintptr_t)request);
    if (strcmp(json_get_string(request, "compiler", PROTOCOL_NVRTC), PROTOCOL_NVCC) != 0) {
        const char *source = text_file_name(json_get_string(request, "source", ""));
        json_object_set_new(mine, "text", json_sprintf("#include \"%s\"\n%s", source, text));
        json_object_del(mine, "source");
    } else {
        json_object_set_new(mine, "behind", json_string(text));
    }
    json_object_set_new(mine, "entries", json_array());
    free(text);
    autojson json_t *answer = worker_ask(w, mine, seconds, err);
    if (!answer) return NULL;
    const int status = answer_status(answer);
    const char *path = json_get_string(answer, "cubin", NULL);
    char *ptx = status == STATUS_OK && path ? text_read_file(path, NULL) : NULL;
    if (status == STATUS_COMPILE_ERROR)
        *log = text_copy(answer_reason(answer, ""));
    else if (status != STATUS_OK || !path)
        error_set(err, "%s", answer_reason(answer, "the compiler gave no reason"));
    else if (!ptx)
        error_set(err, "cannot read '%s'", path);
    return ptx;
}

// Reads "{4, 2, 1, ...}" after the constant's name. -1 if the constant is missing.
static int read_constant(const char *ptx, size_t number, struct kernel_signature *s)
{
    autofree char *name = text_format(" " PROBE "_%zu[", number);
    const char *p = strstr(ptx, name);
    const char *end = p ? strchr(p, ';') : NULL;
    p = end ? memchr(p, '{', (size_t)(end - p)) : NULL;
    if (!p) return -1;
    unsigned char bytes[4 * 256 + 2] = {0};
    size_t count = 0;
    for (char *next; count < sizeof bytes; p = next) {
        long value = strtol(p + 1, &next, 10);
        if (next == p + 1) return -1;
        bytes[count++] = (unsigned char)value;
        if (*next != ',') break;
    }
    size_t n = bytes[0];
    if (count != 4 * n + 2 || bytes[count - 1] != 255) return -1;
    s->parameter_count = n;
    s->parameters = memory_new(n, sizeof *s->parameters);
    for (size_t i = 0; i < n; i++) {
        unsigned kind = bytes[1 + i], type = bytes[1 + n + i];
        s->parameters[i] = (struct kernel_parameter){
            .pointer = kind != 0,
            .constant = kind == 2,
            .type = type && type <= TYPE_COUNT ? &types[type - 1] : NULL,
            .vector = vector_of(type),
            .bytes = bytes[1 + 2 * n + i] + 256u * bytes[1 + 3 * n + i],
        };
    }
    return 0;
}

static void read_kernels(const char *ptx, struct signatures *all)
{
    static const char mark[] = ".entry ";
    for (const char *p = strstr(ptx, mark); p; p = strstr(p, mark)) {
        p += sizeof mark - 1;
        memory_add(all->kernels, all->kernel_count) = arena_format(&all->memory, "%.*s", (int)strcspn(p, "(\n "), p);
    }
}

// Reads a variable from PTX such as ".const .align 4 .b8 coef[36];" or ".global .align 4 .u32 counter = 1;". `line`
// begins after the first word.
static void read_variable(const char *line, bool constant, struct signatures *all)
{
    autofree char *text = text_format("%.*s", (int)strcspn(line, "=;\n"), line);
    char *name = NULL;
    size_t bytes = 0;
    for (char *rest = text, *word; (word = strtok_r(rest, " ", &rest)) != NULL;) {
        if (*word == '.' && strchr("bsuf", word[1])) bytes = strtoul(word + 2, NULL, 10) / 8;
        name = word;
    }
    size_t length = name ? strcspn(name, "[") : 0;
    for (char *at = name ? name + length : NULL; at && *at == '[';) bytes *= strtoul(at + 1, &at, 10), at += *at == ']';
    if (bytes && length && *name != '.' && *name != '$' && strncmp(name, PROBE, strlen(PROBE)) != 0) {
        memory_add(all->variables, all->variable_count) =
            (struct source_variable){arena_format(&all->memory, "%.*s", (int)length, name), bytes, constant,
                                     memchr(line, '=', strcspn(line, "\n")) != NULL};
    }
}

static void read_variables(const char *ptx, struct signatures *all)
{
    static const char *const linkage[] = {".visible ", ".weak ", ".extern ", ".common "};
    for (const char *line = ptx; line; line = strchr(line, '\n') ? strchr(line, '\n') + 1 : NULL) {
        const char *at = line;
        for (size_t i = 0; i < sizeof linkage / sizeof *linkage; i++)
            if (!strncmp(at, linkage[i], strlen(linkage[i]))) at += strlen(linkage[i]);
        if (!strncmp(at, ".const ", 7)) read_variable(at + 7, true, all);
        if (!strncmp(at, ".global ", 8)) read_variable(at + 8, false, all);
    }
}

// Takes the text.
static const char *keep(struct signatures *all, char *text)
{
    autofree char *taken = text;
    return taken ? arena_copy(&all->memory, taken) : NULL;
}

int signatures_ask(struct signatures *all, struct worker *w, json_t *request, const char *arch, const char *folder,
                   double seconds, struct error *err)
{
    const char *digits = strchr(arch, '_');
    autojson json_t *entries = json_incref(json_object_get(request, "entries"));
    char *log = NULL;
    *all = (struct signatures){.count = json_array_size(entries)};
    all->list = memory_new(all->count, sizeof *all->list);
    json_object_del(request, "source_hash");
    json_object_set_new(request, "arch", json_sprintf("compute%s", digits ? digits : "_90a"));
    json_object_set_new(request, "cache", json_string(folder));
    char *ptx = compile(w, request, write_text(entries, SIZE_MAX), seconds, &log, err);
    bool each = !ptx && log; // the entries do not compile together: try only the source, then each entry
    if (each) {
        free(log);
        log = NULL;
        ptx = compile(w, request, write_text(entries, all->count), seconds, &log, err);
    }
    int result = ptx || log ? 0 : -1;
    all->log = keep(all, log);
    if (ptx) read_kernels(ptx, all);
    if (ptx) read_variables(ptx, all);
    for (size_t i = 0; i < all->count; i++) {
        struct kernel_signature *s = &all->list[i];
        char *why = NULL, *own = ptx;
        s->entry = arena_copy(&all->memory, json_string_value(json_array_get(entries, i)));
        if (!ptx || result) continue;
        if (each) own = compile(w, request, write_text(entries, i), seconds, &why, err);
        if (!own && !why)
            result = -1;
        else if (!own)
            s->problem = keep(all, compile_first_line(why));
        else if (read_constant(own, i, s))
            s->problem = "the compiler does not report its arguments";
        if (own != ptx) free(own);
        free(why);
    }
    free(ptx);
    json_decref(request);
    return result;
}

void signatures_release(struct signatures *all)
{
    for (size_t i = 0; i < all->count; i++) free(all->list[i].parameters);
    arena_release(&all->memory);
    free(all->variables);
    free(all->list);
    free(all->kernels);
    *all = (struct signatures){0};
}

const struct kernel_type *kernel_type_find(const char *name)
{
    for (size_t i = 0; i < TYPE_COUNT; i++)
        if (!strcmp(types[i].name, name)) return &types[i];
    return NULL;
}

const char *kernel_type_word(const struct kernel_type *type)
{
    static const char *const integers[] = {"i8", "u8", "i16", "i32", "i64"};
    if (type->element && element_find(type->element) >= 0) return type->element;
    for (size_t i = 0; type->kind != 'f' && i < sizeof integers / sizeof *integers; i++)
        if (element_find(integers[i]) >= 0 && element_size((enum element)element_find(integers[i])) == type->bytes)
            return integers[i];
    return NULL;
}

char *kernel_parameter_text(const struct kernel_parameter *p)
{
    const char *name = p->type ? p->type->name : p->vector ? p->vector->name : NULL;
    if (p->pointer) return text_format("%s%s *", p->constant ? "const " : "", name ? name : "(another type)");
    return name ? text_copy(name) : text_format("a type of %zu bytes", p->bytes);
}

char *kernel_signature_text(const struct kernel_signature *s)
{
    struct text text = {0};
    for (size_t i = 0; i < s->parameter_count; i++) {
        autofree char *parameter = kernel_parameter_text(&s->parameters[i]);
        text_add(&text, "%s%s", i ? ", " : "(", parameter);
    }
    text_add(&text, s->parameter_count ? ")" : "()");
    return text.text;
}
