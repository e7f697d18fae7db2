// A tuning job: what one job file (libconfig) says, checked and with every expression parsed.
//
// job_load reads the file, reports every mistake it finds with file and line, and leaves a struct that the rest of the
// program only reads. Expressions are bound to one symbol table: tuning parameters, derived names, device limits
// ("device.max_shared"), and problem sizes ("M"). Names of problem sizes have the first problem's values while the
// space is built (constraints see them), and each problem's own values when its launch geometry and arguments are
// worked out (job_problem_values).
#ifndef SWEETSPOT_JOB_H
#define SWEETSPOT_JOB_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "kernels/element.h"
#include "search/model/stop.h"
#include "search/space/expr.h"
#include "search/space/space.h"
#include "tuner/base/buffer_kind.h"
#include "tuner/base/error.h"
#include "tuner/base/execution_unit.h"
#include "tuner/base/image.h"
#include "tuner/base/limits.h"
#include "tuner/base/settings.h"
#include "tuner/trial/objective.h"

enum { JOB_MAX_NAME = 100 }; // characters of a job's name; limits.h has the other limits
enum { JOB_SEED = 1 };       // of search and data, where the command line has none

struct fill {
    enum fill_kind kind;
    double low, high;                    // uniform, integer, sorted: [low, high]; constant: low
    struct expr *low_value, *high_value; // in their place, of sizes; offsets: `high_value` is the total. May be NULL
    char *path;                          // npy: absolute
    bool given;                          // by the job; else the default of its type
};

// What is compared of an output: in each dimension of its shape `count` elements from `first` on.
enum { COMPARED_RANK_MAX = 5 };
struct compared {
    size_t rank;
    struct expr *size[COMPARED_RANK_MAX], *first[COMPARED_RANK_MAX], *count[COMPARED_RANK_MAX]; // NULL: 0; all the rest
};

// How kernels see a buffer by texture and surface objects.
struct buffer_image {
    struct image_layout about;           // without sizes and pitch
    struct expr *size[IMAGE_DIMENSIONS]; // texels, the contiguous dimension first; NULL beyond the rank
    bool texture;                        // it is read as one; about.surface: as a surface
};

// A buffer of `shape` rows x columns elements (one dimension: one row), rows `ld` elements apart. One of `symbol` is a
// variable of the module with the buffer's name (job_constants.c), and one with an image of memory "array" is copied
// to an array: the GPU worker copies both before a launch, and results back.
struct buffer {
    char *name;
    enum element type;
    struct expr *rows, *cols, *ld; // rows, ld may be NULL: 1, cols
    enum direction direction;
    struct fill fill;
    struct buffer_image *image; // NULL: seen through pointers alone
    bool symbol;
    bool optional;             // of a symbol: candidates may lack it
    struct expr *value;        // of a symbol: each element's, in place of the fill's; NULL: the fill
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
    char *name; // "params.width", "v.x"
    enum element type;
    size_t offset; // bytes from the argument's beginning
    struct expr *value;
    double real; // where value is NULL
};

// An argument of a launch: a buffer's address, object (8 bytes) or tensor map, a scalar (an expression of integers, or
// a real constant), or numbers in a row, a struct or a vector.
struct argument {
    int buffer;              // index into job.buffers, or -1: scalar
    enum argument_view view; // of a buffer
    struct tensor_map *map;  // of the buffer, 128 bytes by value; NULL: its address or object
    char *name;              // of a scalar: its role in the reference ("alpha"); borrowed name of the buffer otherwise
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
    char *role;
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
    char *name, *value;
};

// A launch of an entry of the template or, where `operation` is set, a library's call; then entry is "" and there is no
// launch, and no argument.
struct stage {
    char *name;           // shown; the entry's name unless given
    char *entry;          // C name or C++ name expression ("gemm<float, BLOCK_M>")
    char *operation, *by; // kernels/ name and one of its baselines, or NULL
    size_t role_count;
    struct stage_role *roles;
    struct expr *when; // NULL: always part of the candidate
    struct stage_repeat repeat;
    struct expr *grid[3], *block[3], *cluster[3]; // NULL: 1
    struct expr *shared;                          // dynamic shared memory in bytes; NULL: 0
    bool cooperative;
    size_t define_count; // macros of this stage alone
    struct macro *defines;
    size_t unit; // stages with the same macros are compiled together: the number of such a unit, from 0
    struct expr *
        overlap; // whether it may begin before the launch before it has ended (programmatic dependent launch); NULL: no
    size_t argument_count;
    struct argument *arguments;
};

