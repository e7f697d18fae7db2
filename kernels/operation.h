// Describes what a kernel computes, as data. An operation names the roles of a job's buffers, sizes and scalars. It
// provides the reference result in higher precision, the scale for judging errors, and the library versions to compare
// with. Each operation is one file and one line in operations.c.
//
// The driver also links these files (`check` looks up operations and roles), and the driver does not use CUDA.
// Therefore an operation accesses the GPU only through a table of functions that the worker passes in, struct
// device_operations.
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "kernels/element.h"
#include "tuner/base/error.h"
#include "tuner/base/execution_unit.h"

enum { OPERATION_ROLES_MAX = 16, OPERATION_DETAIL_MAX = 192, OPERATION_WAY_MAX = 160, OPERATION_WAYS_MAX = 32 };

enum role_kind {
    ROLE_INPUT,  // buffer that is only read
    ROLE_OUTPUT, // buffer that is written; also read if the job declares it inout
    ROLE_SIZE,   // integer >= 1
    ROLE_SCALAR, // number with a default
};

struct operation_role {
    const char *name; // NULL ends a table of roles
    enum role_kind kind;
    double fallback; // for scalars
    const char *summary;
};

// Facts known about the data in an operand. Zeroed: nothing is known.
struct operand_data {
    double nonzero; // at least this share of the elements is not 0
    bool finite;    // neither infinities nor NaN
    bool full;      // independent reals: all bits of the type are in use
};

// A row-major matrix (a vector is one row): element (i, j) lies at index i*ld + j.
struct operand {
    enum element type;
    int64_t rows, cols, ld;
    struct operand_data data; // for operands that have contents before a launch
    uint64_t device;          // address on the GPU; 0 if only the host's copy exists
    void *host;               // the host's copy, for cpu(); otherwise NULL
};

// One problem. Its arrays are indexed like the operation's table of roles.
struct operation_problem {
    struct operand operand[OPERATION_ROLES_MAX]; // for buffer roles
    double value[OPERATION_ROLES_MAX];           // for sizes and scalars
};

// The expected values of one output, and the scale for errors in them. Both arrays are dense, rows*cols, with the
// output's shape. They are on the device for reference(), and on the host for cpu().
//
// Floating-point outputs: element x passes if  |x - expected| <= allowed  (so NaN fails), with
//     allowed = tolerance * (per_scale*scale + per_value*|expected| + floor) + absolute + relative*|expected|
// where tolerance, absolute and relative come from the job. Integer outputs: `expected` holds int64_t, and results must
// equal it.
struct operation_expected {
    uint64_t expected; // double or int64_t
    uint64_t scale;    // float; 0: no such term
    double *host_expected;
    int64_t *host_exact;
    float *host_scale;
    double per_scale, per_value, floor;
};

// The minimum work of any correct kernel in one launch, regardless of the algorithm. A time that is too short for it is
// a measurement error (tuner/gpu/peaks.h). An estimate that is too low weakens the check; one that is too high would
// reject a correct kernel. So everything that cannot be excluded is allowed for: data that need not be read because
// other data is zero or not finite, faster algorithms, and arithmetic with fewer bits on faster execution units.
struct operation_least {
    double read;    // bytes of inputs that multiprocessors must read
    double written; // bytes of outputs
    double flops;   // a multiply-add counts as two
    int bits;       // significant bits that factors need for results to be within the bound, at a tolerance of 1
};

struct device_gemm {
    bool transpose_a, transpose_b;
    int64_t m, n, k;
    int64_t batch; // the number of products of this shape; each operand stacks its matrices, so it has `batch`
                   // times as many rows
    double alpha, beta;
    bool tf32;              // f32 inputs may be rounded to TF32
    struct operand a, b, c; // row-major; c = alpha*op(a)*op(b) + beta*c
};

// The values that widen() can write for the elements.
enum widened { WIDENED_VALUE, WIDENED_SIZE, WIDENED_SQUARE };

// Sums that a reduction's reference needs, all in fp64.
struct device_sums {
    double sum, sum_abs, sum_squares;
    double fractional; // number of elements that are not integers
    int64_t exact;     // for integer elements: their sum modulo 2^64
};

