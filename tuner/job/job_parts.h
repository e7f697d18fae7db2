// Private to tuner/job: the parts of reading a job file that call each other across its files.
#pragma once

#include "tuner/job/reader.h"

// These return memory that belongs to the job. job_new returns zeroed memory for `count` elements, and job_room returns
// a list of `count` elements with room for one more. job_copy and job_keep copy a string (NULL gives NULL); job_keep
// frees the original. job_parse returns an expression, or NULL with a message.
void *job_new(struct job *, size_t count, size_t size);
void *job_room(struct job *, void *list, size_t count, size_t size);
char *job_copy(struct job *, const char *text);
char *job_keep(struct job *, char *text);
struct expr *job_parse(struct job *, const char *text, struct error *);

// The likely cause of a syntax error in a job file, because libconfig names only its line. `text` is the content of the
// file at `path`, `line` the line that libconfig names. malloc'ed; NULL if no usual cause applies. (syntax_hint.c)
char *syntax_hint(const char *path, const char *text, int line);
// The text of a job file, with settings of earlier versions rewritten to their current form, malloc'ed. For each kind
// of change, one note gives the new form and the line. With `keep_lines` all lines keep their numbers.
// (old_spellings.c)
char *old_spellings_rewrite(const char *text, bool keep_lines, struct mistakes *notes);
// These check the fallback's shared memory, and an implementation that is a configuration. The space must have been
// built. -1 with a message that names the file and the line.
int job_check_fallback(const struct job *, struct error *err);
int job_check_configuration(const struct job *, const struct implementation *, struct error *err);

// Size number `sample` from a range of positive sizes, for dimension number `dimension` of `dimensions`. The first
// sample is the smallest size and the second the largest; the other samples cover all ranges evenly on a logarithmic
// scale. All are multiples of the greatest common divisor of `low` and `high`.
int64_t job_sample_size(int64_t low, int64_t high, int sample, int dimension, int dimensions);

// Checks that `verification.supported` allows every problem of the job, once the space is built. -1 with a message that
// names the file and the line.
int job_check_supported(const struct job *, struct error *);
// Sets or resets the constants device.*.
int job_set_limits(struct job *, const struct device_limits *, struct error *);
// Adds a derived name to the space and to the job.
int job_add_derived(struct job *, const char *name, const char *text, struct error *);
// Reads constraint `number` of the list if it uses a compiled.* name; otherwise returns false.
bool load_compiled_constraint(struct reader *, struct job *, const struct node *, size_t number);
// Adds the strings of a list. They are paths below `directory`, unless `directory` is NULL. `check` returns whether a
// string is accepted; if it is NULL, all are.
void load_strings(struct reader *, struct job *, const struct node *group, const char *path, const char *directory,
                  bool (*check)(struct reader *, const struct node *, const char *), char ***list, size_t *count);
// Reads kernel.entry, launch, stages and arguments into the job's buffers and stages.
void load_launches(struct reader *, struct job *, const struct node *root);
// Read a stage's launch and its arguments. A new buffer becomes one of the job's buffers.
void load_launch(struct reader *, struct job *, const struct node *owner, struct stage *);
void load_arguments(struct reader *, struct job *, const struct node *owner, struct stage *);
// Declares a buffer, with the form of "arguments[]" that is given ("argument.buffer", "buffer" or "constant"), or finds
// the buffer that already has this name. `image`: the argument's group 'texture' or 'surface', or NULL. Returns its
// number, or -1 after a mistake.
int load_buffer(struct reader *, struct job *, const struct node *, const char *name, const char *form,
                const struct node *image);
// These read a stage that a library computes, and the reference's operation.
void load_library_stage(struct reader *, struct job *, const struct node *, struct stage *);
void load_operation(struct reader *, struct job *, const struct node *, struct implementation *);
// These read variables of the module, and buffers that other data point to. Both must be read before launches.
void load_constants(struct reader *, struct job *, const struct node *root);
void load_buffers(struct reader *, struct job *, const struct node *root);
// Reads the memory of a texture or surface from the first argument that names it. `image`: its group 'texture' or
// 'surface'.
struct buffer_image *load_image(struct reader *, struct job *, const struct node *argument, const struct node *image,
                                const struct buffer *);
