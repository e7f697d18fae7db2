// See job_draft.h.
#include "tuner/init/job_draft.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "kernels/element.h"
#include "tuner/base/text.h"

static void print_list(FILE *f, char *const texts[3])
{
    for (int d = 0; d < 3 && texts[d]; d++) fprintf(f, "%s\"%s\"", d ? ", " : "", texts[d]);
}

static void print_parameters(FILE *f, const struct guess *g)
{
    if (!g->parameter_count) {
        fprintf(f,
                "// fill in: parameters. Nothing in the source looks tunable: write a macro where a number decides the "
                "speed.\n");
        return;
    }
    fprintf(f, "// guess: the values. Each parameter becomes a macro of its name.\nparameters = (\n");
    for (size_t i = 0; i < g->parameter_count; i++) {
        const struct guess_parameter *p = &g->parameters[i];
        fprintf(f, "  { name = \"%s\"; %s = %s; }%s // %s\n", p->name, p->pragma ? "unroll" : "values", p->values,
                i + 1 < g->parameter_count ? "," : "", p->why);
    }
    fprintf(f, ");\n");
    if (!g->constraint_count) return;
    fprintf(f, "constraints = (\n");
    for (size_t i = 0; i < g->constraint_count; i++)
        fprintf(f, "  \"%s\"%s\n", g->constraints[i], i + 1 < g->constraint_count ? "," : "");
    fprintf(f, ");\n");
}

static void print_argument(FILE *f, const struct guess_argument *a, const char *comma)
{
    const char *name = a->argument->name, *type = a->argument->type;
    switch (a->role) {
    case GUESS_TEXTURE:
        fprintf(f, "  { texture = \"%s\"; type = \"%s\"; shape = [ %s ];", name, a->type, a->shape);
        if (a->channels > 1) fprintf(f, " channels = %d;", a->channels);
        if (a->fetched) fprintf(f, " memory = \"linear\";");
        fprintf(f, " }%s // guess: the shape, and that the nearest texel is read", comma);
        break;
    case GUESS_SURFACE:
        fprintf(f, "  { surface = \"%s\"; type = \"%s\"; shape = [ %s ];", name, a->type, a->shape);
        if (a->channels > 1) fprintf(f, " channels = %d;", a->channels);
        fprintf(f, " direction = \"%s\"; }%s // guess: the type and the shape", a->direction, comma);
        break;
    case GUESS_UNKNOWN:
        if (!a->argument->stars && !a->argument->reference) {
            fprintf(f,
                    "  // fill in: the source's argument '%s' of type '%s', if that is a struct: { scalar = \"%s\"; "
                    "members "
                    "= ( { name = ...; type = ...; value = ...; } ); }\n",
                    name, type, name);
            return;
        }
        fprintf(f, "  // fill in: the source's argument '%s' of type '%s%s', which a job file cannot describe\n", name,
                type,
                a->argument->stars > 1   ? "**"
                : a->argument->stars     ? "*"
                : a->argument->reference ? "&"
                                         : "");
        return;
    case GUESS_SIZE:
        fprintf(f, "  { scalar = \"%s\"; type = \"%s\"; }%s", name, a->type, comma);
        break;
    case GUESS_SCALAR:
        fprintf(f, "  { scalar = \"%s\"; type = \"%s\"; value = ", name, a->type);
        fprintf(f, isalpha((unsigned char)a->value[0]) ? "\"%s\"" : "%s", a->value);
        fprintf(f, "; }%s // guess: the value", comma);
        break;
    case GUESS_BUFFER:
        fprintf(f, "  { buffer = \"%s\"; type = \"%s\"; shape = [ %s ]; direction = \"%s\"; }%s // guess: the shape",
                name, a->type, a->shape, a->direction, comma);
    }
    if (a->same_bits)
        fprintf(f, "%s %s, which has the size of the source's %s", a->role == GUESS_SIZE ? " // guess:" : ", and",
                a->type, type);
    fputc('\n', f);
}

