// See draft.h: writes the job file. An unknown setting is a blank: a string that begins with ? and describes the value.
#include "tuner/base/elf_file.h"
#include "tuner/init/draft_parts.h"

// The reader limits the number of settings in a group.
enum { MOST_MEMBERS = 500 };

// Prints text from the source on one line and as UTF-8. If `before` is not NULL, prints a quoted string that begins
// with `before`.
static void print(FILE *f, const char *before, const char *text)
{
    bool utf8 = json_takes(text);
    if (before) fprintf(f, "\"%s", before);
    for (; *text; text++) {
        unsigned char c = (unsigned char)*text;
        if (before && (c == '"' || c == '\\')) fputc('\\', f);
        fputc(c < ' ' || c == 127 ? ' ' : c >= 0x80 && !utf8 ? '_' : c, f);
    }
    if (before) fputc('"', f);
}

static void print_text(FILE *f, const char *text)
{
    print(f, NULL, text);
}

static void print_string(FILE *f, const char *text)
{
    print(f, "", text);
}

static void print_blank(FILE *f, const char *hint)
{
    print(f, "? ", hint);
}

// Prints a setting whose value is an answer, an assumption, or a blank.
static void print_filled(FILE *f, struct job_draft *d, const char *what, const char *name, enum draft_form form,
                         const char *assumed, const char *hint)
{
    const char *text = draft_fill(d, what, name, form, assumed, hint);
    if (text)
        print_text(f, text);
    else
        print_blank(f, hint);
}

static void print_list(FILE *f, const char *name, const char *const texts[3])
{
    fprintf(f, "  %s = [ ", name);
    for (int k = 0; k < 3 && texts[k]; k++) {
        fputs(k ? ", " : "", f);
        print_string(f, texts[k]);
    }
    fprintf(f, " ];\n");
}

static void print_kernel(FILE *f, struct job_draft *d, const char *template)
{
    fprintf(f, "kernel = {\n  template = ");
    print_string(f, template);
    fprintf(f, ";\n  entry = ");
    if (d->code.entry_known)
        print_string(f, d->code.entry);
    else
        print_blank(f, arena_format(d->memory, "a name expression: %s", d->code.entry));
    fprintf(f, ";\n");
    if (d->code.nvcc) {
        fprintf(f, "  compiler = \"nvcc\"; // NVRTC: ");
        print_text(f, d->code.nvcc);
        fputc('\n', f);
    } else if (d->code.log) {
        fprintf(f, "  compiler = ");
        print_blank(f, arena_format(d->memory, "nvrtc or nvcc; NVRTC does not compile it: %s", d->code.log));
        fprintf(f, ";\n");
    }
    if (d->define_count > MOST_MEMBERS) {
        fprintf(f, "  defines = \"? macros that other kernels of the source need\";\n");
    } else if (d->define_count) {
        fprintf(f, "  // Other kernels of the source need these macros.\n  defines = {");
        for (size_t i = 0; i < d->define_count; i++) fprintf(f, " %s = \"? a value\";", d->defines[i].name);
        fprintf(f, " };\n");
    }
    fprintf(f, "};\n\n");
}

static void print_parameters(FILE *f, struct job_draft *d)
{
    fprintf(f, "// Each parameter becomes a macro of its name.\nparameters = ");
    if (!d->parameter_count)
        fprintf(f, "\"? the source has no macro without a value: write one where a number decides the speed\"");
    else
        fputs("(\n", f);
    for (size_t i = 0; i < d->parameter_count; i++) {
        const struct draft_parameter *p = &d->parameters[i];
        fprintf(f, "  { name = \"%s\"; %s = ", p->name, p->pragma ? "unroll" : "values");
        if (p->values)
            fputs(p->values, f);
        else
            print_filled(f, d, "parameter", p->name, DRAFT_VALUES, NULL, "the values to try, as in [ 1, 2, 4 ]");
        fprintf(f, "; }%s // ", i + 1 < d->parameter_count ? "," : "");
        print_text(f, p->why);
        fputc('\n', f);
    }
    fputs(d->parameter_count ? ");\n" : ";\n", f);
    for (size_t i = 0; i < d->constraint_count; i++) {
        fprintf(f, i ? ",\n  " : "constraints = ( ");
        print_string(f, d->constraints[i]);
    }
    fputs(d->constraint_count ? " );\n\n" : "\n", f);
}

// Prints the number that a launch in the source passes for an argument, unless the user gives another number.
static void print_number(FILE *f, struct job_draft *d, const struct draft_argument *a, bool whole)
{
    if (a->value && (!whole || !strpbrk(a->value, ".e")) && !draft_answer(d, "size", a->name))
        fputs(a->value, f);
    else
        print_filled(f, d, "size", a->name, DRAFT_NUMBER, NULL, "a number");
}

