// See setting_hints.h. Foreign names are those of Kernel Tuner, KTT, CLTune, the T1 format, OpenTuner and Triton.
#include "tuner/job/setting_hints.h"

#include "tuner/base/base.h"
#include <strings.h>

// Settings of earlier versions, by their path as in the table of settings: "budget.noise", "arguments[].box". The hint
// says what to use instead.
static const struct {
    const char *path, *hint;
} removed[] = {
    {"budget.patience", "use 'until', as in until = 0.01"},
    {"budget.noise", "use 'until', as in until = 0.01"},
    {"guide", "every candidate is timed on all tuned problems, so delete it"},
    {"arguments[].fill.value", "write the number itself, as in 'fill = 3.0'"},
    {"arguments[].fill.path", "write the path itself, as in 'fill = \"x.npy\"'"},
    {"arguments[].fill.of",
     "a function can make such inputs ('generate' in 'reference'), or a .npy file can have them"},
    {"arguments[].fill.amplitude",
     "a function can make such inputs ('generate' in 'reference'), or a .npy file can have them"},
    {"arguments[].compare.count_in",
     "compare a fixed part with 'first' and 'count', or let 'verify' in 'reference' verify the outputs"},
    {"arguments[].absolute",
     "'verification' has one bound for all outputs; 'verify' in 'reference' can verify each by its own"},
    {"arguments[].relative",
     "'verification' has one bound for all outputs; 'verify' in 'reference' can verify each by its own"},
    {"verification.tolerance", "'absolute' and 'relative' are added to the bound of an operation"},
    {"verification.guard_bytes", "the guards have 4096 bytes"},
    {"measure.precision", "1% is enough; 'max_samples' and 'max_time' say how long a candidate is measured"},
    {"verification.sanitize_timeout", "the tools have twice 'measure.timeout'"},
    {"measure.final.tie", "the fastest wins; resources decide between kernels that are equally fast"},
    {"measure.final.nvcc", "the option --no-nvcc of 'tune' leaves nvcc's build out"},
    {"counters.enabled", "the option --no-counters of 'tune' leaves them out"},
    {"kernel.host_headers", "stand-ins are offered to NVRTC always; a header of your own of the same name goes first"},
    {"IMPLEMENTATION.timeout", "a baseline has four times 'measure.timeout'"},
    {"arguments[].members[].align", "members of type \"u8\" with a 'count' fill gaps"},
    {"arguments[].members[].offset", "members of type \"u8\" with a 'count' fill gaps"},
    {"arguments[].align", "members of type \"u8\" with a 'count' at the end make the struct as long as it is"},
    {"problems[].held", "it is called 'holdout' now"},
    {"problems[].name", "problems are called by their sizes"},
    {"IMPLEMENTATION.defines", "write a '#define' into the source, or name the values of 'parameters'"},
    {"parameters[].expressions", "list the values; 'constraints' can refer to sizes and the device"},
    {"parameters[].files", "give the compiler's options themselves, as strings in 'values' with 'option'"},
    {"kernel.macros", "compute the macro in the source, from those of the parameters"},
    {"search.options", "a strategy has no options; choose another 'strategy'"},
    {"search.seed", "the option --seed of 'tune' sets it"},
    {"compile.workers", "the option --workers of 'tune' sets them"},
    {"budget.target", "the option --target of 'tune' sets it"},
    {"verification.sanitize", "the environment variable SWEETSPOT_SANITIZER=none leaves the tools out"},
    {"arguments[].interleave", "describe the interleaved dimensions with 'view'"},
    {NULL, NULL},
};

static const char block[] = "a block's size is a parameter, and 'launch = { block = [ \"NAME\" ]; }' uses it",
                  grid[] = "the grid is an expression: 'launch = { grid = [ \"ceil_div(N, NAME)\" ]; }'";

