// See embedded.h.
#include "tuner/base/embedded.h"

#define TEXT(name)                    \
    const char *embedded_##name(void) \
    {                                 \
        return sweetspot_##name;      \
    }
#define EMBED(name, path) EMBED_FILE(name, path) TEXT(name)

EMBED_FILES(support, ".incbin \"kernels/support_elements.cuh\"\n.incbin \"kernels/support_memory.cuh\"\n"
                     ".incbin \"kernels/support.cu\"\n"
                     ".incbin \"kernels/support_load.cu\"\n")
TEXT(support)
EMBED(ceilings, "kernels/ceilings.cu")
EMBED(fn_arithmetic, "search/space/fn_arithmetic.h")
EMBED(fn_selector, "search/space/fn_selector.h")
EMBED(header_function, "tuner/header/function.in")
EMBED(header_call, "tuner/header/call.in")
EMBED(header_shape, "tuner/header/shape.in")
EMBED(header_tensor_map, "tuner/header/tensor_map.in")
EMBED(header_status, "tuner/header/status.in")
EMBED(header_launch, "tuner/header/launch.in")
EMBED(header_binaries, "tuner/header/binaries.in")
EMBED(header_runtime_api, "tuner/header/runtime_api.in")
EMBED(header_runtime_kernels, "tuner/header/runtime_kernels.in")
EMBED(header_runtime, "tuner/header/runtime.in")
EMBED(header_results, "tuner/header/results.in")
EMBED(header_select, "tuner/header/select.in")
EMBED(header_python, "tuner/header/best.py")
EMBED(report_frame, "tuner/report/page/report.html")
EMBED(report_style, "tuner/report/page/report.css")
EMBED(report_script, "out/page/report.js")
