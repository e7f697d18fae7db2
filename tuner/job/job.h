// A tuning job: the contents of one job file (libconfig), checked and with every expression parsed.
//
// job_load reads the file, reports every mistake it finds with file and line, and leaves a struct that the rest of the
// program only reads. Expressions are bound to one symbol table: tuning parameters, derived names, device limits
// ("device.max_shared"), and problem sizes ("M"). While the space is built, the names of problem sizes have the first
// problem's values, so constraints use these values. When a problem's launch geometry and arguments are computed
// (job_problem_values), the names have that problem's values.
#pragma once

#include "kernels/operation.h"
#include "search/model/stop.h"
#include "search/space/space.h"
#include "tuner/base/execution_unit.h"
#include "tuner/base/limits.h"
#include "tuner/base/settings.h"
#include "tuner/base/text_edit.h"
#include "tuner/job/implementation.h"
#include "tuner/trial/objective.h"
#include "tuner/trial/trial.h"

enum { JOB_MAX_NAME = 100 }; // characters of a job's name; limits.h has the other limits
enum { JOB_SEED = 1 };       // for the search and the data, if the command line gives none

struct problem {
    char *name;    // "M=4096,N=4096,K=4096"
    int line;      // in the job file
    bool tune;     // measured; otherwise only verified (ragged sizes)
    double weight; // in the objective
    bool holdout;  // objective "each": measured, but not used to choose the kernels, so that it can test the choice
    size_t size_count;
    int64_t *sizes;   // in the order of job.names.size_names
    uint64_t variant; // for drawn problems: selects other values for the inputs
};

// Mistakes in a job file, sorted by line, followed by the mistakes in files that it includes.
struct mistakes {
    size_t count;
    struct mistake {
        char *file;
        int line;
        char *text;
        const void *about; // the reader's node (reader.h), while the file is read
    } * list; // file: an included file; NULL: the job file itself; line 0: the whole file; text: without its location
};
void mistakes_release(struct mistakes *);
// Adds a mistake in a file (NULL: the job file) at a line (0: the whole file).
void mistakes_add_in(struct mistakes *, const char *file, int line, const char *format, ...)
    __attribute__((format(printf, 4, 5)));
void mistakes_sort(struct mistakes *); // by file, then by line

// The location of a setting such as "stages[1].arguments[0].type".
struct location {
    char *path;
    char *file; // an included file; NULL: the job file
    int line;
};

// The compiler of candidates.
enum job_compiler { JOB_NVRTC, JOB_NVCC };

struct job {
    const char *path; // the job file as given
    const char *name;
    struct {                 // what was read
        struct arena memory; // of all strings and lists
        size_t expression_count, location_count;
        struct expr **expressions;  // all of them
        struct location *locations; // of all settings except numbers in lists, sorted by path
        struct mistakes old;        // spellings of earlier versions in the file: one note per kind
        const char *directory;      // of the job file; relative paths start there
        const char *description;
    } file;
    struct {                  // for the compilers
        const char *template; // absolute path
        const char *source;   // the file that is compiled: the template, or its replacement in `judge`
        size_t include_count, option_count, define_count, edit_count, unit_count; // units: of the stages
        char **includes;                                                          // absolute folders
        char **options;                                                           // for NVRTC, as given
        struct macro *defines;                                                    // the same for all configurations
        char *parameter_options[SPACE_MAX_PARAMETERS]; // option with % for the value; NULL: it is a macro
        struct text_edit *edits;                       // to the template and to files that it includes
        enum job_compiler compiler;
        double compile_timeout; // s
        int64_t compile_memory; // bytes that a compiler may use
    } code;
    struct symbols *symbols;
    struct space *space; // parameters, derived names, constraints; built by job_build_space
    struct {
        size_t compiled_count; // constraints on the compiler's result (job_compiled.c), in file order
        struct compiled_constraint {
            struct expr *holds;
            size_t number; // index in the job file's list of all constraints
        } * compiled;
        size_t derived_count; // in order; the expressions are evaluated again for every problem
        struct {
            int slot;
            struct expr *value;
        } * derived;
        size_t size_count; // problem sizes
        char **size_names;
    } names;
    size_t problem_count, tuned_count; // tuned problems come first, then problems that are only verified
    struct problem *problems;
    size_t buffer_count, stage_count;
    struct buffer *buffers;
    struct stage *stages;
    struct { // implementations besides the kernel
        struct implementation reference;
        struct implementation fallback;   // for devices without tuning results (job_configuration.c)
        size_t baseline_count;            // the user's own baselines
        struct implementation *baselines; // the current kernel first, if the job has one
    } others;
    struct {                               // of a problem
        struct expr *flops, *bytes;        // NULL: unknown
        struct expr *operations;           // performed by the pipe; NULL: as many as flops
        const struct execution_unit *pipe; // of its arithmetic; NULL: the operation's (job_unit)
    } work;
    struct {
        enum objective objective;
        enum minimize minimize;     // the quantity that the final minimizes
        double regret;              // objective "each": the fraction by which a kernel may be slower than the best
        double budget_time;         // s; 0: none
        int64_t budget_evaluations; // 0: none
        struct stop_rules stop;     // other reasons to stop
        const char *strategy;
        size_t metric_count; // counters besides the basic set
        char **metrics;
    } search;
    struct measure_settings measure;
    struct verify_settings verify;
    struct {
        size_t supported_count; // conditions on the sizes that the kernel supports
        struct expr **supported;
        unsigned domain;   // other values for inputs (enum value_domain), chosen by the operation or the job
        struct job *drawn; // problems with drawn sizes (job_sizes.c); NULL: none
        bool is_drawn;     // this is such a `drawn` job
    } sizes;
};

