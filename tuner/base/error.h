// An error message that is passed up: the lower layer writes what went wrong, and upper layers put the location in
// front ("configs/sgemm.cfg:12: ..."). Functions that can fail return 0, or a negative code after filling the struct
// that their caller owns. A candidate's failure is a trial's status, never an error.
#pragma once

#include <stdbool.h>

enum { ERROR_MESSAGE_MAX = 2048 };

struct error {
    char message[ERROR_MESSAGE_MAX]; // one line without newline, NUL-terminated; "" when nothing failed
};

// Overwrites the message. Always returns -1, so that `return error_set(err, ...)` reads well.
// `err` may be NULL: the message is dropped.
int error_set(struct error *err, const char *format, ...) __attribute__((format(printf, 2, 3)));

// Puts "prefix: " in front of the message; text that does not fit is lost. Always returns -1.
int error_prefix(struct error *err, const char *format, ...) __attribute__((format(printf, 2, 3)));

// Prints the message and ends the program: memory is exhausted, or the program has a bug.
_Noreturn void error_abort(const char *message);

// Why a program ends before its work is done, and its exit status.
struct fatal_error {
    bool set;
    int exit_status;
    struct error why;
};
void fatal_error_set(struct fatal_error *, int exit_status, const struct error *why); // keeps the first failure
