// Names that are not settings of a job file, but were in earlier versions or are in other tuners (job_settings.h).
#include <strings.h>

#include "tuner/job/job_settings.h"

struct setting_hint {
    const char *names; // separated by blanks
    const char *hint;
};

// Settings of earlier versions, with their paths as in the table of settings: "budget.noise", "arguments[].box". The
// hint says what to use instead.
static const struct setting_hint removed[] = {
    {"budget.patience budget.noise", "use 'until', as in until = 0.01"},
    {"guide", "every candidate is timed on all tuned problems, so delete it"},
    {"arguments[].fill.value", "write the number itself, as in 'fill = 3.0'"},
    {"arguments[].fill.path", "write the path itself, as in 'fill = \"x.npy\"'"},
    {"arguments[].fill.of arguments[].fill.amplitude",
     "a function can make such inputs ('generate' in 'reference'), or a .npy file can have them"},
    {"arguments[].absolute arguments[].relative",
     "'verification' has one bound for all outputs; 'verify' in 'reference' can verify each by its own"},
    {"verification.tolerance", "'absolute' and 'relative' are added to the bound of an operation"},
    {"verification.guard_bytes", "the guards have 4096 bytes"},
    {"measure.precision", "1% is enough; 'max_samples' and 'max_time' limit how long a candidate is measured"},
    {"verification.sanitize_timeout", "the sanitizer's time limit is twice 'measure.timeout'"},
    {"measure.final.tie", "the fastest wins; resources decide between kernels that are equally fast"},
    {"measure.final.nvcc", "the option --no-checks of 'tune' leaves nvcc's build out"},
    {"enabled", "the option --no-counters of 'tune' leaves them out"},
    {"kernel.host_headers", "NVRTC always gets stand-ins; your own header of the same name takes precedence"},
    {"IMPLEMENTATION.timeout", "a baseline's time limit is four times 'measure.timeout'"},
    {"arguments[].offset", "members of type \"u8\" with a 'shape' fill gaps"},
    {"arguments[].align", "members of type \"u8\" with a 'shape' fill gaps, also at the end of the struct"},
    {"problems[].held", "it is called 'holdout' now"},
    {"problems[].name", "problems are named after their sizes"},
    {"IMPLEMENTATION.defines", "write a '#define' into the source, or name the values of 'parameters'"},
    {"parameters[].expressions", "list the values; 'constraints' can refer to sizes and the device"},
    {"parameters[].files", "give the compiler's options themselves, as strings in 'values' with 'option'"},
    {"kernel.macros", "compute the macro in the source, from those of the parameters"},
    {"options", "a strategy has no options; choose another 'strategy'"},
    {"seed", "the option --seed of 'tune' sets it"},
    {"compile.workers", "the option --workers of 'tune' sets them"},
    {"budget.target", "the option --until of 'tune' sets it"},
    {"verification.sanitize", "the environment variable SWEETSPOT_SANITIZER=none switches the sanitizer off"},
    {"search", "'strategy' belongs outside of groups"},
    {"counters", "'metrics' belongs outside of groups"},
    {"arguments[].restore", "direction \"restored\" is an input that the kernel may change"},
    {"arguments[].tensor_map", "it is the 'buffer' now, and 'tma' describes the map"},
    {"arguments[].box arguments[].view arguments[].strides arguments[].swizzle arguments[].promotion "
     "arguments[].out_of_bounds arguments[].convert",
     "it belongs in 'tma' now"},
    {"arguments[].memory arguments[].channels arguments[].filter arguments[].address arguments[].normalized "
     "arguments[].read",
     "it belongs in 'texture' or 'surface' now"},
    {"arguments[].interleave", "describe the interleaved dimensions with 'view'"},
    {NULL, NULL},
};

// Names from Kernel Tuner, KTT, CLTune, the T1 format, OpenTuner and Triton.
static const struct setting_hint foreign[] = {
    {"restrictions restriction conditions constraint", "it is 'constraints' here"},
    {"tune_params tuning_parameters TuningParameters",
     "it is 'parameters' here, a list of { name = \"X\"; values = [1, 2]; }"},
    {"ConfigurationSpace", "it is 'parameters' and 'constraints' here"},
    {"params", "it is 'parameters' here"},
    {"kernel_name KernelName function_name", "it is 'entry' in 'kernel' here"},
    {"kernel_source KernelFile kernel_file source file", "it is 'template' in 'kernel' here"},
    {"KernelSpecification", "it is 'kernel', 'launch' and 'arguments' here"},
    {"lang language", "kernels are CUDA C++ here; leave it out"},
    {"compiler_options CompilerOptions flags", "it is 'options' in 'kernel' here"},
    {"macros", "it is 'defines' in 'kernel' here"},
    {"includes include_dirs", "it is 'include' in 'kernel' here"},
    {"problem_size ProblemSize size", "it is 'problems' here, a list of { N = 1024; }"},
    {"args", "it is 'arguments' here"},
    {"block_size_x block_size_y block_size_z block_size_names LocalSize",
     "a block's size is a parameter, and 'launch = { block = [ \"NAME\" ]; }' uses it"},
    {"grid_div_x grid_div_y grid_div_z GlobalSize",
     "the grid is an expression: 'launch = { grid = [ \"ceil_div(N, NAME)\" ]; }'"},
    {"smem_args shared_memory", "dynamic shared memory is 'shared' in 'launch' here, an expression in bytes"},
    {"cmem_args", "it is 'constants' here, a list of { name = \"coef\"; type = \"f32\"; shape = [ 16 ]; }"},
    {"texmem_args",
     "a texture is an argument here: { buffer = \"image\"; type = \"f32\"; shape = [ \"H\", \"W\" ]; texture = { }; }"},
    {"answer", "it is 'reference' here, which names an operation, a kernel, a library's function, a command or files"},
    {"verify", "it is 'reference' here, and its bounds are in 'verification'"},
    {"atol", "it is 'absolute' in 'verification' here"},
    {"rtol", "it is 'relative' in 'verification' here"},
    {"iterations", "the number of samples follows from the noise: see 'measure'"},
    {"warmup", "kernels are warmed up anyway: see 'measure'"},
    {"strategy_options", "a strategy has no options here; choose another 'strategy'"},
    {"max_fevals", "it is 'evaluations' in 'budget' here"},
    {"time_limit", "it is 'time' in 'budget' here"},
    {"device", "the device is an option of 'tune': --device"},
    {"cache", "the cache is an option of 'tune': --cache; a cold or warm L2 is 'cache' in 'measure'"},
    {NULL, NULL},
};

static const char *find(const struct setting_hint *rows, const char *name)
{
    size_t length = strlen(name);
    for (; rows->names; rows++)
        for (const char *at = rows->names; *at; at += strcspn(at, " "), at += *at == ' ')
            if (strcspn(at, " ") == length && !strncasecmp(at, name, length)) return rows->hint;
    return NULL;
}

const char *setting_removed(const char *group, const char *name)
{
    autofree char *path = text_format("%s%s%s", group, *group ? "." : "", name);
    return find(removed, path);
}

const char *setting_foreign(const char *name)
{
    return find(foreign, name);
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