// Bytes of shared memory, static and dynamic, that a block may use on every device without an opt-in.
enum { JOB_FALLBACK_SHARED = 48 * 1024 };

// Limits of the device that expressions may use as device.<name>. Defaults: H200.
struct device_limits {
    int64_t sm_count, max_shared, shared_per_sm, registers_per_sm, max_threads, threads_per_sm, blocks_per_sm,
        warp_size, l2_bytes, memory_bytes, max_cluster, compute;
};
extern const struct device_limits device_limits_h200;
// The names of device limits in expressions, such as "device.sm_count". The table ends with a NULL name.
struct device_name {
    const char *name;
    size_t offset; // of the member
    int64_t least; // the least possible value: 1 if the driver divides by it
    const char *meaning;
};
extern const struct device_name device_names[];
// Reads the limits that the description of a device contains. -1 with a message if a value is impossible.
int device_limits_read(const json_t *device, struct device_limits *, struct error *);
// The limits of a device with this architecture ("sm_80": an A100), and its name with an article in *device. For an
// architecture that is not in the table, sets the H200's limits and returns -1. (CUDA C++ Programming Guide 13.0,
// technical specifications by compute capability; the devices' data sheets.)
int device_limits_of(const char *arch, struct device_limits *limits, const char **device);

// Reads and checks a job file. 0, or -1 with every mistake in *mistakes (release it) and *out NULL. Checks that need
// the device (constraints on its limits, memory) are left to job_build_space.
int job_load(const char *path, struct job **out, struct mistakes *);
// Writes the job <name>_shapes next to the job's file and returns its path, malloc'ed. Its tuned problems come from the
// file `path`, with one problem such as "M=512,N=77" per line; "#" begins a comment, and equal lines count once. All
// other settings are copied from the job. NULL with a message, also if there is an unrelated file with that name.
char *job_write_shapes(const struct job *, const char *path, struct error *);
// Returns the text of a job file with the current spellings of all settings, malloc'ed. NULL with a message if the file
// cannot be read.
char *job_rewrite(const char *path, struct error *);
void job_free(struct job *);

// Returns the location of the setting with this path ("arguments[0].type") or, if the file lacks it, of the nearest
// enclosing setting ("arguments[0]"). Line 0: the whole job file.
struct location job_location(const struct job *, const char *format, ...) __attribute__((format(printf, 2, 3)));
// Puts a setting's file and line before a message. Returns -1.
int job_locate_error(const struct job *, const char *setting, struct error *err);
int job_find_buffer(const struct job *, const char *name); // its number, or -1

// Sets the device's limits and builds the space. -1 with a message that names file and line.
int job_build_space(struct job *, const struct device_limits *, struct error *);
// The number of valid configurations: an integer or, from 2^63 on, a real. New reference; malloc'ed.
json_t *job_valid_count(const struct job *);
char *job_valid_text(const struct job *);

