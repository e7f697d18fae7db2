// Which pipe an operation's arithmetic can count on (operation.pipe), where a job does not say.
#include "kernels/operation.h"

const struct pipe *operation_pipe_of_products(enum element type, int compute_class, double *times)
{
    switch (type) {
    case ELEMENT_F64:
        return &pipes[PIPE_FP64];
    case ELEMENT_F16:
        return &pipes[PIPE_TENSOR_F16];
    case ELEMENT_BF16:
        return &pipes[PIPE_TENSOR_BF16];
    case ELEMENT_I8:
        return &pipes[PIPE_TENSOR_S8];
    case ELEMENT_F32:
        if (!compute_class) return &pipes[PIPE_FP32];
        *times = compute_class == 2 ? 3 : 1; // of FP32 from three products of TF32
        return &pipes[PIPE_TENSOR_TF32];
    default:
        return NULL;
    }
}

const struct pipe *operation_pipe_of_sums(enum element type, int compute_class, double *times)
{
    (void)compute_class, (void)times;
    if (type == ELEMENT_F64) return &pipes[PIPE_FP64];
    if (element_is_float(type)) return &pipes[PIPE_FP32];
    return element_size(type) <= 4 ? &pipes[PIPE_INT_ADD] : NULL;
}
