// The values of numbers that are passed to kernels: integer expressions or real numbers.
#include "tuner/job/job_parts.h"

// Whether the number is finite, and stays finite in this type.
static bool fits(enum element type, double value)
{
    unsigned char bytes[8];
    element_store(type, value, bytes);
    if (element_saturates(type)) return fabs(value) <= element_largest(type);
    return isfinite(element_load(type, bytes));
}

void load_number(struct reader *r, struct job *job, const struct node *owner, const struct node *value,
                 const char *what, const char *name, enum element type, struct expr **expression, double *real)
{
    struct error err;
    if (!value) {
        *expression = job_parse(job, name, &err);
        if (!*expression) reader_mistake(r, owner, "%s '%s' needs 'value': %s", what, name, err.message);
    } else if (node_is_number(value) && !node_is_integer(value)) {
        *real = node_real(value);
        if (!element_is_float(type))
            reader_mistake(r, value, "%s '%s' is of type %s, but its value is not an integer", what, name,
                           element_text[type]);
        else if (!fits(type, *real))
            reader_mistake(r, value, "%s '%s' is %g, more than an %s holds", what, name, *real, element_text[type]);
    } else {
        *expression = reader_expression(r, value, job);
    }
}
