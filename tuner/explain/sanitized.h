// The results of compute-sanitizer's tools (the document of tuner/setup/sanitize.h), in words.
#pragma once

#include "tuner/base/json.h"

// "compute-sanitizer 2025.3.1.0 on N=1000: memcheck, initcheck, synccheck clean; racecheck (warning): 1 error,
// 2 warnings". NULL for no document. malloc'ed.
char *sanitized_text(const json_t *document);
// One tool's result: "clean", "1 error, 2 warnings: Race reported ..", "failed: why". malloc'ed.
char *sanitized_tool_text(const json_t *tool);
// The tool's name, with " (warning)" where it found something that does not change the verdict. malloc'ed.
char *sanitized_tool_name(const json_t *tool);
