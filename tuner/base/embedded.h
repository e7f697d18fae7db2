// Files that are embedded in the program, as text.
#ifndef SWEETSPOT_EMBEDDED_H
#define SWEETSPOT_EMBEDDED_H

const char *embedded_support(void);       // kernels/support.cu
const char *embedded_ceilings(void);      // kernels/ceilings.cu
const char *embedded_fn_arithmetic(void); // search/space/fn_arithmetic.h
const char *embedded_fn_selector(void);   // search/space/fn_selector.h
// tuner/output/launch/: a header's functions that launch
const char *embedded_launch_types(void);
const char *embedded_launch_driver(void);
const char *embedded_launch_driver_constants(void);
const char *embedded_launch_driver_maps(void);
const char *embedded_launch_runtime(void);
const char *embedded_launch_runtime_constants(void);
const char *embedded_launch_runtime_maps(void);
const char *embedded_launch_maps(void);
const char *embedded_launch_common(void);
// tuner/report/page/: the page of a report
const char *embedded_report_frame(void);
const char *embedded_report_style(void);
const char *embedded_report_script(void);

#endif