bool job_is_fallback(const struct job *, const uint16_t *config);
// Finds the most dynamic shared memory that a stage of the fallback needs on any problem, and the first problem on
// which it needs that much. -1 with a message.
int job_fallback_shared(const struct job *, size_t stage, int64_t *bytes, size_t *problem, struct error *);

// Returns the current kernel, which is one of the baselines, or NULL if there is none.
const struct implementation *job_current(const struct job *);
// Returns one of the implementations whose results must be correct. Number 0 is the reference, and the baselines
// follow. NULL after the last baseline.
const struct implementation *job_implementation(const struct job *, size_t number);
// Returns the stage of a kernel, a binary or a library function. If it has no arguments of its own, it gets the
// arguments of the job's only stage. The arguments are borrowed.
struct stage job_stage_of(const struct job *, const struct implementation *);
// The reference's operation, or NULL.
const struct operation *job_operation(const struct job *);

int job_parameter(const struct job *, const char *name); // the number of the parameter with this name, or -1
// Values of all names for a configuration and a problem. Needs a built space; a NULL configuration means the first
// valid one (for shapes and work, whose expressions read no parameters). `values` has symbols_count(job->symbols)
// entries.
int job_problem_values(const struct job *, const uint16_t *config, size_t problem, int64_t *values, struct error *);

// Iterate over the runs of a stage: call job_first_run once, then job_next_run. Both functions set the names of the
// stage's loops in `values`, which must hold a problem's values. They return 1 for a run, 0 after the last run, or -1
// with a message (an expression fails, or the loops do not end). (job_repeat.c)
int job_first_run(const struct stage *, int64_t *values, struct error *);
int job_next_run(const struct stage *, int64_t *values, struct error *);
// The number of runs: 0 if `when` leaves the stage out. -1 with a message.
int64_t job_count_runs(const struct stage *, int64_t *values, struct error *);
// These compute which buffer each name refers to. After each run of a stage, the names in each pair of its `swap` are
// exchanged. At the end of the candidate, every name refers to its own buffer again, so that outputs are where the job
// declares them. job_first_names sets `names` (job->buffer_count entries) to the buffers before the first stage. -1
// with a message, also if a buffer that holds data at the beginning would start under another name.
int job_first_names(const struct job *, int64_t *values, int *names, struct error *);
void job_swap_names(const struct stage *, int *names);

// A tensor map's numbers, in CUDA's order, with the contiguous dimension first.
struct tensor_map_shape {
    int rank;
    int64_t size[TENSOR_MAP_RANK_MAX], box[TENSOR_MAP_RANK_MAX]; // elements
    int64_t stride[TENSOR_MAP_RANK_MAX];                         // bytes, for dimension i + 1; there are rank - 1
    int64_t swizzle, promotion;                                  // bytes; 0: none
    bool nan, tf32;
};
// The expressions for a dimension's size (elements; NULL: 1) and stride (elements; NULL: dense, the product of the
// preceding sizes). Dimensions are in CUDA's order; the first has no stride. (tensor_map.c)
const struct expr *tensor_map_size(const struct buffer *, const struct tensor_map *, size_t dimension);
const struct expr *tensor_map_stride(const struct buffer *, const struct tensor_map *, size_t dimension);
// An image with its sizes for the problem with these values. -1 with a message. (job_image.c)
int job_image_resolve(const struct buffer *, const int64_t *values, struct image_layout *, struct error *);
// Computes a tensor map's numbers from the values of a configuration and a problem (job_problem_values). -1 with a
// message that names the buffer and the value that TMA does not allow. (tensor_map.c)
int tensor_map_resolve(const struct job *, const struct argument *, const int64_t *values, struct tensor_map_shape *,
                       struct error *);

// Checks the constraints on the compiler's result. -1 with a message that names the constraint that does not hold. A
// figure that the compiler did not report counts as -1. (job_compiled.c)
int job_check_compiled(const struct job *, const uint16_t *config, const struct static_facts *, struct error *reason);

// The numbers that are passed to kernels by value: scalars, and the members of structs and vectors. malloc'ed; ends
// with a NULL name.
struct job_number {
    const char *name;
    const struct expr *value;
    double real; // if value is NULL
};
struct job_number *job_numbers(const struct job *);
// Writes the bytes of a struct or vector, computed from a problem's `values`. Padding is 0. -1 with a message.
// (job_members.c)
int job_argument_bytes(const struct argument *, const int64_t *values, unsigned char *to, struct error *);
// Compute addresses from a problem's `values`, as byte offsets into their buffers. job_address computes one address,
// and job_addresses those that fill a buffer: one run for each address in the fill. -1 with a message.
// (job_addresses.c)
struct address_run {
    int buffer;              // -1: null
    int64_t at, step, count; // at: bytes into the buffer; step: bytes from one address to the next
};
int job_address(const struct job *, const struct address *, const int64_t *values, int64_t *bytes, struct error *);
int job_addresses(const struct job *, const struct buffer *, const int64_t *values, struct address_run *runs,
                  struct error *);
