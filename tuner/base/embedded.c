// See embedded.h. The assembler includes the files; the Makefile makes this object depend on them.
#include "tuner/base/embedded.h"

#define EMBED(name, path)                                                                                          \
    __asm__(".section .rodata\n.global sweetspot_" #name "\nsweetspot_" #name ":\n.incbin \"" path "\"\n.byte 0\n" \
            ".previous\n");                                                                                        \
    extern const char sweetspot_##name[];                                                                          \
    const char *embedded_##name(void)                                                                              \
    {                                                                                                              \
        return sweetspot_##name;                                                                                   \
    }

EMBED(support, "kernels/support.cu")
EMBED(ceilings, "kernels/ceilings.cu")
EMBED(fn_arithmetic, "search/space/fn_arithmetic.h")
EMBED(fn_selector, "search/space/fn_selector.h")
EMBED(launch_types, "tuner/output/launch/types.in")
EMBED(launch_driver, "tuner/output/launch/driver.in")
EMBED(launch_driver_constants, "tuner/output/launch/driver_constants.in")
EMBED(launch_driver_maps, "tuner/output/launch/driver_maps.in")
EMBED(launch_runtime, "tuner/output/launch/runtime.in")
EMBED(launch_runtime_constants, "tuner/output/launch/runtime_constants.in")
EMBED(launch_runtime_maps, "tuner/output/launch/runtime_maps.in")
EMBED(launch_maps, "tuner/output/launch/maps.in")
EMBED(launch_common, "tuner/output/launch/common.in")
EMBED(report_frame, "tuner/report/page/report.html")
EMBED(report_style, "tuner/report/page/report.css")
EMBED(report_script, "out/page/report.js")
