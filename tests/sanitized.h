// Whether this is the build of `make test-sanitize`. Under the sanitizers, code takes ten times as long, and a few
// repetitions are as good as many. Tests of the quality of a search can therefore be shortened.
#pragma once

#ifdef __SANITIZE_ADDRESS__
enum { SANITIZED = 1 };
#else
enum { SANITIZED = 0 };
#endif