static const struct {
    const char *theirs, *ours;
} foreign[] = {
    {"restrictions", "it is 'constraints' here"},
    {"restriction", "it is 'constraints' here"},
    {"conditions", "it is 'constraints' here"},
    {"constraint", "it is 'constraints' here"},
    {"tune_params", "it is 'parameters' here, a list of { name = \"X\"; values = [1, 2]; }"},
    {"tuning_parameters", "it is 'parameters' here, a list of { name = \"X\"; values = [1, 2]; }"},
    {"TuningParameters", "it is 'parameters' here, a list of { name = \"X\"; values = [1, 2]; }"},
    {"ConfigurationSpace", "it is 'parameters' and 'constraints' here"},
    {"params", "it is 'parameters' here"},
    {"kernel_name", "it is 'entry' in 'kernel' here"},
    {"KernelName", "it is 'entry' in 'kernel' here"},
    {"function_name", "it is 'entry' in 'kernel' here"},
    {"kernel_source", "it is 'template' in 'kernel' here"},
    {"KernelFile", "it is 'template' in 'kernel' here"},
    {"kernel_file", "it is 'template' in 'kernel' here"},
    {"source", "it is 'template' in 'kernel' here"},
    {"file", "it is 'template' in 'kernel' here"},
    {"KernelSpecification", "it is 'kernel', 'launch' and 'arguments' here"},
    {"lang", "kernels are CUDA C++ here; leave it out"},
    {"language", "kernels are CUDA C++ here; leave it out"},
    {"compiler_options", "it is 'options' in 'kernel' here"},
    {"CompilerOptions", "it is 'options' in 'kernel' here"},
    {"flags", "it is 'options' in 'kernel' here"},
    {"macros", "it is 'defines' in 'kernel' here"},
    {"includes", "it is 'include' in 'kernel' here"},
    {"include_dirs", "it is 'include' in 'kernel' here"},
    {"problem_size", "it is 'problems' here, a list of { N = 1024; }"},
    {"ProblemSize", "it is 'problems' here, a list of { N = 1024; }"},
    {"size", "it is 'problems' here, a list of { N = 1024; }"},
    {"args", "it is 'arguments' here"},
    {"block_size_x", block},
    {"block_size_y", block},
    {"block_size_z", block},
    {"block_size_names", block},
    {"LocalSize", block},
    {"grid_div_x", grid},
    {"grid_div_y", grid},
    {"grid_div_z", grid},
    {"GlobalSize", grid},
    {"smem_args", "dynamic shared memory is 'shared' in 'launch' here, an expression in bytes"},
    {"shared_memory", "dynamic shared memory is 'shared' in 'launch' here, an expression in bytes"},
    {"cmem_args", "it is 'constants' here, a list of { name = \"coef\"; type = \"f32\"; shape = [ 16 ]; }"},
    {"texmem_args",
     "a texture is an argument here: { texture = \"image\"; type = \"f32\"; shape = [ \"H\", \"W\" ]; }"},
    {"answer", "it is 'reference' here, which names an operation, a kernel, a library's function, a command or files"},
    {"verify", "it is 'reference' here, and its bounds are in 'verification'"},
    {"atol", "it is 'absolute' in 'verification' here"},
    {"rtol", "it is 'relative' in 'verification' here"},
    {"iterations", "the number of samples follows from the noise: see 'measure'"},
    {"warmup", "kernels are warmed up anyway: see 'measure'"},
    {"strategy", "it is 'strategy' in 'search' here"},
    {"strategy_options", "a strategy has no options here; choose another 'strategy' in 'search'"},
    {"max_fevals", "it is 'evaluations' in 'budget' here"},
    {"time_limit", "it is 'time' in 'budget' here"},
    {"device", "the device is an option of 'tune': --device"},
    {"cache", "the cache is an option of 'tune': --cache; a cold or warm L2 is 'cache' in 'measure'"},
    {"metrics", "it is 'metrics' in 'counters' here"},
};

// Whether a path is that of a member `name` of a group; the group of the job file itself is "".
static bool is_member(const char *path, const char *group, const char *name)
{
    size_t length = strlen(group);
    if (strncmp(path, group, length) != 0) return false;
    path += length;
    if (length && *path++ != '.') return false;
    return !strcmp(path, name);
}

const char *setting_removed(const char *group, const char *name)
{
    for (size_t i = 0; removed[i].path; i++)
        if (is_member(removed[i].path, group, name)) return removed[i].hint;
    return NULL;
}

const char *setting_foreign(const char *name)
{
    for (size_t i = 0; i < sizeof foreign / sizeof *foreign; i++)
        if (!strcasecmp(foreign[i].theirs, name)) return foreign[i].ours;
    return NULL;
}

const char *setting_foreign_word(const char *value)
{
    static const struct {
        const char *theirs, *ours;
    } words[] = {
        {"float", "f32"},          {"float32", "f32"},      {"double", "f64"},   {"float64", "f64"},
        {"half", "f16"},           {"__half", "f16"},       {"float16", "f16"},  {"bfloat16", "bf16"},
        {"__nv_bfloat16", "bf16"}, {"char", "i8"},          {"int8_t", "i8"},    {"unsigned char", "u8"},
        {"uint8_t", "u8"},         {"short", "i16"},        {"int16_t", "i16"},  {"unsigned short", "u16"},
        {"uint16_t", "u16"},       {"int", "i32"},          {"int32", "i32"},    {"int32_t", "i32"},
        {"unsigned", "u32"},       {"unsigned int", "u32"}, {"uint32_t", "u32"}, {"long long", "i64"},
        {"int64", "i64"},          {"int64_t", "i64"},      {"size_t", "u64"},   {"unsigned long long", "u64"},
        {"uint64_t", "u64"},
    };
    if (!strncmp(value, "const ", 6)) value += 6;
    size_t length = strcspn(value, "*&");
    while (length && value[length - 1] == ' ') length--;
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (strlen(words[i].theirs) == length && !strncmp(words[i].theirs, value, length)) return words[i].ours;
    return NULL;
}