// Reads the group `image` of an argument into the image of the argument's buffer. `first`: no earlier argument names
// this image.
void join_image(struct reader *, const struct node *image, struct buffer *, bool first);
// Refuses buffers that these stages would find at two addresses, for example behind a pointer and in a module variable.
// `kernels`: the stages are kernels. Unlike programs, kernels can use module variables.
void check_views(struct reader *, const struct job *, const struct node *owner, const struct stage *, size_t count,
                 bool kernels);
// Reads an argument if it is a struct or a vector; otherwise returns false.
bool load_value_argument(struct reader *, struct job *, const struct node *, struct argument *);
// Reads a number from the node `value`. If it is NULL, the number is the size called `name`, and mistakes are reported
// at `owner`. `what` names the kind in messages.
void load_number(struct reader *, struct job *, const struct node *owner, const struct node *value, const char *what,
                 const char *name, enum element, struct expr **expression, double *real);
// Refuses a file that cannot be read.
void check_npy(struct reader *, const struct node *, const char *path);
// Refuses an expression that differs between configurations. The expression may be NULL; it is part of the buffer's
// setting `what` ("shape").
void check_fixed(struct reader *, const struct job *, const struct node *, const struct expr *, const char *what,
                 const char *buffer);
// For an argument that declares a buffer, load_fill reads the buffer's fill, and load_compared the part of the buffer
// that is compared (NULL: all of it).
struct fill load_fill(struct reader *, struct job *, const struct node *argument, const char *buffer, enum element);
// is_address returns whether a value is an address. load_address reads one address, and load_addresses the addresses of
// a fill, for the buffer or argument `owner`. (job_addresses.c)
bool is_address(const struct node *);
struct address load_address(struct reader *, struct job *, const struct node *, const char *owner, enum element);
struct fill load_addresses(struct reader *, struct job *, const struct node *, const char *owner, enum element);
struct compared *load_compared(struct reader *, struct job *, const struct node *argument, const struct buffer *,
                               const char *buffer);
// load_repeat reads a stage's loops, whose names stay visible until hide_loops(). load_swaps reads the pairs of buffers
// in `swap`; by then, the buffers must be declared.
void load_repeat(struct reader *, struct job *, const struct node *stage, struct stage_repeat *);
void hide_loops(struct job *, const struct stage_repeat *);
void load_swaps(struct reader *, const struct job *, const struct node *stage, struct stage_repeat *);
// Reads the tensor map of an argument from its group 'tma'.
struct tensor_map *load_tensor_map(struct reader *, struct job *, const struct node *tma, const struct buffer *);
// The default name of a problem: "M=1024,N=1024". malloc'ed.
char *problem_label(const struct job *, const int64_t *sizes);
// Adds a parameter with its values.
void load_parameter(struct reader *, struct job *, const struct node *parameter, const char *name);
// Whether a name is the same for all configurations: a size, a limit of the device or a macro. (job_memory.c)
bool job_name_is_fixed(const struct job *, int slot);
// Refuses an option that the program sets itself. Returns whether the option is accepted.
bool check_option(struct reader *, const struct node *, const char *option);
// Reads the option of the parameter that was added last.
void load_parameter_option(struct reader *, struct job *, const struct node *parameter);
// Adds a macro with its value, a string or a number.
void load_define(struct reader *, struct job *, const struct node *, struct macro **list, size_t *count);
// Reads a value for every parameter from a group that is called `what` in messages.
void load_configuration(struct reader *, const struct job *, const struct node *group, const char *what,
                        uint16_t *config);
// Implementations (job_implementation.c); all except the reference are read after launches.
void load_reference(struct reader *, struct job *, const struct node *root);
void load_fallback(struct reader *, struct job *, const struct node *root);
void load_baselines(struct reader *, struct job *, const struct node *root); // including the current kernel
// Refuses names that could not be in the job's header, once all names are known.
void check_header_names(struct reader *, const struct job *, const struct node *root);
