// Whether this is the build of `make test-sanitize`. Under the sanitizers code takes ten times as long, and they see in
// few repetitions what they would see in many: how good a search is they need not find out.
#ifndef SWEETSPOT_SANITIZED_H
#define SWEETSPOT_SANITIZED_H

#ifdef __SANITIZE_ADDRESS__
enum { SANITIZED = 1 };
#else
enum { SANITIZED = 0 };
#endif

#endif
