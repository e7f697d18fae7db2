// See embedded.h. The assembler includes the file; the Makefile makes this object depend on it.
#include "tuner/run/embedded.h"

__asm__(".section .rodata\n"
        ".global sweetspot_support_source\n"
        "sweetspot_support_source:\n"
        ".incbin \"kernels/support.cu\"\n"
        ".byte 0\n"
        ".previous\n");
extern const char sweetspot_support_source[];

const char *embedded_support_source(void)
{
    return sweetspot_support_source;
}
