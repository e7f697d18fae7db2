// A tuning job: what one job file (libconfig) says, checked and with every expression parsed.
//
// job_load reads the file, reports every mistake it finds with file and line, and leaves a struct that the rest of the
// program only reads. Expressions are bound to one symbol table: tuning parameters, derived names, device limits
// ("device.max_shared"), and problem sizes ("M"). Names of problem sizes have the first problem's values while the
// space is built (constraints see them), and each problem's own values when its launch geometry and arguments are
// worked out (job_problem_values).
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
enum { JOB_SEED = 1 };       // of search and data, where the command line has none

struct problem {
    char *name;    // "M=4096,N=4096,K=4096"
    int line;      // in the job file
    bool tune;     // measured; otherwise only verified (ragged sizes)
    double weight; // of the objective
    bool holdout;  // objective each: measured, but held back from the choice of the kernels, to judge it by
    size_t size_count;
    int64_t *sizes;   // in the order of job.size_names
    uint64_t variant; // of drawn ones: which other values its inputs have
};

// Mistakes of a job file, in order of lines, then those in files that it includes.
struct mistakes {
    size_t count;
    struct mistake {
        char *file;
        int line;
        char *text;
        const void *about; // the reader's (reader.h), while it reads
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
    const char *path; // the job file as given
    const char *name;
    struct {                 // what was read
        struct arena memory; // of all texts and lists
        size_t expression_count, location_count;
        struct expr **expressions;  // all of them
        struct location *locations; // of every setting that is no number in a list, sorted by path
        struct mistakes old;        // what the file says as in earlier versions: a note of each kind
        const char *directory;      // of the job file; relative paths start there
        const char *description;
    } file;
    struct {                  // for the compilers
        const char *template; // absolute path
        const char *source;   // what is compiled: the template, or what `judge` puts in its place
        size_t include_count, option_count, define_count, edit_count, unit_count; // units: of the stages
        char **includes;                                                          // absolute folders
        char **options;                                                           // for NVRTC, as given
        struct macro *defines;                                                    // the same for all configurations
        char *parameter_options[SPACE_MAX_PARAMETERS]; // of one that is an option: with a % for the value
        struct text_edit *edits;                       // of the template and of files that it includes
        enum job_compiler compiler;
        double compile_timeout; // s
        int64_t compile_memory; // bytes that a compiler may take
    } code;
    struct symbols *symbols;
    struct space *space; // parameters, derived names, constraints; built by job_build_space
    struct {
        size_t compiled_count; // constraints on the compiler's result (job_compiled.c), in the order of the file
        struct compiled_constraint {
            struct expr *holds;
            size_t number; // in the job file's list of all constraints, from 0
        } * compiled;
        size_t derived_count; // in order; the expressions are evaluated again for every problem
        struct {
            int slot;
            struct expr *value;
        } * derived;
        size_t size_count; // problem sizes
        char **size_names;
    } names;
    size_t problem_count, tuned_count; // the tuned ones first, then those only verified
    struct problem *problems;
    size_t buffer_count, stage_count;
    struct buffer *buffers;
    struct stage *stages;
    struct { // implementations besides the kernel
        struct implementation reference;
        struct implementation fallback;   // for devices without tuning results (job_configuration.c)
        size_t baseline_count;            // of the user's own
        struct implementation *baselines; // the current kernel first, where the job has one
    } others;
    struct {                               // of a problem
        struct expr *flops, *bytes;        // NULL: unknown
        struct expr *operations;           // what the pipe does for it; NULL: as many as flops
        const struct execution_unit *pipe; // of its arithmetic; NULL: the operation's (job_unit)
    } work;
    struct {
        enum objective objective;
        enum minimize minimize; // by the final
        double regret; // objective each: how much slower than the problem's best kernel the chosen one may be, relative
        double budget_time;         // s; 0: none
        int64_t budget_evaluations; // 0: none
        struct stop_rules stop;     // other reasons to end
        const char *strategy;
        size_t metric_count; // counters besides the basic set
        char **metrics;
    } search;
    struct measure_settings measure;
    struct verify_settings verify;
    struct {
        size_t supported_count; // conditions on sizes that the kernel is for
        struct expr **supported;
        unsigned domain;   // of other values of inputs (enum value_domain): the operation's, or what the job says
        struct job *drawn; // other sizes that are verified (job_sizes.c); NULL: none
        bool is_drawn;     // it is such a job
    } sizes;
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
    int64_t least; // 1 where the driver divides by it
    const char *meaning;
};
extern const struct device_name device_names[];
// Takes what the description of a device has of them. -1 with a message where one cannot be.
int device_limits_read(const json_t *device, struct device_limits *, struct error *);
// Limits of a device of an architecture ("sm_80": an A100), and its name with an article in *device; those of an H200
// and -1 for an architecture that is not in the table. (CUDA C++ Programming Guide 13.0, technical specifications by
// compute capability; the devices' data sheets.)
int device_limits_of(const char *arch, struct device_limits *limits, const char **device);

// Reads and checks a job file. 0, or -1 with every mistake in *mistakes (release it) and *out NULL. What needs the
// device (constraints on its limits, memory) is checked by job_build_space.
int job_load(const char *path, struct job **out, struct mistakes *);
// Writes the job <name>_shapes beside the job's file, whose tuned problems are those of a file, and returns its path,
// malloc'ed. A line of that file is such as "M=512,N=77", "#" begins a comment, and equal lines count once. All other
// settings are the job's. NULL with a message, also where another file has that name.
char *job_write_shapes(const struct job *, const char *path, struct error *);
// The job file's text in today's form, malloc'ed; NULL with a message if it cannot be read.
char *job_rewrite(const char *path, struct error *);
void job_free(struct job *);

// Where the setting of a path stands, or the nearest one around it: "arguments[0].type", then "arguments[0]". Line 0:
// the whole job file.
struct location job_location(const struct job *, const char *format, ...) __attribute__((format(printf, 2, 3)));

// Sets the device's limits and builds the space. -1 with a message that names file and line.
int job_build_space(struct job *, const struct device_limits *, struct error *);

bool job_is_fallback(const struct job *, const uint16_t *config);
// The most dynamic shared memory that a stage of the fallback needs, and on which problem. -1 with a message.
int job_fallback_shared(const struct job *, size_t stage, int64_t *bytes, size_t *problem, struct error *);

// The kernel in use today, which is a baseline, or NULL.
const struct implementation *job_current(const struct job *);
// All implementations that must be right: the reference (number 0), then the baselines. NULL after the last.
const struct implementation *job_implementation(const struct job *, size_t number);
// The stage of a kernel, a binary or a function of a library, with the arguments of the job's only stage where it has
// none of its own. The arguments are borrowed.
struct stage job_stage_of(const struct job *, const struct implementation *);
// The reference's operation, or NULL.
const struct operation *job_operation(const struct job *);

int job_parameter(const struct job *, const char *name); // the number of the parameter of this name, or -1
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
// An image with its sizes for a problem, from its values. -1 with a message. (job_image.c)
int job_image_resolve(const struct buffer *, const int64_t *values, struct image_layout *, struct error *);
// The numbers for a configuration and a problem, from their values (job_problem_values). -1 with a message that names
// the buffer and what TMA does not allow. (tensor_map.c)
int tensor_map_resolve(const struct job *, const struct argument *, const int64_t *values, struct tensor_map_shape *,
                       struct error *);

// Checks the constraints on the compiler's result. -1 with the one that does not hold. A figure that the compiler did
// not report counts as -1. (job_compiled.c)
int job_check_compiled(const struct job *, const uint16_t *config, const struct static_facts *, struct error *reason);

// The numbers that kernels get by value: scalars, and the members of structs and vectors. malloc'ed; ends with a NULL
// name.
struct job_number {
    const char *name;
    const struct expr *value;
    double real; // where value is NULL
};
struct job_number *job_numbers(const struct job *);
// The bytes of a struct or vector for a problem, from its values; padding is 0. -1 with a message. (job_members.c)
int job_argument_bytes(const struct argument *, const int64_t *values, unsigned char *to, struct error *);
// An address as bytes into its buffer, and the addresses that fill a buffer: as many runs as its fill has addresses.
// For a problem, from its values. -1 with a message. (job_addresses.c)
struct address_run {
    int buffer;              // -1: null
    int64_t at, step, count; // bytes into the buffer; bytes from one to the next
};
int job_address(const struct job *, const struct address *, const int64_t *values, int64_t *bytes, struct error *);
int job_addresses(const struct job *, const struct buffer *, const int64_t *values, struct address_run *runs,
                  struct error *);
// "width at 0, scale at 4". malloc'ed. (job_members.c)
char *job_argument_layout(const struct argument *);

// The numbers of a buffer's fill (low and high) for a problem, from its values. -1 with a message: the
// fill does not fit the buffer, or not what it is made from. (job_data.c)
int job_fill_numbers(const struct buffer *, const int64_t *values, double *low, double *high, struct error *);
// What is compared in a dimension of a buffer that is compared by dimensions. -1 with a message: nothing, or what is
// not there. (job_data.c)
int job_compared_numbers(const struct buffer *, size_t dimension, const int64_t *values, int64_t *size, int64_t *first,
                         int64_t *count, struct error *);

// Rows, columns and ld of a buffer for a problem, from its values; all else is 0. -1 with a message.
int job_buffer_shape(const struct buffer *, const int64_t *values, struct operand *, struct error *);
// Bytes of device memory that a problem's buffers take, without guards. -1 on overflow or a negative shape, with a
// message.
int64_t job_problem_bytes(const struct job *, size_t problem, struct error *);

// objective_value() of the tuned problems' times (s).
double job_objective(const struct job *, const double *times);

// What is said of results that nothing is held against, or NULL. Static text.
const char *job_unverified(const struct job *);

// The compute class of a job's operation ("tf32"), or NULL where the operation has no classes. Static text.
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

// Sizes that the header accepts although the job does not name them: between the smallest and the largest of those that
// were verified, multiples of their greatest common divisor, and as `verification.supported` says. Some small ones are
// drawn for every run and verified: powers of two, their neighbours, the least, and any others. (job_sizes.c)
// The range of one size. Zeroed: nothing is in it.
struct size_range {
    bool any;
    int64_t least, most, multiple;
    uint64_t turn; // which kind of size is drawn first
};
void size_range_add(struct size_range *, int64_t size);

enum { JOB_DRAWN_SIZES = 8, JOB_OWN_SIZES = 8 };
// A job that has drawn sizes as its problems, up to JOB_DRAWN_SIZES, which are only verified; all else is the job's.
// Where inputs may have other values, up to JOB_OWN_SIZES of the job's own problems follow. It lies in the job's
// memory. NULL: there is nothing to draw, or drawn sizes cannot have a reference.
struct job *job_draw_sizes(struct job *);
