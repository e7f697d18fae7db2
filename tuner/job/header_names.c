// See header_names.h.
#include "tuner/job/header_names.h"

#include <ctype.h>

#include "tuner/job/job_parts.h"

// The macros that the header may define; a star at the end matches any characters. tests/test_header.c checks whole
// headers against this list.
static const char *const taken[] = {
    // which device and which kernel
    "DEVICE", "DEVICE_*", "FALLBACK", "CHOICE", "CHOICE_*", "SECTION", "FIRST_SECTION", "KERNEL", "KERNELS",
    // how the header is used
    "FUNCTION", "STAGE_*", "DEFINE_PARAMETERS", "UNDEFINE_PARAMETERS", "PARAMETERS_DEFINED", "DRIVER_API",
    "RUNTIME_API", "ANY_ARCHITECTURE", "ALLOW_UNVERIFIED",
    // how its kernels are built and launched
    "STD", "OPTIONS_NVCC", "OPTIONS_NVRTC", "ALIGNMENT", "ENTRY", "ENTRY_*", "INSTANTIATE", "INSTANTIATE_*",
    "ARGUMENTS", "ARGUMENTS_*", "BUFFERS", "BINARY_*", "IN", "OUT", "ADDRESS", "MOST_*",
    // the statuses of launching
    "OK", "NO_BINARY", "OLD_DRIVER", "OTHER_DEVICE", "SIZES", "MISALIGNED", "NO_POINTER", "NO_CALLBACK",
    "LIBRARY_FAILED", "CUDA_ERROR",
    // where the header comes from
    "ARCH", "COMPUTE", "DRIVER", "COMPILER", "TEMPLATE", "CONFIGURATION", "DATE", "SOURCE_HASH", "SOURCE_HASH_TEXT",
    // the evidence
    "DECIDED_IN_FINAL", "FINAL_ROUNDS", "VERIFIED_PROBLEMS", "ERROR", "SECONDS", "SECONDS_LOW", "SECONDS_HIGH",
    "RATIO_*", "NVCC", "NVCC_*"};

// Keywords of C17 and C++20, and `defined`, which cannot be the name of a macro.
static const char keywords[] =
    "alignas alignof and and_eq asm auto bitand bitor bool break case catch char char8_t char16_t char32_t class "
    "co_await co_return co_yield compl concept const const_cast consteval constexpr constinit continue decltype "
    "default defined delete do double dynamic_cast else enum explicit export extern false float for friend goto if "
    "inline int long mutable namespace new noexcept not not_eq nullptr operator or or_eq private protected public "
    "register reinterpret_cast requires restrict return short signed sizeof static static_assert static_cast struct "
    "switch template this thread_local throw true try typedef typeid typename union unsigned using virtual void "
    "volatile wchar_t while xor xor_eq _Alignas _Alignof _Atomic _Bool _Complex _Generic _Imaginary _Noreturn "
    "_Static_assert _Thread_local ";

char *header_identifier(const char *job)
{
    char *name = text_format("%s%s", isdigit((unsigned char)job[0]) || !job[0] ? "k_" : "", job);
    for (char *p = name; *p; p++)
        if (!isalnum((unsigned char)*p) || (unsigned char)*p > 127) *p = '_';
    return name;
}

char *header_upper(const char *text)
{
    char *name = header_identifier(text);
    for (char *p = name; *p; p++) *p = (char)toupper((unsigned char)*p);
    return name;
}

bool header_macro_taken(const char *macro)
{
    for (size_t i = 0; i < sizeof taken / sizeof *taken; i++) {
        size_t length = strlen(taken[i]);
        if (taken[i][length - 1] == '*' ? !strncmp(macro, taken[i], length - 1) : !strcmp(macro, taken[i])) return true;
    }
    return false;
}

static bool is_keyword(const char *name)
{
    autofree char *word = text_format(" %s ", name);
    return strstr(keywords, word) != NULL;
}

static bool is_identifier(const char *name)
{
    autofree char *identifier = header_identifier(name);
    return !strcmp(identifier, name);
}

