// The execution unit that an operation's arithmetic can use (operation.pipe), if a job does not name one.
#include "kernels/operation.h"

const struct execution_unit *operation_pipe_of_products(enum element type, int compute_class, double *times)
{
    switch (type) {
    case ELEMENT_F64:
        return &execution_units[UNIT_FP64];
    case ELEMENT_F16:
        return &execution_units[UNIT_TENSOR_F16];
    case ELEMENT_BF16:
        return &execution_units[UNIT_TENSOR_BF16];
    case ELEMENT_I8:
        return &execution_units[UNIT_TENSOR_S8];
    case ELEMENT_F32:
        if (!compute_class) return &execution_units[UNIT_FP32];
        *times = compute_class == 2 ? 3 : 1; // 3: an FP32 product from three TF32 products
        return &execution_units[UNIT_TENSOR_TF32];
    default:
        return NULL;
    }
}

const struct execution_unit *operation_pipe_of_sums(enum element type, int compute_class, double *times)
{
    (void)compute_class, (void)times;
    if (type == ELEMENT_F64) return &execution_units[UNIT_FP64];
    if (element_is_float(type)) return &execution_units[UNIT_FP32];
    return element_size(type) <= 4 ? &execution_units[UNIT_INT_ADD] : NULL;
}
