// See embedded.h.
#include "tuner/base/embedded.h"

#define EMBED(name, path)             \
    EMBED_FILE(name, path)            \
    const char *embedded_##name(void) \
    {                                 \
        return sweetspot_##name;      \
    }

EMBED(support, "kernels/support.cu")
EMBED(ceilings, "kernels/ceilings.cu")
EMBED(fn_arithmetic, "search/space/fn_arithmetic.h")
EMBED(fn_selector, "search/space/fn_selector.h")
EMBED(launch, "tuner/header/launch.in")
EMBED(report_frame, "tuner/report/page/report.html")
EMBED(report_style, "tuner/report/page/report.css")
EMBED(report_script, "out/page/report.js")