// The layout of a struct: "width at 0, scale at 4". malloc'ed. (job_members.c)
char *job_argument_layout(const struct argument *);

// Computes the numbers of a buffer's fill (low and high) from a problem's `values`. -1 with a message if they do not
// suit the buffer's type or shape. (job_data.c)
int job_fill_numbers(const struct buffer *, const int64_t *values, double *low, double *high, struct error *);
// Computes the range that is compared in one dimension of a buffer with `compared`. -1 with a message if the range is
// empty or outside the buffer. (job_data.c)
int job_compared_numbers(const struct buffer *, size_t dimension, const int64_t *values, int64_t *size, int64_t *first,
                         int64_t *count, struct error *);

// Computes a buffer's rows, columns and ld from a problem's `values`. The operand's other members are set to 0. -1 with
// a message.
int job_buffer_shape(const struct buffer *, const int64_t *values, struct operand *, struct error *);
// Bytes of device memory that a problem's buffers take, without guards. -1 on overflow or a negative shape, with a
// message.
int64_t job_problem_bytes(const struct job *, size_t problem, struct error *);

// objective_value() of the tuned problems' times (s).
double job_objective(const struct job *, const double *times);

// The warning if results are not verified, or NULL. Static string.
const char *job_unverified(const struct job *);

// The compute class of a job's operation ("tf32"), or NULL if the operation has no classes. Static string.
const char *job_compute_class(const struct job *);

// The pipe (tuner/base/execution_unit.h) that the job's arithmetic is measured against: the pipe that `work` names,
// otherwise the pipe that the reference's operation can use. NULL: unknown. *times: how many operations the pipe
// performs for each operation in `flops`.
const struct execution_unit *job_unit(const struct job *, double *times);

// Passes the compiler options of a configuration to `add`: the job's own options, then the options that are parameters,
// except those whose value leaves the option out. If the configuration is NULL, passes only the job's own options.
// (job_options.c)
void job_options(const struct job *, const uint16_t *config, void (*add)(void *user, const char *option), void *user);

// An unroll factor as C: "" for 0, `_Pragma("unroll")` for 1, `_Pragma("unroll n")`. Writes into `out`.
enum { JOB_UNROLL_PRAGMA_SIZE = 48 };
const char *job_unroll_pragma(int64_t factor, char out[JOB_UNROLL_PRAGMA_SIZE]);

// Passes the macros that all configurations share, the job's own defines, to `define`.
void job_shared_defines(const struct job *, void (*define)(void *user, const char *name, const char *value),
                        void *user);
// Passes the macro definitions of a configuration to a callback, as "NAME" and "value": first the parameters, in their
// order, then the macros of job_shared_defines. An unroll factor's value is its pragma. Parameters that are options are
// left out.
void job_defines(const struct job *, const uint16_t *config,
                 void (*define)(void *user, const char *name, const char *value), void *user);

// Sizes that the header accepts although the job does not name them: they lie between the smallest and the largest
// verified size, are multiples of the sizes' greatest common divisor, and satisfy `verification.supported`. For every
// run, some small sizes are drawn and verified: powers of two, their neighbours, the smallest size, and others.
// (job_sizes.c) A size_range is the range of one size; it is empty if all members are 0.
struct size_range {
    bool any;
    int64_t least, most, multiple;
    uint64_t turn; // the kind of size that is drawn first
};
void size_range_add(struct size_range *, int64_t size);

enum { JOB_DRAWN_SIZES = 8, JOB_OWN_SIZES = 8 };
// A copy of the job with up to JOB_DRAWN_SIZES problems of random sizes, which are only verified. If inputs may have
// other values, up to JOB_OWN_SIZES of the job's own problems follow. The copy lives in the job's memory. NULL if there
// is nothing to draw, or if the reference cannot compute drawn sizes.
struct job *job_draw_sizes(struct job *);
