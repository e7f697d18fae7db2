// What a job says of data and launches: buffers and how kernels see them, arguments, and the stages that use them. All
// expressions are parsed.
#pragma once

#include "kernels/element.h"
#include "search/space/expr.h"
#include "tuner/base/buffer_kind.h"
#include "tuner/base/image.h"
#include "tuner/base/limits.h"

// "&NAME" or "&NAME[at]": the address of a buffer, or of an element in it.
struct address {
    int buffer;      // index into job.buffers, declared before; -1: null
    struct expr *at; // elements in memory; NULL: 0
    const char *text;
};

struct fill {
    enum fill_kind kind;
    double low, high;                    // uniform, integer, sorted: [low, high]; constant: low; offsets: high
    struct expr *low_value, *high_value; // in their place, of sizes. May be NULL
    const char *path;                    // npy: absolute
    struct address *addresses;           // addresses: each leads to as many equal pieces of its buffer
    size_t address_count;
    bool given; // by the job; else the default of its type
};

// What is compared of an output: in each dimension of its shape `count` elements from `first` on.
enum { COMPARED_RANK_MAX = 5 };
struct compared {
    size_t rank;
    struct expr *size[COMPARED_RANK_MAX], *first[COMPARED_RANK_MAX], *count[COMPARED_RANK_MAX];
};

// How kernels see a buffer by texture and surface objects.
struct buffer_image {
    struct image_layout about;           // without sizes and pitch
    struct expr *size[IMAGE_DIMENSIONS]; // texels, the contiguous dimension first; NULL beyond the rank
    bool texture;                        // it is read as one; about.surface: as a surface
};

// A buffer of `shape` rows x columns elements (one dimension: one row), rows `ld` elements apart. One of `symbol` is a
// variable of the module with the buffer's name (job_buffer.c), and one with an image of memory "array" is copied
// to an array: the GPU worker copies both before a launch, and results back.
struct buffer {
    const char *name;
    enum element type;
    struct expr *rows, *cols, *ld; // rows, ld may be NULL: 1, cols
    struct expr **shape;           // each dimension, the contiguous one last
    size_t rank;
    enum direction direction;
    struct fill fill;
    struct buffer_image *image; // NULL: only seen through pointers
    bool symbol;
    bool optional;             // of a symbol: candidates may lack it
    bool restore;              // an input that the kernel may change
    struct compared *compared; // NULL: all elements
};

// How a kernel that uses TMA sees a buffer: the arguments of cuTensorMapEncodeTiled, as expressions that may read
// parameters. Dimensions are in the order of shapes, the contiguous one last. A NULL view is the buffer itself, rows by
// columns (a vector: its elements).
enum { TENSOR_MAP_RANK_MAX = 5 };
struct tensor_map {
    size_t rank;
    struct expr *view[TENSOR_MAP_RANK_MAX];   // elements
    struct expr *stride[TENSOR_MAP_RANK_MAX]; // elements, of all dimensions but the last; NULL: the buffer's ld (a
                                              // matrix), else dense
    struct expr *box[TENSOR_MAP_RANK_MAX];    // elements
    struct expr *swizzle, *promotion;         // bytes; NULL: 0, none
    bool nan;                                 // what lies outside is read as NaN instead of 0
    bool tf32;                                // of f32: TMA rounds to TF32 while it loads
};

enum argument_view { VIEW_POINTER, VIEW_TEXTURE, VIEW_SURFACE };

// A number in a struct or vector that is passed by value.
enum { ARGUMENT_MEMBERS_MAX = 256, ARGUMENT_BYTES_MAX = 4096 };
struct value_member {
    const char *name; // "params.width", "v.x"
    enum element type;
    size_t offset; // bytes from the argument's beginning
    struct expr *value;
    double real;     // where value is NULL
    bool is_address; // of `address`, and neither value nor real counts
    struct address address;
};

// An argument of a launch: a buffer's address, object (8 bytes) or tensor map, a scalar (an expression of integers, or
// a real constant), or numbers in a row, a struct or a vector.
struct argument {
    int buffer;              // index into job.buffers, or -1: scalar
    enum argument_view view; // of a buffer
    struct tensor_map *map;  // of the buffer, 128 bytes by value; NULL: its address or object
    const char *name;        // of a scalar: its role in the reference ("alpha"); borrowed name of the buffer otherwise
    enum element type;
    struct expr *value;  // integer scalar
    double real;         // where value is NULL
    size_t member_count; // not 0: a struct or a vector, and neither value nor type counts
    struct value_member *members;
    size_t bytes, alignment; // of all members with their padding
    const char *vector;      // "float4"; NULL: a struct. Static text
};

// What fills a role of an operation in a stage that a library computes: a buffer, or a number.
struct stage_role {
    const char *role;
    int buffer;         // index into job.buffers, or -1: a size or scalar
    struct expr *value; // integer
    double real;        // where value is NULL
};

// How often a stage runs, and what is exchanged in between (job_repeat.c). The loops are those of C, the outermost one
// first: for (NAME = from; holds; NAME = next).
struct stage_repeat {
    size_t loop_count; // 0: once
    struct stage_loop {
        int slot; // of its name, which only the loops and launches of stages know
        struct expr *from, *holds, *next;
    } loops[JOB_MAX_LOOPS];
    size_t swap_count; // buffers whose names are exchanged after each run
    int swaps[JOB_MAX_SWAPS][2];
};

struct macro {
    const char *name, *value;
};

// A launch of an entry of the template or, where `operation` is set, a library's call; then entry is "" and there is no
// launch, and no argument.
struct stage {
    const char *name;           // shown; the entry's name unless given
    const char *entry;          // C name or C++ name expression ("gemm<float, BLOCK_M>")
    const char *operation, *by; // kernels/ name and one of its baselines, or NULL
    size_t role_count;
    struct stage_role *roles;
    struct expr *when; // NULL: always part of the candidate
    bool untimed;      // it runs before the timed stages, for the same data
    struct stage_repeat repeat;
    struct expr *grid[3], *block[3], *cluster[3]; // NULL: 1
    struct expr *shared;                          // dynamic shared memory in bytes; NULL: 0
    bool cooperative;
    size_t define_count; // macros only for this stage
    struct macro *defines;
    size_t unit; // stages with the same macros are compiled together: the number of such a unit, from 0
    struct expr *
        overlap; // whether it may begin before the launch before it has ended (programmatic dependent launch); NULL: no
    size_t argument_count;
    struct argument *arguments;
};

// Visits all expressions of a stage: of its launch, loops, roles and arguments.
void stage_each_expression(const struct stage *, void (*visit)(void *user, struct expr *), void *user);