enum vector_routine {
    VECTOR_ASUM,  // cublasAsumEx: the sum of |x|
    VECTOR_NRM2,  // cublasNrm2Ex: the root of the sum of squares
    VECTOR_DOT,   // cublasDotEx: the sum of x*y
    VECTOR_IAMAX, // cublasIsamax, cublasIdamax: the index of the largest |x| as an i64, counted from 1; the lowest if
                  // there are several
};

// One of several ways in which a library can compute the same result.
struct operation_way {
    char text[OPERATION_WAY_MAX];      // identifies it for other processes with the same library
    char detail[OPERATION_DETAIL_MAX]; // for display
};

// The worker's functions for operations. Each returns 0, or a negative code with a message; `self` is passed back.
struct device_operations {
    void *self;
    // Device memory for use until the reference is done; the worker frees it.
    int (*scratch)(void *self, size_t bytes, uint64_t *pointer, struct error *err);
    // Dense fp64 copy of an operand, of its absolute values, or of its squares.
    int (*widen)(void *self, const struct operand *from, enum widened, uint64_t to, struct error *err);
    // Conversions from double. The first converts factor*from + sqrt(squares) (without the root if `squares` is 0) to
    // float, rounded up; the second converts to int64_t.
    int (*narrow_up)(void *self, double factor, uint64_t from, uint64_t squares, int64_t n, uint64_t to,
                     struct error *err);
    int (*to_integer)(void *self, uint64_t from, int64_t n, uint64_t to, struct error *err);
    int (*sums)(void *self, const struct operand *from, struct device_sums *sums, struct error *err);
    int (*upload)(void *self, const void *from, size_t bytes, uint64_t to, struct error *err);
    // cuBLAS. `gemm` computes what cublasGemmEx would (FP32 without TF32, unless `tf32` is set).
    int (*gemm)(void *self, const struct device_gemm *gemm, struct error *err);
    // The same for dense fp64 operands, as if computed in twice the working precision and then rounded; slow.
    int (*product)(void *self, const struct device_gemm *gemm, struct error *err);
    // cublasSgemv or cublasDgemv: a product whose b and c have one column with ld 1, and batch 1.
    int (*gemv)(void *self, const struct device_gemm *gemm, struct error *err);
    // cublasLt: its first algorithms for a product, without duplicates, with 64 MiB of workspace.
    int (*list_gemm)(void *self, const struct device_gemm *gemm, struct operation_way ways[OPERATION_WAYS_MAX],
                     size_t *count, struct error *err);
    // Prepares a way; if `way` is NULL, times the first eight and keeps the fastest. Free the plan with plan_free.
    int (*plan_gemm)(void *self, const struct device_gemm *gemm, const char *way, void **plan, struct error *err);
    int (*run_plan)(void *self, const struct device_gemm *gemm, void *plan, struct error *err);
    void (*plan_free)(void *self, void *plan);
    // cuBLAS's vector routines; `y` is NULL for all but dot.
    int (*vector)(void *self, enum vector_routine, const struct operand *x, const struct operand *y,
                  const struct operand *result, struct error *err);
    int (*clear)(void *self, const struct operand *x, struct error *err); // dense rows
    // cublasSgeam, cublasDgeam: to = the transpose of `from`, out of place.
    int (*transpose)(void *self, const struct operand *from, const struct operand *to, struct error *err);
};

// Other values that inputs may hold, in addition to those of the job's fills, for which a correct kernel still meets
// the bound.
enum value_domain {
    VALUES_SCALED = 1,     // all times a power of two, 2^-10 to 2^10; for types with at least eight exponent bits
    VALUES_ZERO = 2,       // some 0 and -0 among them, or only zeros
    VALUES_NEGATIVE = 4,   // only negative numbers
    VALUES_SHIFTED = 8,    // one number added to all
    VALUES_FULL = 16,      // integers: all values of the type
    VALUES_SUBNORMAL = 32, // numbers so small that they lose bits; only for operations that do not compute with them
    VALUES_END = 64
};
// The name of each bit, from the lowest to the highest; NULL-terminated.
extern const char *const value_domain_text[];

