// cuBLAS and cublasLt: the references' matrix products and the baselines. This is the only module that includes their
// headers. Both libraries are opened at run time, when first needed, because they take 0.5 s and several hundred MiB to
// load. The worker also runs without them, and then reports why references by cuBLAS and these baselines are
// unavailable.
#pragma once

#include "kernels/operation.h"
#include "tuner/libraries/cuda.h"

struct blas;
struct blas_plan;

// Opens both libraries on the context's stream, with a workspace of 64 MiB. The caller closes.
int blas_open(struct blas **out, struct cuda *, struct error *err);
void blas_close(struct blas *); // NULL is fine
// Whether the libraries are installed, and their version: "13.0.2". Loads them, but starts nothing.
int blas_probe(char version[32], struct error *err);

// Row-major products, enqueued. FP32 is computed without TF32 unless the product says tf32; f16 and bf16 accumulate in
// FP32. Partial sums of a split K are added in FP32 too, because cuBLAS's default, adding them in bf16, exceeds the
// error bound 25-fold at 4097^3.
int blas_gemm(struct blas *, const struct device_gemm *, struct error *err);
// A product of a matrix and one column (ld 1) of f32 or f64, with cublasSgemv or cublasDgemv.
int blas_gemv(struct blas *, const struct device_gemm *, struct error *err);

// cublasLt's algorithms for a product, in the order of its heuristics. Duplicates are left out.
int blas_list_gemm(struct blas *, const struct device_gemm *, struct operation_way ways[OPERATION_WAYS_MAX],
                   size_t *count, struct error *err);
// Makes the plan for one of these algorithms. `way` is the algorithm's string, which must come from the same version of
// cublasLt. If `way` is NULL, runs the first eight algorithms, waits, and keeps the fastest one. These runs change C if
// beta is not 0.
int blas_plan_gemm(struct blas *, const struct device_gemm *, const char *way, struct blas_plan **out,
                   struct error *err);
// Computes the plan's product on this problem's addresses, which may differ from those used for planning.
int blas_run_plan(struct blas *, const struct device_gemm *, const struct blas_plan *, struct error *err);
void blas_plan_free(struct blas_plan *); // NULL is fine

// Runs a vector routine on dense operands; iamax takes only f32 and f64.
int blas_vector(struct blas *, enum vector_routine, const struct operand *x, const struct operand *y,
                const struct operand *result, struct error *err);

// to = from transposed, f32 and f64, out of place.
int blas_transpose(struct blas *, const struct operand *from, const struct operand *to, struct error *err);