static void print_constants(FILE *f, const struct guess *g)
{
    size_t last = g->module_count;
    while (last && !g->module[last - 1].type) last--;
    if (!g->module_count) return;
    fprintf(f, "// guess: the values. Variables of the source, which are set before every launch.\nconstants = (\n");
    for (size_t i = 0; i < g->module_count; i++) {
        const struct guess_module_variable *m = &g->module[i];
        const char *name = m->variable->name;
        if (!m->type) {
            fprintf(f, "  // fill in: '%s' of type '%s' (line %d), which a job file cannot describe\n", name,
                    m->variable->type, m->variable->line);
            continue;
        }
        fprintf(f, "  { name = \"%s\"; type = \"%s\"; ", name, m->type);
        if (m->shape && *m->shape) fprintf(f, "shape = [ %s ]; ", m->shape);
        if (strcmp(m->direction, "in") != 0) fprintf(f, "direction = \"%s\"; fill = 0; ", m->direction);
        fprintf(f, "}%s", i + 1 < last ? "," : "");
        if (!m->shape) fprintf(f, " // fill in: 'shape', the most that any configuration has");
        fputc('\n', f);
    }
    fprintf(f, ");\n");
}

static void print_arguments(FILE *f, const struct guess *g)
{
    size_t last = g->argument_count; // the comma is between those that are described
    while (last && g->arguments[last - 1].role == GUESS_UNKNOWN) last--;
    fprintf(f, "arguments = (\n");
    for (size_t i = 0; i < g->argument_count; i++) print_argument(f, &g->arguments[i], i + 1 < last ? "," : "");
    fprintf(f, ");\n");
}

// An expression with the first value of each parameter in its place. malloc'ed.
static char *with_first_values(const struct guess *g, const char *text)
{
    char *out = NULL;
    size_t size;
    FILE *f = open_memstream(&out, &size);
    while (*text) {
        size_t length = 0;
        while (isalnum((unsigned char)text[length]) || text[length] == '_') length++;
        const struct guess_parameter *found = NULL;
        for (size_t i = 0; i < g->parameter_count && length; i++)
            if (strlen(g->parameters[i].name) == length && !memcmp(g->parameters[i].name, text, length))
                found = &g->parameters[i];
        if (!length) length = 1;
        if (found)
            fprintf(f, "%" PRId64, found->first);
        else
            fwrite(text, 1, length, f);
        text += length;
    }
    fclose(f);
    return out;
}

static void print_fixed_list(FILE *f, const struct guess *g, char *const texts[3])
{
    for (int d = 0; d < 3 && texts[d]; d++) {
        char *text = with_first_values(g, texts[d]);
        fprintf(f, "%s\"%s\"", d ? ", " : "", text);
        free(text);
    }
}

static bool has_output(const struct guess_argument *a)
{
    return a->role == GUESS_BUFFER || a->role == GUESS_SURFACE;
}

static bool writes_reals(const struct guess *g)
{
    bool reals = false;
    for (size_t i = 0; i < g->argument_count; i++)
        reals |= has_output(&g->arguments[i]) && strcmp(g->arguments[i].direction, "in") != 0 &&
                 element_is_float((enum element)element_find(g->arguments[i].type));
    return reals;
}