bool header_same_identifier(const char *a, const char *b)
{
    autofree char *x = header_identifier(a), *y = header_identifier(b);
    return !strcmp(x, y);
}

static bool same_upper(const char *a, const char *b)
{
    autofree char *x = header_upper(a), *y = header_upper(b);
    return !strcmp(x, y);
}

// Why a name cannot become a macro unchanged.
static char *refuse_macro(const struct job *job, const char *name)
{
    if (!is_identifier(name)) return text_copy("cannot be the name of a macro: it is not an identifier of C");
    if (is_keyword(name)) return text_copy("cannot be the name of a macro: it is a keyword of C or C++");
    if (!strncmp(name, "SWEETSPOT_", 10))
        return text_copy("begins with 'SWEETSPOT_', which is reserved for the program's macros");
    autofree char *upper = header_upper(job->name);
    size_t length = strlen(upper);
    if (strncmp(name, upper, length) || name[length] != '_') return NULL;
    if (header_macro_taken(name + length + 1)) return text_copy("is a macro of the job's header");
    for (size_t i = 0; i < space_parameter_count(job->space); i++) {
        const char *parameter = space_parameter(job->space, i)->name;
        autofree char *macro = header_upper(parameter);
        if (!strcmp(name + length + 1, macro))
            return text_format("is the macro that the job's header has for parameter '%s'", parameter);
    }
    return NULL;
}

// These three compare the name of a parameter, a macro (in `defines` of the kernel or of a stage) or a stage with the
// job's other names. They return the reason to refuse the name, worded to follow "parameter 'X' ", or NULL. malloc'ed.
static char *refuse_parameter(const struct job *job, size_t parameter)
{
    const char *name = space_parameter(job->space, parameter)->name;
    autofree char *upper = header_upper(job->name), *macro = header_upper(name);
    char *reason = refuse_macro(job, name);
    if (!reason && header_macro_taken(macro))
        reason = text_format("is not possible: the job's header already has a macro %s_%s", upper, macro);
    for (size_t i = 0; i < parameter && !reason; i++)
        if (same_upper(space_parameter(job->space, i)->name, name))
            reason = text_format("would be the macro %s_%s of the job's header, as parameter '%s' is", upper, macro,
                                 space_parameter(job->space, i)->name);
    return reason;
}

static char *refuse_define(const struct job *job, size_t define)
{
    const char *name = job->code.defines[define].name;
    return job_parameter(job, name) >= 0 ? text_copy("is also a parameter") : refuse_macro(job, name);
}

static char *refuse_stage_define(const struct job *job, size_t stage, size_t define)
{
    const struct stage *s = &job->stages[stage];
    const char *name = s->defines[define].name;
    int p = job_parameter(job, name);
    if (p >= 0) // this stage gives the parameter's macro another value
        return job->code.parameter_options[p] ? text_copy("is also a parameter, which is an option of the compiler")
                                              : NULL;
    for (size_t i = 0; i < job->code.define_count; i++)
        if (!strcmp(job->code.defines[i].name, name))
            return text_copy("is also a macro of all stages ('kernel.defines')");
    return refuse_macro(job, name);
}

// Whether every quotation mark has its second one. C++ separates digits by apostrophes.
static bool quotes_are_paired(const char *text)
{
    char open = 0;
    for (const char *p = text; *p; p++) {
        bool separates = *p == '\'' && p > text && isxdigit((unsigned char)p[-1]) && isxdigit((unsigned char)p[1]);
        if (open && *p == '\\' && p[1])
            p++;
        else if (open)
            open = *p == open ? 0 : open;
        else if (*p == '"' || (*p == '\'' && !separates))
            open = *p;
    }
    return !open;
}

const char *header_refuse_value(const char *text)
{
    size_t length = strlen(text);
    for (const char *p = text; *p; p++)
        if (iscntrl((unsigned char)*p) && *p != '\t')
            return "has a line break or another control character, which no macro can hold";
    if (strstr(text, "/*") || strstr(text, "*/")) return "has a comment's beginning or end, which no macro can hold";
    if ((length && text[length - 1] == '\\') || (length > 2 && !strcmp(text + length - 3, "?\?/"))) // the same in C99
        return "ends in '\\', which would join the line of the macro with the next";
    if (!quotes_are_paired(text)) return "has a quotation mark without a second one, which no macro can hold";
    return NULL;
}

