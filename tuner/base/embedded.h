// Files that are embedded in the program, as text.
#pragma once

// Puts a file into the program as the string sweetspot_<name>. The assembler includes the file, so the Makefile must
// make the object depend on it.
#define EMBED_FILE(name, path) EMBED_FILES(name, ".incbin \"" path "\"\n")

// Puts several files into one such string, one after the other. `files` contains an .incbin for each file.
#define EMBED_FILES(name, files)                                                      \
    __asm__(".section .rodata\nsweetspot_" #name ":\n" files ".byte 0\n.previous\n"); \
    extern const char sweetspot_##name[];

const char *embedded_support(void);       // kernels/support_elements.cuh, _memory.cuh, support.cu, _load.cu
const char *embedded_ceilings(void);      // kernels/ceilings.cu
const char *embedded_fn_arithmetic(void); // search/space/fn_arithmetic.h
const char *embedded_fn_selector(void);   // search/space/fn_selector.h
// tuner/header/*.in: parts that headers contain unchanged
const char *embedded_header_function(void);
const char *embedded_header_call(void);
const char *embedded_header_shape(void);
const char *embedded_header_tensor_map(void);
const char *embedded_header_status(void);
const char *embedded_header_launch(void);
const char *embedded_header_binaries(void);
const char *embedded_header_runtime_api(void);
const char *embedded_header_runtime_kernels(void);
const char *embedded_header_runtime(void);
const char *embedded_header_results(void);
const char *embedded_header_select(void);
const char *embedded_header_python(void); // tuner/header/best.py
// tuner/report/page/: the page of a report
const char *embedded_report_frame(void);
const char *embedded_report_style(void);
const char *embedded_report_script(void);
