// See draft.h: the user's answers about settings that the source does not determine, and assumptions. An assumption is
// made only if there is a single usual value, and `tune` prints it.
#include "tuner/init/draft_parts.h"

#include "kernels/operation.h"

__attribute__((format(printf, 2, 3))) static void mistake(struct job_draft *d, const char *format, ...)
{
    TEXT_FROM(format, text);
    if (!d->dialog.mistake) d->dialog.mistake = arena_copy(d->memory, text);
}

// Forms ---------------------------------------------------------------------------------------------------------------

static bool is_number(const char *text)
{
    char *end;
    double value = strtod(text, &end);
    return end > text && !*end && isfinite(value) && strspn(text, "+-0123456789.eE") == strlen(text);
}

// The answer in libconfig's syntax; NULL if it does not have the form that the setting needs.
static const char *written(const struct job_draft *d, enum draft_form form, const char *text)
{
    autorelease(text_release) struct text list = {0};
    if (form == DRAFT_NUMBER) {
        double value = strtod(text, NULL);
        bool whole = is_number(text) && !strpbrk(text, ".eE") && value > 0;
        return whole ? arena_format(d->memory, "%s%s", text, value > INT32_MAX ? "L" : "") : NULL;
    }
    bool numbers = form == DRAFT_VALUES, many = form != DRAFT_TEXT;
    for (int pass = 0; pass < (numbers ? 2 : 1); pass++) {
        list.length = 0;
        bool good = true;
        for (const char *at = text; good; at++) {
            int depth = 0;
            const char *end = at;
            for (; *end && (!many || *end != ',' || depth); end++) depth += (*end == '(') - (*end == ')');
            autofree char *item = text_format("%.*s", (int)(end - at), at);
            const char *part = item + strspn(item, " ");
            size_t length = strlen(part);
            while (length && part[length - 1] == ' ') length--;
            bool plain = length && !strpbrk(part, "\"\\\n") && part[0] != '?';
            autofree char *word = text_format("%.*s", (int)length, part);
            good = plain && (!numbers || pass || is_number(word));
            text_add(&list, numbers && !pass ? "%s%s" : "%s\"%s\"", list.length ? ", " : many ? "[ " : "", word);
            if (!*end) break;
            at = end;
        }
        if (good) return arena_format(d->memory, "%s%s", list.text, many ? " ]" : "");
    }
    return NULL;
}

// Answers -------------------------------------------------------------------------------------------------------------

const char *draft_answer(const struct job_draft *d, const char *what, const char *name)
{
    for (size_t i = d->dialog.answer_count; i--;)
        if (!strcmp(d->dialog.answers[i].what, what) && !strcmp(d->dialog.answers[i].name, name))
            return d->dialog.answers[i].value;
    return NULL;
}

// `name` is the parameter's name in the source or in the job. A parameter that is not in the source belongs to the
// launch.
static void answer_parameter(struct job_draft *d, const char *name, const char *value)
{
    const struct cuda_macro *macro = cuda_file_find_macro(d->file, name);
    const char *values = written(d, DRAFT_VALUES, value);
    struct draft_parameter *p = NULL;
    for (size_t i = 0; i < d->parameter_count; i++)
        if (!strcmp(d->parameters[i].name, name) || !strcmp(d->parameters[i].source, name)) p = &d->parameters[i];
    if (!values) mistake(d, "--parameter %s: '%s' is not a list of values such as 64,128,256", name, value);
    if (!p && macro)
        mistake(d, "--parameter %s: line %d of the source defines it; put `#ifndef %s` and `#endif` around that line",
                name, macro->line, name);
    if (!p && !draft_plain_name(name)) mistake(d, "--parameter: '%s' cannot be a parameter's name", name);
    if (d->dialog.mistake || !values) return;
    if (!p) {
        p = &memory_add(d->parameters, d->parameter_count);
        *p = (struct draft_parameter){.name = arena_copy(d->memory, name), .why = "of the launch"};
        p->source = p->name;
    }
    p->values = values;
    p->first = strtoll(values + 2, NULL, 10);
}