static void print_problems(FILE *f, struct job_draft *d)
{
    size_t sizes = 0;
    for (size_t i = 0; i < d->argument_count; i++) sizes += draft_is_size(&d->arguments[i]);
    fprintf(f,
            "// The kernel's integers, under the names that expressions use. Add the sizes that you run.\nproblems = ");
    if (!sizes || sizes > MOST_MEMBERS) {
        fprintf(f, "\"? the sizes that you run, as in ( { n = 4096; } )\";\n\n");
        return;
    }
    fprintf(f, "( {");
    for (size_t i = 0; i < d->argument_count; i++) {
        if (!draft_is_size(&d->arguments[i])) continue;
        fprintf(f, " %s = ", d->arguments[i].name);
        print_number(f, d, &d->arguments[i], true);
        fputc(';', f);
    }
    fprintf(f, " } );\n\n");
}

// How often the name occurs in the kernel or in code outside of kernels. If `before` is not NULL, only occurrences
// after this word count.
static size_t uses(const struct job_draft *d, const char *before, const char *name)
{
    const struct cuda_file *s = d->file;
    size_t found = 0;
    for (size_t r = 0; r < s->device_count; r++)
        for (size_t i = s->device[r].begin; i < s->device[r].end && !draft_of_another_kernel(d, &s->device[r]); i++)
            found += draft_is(d, i, name) && (!before || (i && draft_is(d, i - 1, before)));
    return found;
}

static void print_launch(FILE *f, struct job_draft *d)
{
    const struct draft_launch *l = &d->launch;
    if (l->line) fprintf(f, "// From the launch in line %d.\n", l->line);
    fprintf(f, "launch = {\n");
    const char *grid = NULL, *block = NULL;
    bool usual = d->dialog.assumes && draft_usual_launch(d, &grid, &block);
    if (l->known && !draft_answer(d, "launch", "grid")) {
        print_list(f, "grid", l->grid);
        print_list(f, "block", l->block);
        if (l->shared) {
            fprintf(f, "  shared = ");
            print_string(f, l->shared);
            fprintf(f, ";\n");
        }
    } else {
        const char *why = l->reason ? l->reason : "the source has no <<<...>>> for it";
        fprintf(f, "  grid = ");
        print_filled(f, d, "launch", "grid", DRAFT_TEXTS, usual ? grid : NULL,
                     arena_format(d->memory, "blocks, as in [ \"ceil_div(n, BLOCK)\" ]: %s", why));
        fprintf(f, ";\n  block = ");
        print_filled(f, d, "launch", "block", DRAFT_TEXTS, usual ? block : NULL,
                     arena_format(d->memory, "threads of a block, as in [ \"BLOCK\" ]: %s", why));
        fputs(";\n", f);
        if (uses(d, "extern", "__shared__")) {
            fprintf(f, "  shared = ");
            print_filled(f, d, "launch", "shared", DRAFT_TEXT, NULL,
                         "bytes of dynamic shared memory of a block, as in 4 * BLOCK");
            fputs(";\n", f);
        }
    }
    if (uses(d, NULL, "this_grid")) fprintf(f, "  cooperative = true; // the kernel calls this_grid\n");
    fprintf(f, "};\n\n");
}

static void print_type(FILE *f, struct job_draft *d, const struct draft_argument *a)
{
    const struct kernel_parameter *p = &a->known;
    const char *word = !a->is_known ? NULL
                       : p->vector  ? element_name(p->vector->element)
                       : p->type    ? kernel_type_word(p->type)
                                    : NULL;
    autofree char *known = a->is_known ? kernel_parameter_text(p) : a->source ? text_copy(a->source->type) : NULL;
    fprintf(f, " type = ");
    if (word)
        print_string(f, word);
    else
        print_filled(f, d, "type", a->name, DRAFT_TEXT, NULL,
                     known ? arena_format(d->memory, "a type, for the source's %s", known) : "a type");
    fputc(';', f);
}

static void print_buffer(FILE *f, struct job_draft *d, const struct draft_argument *a, const char *kind)
{
    fprintf(f, "buffer = \"%s\";", a->name);
    print_type(f, d, a);
    fprintf(f, " shape = ");
    print_filled(f, d, "shape", a->name, DRAFT_TEXTS, draft_usual_size(d), "its sizes, the slowest first");
    fputc(';', f);
    if (kind) fprintf(f, " %s = { };", kind);
    if (kind && !strcmp(kind, "texture")) return;
    bool in = a->is_known ? a->known.constant : a->source && a->source->constant;
    fprintf(f, " direction = ");
    if (in)
        print_string(f, "in");
    else
        print_filled(f, d, "direction", a->name, DRAFT_TEXT, draft_usual_direction(d, a), "out or inout");
    fputc(';', f);
}

static void print_argument(FILE *f, struct job_draft *d, const struct draft_argument *a)
{
    const struct kernel_parameter *p = &a->known;
    struct draft_argument image = {.name = a->name};
    if (draft_is_object(a, "cudaTextureObject_t") || draft_is_object(a, "cudaSurfaceObject_t")) {
        print_buffer(f, d, &image, draft_is_object(a, "cudaTextureObject_t") ? "texture" : "surface");
    } else if (a->is_known ? p->pointer : a->source->stars > 0) {
        print_buffer(f, d, a, NULL);
    } else if (a->is_known && !p->type && !p->vector) {
        fprintf(f, "scalar = \"%s\"; members = ", a->name);
        print_blank(f, arena_format(d->memory,
                                    "a struct of %zu bytes, as in ( { scalar = \"x\"; type = \"f32\"; value = 1; } )",
                                    p->bytes));
        fprintf(f, ";");
    } else {
        fprintf(f, "scalar = \"%s\";", a->name);
        if (a->is_known && p->vector)
            fprintf(f, " type = \"%s\";", p->vector->name);
        else
            print_type(f, d, a);
        if (draft_is_size(a)) return;
        fprintf(f, " value = ");
        print_number(f, d, a, false);
        fputc(';', f);
    }
}

