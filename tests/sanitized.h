// Whether this is the build of `make test-sanitize`. Under the sanitizers code takes ten times as long, and they see in
// few repetitions what they would see in many: how good a search is they need not find out.
#pragma once

#ifdef __SANITIZE_ADDRESS__
enum { SANITIZED = 1 };
#else
enum { SANITIZED = 0 };
#endif