void job_draft_answer(struct job_draft *d, const char *what, const char *name, const char *value)
{
    memory_add(d->dialog.answers, d->dialog.answer_count) =
        (struct draft_answer){arena_copy(d->memory, what), arena_copy(d->memory, name), arena_copy(d->memory, value)};
    if (!strcmp(what, "parameter")) answer_parameter(d, name, value);
}

const char *draft_fill(struct job_draft *d, const char *what, const char *name, enum draft_form form,
                       const char *assumed, const char *hint)
{
    const char *answer = draft_answer(d, what, name), *value = answer ? answer : d->dialog.assumes ? assumed : NULL;
    const char *text = value ? written(d, form, value) : NULL;
    if (value && !text)
        mistake(d, "--%s %s: '%s' is not %s", what, name, value,
                form == DRAFT_NUMBER ? "a whole number above 0, such as 1048576" : "an expression without quotes");
    memory_add(d->dialog.questions, d->dialog.question_count) =
        (struct draft_question){what, name, hint, value, value && !answer};
    return text;
}

void draft_check_answers(struct job_draft *d)
{
    for (size_t i = 0; i < d->dialog.answer_count; i++) {
        const struct draft_answer *a = &d->dialog.answers[i];
        autorelease(text_release) struct text names = {0};
        bool asked = !strcmp(a->what, "parameter");
        if (draft_answer(d, a->what, a->name) != a->value) mistake(d, "--%s %s is given twice", a->what, a->name);
        for (size_t q = 0; q < d->dialog.question_count && !asked; q++) {
            if (strcmp(d->dialog.questions[q].what, a->what) != 0) continue;
            asked = !strcmp(d->dialog.questions[q].name, a->name);
            text_add(&names, "%s%s", names.length ? ", " : "", d->dialog.questions[q].name);
        }
        if (!asked && names.length)
            mistake(d, "--%s %s: the kernel has no '%s' (it has %s)", a->what, a->name, a->name, names.text);
        else if (!asked)
            mistake(d, "--%s: the job does not need it", a->what);
    }
}

// Assumptions ---------------------------------------------------------------------------------------------------------

bool draft_is_object(const struct draft_argument *a, const char *type)
{
    return a->source && !a->source->stars && !strcmp(a->source->type, type);
}

bool draft_is_size(const struct draft_argument *a)
{
    const struct kernel_parameter *p = &a->known;
    return a->is_known && !p->pointer && p->type && (p->type->kind == 's' || p->type->kind == 'u') &&
           !draft_is_object(a, "cudaTextureObject_t") && !draft_is_object(a, "cudaSurfaceObject_t");
}

// "out" if the body only assigns elements of the buffer, "in" if it only reads them, otherwise "inout". NULL if the
// body uses no elements.
const char *draft_usual_direction(const struct job_draft *d, const struct draft_argument *a)
{
    bool read = false, written_to = false;
    if (!a->source) return NULL;
    for (size_t i = d->kernel->body + 1; i < d->kernel->end; i++) {
        if (!draft_is(d, i, a->source->name)) continue;
        size_t close = draft_is(d, i + 1, "[") ? cuda_tokens_close(&d->file->tokens, i + 1, d->kernel->end) : i;
        const char *before[] = {"&", "++", "--", NULL};
        const char *after[] = {"++", "--", "+=", "-=", "*=", "/=", "%=", "|=", "&=", "^=", "<<=", ".", "->", NULL};
        bool both = close == i || (draft_is(d, close, ">") && draft_is(d, close + 1, ">="));
        for (const char **b = before; *b; b++) both |= draft_is(d, i - 1, *b);
        for (const char **b = after; *b; b++) both |= draft_is(d, close, *b);
        if (both) return "inout";
        *(draft_is(d, close, "=") ? &written_to : &read) = true;
    }
    return !written_to ? read ? "in" : NULL : read ? "inout" : "out";
}