static void print_arguments(FILE *f, struct job_draft *d)
{
    if (!d->dialog.assumes)
        fprintf(f, "// As in type = \"f32\"; shape = [ \"n\" ]; or for a matrix shape = [ \"rows\", \"columns\" ];\n");
    fprintf(f, "arguments = (\n");
    for (size_t i = 0; i < d->argument_count; i++) {
        fprintf(f, "  { ");
        print_argument(f, d, &d->arguments[i]);
        fprintf(f, " }%s\n", i + 1 < d->argument_count ? "," : "");
    }
    fprintf(f, ");\n");
}

static void print_constants(FILE *f, struct job_draft *d)
{
    bool any = false;
    for (size_t i = 0; i < d->signatures.variable_count; i++) {
        const struct source_variable *v = &d->signatures.variables[i];
        char text[SYMBOL_TEXT_SIZE];
        const char *name = symbol_text(v->symbol, text), *colon = strrchr(name, ':');
        if (v->initialised || uses(d, NULL, colon ? colon + 1 : name) < 2) continue;
        fputs(any ? ",\n  { name = "
                  : "// Variables of the source, set before every launch.\nconstants = (\n  { name = ",
              f);
        print_string(f, name);
        fprintf(f, "; type = \"? the elements' type, of %zu bytes in all\";", v->bytes);
        if (v->bytes > 8) fprintf(f, " shape = \"? its sizes, the slowest first\";");
        fprintf(f, v->constant ? " }" : " direction = \"? in, out or inout\"; }");
        any = true;
    }
    if (any)
        fprintf(f, "\n);\n");
    else if (!d->code.is_compiled && cuda_file_uses(d->file, "__constant__"))
        fprintf(f, "constants = \"? the __constant__ variables that the kernel reads\";\n");
}

static void print_reference(FILE *f, struct job_draft *d)
{
    const char *hint = "what computes the same result";
    bool any = false;
    for (size_t i = 0; i < d->file->kernel_count; i++) {
        const struct cuda_kernel *k = &d->file->kernels[i];
        if (!strcmp(k->name, d->kernel->name) || k->argument_count != d->kernel->argument_count) continue;
        hint = arena_format(d->memory, "%s%s %s", hint, any ? "," : "; kernels with as many arguments:", k->name);
        any = true;
    }
    const char *reference = draft_reference(d);
    fprintf(f, "\n// What results are verified against.%s\n",
            reference ? "" : " `sweetspot list operations` has more of the last kind.");
    if (reference)
        fprintf(f, "reference = %s", reference);
    else
        fprintf(f, "//   reference = { kernel = \"a_simple_kernel\"; launch = { grid = [ 1 ]; block = [ 256 ]; }; };\n"
                   "//   reference = { library = \"reference.c\"; function = \"f\"; };\n"
                   "//   reference = { files = { out = \"out.npy\"; }; };\n"
                   "//   reference = { operation = \"gemm\"; };\n"
                   "// Real numbers also need the error that you allow, unless an operation says it:\n"
                   "//   verification = { absolute = 1e-5; relative = 1e-4; };\n"
                   "reference = ");
    if (!reference) print_blank(f, hint);
    memory_add(d->dialog.questions, d->dialog.question_count) =
        (struct draft_question){"reference", "", hint, reference, false};
    fprintf(f,
            ";\n\n// For rates and shares of the device's ceilings: work = { flops = \"2 * n\"; bytes = \"8 * n\"; };\n"
            "budget = { time = \"10m\"; };\n");
}

void job_draft_write(FILE *f, struct job_draft *d, const char *name, const char *template)
{
    d->dialog.question_count = 0;
    fprintf(f, "// Written by `sweetspot %s` from the source of the kernel ", d->dialog.assumes ? "tune" : "init");
    print_text(f, d->kernel->name);
    fprintf(f, ".%s\n// docs/job-file.md explains every setting.\n",
            d->dialog.assumes ? ""
                              : " A string that begins with ? is a\n// blank: `sweetspot check` lists all of them, and "
                                "no command accepts the job until they are filled in.");
    for (size_t i = 0; i < d->note_count; i++) {
        fprintf(f, "// ");
        print_text(f, d->notes[i]);
        fprintf(f, ".\n");
    }
    fprintf(f, "name = \"%s\";\n", name);
    print_kernel(f, d, template);
    print_parameters(f, d);
    print_problems(f, d);
    print_launch(f, d);
    print_constants(f, d);
    print_arguments(f, d);
    print_reference(f, d);
    draft_check_answers(d);
}