struct problem {
    char *name;    // "M=4096,N=4096,K=4096"
    int line;      // in the job file
    bool tune;     // measured; otherwise only verified (ragged sizes)
    double weight; // of the objective
    bool holdout;  // objective each: measured, but held back from the choice of the kernels, to judge it by
    size_t size_count;
    int64_t *sizes; // in the order of job.size_names
};

enum reference_kind {
    REFERENCE_NONE,
    REFERENCE_OPERATION,
    REFERENCE_KERNEL,
    REFERENCE_LIBRARY,
    REFERENCE_COMMAND,
    REFERENCE_NPY
};

struct reference {
    enum reference_kind kind;
    char *operation;      // kernels/ name
    char *by;             // "cublas" or "cpu"
    size_t binding_count; // role of the operation -> name in this job, where they differ
    struct {
        char *role, *name;
        double value;
    } * bindings;  // name NULL: the role is the constant `value`
    char *library; // shared library, or a source of one (absolute), and its functions; NULL: none
    char *function, *generate, *verify;
    size_t option_count; // for the compiler, where it is a source
    char **options;
    char *command;      // of the shell, run in the job file's folder
    double timeout;     // s, of a call of a function, or of the command
    char *source;       // kernel: absolute path of its template (the job's own unless given)
    struct stage stage; // kernel: entry, launch, arguments
    size_t file_count;
    struct {
        char *buffer, *path;
    } * files; // npy
};

// A configuration that the job file names (job_configuration.c).
struct named_configuration {
    bool given;
    uint16_t config[SPACE_MAX_PARAMETERS];
    int line;
    char *file; // that the job file includes; NULL: the job file
};

// The kernel in use today: a configuration of the space, or where `source` is set another kernel (job_current.c).
#define CURRENT_KERNEL "current"
struct current_kernel {
    struct named_configuration own; // of another kernel only its place in the job file
    char *source;                   // absolute
    struct stage stage;             // without arguments: those of the job's only stage
};

// A program of the user's that candidates are compared with: a function that enqueues work (job_baselines.c).
struct job_baseline {
    char *name;
    char *library;         // a shared library, or a source of one; absolute
    char *function, *init; // init: called before, untimed; NULL: none
    size_t option_count;   // for the compiler, where it is a source
    char **options;
    struct stage stage; // its arguments; without any, those of the job's only stage
};

// Mistakes of a job file, or notes about it, in order of lines, then those in files that it includes.
struct mistakes {
    size_t count;
    struct {
        char *file;
        int line;
        char *text;
    } * list; // file NULL: the job file itself, else one that it includes; line 0: the whole file; text without either
};
void mistakes_release(struct mistakes *);
// Adds one in a file (NULL: the job file), at a line (0: the whole file).
void mistakes_add_in(struct mistakes *, const char *file, int line, const char *format, ...)
    __attribute__((format(printf, 4, 5)));
void mistakes_sort(struct mistakes *); // by file and line

// Where a setting stands: "stages[1].arguments[0].type".
struct location {
    char *path;
    char *file; // that the job file includes; NULL: the job file
    int line;
};

// What compiles candidates.
enum job_compiler { JOB_NVRTC, JOB_NVCC };