const char *draft_usual_size(const struct job_draft *d)
{
    const char *size = NULL;
    for (size_t i = 0; i < d->argument_count; i++) {
        if (!draft_is_size(&d->arguments[i])) continue;
        if (size) return NULL;
        size = d->arguments[i].name;
    }
    return size;
}

// A launch with one thread for each element, for a kernel with one size and one parameter that is not a choice. This
// parameter is then the block size.
bool draft_usual_launch(struct job_draft *d, const char **grid, const char **block)
{
    const char *size = draft_usual_size(d), *side = NULL;
    for (size_t i = 0; i < d->parameter_count; i++) {
        if (d->parameters[i].choice) continue;
        if (side) return false;
        side = d->parameters[i].name;
    }
    if (!size || !side || cuda_file_uses(d->file, "gridDim")) return false;
    *grid = arena_format(d->memory, "ceil_div(%s, %s)", size, side);
    *block = side;
    return true;
}

// The reference ------------------------------------------------------------------------------------------------------

// A reference kernel with its launch in the source, if this launch depends only on the job's sizes. Otherwise the
// launch has one thread per element.
static const char *reference_kernel(struct job_draft *d, const struct cuda_kernel *kernel)
{
    autorelease(job_draft_release) struct job_draft own;
    autorelease(text_release) struct text grid = {0}, block = {0};
    const char *size = draft_usual_size(d), *text = NULL;
    job_draft_open(&own, d->file, kernel, NULL);
    bool known = own.launch.known && !own.parameter_count;
    for (size_t i = 0; i < own.argument_count && known; i++)
        known = i < d->argument_count && !strcmp(own.arguments[i].name, d->arguments[i].name);
    for (int k = 0; k < 3 && known; k++) {
        if (own.launch.grid[k]) text_add(&grid, "%s\"%s\"", k ? ", " : "", own.launch.grid[k]);
        if (own.launch.block[k]) text_add(&block, "%s\"%s\"", k ? ", " : "", own.launch.block[k]);
    }
    if (!known && size) {
        text_add(&grid, "\"ceil_div(%s, 256)\"", size);
        text_add(&block, "256");
    }
    if (grid.text)
        text = arena_format(d->memory, "{ kernel = \"%s\"; launch = { grid = [ %s ]; block = [ %s ]; }; }",
                            kernel->name, grid.text, block.text);
    else
        mistake(d,
                "--reference %s: its launch cannot be determined from the source; `sweetspot init` writes a job file "
                "in which you can fill it in",
                kernel->name);
    if (text && !strcmp(kernel->name, d->kernel->name))
        memory_add(d->dialog.questions, d->dialog.question_count) = (struct draft_question){
            "reference", kernel->name, "", "the kernel itself: a mistake of all configurations is not found", true};
    if (!known && text)
        memory_add(d->dialog.questions, d->dialog.question_count) = (struct draft_question){
            "launch of", kernel->name, "", arena_format(d->memory, "ceil_div(%s, 256); 256", size), true};
    return text;
}

const char *draft_reference(struct job_draft *d)
{
    const char *answer = draft_answer(d, "reference", ""), *nearest, *colon = answer ? strrchr(answer, ':') : NULL;
    if (!answer) return NULL;
    const struct cuda_kernel *kernel = cuda_file_find_kernel(d->file, answer);
    if (kernel) return reference_kernel(d, kernel);
    if (operation_find(answer, &nearest)) return arena_format(d->memory, "{ operation = \"%s\"; }", answer);
    if (colon && colon > answer && colon[-1] != ':' && !strpbrk(answer, "\"\\"))
        return arena_format(d->memory, "{ library = \"%.*s\"; function = \"%s\"; }", (int)(colon - answer), answer,
                            colon + 1);
    autorelease(text_release) struct text names = {0};
    for (size_t i = 0; i < d->file->kernel_count; i++)
        text_add(&names, "%s%s", i ? ", " : "", d->file->kernels[i].name);
    mistake(d,
            "--reference %s: neither a kernel of the source (%s), nor one of `sweetspot list operations`, nor "
            "FILE.c:FUNCTION",
            answer, names.text);
    return NULL;
}
