// See check.h: explains a compiler's log to people.
#include "tuner/check/check.h"

#include <ctype.h>

// A hint applies if the first error contains all of its words.
static const struct {
    const char *words[2];
    const char *hint;
} hints[] = {
    {{"the source has no kernel '", NULL},
     "check the kernel's name and namespace; an #if of the source may leave the kernel out with these macros"},
    {{"cannot open source file \"cuda_runtime", NULL},
     "NVRTC defines what cuda_runtime.h declares for kernels: remove the line, or put it in '#ifndef __CUDACC_RTC__'"},
    {{"cannot open source file", NULL},
     "NVRTC has only the usual C headers of the host compiler (stdint.h, math.h, ...): put such lines in "
     "'#ifndef __CUDACC_RTC__', use <cuda/std/...>, name your own header's folder in kernel.include, or set "
     "kernel.compiler = \"nvcc\""},
    {{"considered a host function", "int main("},
     "NVRTC compiles only device code: put main and other host code in '#ifndef __CUDACC_RTC__', or in another file"},
    {{"identifier \"cuda", "undefined"},
     "NVRTC compiles only device code: put calls of the CUDA runtime in '#ifndef __CUDACC_RTC__', or in another file"},
    {{"identifier \"printf\"", "undefined"}, "printf needs no header in NVRTC, but must be called from device code"},
    {{"namespace \"std\"", NULL},
     "NVRTC does not have the host's standard library: include <cuda/std/...> and write cuda::std::"},
    {{"identifier \"uint", "undefined"},
     "NVRTC does not have the host's <cstdint>: include <cuda/std/cstdint>, or write unsigned int and so on"},
    {{"identifier \"int", "undefined"},
     "NVRTC does not have the host's <cstdint>: include <cuda/std/cstdint>, or write int, long long and so on"},
    {{"identifier \"INFINITY\"", NULL}, "NVRTC does not have the host's <cmath>: write __int_as_float(0x7f800000)"},
    {{"non-__global__ function", NULL},
     "an entry of the job names a function that is not a kernel: only a __global__ function can be launched"},
    {{"considered a host function", NULL},
     "NVRTC treats functions without __device__ as host functions: write __device__, or add \"-default-device\" to "
     "kernel.options"},
    {{"calling a __host__ function", NULL},
     "NVRTC treats functions without __device__ as host functions: write __device__, or add \"-default-device\" to "
     "kernel.options"},
    {{"uses too much shared data", NULL},
     "static shared memory is limited to 48 KiB: use dynamic shared memory (extern __shared__, launch.shared), or a "
     "constraint"},
    {{"texture is not a template", NULL},
     "texture references are no longer part of CUDA: make it a cudaTextureObject_t argument of the kernel, and in the "
     "job an argument { buffer = \"...\"; texture = { }; }"},
    {{"surface is not a template", NULL},
     "surface references are no longer part of CUDA: make it a cudaSurfaceObject_t argument of the kernel, and in the "
     "job an argument { buffer = \"...\"; surface = { }; }"},
    {{"too much global constant data", NULL},
     "the constants of a source are limited to 64 KiB: make large tables __device__ variables, or buffers"},
    {{"has already been defined", NULL},
     "a name is defined twice: an include guard (#pragma once) may be missing, or two kernels have the same name"},
    {{"fatal error", "No such file or directory"}, "name the folder of the header in kernel.include"},
    {{"expected a \";\"", NULL},
     "if a tuning parameter stands for a pragma here, it needs unroll = [...] instead of values = [...]"},
    {{"identifier \"", "is undefined"},
     "the source does not declare this name: it may be a macro that 'parameters' or kernel.defines should define, or "
     "a header may be missing"},
    {{"expected an identifier", NULL},
     "a macro of the job (a parameter, or one of kernel.defines) may have the same name as something that the source "
     "declares"},
};

const char *compile_hint(const char *log)
{
    autofree char *first = compile_first_error(log, NULL);
    for (size_t i = 0; i < sizeof hints / sizeof *hints; i++)
        if (strstr(first, hints[i].words[0]) && (!hints[i].words[1] || strstr(first, hints[i].words[1])))
            return hints[i].hint;
    return NULL;
}

// Whether a line begins a message: "file(12): error: ..." or "ptxas error   : ...".
static bool begins_message(const char *line, size_t length)
{
    autofree char *text = text_format("%.*s", (int)length, line);
    return strstr(text, "): error") || strstr(text, "): warning") || strstr(text, "): catastrophic error") ||
           !strncmp(text, "ptxas ", 6) || strstr(text, " errors detected in the") ||
           strstr(text, " error detected in the");
}

char *compile_first_error(const char *log, const char *source)
{
    const char *name = source ? text_file_name(source) : "";
    size_t errors = 0, own = strlen(name);
    struct text text = {0};
    bool shown = false;
    text_add(&text, "%s", "");
    for (const char *line = log; *line; line += *line == '\n') {
        size_t length = strcspn(line, "\n");
        bool begins = begins_message(line, length),
             error = begins && (memmem(line, length, "error", 5) || memmem(line, length, "fatal", 5));
        bool total = begins && memmem(line, length, "detected in the", 15);
        if (begins) shown = error && !total && !errors++;
        bool blank = strspn(line, " ^~\t") == length && !memchr(line, '^', length);
        // "kernel.cu(12)" is printed as path:12, which editors understand.
        bool located = own && length > own && !strncmp(line, name, own) && line[own] == '(' &&
                       isdigit((unsigned char)line[own + 1]);
        if (!blank && (shown || (!errors && !begins))) {
            const char *number = line + own + 1, *rest = line;
            size_t digits = located ? strspn(number, "0123456789") : 0;
            if (located) rest = number + digits + (number[digits] == ')');
            text_add(&text, "    ");
            if (located) text_add(&text, "%s:%.*s", source, (int)digits, number);
            text_add(&text, "%.*s\n", (int)(length - (size_t)(rest - line)), rest);
        }
        line += length;
    }
    if (errors > 1) text_add(&text, "    (and %zu more error%s)\n", errors - 1, errors == 2 ? "" : "s");
    return text.text;
}

char *compile_first_line(const char *log)
{
    const char *at = strstr(log, "error"), *start = at ? at : log;
    while (start > log && start[-1] != '\n') start--;
    return text_format("%.*s", (int)strcspn(start, "\n"), start);
}