static char *refuse_stage(const struct job *job, size_t stage)
{
    for (size_t i = 0; i < stage && job->stages[stage].name; i++)
        if (job->stages[i].name && same_upper(job->stages[i].name, job->stages[stage].name))
            return text_format("would have the same names in the job's header as stage '%s'", job->stages[i].name);
    return NULL;
}

// The job's own names: its own, and its sizes'.
static void check_job_names(struct reader *r, const struct job *job, const struct node *root)
{
    autofree char *upper = header_upper(job->name);
    if (!strcmp(upper, "SWEETSPOT") || !strcmp(job->name, "_")) // "__real" is a keyword of gcc
        reader_mistake(r, node_member(root, "name"),
                       "a job cannot be called '%s': names in its header would be those of %s", job->name,
                       *upper == '_' ? "the compiler" : "sweetspot_runtime.c");
    for (size_t i = 0; i < job->names.size_count; i++)
        if (!strcmp(job->names.size_names[i], "t"))
            reader_mistake(r, node_member(root, "problems"),
                           "a size cannot be called 't': in the job's header it would be 'size_t', which is a type");
}

static void refuse_name(struct reader *r, const struct node *n, const char *what, const char *name, char *reason)
{
    if (reason) reader_mistake(r, n, "%s '%s' %s", what, name, reason);
    free(reason);
}

void check_header_names(struct reader *r, const struct job *job, const struct node *root)
{
    check_job_names(r, job, root);
    const struct node *parameters = node_member(root, "parameters"), *stages = node_member(root, "stages"),
                      *kernel = node_member(root, "kernel"),
                      *defines = kernel && node_is_group(kernel) ? node_member(kernel, "defines") : NULL;
    for (size_t i = 0, p = 0; parameters && node_is_sequence(parameters) && i < node_count(parameters); i++) {
        const struct node *n = node_at(parameters, i), *name = node_is_group(n) ? node_member(n, "name") : NULL;
        if (!name || !node_is_string(name) || p == space_parameter_count(job->space)) continue;
        if (strcmp(space_parameter(job->space, p)->name, node_string(name)) != 0) continue; // refused already
        refuse_name(r, name, "parameter", node_string(name), refuse_parameter(job, p++));
    }
    const struct node *options = kernel && node_is_group(kernel) ? node_member(kernel, "options") : NULL;
    for (size_t i = 0; options && node_is_sequence(options) && i < node_count(options); i++) {
        const char *option = node_is_string(node_at(options, i)) ? node_string(node_at(options, i)) : "";
        const char *macro = !strncmp(option, "-D", 2)                ? option + 2
                            : strncmp(option, "--define-macro=", 15) ? ""
                                                                     : option + 15;
        autofree char *name = text_format("%.*s", (int)strcspn(macro, "="), macro);
        if (job_parameter(job, name) >= 0)
            reader_mistake(r, node_at(options, i), "the option '%s' defines parameter '%s' again", option, name);
    }
    for (size_t i = 0, d = 0; defines && d < job->code.define_count && i < node_count(defines); i++) {
        const char *name = node_name(node_at(defines, i));
        if (strcmp(job->code.defines[d].name, name) != 0) continue;
        refuse_name(r, node_at(defines, i), "macro", name, refuse_define(job, d++));
    }
    for (size_t s = 0; stages && node_is_sequence(stages) && s < job->stage_count; s++) {
        const struct node *own = node_is_group(node_at(stages, s)) ? node_member(node_at(stages, s), "defines") : NULL;
        for (size_t i = 0; i < job->stages[s].define_count; i++)
            refuse_name(r, node_member(own, job->stages[s].defines[i].name), "macro", job->stages[s].defines[i].name,
                        refuse_stage_define(job, s, i));
        refuse_name(r, node_at(stages, s), "stage", job->stages[s].name, refuse_stage(job, s));
    }
}
