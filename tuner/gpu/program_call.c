// See program_call.h. The signal handlers write an answer that consists of prepared pieces, and call nothing but write
// and _exit.
#include "tuner/gpu/program_call.h"

#include <signal.h>
#include <sys/time.h>
#include <unistd.h>

#include "kernels/sweetspot_baseline.h"
#include "tuner/base/protocol.h"
#include "tuner/libraries/library.h"

enum { NAME_MAX_BYTES = 128, SIZES_MAX = 256 };

struct program_call {
    char baseline[NAME_MAX_BYTES]; // as JSON, with its quotes
    const char *name, *init_name;  // borrowed from the request
    sweetspot_baseline *function, *init;
    long long sizes[SIZES_MAX];
};

static int answers = -1;
static char id_text[64], limited[NAME_MAX_BYTES];
static struct program_call *volatile running;
static bool opened;        // whether a program has been opened; until then, nothing can be late
static double limit_asked; // s

static void put(const char *text)
{
    size_t length = 0;
    while (text[length]) length++;
    if (answers >= 0 && write(answers, text, length) < 0) _exit(EXIT_NOTHING);
}

static void last_words(const char *baseline, const char *reason)
{
    put("{");
    if (*id_text) put("\"id\":"), put(id_text), put(",");
    put("\"status\":\"crashed\",\"baseline\":");
    put(baseline);
    put(",\"reason\":\"");
    put(reason);
    put("\"}\n");
    _exit(EXIT_NOTHING);
}

enum { FAULTS = 5 };
static const struct {
    int number;
    const char *words;
} faults[FAULTS] = {{SIGSEGV, "its own code crashed (SIGSEGV)"},
                    {SIGBUS, "its own code crashed (SIGBUS)"},
                    {SIGFPE, "its own code crashed (SIGFPE)"},
                    {SIGILL, "its own code crashed (SIGILL)"},
                    {SIGABRT, "its own code crashed (SIGABRT)"}};

static void on_fault(int number)
{
    struct program_call *p = running;
    for (int i = 0; p && i < FAULTS; i++)
        if (faults[i].number == number) last_words(p->baseline, faults[i].words);
    signal(number, SIG_DFL); // not the program's handler
    raise(number);
}

static void on_alarm(int number)
{
    (void)number;
    last_words(limited, "it did not end within its time (four times measure.timeout)");
}

static void watch_faults(void)
{
    static char stack[1 << 16]; // for when the program's own stack has overflowed
    const stack_t other = {.ss_sp = stack, .ss_size = sizeof stack};
    sigaltstack(&other, NULL);
    for (int i = 0; i < FAULTS; i++) {
        struct sigaction action = {.sa_handler = on_fault, .sa_flags = SA_ONSTACK | SA_NODEFER};
        sigaction(faults[i].number, &action, NULL);
    }
}

void program_call_answers(int file, const json_t *id)
{
    autofree char *text = json_is_integer(id) ? json_dumps(id, JSON_ENCODE_ANY) : NULL;
    answers = file;
    snprintf(id_text, sizeof id_text, "%s", text ? text : "");
}

// A name as JSON; "?" if it is too long.
static void quote(const char *name, char out[NAME_MAX_BYTES])
{
    autojson json_t *string = json_string(name);
    autofree char *text = json_dumps(string, JSON_ENCODE_ANY);
    snprintf(out, NAME_MAX_BYTES, "%s", strlen(text) < NAME_MAX_BYTES ? text : "\"?\"");
}

static void arm(void)
{
    double seconds = opened && limit_asked > 0 ? limit_asked < 1e6 ? limit_asked : 1e6 : 0;
    struct itimerval timer = {.it_value = {(time_t)seconds, (suseconds_t)((seconds - (double)(time_t)seconds) * 1e6)}};
    signal(SIGALRM, seconds > 0 ? on_alarm : SIG_IGN);
    setitimer(ITIMER_REAL, &timer, NULL);
}

void program_call_limit(const char *baseline, double seconds)
{
    quote(baseline, limited);
    limit_asked = seconds;
    arm();
}

static int find_function(void *library, const char *path, const char *name, sweetspot_baseline **out, struct error *err)
{
    const struct library_symbol symbol = {name, NULL};
    if (!library_find(library, &symbol, 1, out, NULL)) return 0;
    return cuda_refuse(err, "%s has no function '%s'", path, name);
}

int program_call_open(struct program_call **out, const char *baseline, const struct stage_call *stage,
                      struct error *err)
{
    const char *path = stage->host.library;
    struct error why;
    struct program_call *p = *out = memory_try(1, sizeof *p, err);
    if (!p) return -1;
    p->name = stage->host.function;
    p->init_name = *stage->host.init ? stage->host.init : NULL;
    quote(baseline, p->baseline);
    if (stage->host.size_count > SIZES_MAX) return error_set(err, "more than %d sizes", SIZES_MAX);
    for (size_t i = 0; i < stage->host.size_count; i++) p->sizes[i] = stage->host.sizes[i];
    watch_faults();
    running = p; // while its constructors run
    void *library = library_open(path, false, false, &why);
    running = NULL;
    if (!library) return cuda_refuse(err, "cannot open the library: %s", why.message);
    if (!opened) {
        opened = true;
        arm();
    }
    int failed = find_function(library, path, p->name, &p->function, err);
    return !failed && p->init_name ? find_function(library, path, p->init_name, &p->init, err) : failed;
}

static int call(struct program_call *p, sweetspot_baseline *function, const char *name, struct cuda *cuda,
                void **arguments, struct error *err)
{
    running = p;
    int result = function(cuda_stream(cuda), arguments, p->sizes);
    running = NULL;
    if (!result) return 0;
    return cuda_refuse(err, "the function '%s' returns %d", name, result);
}

int program_call_init(struct program_call *p, struct cuda *cuda, void **arguments, struct error *err)
{
    if (!p->init) return 0;
    int failed = call(p, p->init, p->init_name, cuda, arguments, err), ended = cuda_sync(cuda, failed ? NULL : err);
    return ended ? ended : failed;
}

int program_call_run(struct program_call *p, struct cuda *cuda, void **arguments, struct error *err)
{
    return call(p, p->function, p->name, cuda, arguments, err);
}