static void print_verification(FILE *f, const struct job_draft *d)
{
    const struct guess *r = d->reference;
    bool reals = writes_reals(d->guess);
    if (r) {
        char *entry = with_first_values(r, r->entry);
        fprintf(f,
                "// guess: this kernel computes the same. Its launch is that of the first values.\n"
                "reference = {\n  kernel = \"%s\";\n  launch = { grid = [ ",
                entry);
        print_fixed_list(f, r, r->launch.grid);
        fprintf(f, " ]; block = [ ");
        print_fixed_list(f, r, r->launch.block);
        fprintf(f, " ]; ");
        if (r->launch.shared) {
            char *shared = with_first_values(r, r->launch.shared);
            fprintf(f, "shared = \"%s\"; ", shared);
            free(shared);
        }
        fprintf(f, "};\n};\n");
        if (reals)
            fprintf(f, "verification = { absolute = 1e-5; relative = 1e-4; }; // guess: the error that you allow\n");
        free(entry);
        return;
    }
    fprintf(f,
            "// fill in: one of these references, and then take the line `verification` away. `sweetspot list "
            "operations` has more.\n"
            "//   reference = { kernel = \"a_simple_kernel_in_the_source\"; launch = { grid = [ 1 ]; block = [ 256 ]; "
            "}; };\n"
            "//   reference = { library = \"reference.so\"; function = \"f\"; };\n"
            "//   reference = { files = { ");
    for (size_t i = 0; i < d->guess->argument_count; i++) {
        const struct guess_argument *a = &d->guess->arguments[i];
        if (has_output(a) && strcmp(a->direction, "in") != 0)
            fprintf(f, "%s = \"%s.npy\"; ", a->argument->name, a->argument->name);
    }
    fprintf(f, "}; };\n");
    fprintf(f, "//   reference = { operation = \"gemm\"; };\n");
    if (reals)
        fprintf(f, "// With a kernel, a library or files: verification = { absolute = 1e-5; relative = 1e-4; };\n");
    fprintf(f, "verification = { enabled = false; };\n");
}

void job_draft_write(FILE *f, const struct job_draft *d)
{
    const struct guess *g = d->guess;
    fprintf(
        f,
        "// Written by `sweetspot init` from the source of the kernel %s. What is marked `guess:` may be wrong; what "
        "is\n// marked `fill in:` is left to do. docs/job-file.md explains every setting.\n",
        g->kernel->name);
    for (size_t i = 0; i < g->note_count; i++) fprintf(f, "// %s.\n", g->notes[i]);
    if (g->file->host_line)
        fprintf(f, "// guess: nvcc has to compile it, because the function in line %d is the host's.\n",
                g->file->host_line);
    fprintf(f, "name = \"%s\";\nkernel = { template = \"", d->name);
    for (const char *c = d->template; *c; c++) fprintf(f, *c == '"' || *c == '\\' ? "\\%c" : "%c", *c);
    fprintf(f, "\"; entry = \"%s\";", g->entry);
    if (g->file->host_line) fprintf(f, " compiler = \"nvcc\";");
    if (g->define_count) {
        fprintf(f, " defines = {");
        for (size_t i = 0; i < g->define_count; i++)
            fprintf(f, " %s = %" PRId64 ";", g->defines[i].name, g->defines[i].first);
        fprintf(f, " };");
    }
    fprintf(f, " };%s\n\n", g->define_count ? " // guess: the values; only other kernels of the source use them" : "");
    print_parameters(f, g);
    fprintf(f, "\n// guess: the sizes. Give those that you run.\nproblems = ( {");
    for (size_t i = 0; i < g->size_count; i++) fprintf(f, " %s = %" PRId64 ";", g->sizes[i].name, g->sizes[i].value);
    fprintf(f, " } );\n\n// guess: from the use of blockIdx and threadIdx.\nlaunch = {\n  grid  = [ ");
    print_list(f, g->launch.grid);
    fprintf(f, " ];\n  block = [ ");
    print_list(f, g->launch.block);
    fprintf(f, " ];\n");
    if (g->launch.shared) fprintf(f, "  shared = \"%s\";\n", g->launch.shared);
    fprintf(f, "};\n");
    print_constants(f, g);
    print_arguments(f, g);
    fputc('\n', f);
    print_verification(f, d);
    char *all = NULL;
    for (size_t i = 0; i < g->size_count; i++) {
        char *more = text_format("%s%s%s", all ? all : "", all ? " * " : "", g->sizes[i].name);
        free(all);
        all = more;
    }
    fprintf(f,
            "\n// fill in: the work of a problem, for rates and shares of the device's ceilings.\n"
            "// work = { flops = \"2 * %s\"; bytes = \"4 * %s\"; };\nbudget = { time = \"10m\"; };\n",
            all, all);
    free(all);
}
