// The data and launches of a job: buffers and how kernels access them, arguments, and the stages that use them. All
// expressions are parsed.
#pragma once

#include "kernels/element.h"
#include "search/space/expr.h"
#include "tuner/base/buffer_kind.h"
#include "tuner/base/image.h"
#include "tuner/base/limits.h"

// "&NAME" or "&NAME[at]": the address of a buffer, or of an element in it.
struct address {
    int buffer;      // index into job.buffers, declared earlier; -1: null
    struct expr *at; // elements in memory; NULL: 0
    const char *text;
};

struct fill {
    enum fill_kind kind;
    double low, high;                    // uniform, integer, sorted: [low, high]; constant: low; offsets: high
    struct expr *low_value, *high_value; // expressions of sizes that replace low and high, or NULL
    const char *path;                    // npy: absolute path
    struct address *addresses;           // addresses: each fills an equal share of the elements
    size_t address_count;
    bool given; // in the job; otherwise it is the default of the buffer's type
};

// The part of an output that is compared: in each dimension of its shape, `count` elements beginning with `first`.
enum { COMPARED_RANK_MAX = 5 };
struct compared {
    size_t rank;
    struct expr *size[COMPARED_RANK_MAX], *first[COMPARED_RANK_MAX], *count[COMPARED_RANK_MAX];
};

// How kernels access a buffer through texture and surface objects.
struct buffer_image {
    struct image_layout about;           // without sizes and pitch
    struct expr *size[IMAGE_DIMENSIONS]; // texels, the contiguous dimension first; NULL beyond the rank
    bool texture;                        // accessed as a texture; about.surface: as a surface
};

// A buffer with the dimensions `shape`. It is treated as a matrix whose rows are `ld` elements apart; a single
// dimension is one row. A buffer with `symbol` is a module variable with the buffer's name (job_buffer.c). A buffer
// whose image has memory "array" is copied to an array. The GPU worker copies the buffer to the variable or the array
// before a launch, and copies results back.
struct buffer {
    const char *name;
    enum element type;
    struct expr *rows, *cols, *ld; // rows, ld may be NULL: 1, cols
    struct expr **shape;           // each dimension, the contiguous one last
    size_t rank;
    enum direction direction;
    struct fill fill;
    struct buffer_image *image; // NULL: only accessed through pointers
    bool symbol;
    bool optional;             // for a symbol: candidates may lack it
    bool restore;              // an input that the kernel may change
    struct compared *compared; // NULL: all elements
};

// How a kernel that uses TMA accesses a buffer: the arguments of cuTensorMapEncodeTiled, as expressions that may read
// parameters. Dimensions are in the order of shapes, the contiguous dimension last. A NULL view means the buffer
// itself: rows by columns, or the elements of a vector.
enum { TENSOR_MAP_RANK_MAX = 5 };
struct tensor_map {
    size_t rank;
    struct expr *view[TENSOR_MAP_RANK_MAX];   // elements
    struct expr *stride[TENSOR_MAP_RANK_MAX]; // elements, for all dimensions but the last; NULL: the buffer's ld for a
                                              // matrix, otherwise dense
    struct expr *box[TENSOR_MAP_RANK_MAX];    // elements
    struct expr *swizzle, *promotion;         // bytes; NULL: 0, none
    bool nan;                                 // elements outside the view are read as NaN instead of 0
    bool tf32;                                // for f32: TMA rounds to TF32 while loading
};

enum argument_view { VIEW_POINTER, VIEW_TEXTURE, VIEW_SURFACE };

// A number in a struct or vector that is passed by value.
enum { ARGUMENT_MEMBERS_MAX = 256, ARGUMENT_BYTES_MAX = 4096 };
struct value_member {
    const char *name; // "params.width", "v.x"
    enum element type;
    size_t offset; // bytes from the argument's beginning
    struct expr *value;
    double real;     // if value is NULL
    bool is_address; // `address` is used, not value or real
    struct address address;
};

// An argument of a launch: a buffer's address, object (8 bytes) or tensor map; a scalar (an integer expression or a
// real constant); or a struct or vector of numbers.
struct argument {
    int buffer;              // index into job.buffers, or -1: scalar
    enum argument_view view; // of a buffer
    struct tensor_map *map;  // for the buffer, 128 bytes by value; NULL: its address or object
    const char *name;        // a scalar's role in the reference ("alpha"); otherwise the buffer's name, borrowed
    enum element type;
    struct expr *value;  // integer scalar
    double real;         // if value is NULL
    size_t member_count; // not 0: a struct or a vector; value and type are not used
    struct value_member *members;
    size_t bytes, alignment; // of all members with their padding
    const char *vector;      // "float4"; NULL: a struct. Static string
};

// For a stage that a library computes: the buffer or number for one role of its operation.
struct stage_role {
    const char *role;
    int buffer;         // index into job.buffers, or -1: a size or scalar
    struct expr *value; // integer
    double real;        // if value is NULL
};

// How often a stage runs, and which buffers are exchanged between the runs (job_repeat.c). Loops are as in C, the
// outermost loop first: for (NAME = from; holds; NAME = next).
struct stage_repeat {
    size_t loop_count; // 0: it runs once
    struct stage_loop {
        int slot; // its name's slot; the name is visible only in loops and launches of stages
        struct expr *from, *holds, *next;
    } loops[JOB_MAX_LOOPS];
    size_t swap_count; // buffers whose names are exchanged after each run
    int swaps[JOB_MAX_SWAPS][2];
};

struct macro {
    const char *name, *value;
};

// A launch of one of the template's entries or, if `operation` is set, a library call. A library call has entry "" and
// neither a launch nor arguments.
struct stage {
    const char *name;           // the name that is shown; by default the entry
    const char *entry;          // C name or C++ name expression ("gemm<float, BLOCK_M>")
    const char *operation, *by; // kernels/ name and one of its baselines, or NULL
    size_t role_count;
    struct stage_role *roles;
    struct expr *when; // NULL: always part of the candidate
    bool untimed;      // it runs before the timed stages, on the same data
    struct stage_repeat repeat;
    struct expr *grid[3], *block[3], *cluster[3]; // NULL: 1
    struct expr *shared;                          // dynamic shared memory in bytes; NULL: 0
    bool cooperative;
    size_t define_count; // macros only for this stage
    struct macro *defines;
    size_t unit;          // number of the compiled unit, from 0; stages with the same macros share one
    struct expr *overlap; // may begin before the previous launch ends (programmatic dependent launch); NULL: no
    size_t argument_count;
    struct argument *arguments;
};

// Visits all expressions of a stage: those of its launch, loops, roles and arguments.
void stage_each_expression(const struct stage *, void (*visit)(void *user, struct expr *), void *user);
