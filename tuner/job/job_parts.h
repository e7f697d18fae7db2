// Private to tuner/job: the parts of reading a job file that call each other across its files.
#pragma once

#include "tuner/job/reader.h"

// What belongs to the job: zeroed memory for `count` elements; a list of `count` with room for one more; copies of
// texts (NULL: NULL), job_keep frees its own; an expression, or NULL with a message.
void *job_new(struct job *, size_t count, size_t size);
void *job_room(struct job *, void *list, size_t count, size_t size);
char *job_copy(struct job *, const char *text);
char *job_keep(struct job *, char *text);
struct expr *job_parse(struct job *, const char *text, struct error *);

// The likely cause of a syntax error in a job file, since libconfig names only its line. `text` is what the file at
// `path` contains, `line` the line that libconfig names. malloc'ed; NULL if no usual cause applies. (syntax_hint.c)
char *syntax_hint(const char *path, const char *text, int line);
// The text of a job file with the settings of earlier versions in today's form, malloc'ed. Notes say of each kind,
// once, what it is now and in which line it stands. With `keep_lines` all lines keep their numbers. (old_spellings.c)
char *old_spellings_rewrite(const char *text, bool keep_lines, struct mistakes *notes);
// Checks the shared memory of the fallback of a job whose space is built, and that an implementation which is a
// configuration is valid. -1 with a message that names file and line.
int job_check_fallback(const struct job *, struct error *err);
int job_check_configuration(const struct job *, const struct implementation *, struct error *err);

// Size number `sample` of a range of positive sizes, which is one of several `dimensions`: the least, the largest, and
// then sizes that cover the ranges evenly on a logarithmic scale. They are multiples of the ends' greatest common
// divisor.
int64_t job_sample_size(int64_t low, int64_t high, int sample, int dimension, int dimensions);

// Checks that `verification.supported` allows every problem of the job, once the space is built. -1 with a message that
// names file and line.
int job_check_supported(const struct job *, struct error *);
// Puts file and line of a setting before a message. -1.
int job_locate_error(const struct job *, const char *setting, struct error *err);
// Sets or resets the constants device.*.
int job_set_limits(struct job *, const struct device_limits *, struct error *);
// Adds a derived name to the space and to the job.
int job_add_derived(struct job *, const char *name, const char *text, struct error *);
// Reads a constraint that names compiled.*, the number-th of the list. False where it names none of them.
bool load_compiled_constraint(struct reader *, struct job *, const struct node *, size_t number);
// Adds the texts of a list: paths below a directory, unless it is NULL. `check` says whether one is good; NULL: all
// are.
void load_strings(struct reader *, struct job *, const struct node *group, const char *path, const char *directory,
                  bool (*check)(struct reader *, const struct node *, const char *), char ***list, size_t *count);
// kernel.entry, launch, stages, arguments -> buffers and stages.
void load_launches(struct reader *, struct job *, const struct node *root);
// The parts of a stage: launch, arguments. A buffer that is new becomes one of the job's.
void load_launch(struct reader *, struct job *, const struct node *owner, struct stage *);
void load_arguments(struct reader *, struct job *, const struct node *owner, struct stage *);
// Declares a buffer of a form of "arguments[]" ("buffer", "texture", "constant", ..), or finds the one of that name
// that is known. Its number, or -1 after a mistake.
int load_buffer(struct reader *, struct job *, const struct node *, const char *name, const char *form);
// A stage that a library computes, and the reference's operation.
void load_library_stage(struct reader *, struct job *, const struct node *, struct stage *);
void load_operation(struct reader *, struct job *, const struct node *, struct implementation *);
// Variables of the module, and buffers that other data lead to. Both come before launches.
void load_constants(struct reader *, struct job *, const struct node *root);
void load_buffers(struct reader *, struct job *, const struct node *root);
// Reads what the first argument that names a texture or surface says of its memory.
struct buffer_image *load_image(struct reader *, struct job *, const struct node *argument, const struct buffer *,
                                bool surface);
// Adds an argument, the first one or a later one, to a buffer's image.
void join_image(struct reader *, const struct node *argument, struct buffer *, bool surface, bool first);
// Refuses buffers that the stages of one kernel set see in two places. `kernels`: they have variables, which a program
// has not.
void check_views(struct reader *, const struct job *, const struct node *owner, const struct stage *, size_t count,
                 bool kernels);
// Reads an argument that is a struct or a vector; false where it is none.
bool load_value_argument(struct reader *, struct job *, const struct node *, struct argument *);
// Reads a number: `value` (NULL: the size of that name) of `owner`. `what` names the kind in messages.
void load_number(struct reader *, struct job *, const struct node *owner, const struct node *value, const char *what,
                 const char *name, enum element, struct expr **expression, double *real);
int job_find_buffer(const struct job *, const char *name); // its number, or -1
// Refuses a file that cannot be read.
void check_npy(struct reader *, const struct node *, const char *path);
// Refuses an expression (NULL: none) of `what` ("shape") of a buffer that differs between configurations.
void check_fixed(struct reader *, const struct job *, const struct node *, const struct expr *, const char *what,
                 const char *buffer);
// Reads the fill of an argument that declares a buffer, and what is compared of it (NULL: all).
struct fill load_fill(struct reader *, struct job *, const struct node *argument, const char *buffer, enum element);
// Whether a value is an address; reading one, and those of a fill, for the owner of that name. (job_addresses.c)
bool is_address(const struct node *);
struct address load_address(struct reader *, struct job *, const struct node *, const char *owner, enum element);
struct fill load_addresses(struct reader *, struct job *, const struct node *, const char *owner, enum element);
struct compared *load_compared(struct reader *, struct job *, const struct node *argument, const struct buffer *,
                               const char *buffer);
// The loops of a stage, whose names are visible until hide_loops(), and, once its buffers are declared, its pairs.
void load_repeat(struct reader *, struct job *, const struct node *stage, struct stage_repeat *);
void hide_loops(struct job *, const struct stage_repeat *);
void load_swaps(struct reader *, const struct job *, const struct node *stage, struct stage_repeat *);
// Reads the tensor map of an argument.
struct tensor_map *load_tensor_map(struct reader *, struct job *, const struct node *argument, const struct buffer *);
// The name of a problem that has none: "M=1024,N=1024". malloc'ed.
char *problem_label(const struct job *, const int64_t *sizes);
// Adds a parameter with its values.
void load_parameter(struct reader *, struct job *, const struct node *parameter, const char *name);
// Whether a name is the same for all configurations: a size, a limit of the device or a macro. (job_memory.c)
bool job_name_is_fixed(const struct job *, int slot);
// Refuses an option that the program decides itself. Whether it is good.
bool check_option(struct reader *, const struct node *, const char *option);
// Reads the option of the parameter that was added last.
void load_parameter_option(struct reader *, struct job *, const struct node *parameter);
// Adds a macro with its value, a string or a number.
void load_define(struct reader *, struct job *, const struct node *, struct macro **list, size_t *count);
// Reads a value for every parameter from a group that is called `what` in messages.
void load_configuration(struct reader *, const struct job *, const struct node *group, const char *what,
                        uint16_t *config);
// Implementations (job_implementation.c); all but the reference come after launches.
void load_reference(struct reader *, struct job *, const struct node *root);
void load_fallback(struct reader *, struct job *, const struct node *root);
void load_baselines(struct reader *, struct job *, const struct node *root); // the current kernel too
// Refuses names that the job's header could not have, once all of them are known.
void check_header_names(struct reader *, const struct job *, const struct node *root);
