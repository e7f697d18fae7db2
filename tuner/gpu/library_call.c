// See library_call.h.
#include "tuner/gpu/library_call.h"

#include <errno.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "kernels/parallel.h"
#include "tuner/base/installation.h"
#include "tuner/base/run_program.h"
#include "tuner/libraries/library.h"

enum { PAGE = 4096, LAST_WORDS = 300 };

static const char *const kind_text[] = {"reference", "generate", "verify"};

void library_call_add(struct library_call *c, const struct sweetspot_array *about, size_t bytes, bool written)
{
    size_t offset = c->size ? c->size : PAGE;
    c->list[c->count++] = (struct library_array){*about, offset, bytes, written};
    c->size = offset + round_up(bytes, PAGE);
}

int library_call_open(struct library_call *c, struct error *err)
{
    _Static_assert(sizeof(struct library_answer) <= PAGE, "the answer has a page");
    if (!c->size) c->size = PAGE;
    int file = memfd_create("sweetspot-arrays", MFD_CLOEXEC);
    void *memory = MAP_FAILED;
    if (file >= 0 && !ftruncate(file, (off_t)c->size))
        memory = mmap(NULL, c->size, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    if (memory == MAP_FAILED) {
        error_set(err, "no memory for a library's arrays (%zu bytes): %s", c->size, strerror(errno));
        if (file >= 0) close(file);
        return -1;
    }
    c->file = file;
    c->memory = memory;
    for (size_t i = 0; i < c->count; i++) c->list[i].about.data = c->memory + c->list[i].offset;
    return 0;
}

void library_call_release(struct library_call *c)
{
    if (c->memory) munmap(c->memory, c->size);
    if (c->file) close(c->file);
    *c = (struct library_call){0};
}

static json_t *describe(const struct library_call *c, const char *path, enum library_kind kind, const char *function,
                        const struct problem_request *problem, uint64_t seed)
{
    json_t *arrays = json_array();
    for (size_t i = 0; i < c->count; i++) {
        const struct library_array *a = &c->list[i];
        json_array_append_new(arrays, json_pack("{s:s, s:s, s:i, s:I, s:I, s:I, s:I, s:I, s:b}", "name", a->about.name,
                                                "type", a->about.type, "output", a->about.output, "rows",
                                                (json_int_t)a->about.rows, "cols", (json_int_t)a->about.cols, "ld",
                                                (json_int_t)a->about.ld, "offset", (json_int_t)a->offset, "bytes",
                                                (json_int_t)a->bytes, "written", (int)a->written));
    }
    json_t *message = json_pack("{s:s, s:s, s:s, s:I, s:o}", "library", path, "kind", kind_text[kind], "function",
                                function, "seed", (json_int_t)seed, "arrays", arrays);
    record_write_into(&problem_values_record, problem, message);
    return message;
}

// The end of the process's output, without the last newline.
static const char *last_words(char *output)
{
    size_t length = strlen(output);
    while (length && (output[length - 1] == '\n' || output[length - 1] == ' ')) output[--length] = 0;
    return length > LAST_WORDS ? output + length - LAST_WORDS : output;
}

// Explains what happened to a call that did not return.
static int explain(const struct program_end *end, const struct library_answer *answer, const char *path,
                   const char *function, double timeout, struct error *err)
{
    const char *said = last_words(end->output);
    if (end->late)
        return error_set(err, "the reference library '%s' did not return from '%s' within %g s (reference.timeout)",
                         path, function, timeout);
    if (*answer->why.message && !answer->called) return error_set(err, "%s", answer->why.message);
    if (!answer->called) return error_set(err, "'%s' cannot be called%s%s", function, *said ? ": " : "", said);
    if (WIFSIGNALED(end->status))
        return error_set(err, "the reference library '%s' crashed in '%s' (%s)%s%s", path, function,
                         strsignal(WTERMSIG(end->status)), *said ? ": " : "", said);
    return error_set(err, "the reference library '%s' ended its process in '%s' (status %d)%s%s", path, function,
                     WEXITSTATUS(end->status), *said ? ": " : "", said);
}

int library_call_run(struct library_call *c, const struct implementation_request *reference, enum library_kind kind,
                     const char *function, const struct problem_request *problem, uint64_t seed,
                     struct library_answer *answer, struct error *err)
{
    const char *path = reference->library.path;
    double timeout = reference->timeout;
    autofree char *program = installation_program("sweetspot-gpu");
    autojson json_t *request =
        describe(c, *reference->library.built ? reference->library.built : path, kind, function, problem, seed);
    autofree char *text = json_dumps(request, JSON_COMPACT);
    char option[] = "--call", *argv[] = {program, option, text, NULL};
    struct program_end end = {0};
    struct library_answer *shared = (struct library_answer *)(void *)c->memory;
    *shared = (struct library_answer){0};
    int failed = run_program(
        &(struct program_run){.argv = argv, .file = c->file, .deadline = timeout, .watch = parallel_tell}, &end, err);
    *answer = *shared;
    answer->why.message[sizeof answer->why.message - 1] = 0;
    if (!failed && (answer->called != 2 || end.late)) failed = explain(&end, answer, path, function, timeout, err);
    free(end.output);
    return failed;
}

// ---- in the called process -----------------------------------------------------------------------------------------

static int map_arrays(const json_t *list, struct sweetspot_array *array)
{
    size_t i;
    json_t *each;
    json_array_foreach(list, i, each) {
        size_t bytes = (size_t)json_get_integer(each, "bytes", 0);
        int how = json_get_bool(each, "written", false) ? MAP_SHARED : MAP_PRIVATE;
        array[i] = (struct sweetspot_array){
            json_get_string(each, "name", ""),
            json_get_string(each, "type", ""),
            (int)json_get_integer(each, "output", 0),
            json_get_integer(each, "rows", 0),
            json_get_integer(each, "cols", 0),
            json_get_integer(each, "ld", 0),
            mmap(NULL, bytes, PROT_READ | PROT_WRITE, how, PROGRAM_FILE, (off_t)json_get_integer(each, "offset", 0))};
        if (array[i].data == MAP_FAILED) return -1;
    }
    return 0;
}

static int call(const json_t *request, const struct sweetspot_array *array, const struct sweetspot_value *value,
                struct library_answer *answer)
{
    const char *path = json_get_string(request, "library", ""), *function = json_get_string(request, "function", ""),
               *kind = json_get_string(request, "kind", "");
    int arrays = (int)json_array_size(json_object_get(request, "arrays")),
        values = (int)json_object_size(json_object_get(request, "values"));
    struct error why;
    const struct library_symbol symbol = {function, NULL};
    sweetspot_reference *reference;
    void *library = library_open(path, false, false, &why);
    if (!library) return error_set(&answer->why, "cannot open the reference library: %s", why.message);
    if (library_find(library, &symbol, 1, &reference, NULL))
        return error_set(&answer->why, "%s has no function '%s'", path, function);
    answer->called = 1;
    if (!strcmp(kind, kind_text[LIBRARY_REFERENCE])) {
        answer->returned = reference(arrays, array, values, value);
    } else if (!strcmp(kind, kind_text[LIBRARY_GENERATE])) {
        sweetspot_generate *generate;
        library_find(library, &symbol, 1, &generate, NULL);
        answer->returned =
            generate(arrays, array, values, value, (unsigned long long)json_get_integer(request, "seed", 0));
    } else {
        sweetspot_verify *verify;
        struct error message = {""};
        library_find(library, &symbol, 1, &verify, NULL);
        answer->returned = verify(arrays, array, values, value, message.message, sizeof message.message);
        answer->why = message;
    }
    answer->called = 2;
    return 0;
}

int library_call_serve(const char *text)
{
    static const int faults[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT};
    struct error err = {""};
    json_t *request = json_parse(text, &err), *each;
    const json_t *arrays = json_object_get(request, "arrays"), *values = json_object_get(request, "values");
    struct sweetspot_array *array = memory_try(json_array_size(arrays), sizeof *array, &err);
    struct sweetspot_value *value = memory_try(json_object_size(values), sizeof *value, &err);
    struct library_answer *answer = mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_SHARED, PROGRAM_FILE, 0);
    const char *key;
    size_t count = 0;
    int status = EXIT_FAILURE;
    if (!request || !array || !value || answer == MAP_FAILED || map_arrays(arrays, array)) {
        fprintf(stderr, "%s\n", *err.message ? err.message : "cannot map the arrays of the call");
    } else {
        json_object_foreach((json_t *)(uintptr_t)values, key, each)
            value[count++] = (struct sweetspot_value){key, json_number_value(each)};
        // A sanitizer's handlers would turn a fault into an ordinary exit.
        for (size_t i = 0; i < sizeof faults / sizeof *faults; i++) signal(faults[i], SIG_DFL);
        status = call(request, array, value, answer) ? EXIT_FAILURE : EXIT_SUCCESS;
    }
    // The library's own exit handlers are skipped.
    fflush(NULL);
    _exit(status);
}