struct job {
    struct mistakes notes; // of a sound job: settings that have another name now
    char *path;            // the job file as given
    char *directory;       // of the job file; relative paths start there
    size_t location_count; // of every setting that is no number in a list, sorted by path
    struct location *locations;
    char *name, *description;
    char *source; // absolute path of the template
    size_t include_count, option_count, define_count;
    char **includes;                               // absolute folders
    char **options;                                // for NVRTC, as given
    struct macro *defines;                         // the same for all configurations
    char *parameter_options[SPACE_MAX_PARAMETERS]; // of one that is an option of the compiler: with a % for the value
    enum job_compiler compiler;
    struct symbols *symbols;
    struct space *space;     // parameters, derived names, constraints; built by job_build_space
    int *constraint_lines;   // line of each constraint
    char **constraint_files; // in the file that the job file includes; NULL: in the job file
    size_t derived_count;    // derived names, in order; the expressions are evaluated again for every problem
    struct {
        int slot;
        struct expr *value;
    } * derived;
    size_t size_count; // problem sizes
    char **size_names;
    size_t problem_count; // the tuned ones first, then those only verified
    struct problem *problems;
    size_t tuned_count;
    enum objective objective;
    double regret; // objective each: how much slower than the problem's best kernel the chosen one may be, relative
    size_t buffer_count;
    struct buffer *buffers;
    size_t stage_count;
    struct stage *stages;
    size_t unit_count; // of the stages
    struct reference reference;
    struct expr *flops, *bytes;        // work of a problem; NULL: unknown
    struct expr *operations;           // what the pipe does for it; NULL: as many as flops
    const struct execution_unit *pipe; // of its arithmetic; NULL: the operation's (job_unit)
    int work_line;
    double budget_time;         // s; 0: none
    int64_t budget_evaluations; // 0: none
    struct stop_rules stop;     // other reasons to end
    char *strategy;
    double compile_timeout; // s
    int64_t compile_memory; // bytes that a compiler may take
    struct measure_settings measure;
    struct verify_settings verify;
    size_t metric_count; // counters besides the basic set
    char **metrics;
    struct named_configuration fallback; // for devices without tuning results (job_fallback.c)
    struct current_kernel current;
    size_t baseline_count;
    struct job_baseline *baselines;
};

// Bytes of shared memory that a block has on every device without opting in to more, static ones included.
enum { JOB_FALLBACK_SHARED = 48 * 1024 };

// Limits of the device that expressions may use as device.<name>. Defaults: H200.
struct device_limits {
    int64_t sm_count, max_shared, shared_per_sm, registers_per_sm, max_threads, threads_per_sm, blocks_per_sm,
        warp_size, l2_bytes, memory_bytes, max_cluster, compute;
};
extern const struct device_limits device_limits_h200;
// What expressions call them: "device.sm_count". Ends with NULL.
struct device_name {
    const char *name;
    size_t offset; // of the member
    const char *meaning;
};
extern const struct device_name device_names[];
// Limits of a device of an architecture ("sm_80": an A100), and its name with an article in *device; those of an H200
// and -1 for an architecture that is not in the table. (CUDA C++ Programming Guide 13.0, technical specifications by
// compute capability; the devices' data sheets.)
int device_limits_of(const char *arch, struct device_limits *limits, const char **device);

// Reads and checks a job file. 0, or -1 with every mistake in *mistakes (release it) and *out NULL. What needs the
// device (constraints on its limits, memory) is checked by job_build_space.
int job_load(const char *path, struct job **out, struct mistakes *);
void job_free(struct job *);

// Where the setting of a path stands, or the nearest one around it: "arguments[0].type", then "arguments[0]". Line 0:
// the whole job file.
struct location job_location(const struct job *, const char *format, ...) __attribute__((format(printf, 2, 3)));

// Sets the device's limits and builds the space. -1 with a message that names file and line.
int job_build_space(struct job *, const struct device_limits *, struct error *);

bool job_is_fallback(const struct job *, const uint16_t *config);
// The most dynamic shared memory that a stage of the fallback needs, and on which problem. -1 with a message.
int job_fallback_shared(const struct job *, size_t stage, int64_t *bytes, size_t *problem, struct error *);

// The stage of a present kernel that is none of the job's, its arguments included, which are borrowed.
struct stage job_current_stage(const struct job *);
// The same of a baseline, which has arguments alone.
struct stage job_baseline_stage(const struct job *, size_t baseline);

// Values of all names for a configuration and a problem. Needs a built space; a NULL configuration stands for the first
// valid one (for expressions that read no parameter: shapes, work). `values` has symbols_count(job->symbols) entries.
int job_problem_values(const struct job *, const uint16_t *config, size_t problem, int64_t *values, struct error *);

// The runs of a stage, one after another: both set the names of its loops in `values` and return 1, 0 after the last
// run, or -1 with a message (an expression fails, or the loops do not end). The first one starts from the beginning.
// Without `values` of a problem there is no meaning. (job_repeat.c)
int job_first_run(const struct stage *, int64_t *values, struct error *);
int job_next_run(const struct stage *, int64_t *values, struct error *);
// How many there are, or -1 with a message. 0 where `when` leaves the stage out.
int64_t job_count_runs(const struct stage *, int64_t *values, struct error *);
// Which buffer each name stands for: after a run of the stage the names of its pairs are exchanged. At the end of the
// candidate every name stands for its own buffer, so that outputs are where the job says. Sets `names`
// (job->buffer_count entries) to what they stand for before the first stage. -1 with a message, also where a buffer
// that holds data in the beginning would have another name there.
int job_first_names(const struct job *, int64_t *values, int *names, struct error *);
void job_swap_names(const struct stage *, int *names);