struct operation_baseline {
    const char *name; // NULL ends a table of baselines
    const char *summary;
    bool same_result; // computes the same as the operation, so it is verified like a candidate
    // Prepares one of the baseline's ways, or chooses one if `way` is NULL. *state belongs to the baseline (NULL if it
    // needs none) and is released with release(). prepare and release may be NULL.
    int (*prepare)(const struct device_operations *, const struct operation_problem *, const char *way, void **state,
                   struct error *);
    // Enqueues one execution and does not wait.
    int (*run)(const struct device_operations *, const struct operation_problem *, void *state, struct error *);
    void (*release)(const struct device_operations *, void *state);
    // Baselines with the same list() are one library's ways, ordered by speed (tuner/gpu/library_race.h): the fastest
    // has `place` 1. If the baseline has only one way, `place` is 0 and `list` is NULL.
    int place;
    int (*list)(const struct device_operations *, const struct operation_problem *,
                struct operation_way ways[OPERATION_WAYS_MAX], size_t *count, struct error *);
};

struct operation {
    const char *name;
    const char *summary;
    const char *bound; // the error bound in words, with its source; shown by `check` and in reports
    const struct operation_role *roles;
    // Words for the values 0, 1 ... of the scalar role "compute", NULL-terminated: the arithmetic required of the job's
    // kernel and of the baselines. Jobs with different classes are different problems, with different bounds and
    // baselines. NULL: there is one class.
    const char *const *classes;
    // Checks that the problem's shapes, types and sizes fit together: 0, or -1 with a message.
    int (*check)(const struct operation_problem *, struct error *);
    // Whether a kernel for this operation gives the same bits in every run. False if common implementations finish with
    // floating-point atomics; a job may override it.
    bool deterministic;
    // The values (enum value_domain) that inputs may hold in addition to those of the jobs' fills.
    unsigned domain;
    // The minimum work for a problem that check() has accepted; *least is zeroed before the call.
    void (*least)(const struct operation_problem *, struct operation_least *least);
    // Returns the execution unit that the operation's arithmetic can use, given the type of its first buffer and the
    // compute class. Called if a job does not name a unit. If this or the result is NULL, no unit is known. *times,
    // which is 1 before the call, is the number of operations of the unit per operation of the problem.
    const struct execution_unit *(*pipe)(enum element type, int compute_class, double *times);
    // Fills expected[role] for every output role. The caller has allocated its `expected` and `scale` arrays, on the
    // device (reference) or the host (cpu). If `reference` is NULL, references are computed only by cpu(), on all
    // cores. For an output that the job declares inout, the operand holds the old contents.
    int (*reference)(const struct device_operations *, const struct operation_problem *,
                     struct operation_expected *expected, struct error *);
    int (*cpu)(const struct operation_problem *, struct operation_expected *expected, struct error *);
    const struct operation_baseline *baselines; // NULL: no library offers the operation
};

// Functions for operation.pipe. The first is for matrix products, where class 1 uses one TF32 product and class 2 uses
// three. The second is for sums and element-wise scaling, where half types are computed in FP32.
const struct execution_unit *operation_pipe_of_products(enum element type, int compute_class, double *times);
const struct execution_unit *operation_pipe_of_sums(enum element type, int compute_class, double *times);

// All operations, NULL-terminated.
extern const struct operation *const operations[];

// Finds an operation by name. If there is none, returns NULL and sets *nearest (unless `nearest` is NULL) to the most
// similar name, or to NULL if none is similar.
const struct operation *operation_find(const char *name, const char **nearest);
// The names of all operations, NULL-terminated. Static.
const char *const *operation_names(void);
// The index of a role, or -1.
int operation_role(const struct operation *operation, const char *name);
// The number of the compute class that `word` names, or -1; always -1 for an operation without classes.
int operation_class(const struct operation *operation, const char *word);
// A baseline, or NULL.
const struct operation_baseline *operation_baseline(const struct operation *operation, const char *name);
