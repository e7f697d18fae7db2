// Compiler options of a job: those in `kernel.options`, and parameters that are options instead of macros. Parameters
// that are options belong to the configuration, and therefore to the compile cache's key and the header.
#include "tuner/job/job_parts.h"

// Options that the program sets itself. Names are separated by blanks.
static const struct {
    const char *options, *why;
} refused[] = {
    {"-o --output-file", "the program names the output"},
    {"-arch --gpu-architecture -gencode --generate-code -code --gpu-code", "the architecture is the device's"},
    {"-I --include-path", "use 'kernel.include', whose files count in the source's hash"},
    {"-include --pre-include", "include the file in the template, so that it counts in the source's hash"},
};

bool check_option(struct reader *r, const struct node *n, const char *option)
{
    if (*option != '-') {
        reader_mistake(r, n, "'%s' is not an option of the compiler: it does not begin with '-'", option);
        return false;
    }
    // ptxas reads files with options too: "--ptxas-options=--options-file=x".
    if (strstr(option, "--options-file") || strstr(option, "-optf")) {
        reader_mistake(r, n, "the option '%s' is refused: write the options into the job file", option);
        return false;
    }
    for (size_t i = 0; i < sizeof refused / sizeof *refused; i++)
        for (const char *at = refused[i].options; *at; at += strspn(at, " ")) {
            size_t length = strcspn(at, " ");
            bool joined = !strncmp(at, "-I ", 3), same = !strncmp(option, at, length); // -Ifolder
            at += length;
            if (!same || !(joined || !option[length] || strchr("= ", option[length]))) continue;
            reader_mistake(r, n, "the option '%s' is refused: %s", option, refused[i].why);
            return false;
        }
    return true;
}

// Returns a parameter's option with one of the parameter's values, malloc'ed. NULL if this value leaves the option out.
static char *option_with(const struct job *job, size_t parameter, size_t value)
{
    const char *option = job->code.parameter_options[parameter], *location = strchr(option, '%');
    const char *text = space_value_text(job->space, parameter, value, (char[32]){0});
    if (!*text || (space_parameter(job->space, parameter)->kind == PARAMETER_INT && !strcmp(text, "0"))) return NULL;
    return location ? text_format("%.*s%s%s", (int)(location - option), option, text, location + 1) : text_copy(option);
}

void load_parameter_option(struct reader *r, struct job *job, const struct node *parameter)
{
    const char *option = reader_string(r, parameter, "parameters[].option");
    const struct node *n = node_member(parameter, "option");
    size_t last = space_parameter_count(job->space) - 1;
    const struct parameter *p = space_parameter(job->space, last);
    if (!option) return;
    const char *location = strchr(option, '%');
    if (p->kind == PARAMETER_UNROLL) {
        reader_mistake(r, n, "'%s' is a pragma and cannot be an 'option' too", p->name);
        return;
    }
    if (location && strchr(location + 1, '%')) {
        reader_mistake(r, n, "the option of '%s' has more than one '%%' for its value", p->name);
        return;
    }
    job->code.parameter_options[last] = job_copy(job, option);
    for (size_t v = 0; v < p->count; v++) {
        if (!location && (p->kind != PARAMETER_INT || p->values[v] < 0 || p->values[v] > 1)) {
            reader_mistake(r, n,
                           "the option of '%s' has no '%%' for its value: the values can only be 0, without it, "
                           "and 1, with it",
                           p->name);
            return;
        }
        autofree char *text = option_with(job, last, v);
        bool good = !text || check_option(r, n, text);
        if (!good) return;
    }
}

void job_options(const struct job *job, const uint16_t *config, void (*add)(void *user, const char *option), void *user)
{
    for (size_t i = 0; i < job->code.option_count; i++) add(user, job->code.options[i]);
    for (size_t i = 0; config && i < space_parameter_count(job->space); i++) {
        autofree char *option = job->code.parameter_options[i] ? option_with(job, i, config[i]) : NULL;
        if (option) add(user, option);
    }
}