// A tensor map's numbers, in CUDA's order: the contiguous dimension first.
struct tensor_map_shape {
    int rank;
    int64_t size[TENSOR_MAP_RANK_MAX], box[TENSOR_MAP_RANK_MAX]; // elements
    int64_t stride[TENSOR_MAP_RANK_MAX];                         // bytes, of dimension i + 1; rank - 1 of them
    int64_t swizzle, promotion;                                  // bytes; 0: none
    bool nan, tf32;
};
// The expressions of a dimension's size (elements; NULL: 1) and stride (elements; NULL: dense, the product of the sizes
// before it), by dimension in that order; the first has no stride. (tensor_map.c)
const struct expr *tensor_map_size(const struct buffer *, const struct tensor_map *, size_t dimension);
const struct expr *tensor_map_stride(const struct buffer *, const struct tensor_map *, size_t dimension);
// The value of a constant that has one, for a problem, from its values. -1 with a message. (job_constants.c)
int job_constant_value(const struct buffer *, const int64_t *values, int64_t *out, struct error *);
// An image with its sizes for a problem, from its values. -1 with a message. (job_image.c)
int job_image_resolve(const struct buffer *, const int64_t *values, struct image_layout *, struct error *);
// The numbers for a configuration and a problem, from their values (job_problem_values). -1 with a message that names
// the buffer and what TMA does not allow. (tensor_map.c)
int tensor_map_resolve(const struct job *, const struct argument *, const int64_t *values, struct tensor_map_shape *,
                       struct error *);

// The bytes of a struct or vector for a problem, from its values; padding is 0. -1 with a message. (job_members.c)
int job_argument_bytes(const struct argument *, const int64_t *values, unsigned char *to, struct error *);
// "width at 0, scale at 4". malloc'ed. (job_members.c)
char *job_argument_layout(const struct argument *);

// The numbers of a buffer's fill (low, high or total) for a problem, from its values. -1 with a message: the
// fill does not fit the buffer, or not what it is made from. (job_data.c)
int job_fill_numbers(const struct buffer *, const int64_t *values, double *low, double *high, struct error *);
// What is compared in a dimension of a buffer that is compared by dimensions. -1 with a message: nothing, or what is
// not there. (job_data.c)
int job_compared_numbers(const struct buffer *, size_t dimension, const int64_t *values, int64_t *size, int64_t *first,
                         int64_t *count, struct error *);

// Bytes of device memory that a problem's buffers take, without guards. -1 on overflow or a negative shape, with a
// message.
int64_t job_problem_bytes(const struct job *, size_t problem, struct error *);

// objective_value() of the tuned problems' times (s).
double job_objective(const struct job *, const double *times);

// The compute class of a job's operation ("tf32"), or NULL where the operation has no classes. Static
// text.
const char *job_compute_class(const struct job *);

// The pipe of tuner/base/execution_unit.h that the job's arithmetic is measured against: the one that `work` names,
// else what the reference's operation can count on; NULL: unknown. *times: how often the pipe works for one of `flops`.
const struct execution_unit *job_unit(const struct job *, double *times);

// The compiler's options of a configuration: the job's own, then those that are parameters, but for values that leave
// them out. NULL: the job's own. (job_options.c)
void job_options(const struct job *, const uint16_t *config, void (*add)(void *user, const char *option), void *user);

// An unroll factor as C: "" for 0, `_Pragma("unroll")` for 1, `_Pragma("unroll n")`. Writes into `out`.
enum { JOB_UNROLL_PRAGMA_SIZE = 48 };
const char *job_unroll_pragma(int64_t factor, char out[JOB_UNROLL_PRAGMA_SIZE]);

// The macros of all configurations: the job's own defines.
void job_shared_defines(const struct job *, void (*define)(void *user, const char *name, const char *value),
                        void *user);
// The macro definitions of a configuration, "NAME" and "value" pairs by callback, in the order of the parameters and
// then those of job_shared_defines. An unroll factor's value is its pragma. Parameters that are options have no macro.
void job_defines(const struct job *, const uint16_t *config,
                 void (*define)(void *user, const char *name, const char *value), void *user);

#endif
