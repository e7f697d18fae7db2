// See worker.h.
#include "tuner/run/worker.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tuner/base/clock.h"
#include "tuner/base/installation.h"
#include "tuner/base/memory.h"
#include "tuner/base/protocol.h"
#include "tuner/base/text.h"
#include "tuner/run/answer_check.h"
#include "tuner/run/interrupt.h"

enum { LONGEST_LINE = 256 << 20 }; // more than this without a newline is invalid

char *worker_program(const char *variable, const char *name)
{
    const char *given = getenv(variable);
    if (given && *given) return text_copy(given);
    return installation_program(name);
}

static void close_fd(int *fd)
{
    if (*fd >= 0) close(*fd);
    *fd = -1;
}

static void close_pipes(struct worker *w)
{
    close_fd(&w->to);
    close_fd(&w->from);
    close_fd(&w->errors);
}

bool worker_running(const struct worker *w)
{
    return w->pid > 0;
}

int worker_start(struct worker *w, const char *name, char *const argv[], struct error *err)
{
    int in[2] = {-1, -1}, out[2] = {-1, -1}, errors[2] = {-1, -1};
    w->name = name;
    w->to = w->from = w->errors = -1;
    w->input_size = w->output_size = w->stderr_size = 0;
    w->last_words[0] = 0;
    w->killed = false;
    if (access(argv[0], X_OK)) return error_set(err, "cannot run '%s': %s", argv[0], strerror(errno));
    if (pipe2(in, O_CLOEXEC) || pipe2(out, O_CLOEXEC) || pipe2(errors, O_CLOEXEC)) {
        error_set(err, "cannot create a pipe: %s", strerror(errno));
        goto fail;
    }
    pid_t driver = getpid(), pid = fork();
    if (pid < 0) {
        error_set(err, "cannot start '%s': %s", argv[0], strerror(errno));
        goto fail;
    }
    if (!pid) {
        // A worker dies with its driver, and Ctrl-C on the terminal reaches only the driver.
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        if (getppid() != driver) _exit(127);
        setpgid(0, 0);
        dup2(in[0], STDIN_FILENO);
        dup2(out[1], STDOUT_FILENO);
        dup2(errors[1], STDERR_FILENO);
        signal(SIGINT, SIG_DFL);
        signal(SIGPIPE, SIG_DFL);
        execv(argv[0], argv);
        fprintf(stderr, "cannot run '%s': %s\n", argv[0], strerror(errno));
        _exit(127);
    }
    setpgid(pid, pid); // in both processes: either may come first
    close(in[0]);
    close(out[1]);
    close(errors[1]);
    w->pid = pid;
    w->to = in[1];
    w->from = out[0];
    w->errors = errors[0];
    for (int i = 0; i < 3; i++) {
        int fd = i == 0 ? w->to : i == 1 ? w->from : w->errors;
        fcntl(fd, F_SETFL, fcntl(fd, F_GETFL) | O_NONBLOCK);
    }
    return 0;
fail:
    for (int i = 0; i < 2; i++) {
        close_fd(&in[i]);
        close_fd(&out[i]);
        close_fd(&errors[i]);
    }
    return -1;
}

int64_t worker_send(struct worker *w, json_t *request)
{
    int64_t id = ++w->next_id;
    json_object_set_new(request, "id", json_integer(id));
    char *text = json_dumps(request, JSON_COMPACT | JSON_REAL_PRECISION(12));
    json_decref(request);
    size_t length = strlen(text);
    if (w->output_size + length + 1 > w->output_room) {
        w->output_room = 2 * (w->output_size + length + 1);
        w->output = memory_grow(w->output, w->output_room, 1);
    }
    memcpy(w->output + w->output_size, text, length);
    w->output_size += length;
    w->output[w->output_size++] = '\n';
    free(text);
    return id;
}

int worker_poll(const struct worker *w, struct pollfd *p)
{
    int n = 0;
    if (w->from >= 0) p[n++] = (struct pollfd){.fd = w->from, .events = POLLIN};
    if (w->errors >= 0) p[n++] = (struct pollfd){.fd = w->errors, .events = POLLIN};
    if (w->to >= 0 && w->output_size) p[n++] = (struct pollfd){.fd = w->to, .events = POLLOUT};
    return n;
}

static void read_stderr(struct worker *w)
{
    char bytes[4096];
    ssize_t n;
    while (w->errors >= 0 && (n = read(w->errors, bytes, sizeof bytes)) != 0) {
        if (n < 0) {
            if (errno == EINTR) continue;
            return;
        }
        for (ssize_t i = 0; i < n; i++) {
            if (bytes[i] != '\n' && w->stderr_size < sizeof w->stderr_line - 1)
                w->stderr_line[w->stderr_size++] = bytes[i];
            if (bytes[i] != '\n') continue;
            w->stderr_line[w->stderr_size] = 0;
            if (w->stderr_size == sizeof w->stderr_line - 1) memcpy(w->stderr_line + w->stderr_size - 3, "...", 3);
            w->stderr_size = 0;
            if (w->stderr_line[0]) memcpy(w->last_words, w->stderr_line, sizeof w->last_words);
            if (w->chatter && w->stderr_line[0]) w->chatter(w->chatter_user, w, w->stderr_line);
        }
    }
    close_fd(&w->errors); // at its end: poll would return at once for ever
}

// False when the worker has closed its end: it will never hear of the request.
static bool write_output(struct worker *w)
{
    size_t done = 0;
    bool open = true;
    while (w->to >= 0 && done < w->output_size) {
        ssize_t n = write(w->to, w->output + done, w->output_size - done);
        if (n < 0 && errno == EINTR) continue;
        if (n < 0) {
            open = errno == EAGAIN || errno == EWOULDBLOCK;
            break;
        }
        done += (size_t)n;
    }
    memmove(w->output, w->output + done, w->output_size - done);
    w->output_size -= done;
    return open;
}

// 1 as long as the pipe is open.
static int read_input(struct worker *w)
{
    while (w->from >= 0) {
        if (w->input_size + 65536 > w->input_room) {
            if (w->input_size > LONGEST_LINE) return 0;
            w->input_room = 2 * w->input_room + 65536;
            w->input = memory_grow(w->input, w->input_room, 1);
        }
        ssize_t n = read(w->from, w->input + w->input_size, w->input_room - w->input_size);
        if (n > 0)
            w->input_size += (size_t)n;
        else if (n == 0)
            return 0;
        else if (errno != EINTR)
            return errno == EAGAIN || errno == EWOULDBLOCK;
    }
    return 0;
}

static void describe_death(const struct worker *w, struct error *err)
{
    int status = w->exit_status;
    char how[96];
    if (w->killed)
        snprintf(how, sizeof how, "closed its pipe, did not end, and was killed");
    else if (WIFSIGNALED(status))
        snprintf(how, sizeof how, "was killed by signal %d (%s)", WTERMSIG(status), strsignal(WTERMSIG(status)));
    else
        snprintf(how, sizeof how, "ended with status %d", WEXITSTATUS(status));
    error_set(err, "worker '%s' %s%s%s", w->name, how, w->last_words[0] ? ": " : "", w->last_words);
}

int worker_io(struct worker *w, struct error *err)
{
    if (!w->pid) return error_set(err, "worker '%s' is not running", w->name);
    bool open = write_output(w);
    read_stderr(w);
    if (read_input(w) && open) return 0;
    // A pipe is closed: give the process a moment to end by itself, so that its own exit status is seen, then kill it.
    for (int i = 0; i < 200 && !waitpid(w->pid, &w->exit_status, WNOHANG); i++) {
        if (i == 199) {
            w->killed = true;
            kill(w->pid, SIGKILL);
            waitpid(w->pid, &w->exit_status, 0);
        }
        usleep(1000);
    }
    w->pid = 0;
    read_stderr(w);
    describe_death(w, err);
    close_pipes(w);
    return -1;
}

bool worker_ended_from_outside(const struct worker *w)
{
    static const int signals[] = {SIGKILL, SIGTERM, SIGHUP, SIGINT, SIGQUIT, SIGUSR1, SIGUSR2, SIGALRM, SIGXCPU};
    int status = w->exit_status, number = WIFSIGNALED(status) ? WTERMSIG(status) : WEXITSTATUS(status) - EXIT_SIGNAL;
    if (w->pid || w->killed) return false;
    for (size_t i = 0; i < sizeof signals / sizeof *signals; i++)
        if (number == signals[i]) return true; // 128 + number: what stands before the worker says so of it
    return false;
}

bool worker_stopped(const struct worker *w)
{
    char path[64], state = 0;
    if (!w->pid) return false;
    snprintf(path, sizeof path, "/proc/%ld/stat", (long)w->pid);
    FILE *file = fopen(path, "r");
    // "pid (name) state ...", and our programs' names have no parenthesis.
    if (file && fscanf(file, "%*d %*[^)]) %c", &state) != 1) state = 0;
    if (file) fclose(file);
    return state == 'T' || state == 't';
}

int worker_receive(struct worker *w, json_t **answer, struct error *err)
{
    char *end = w->input_size ? memchr(w->input, '\n', w->input_size) : NULL;
    if (!end) return 0;
    *end = 0;
    size_t used = (size_t)(end - w->input) + 1;
    *answer = json_parse(w->input, err);
    if (*answer && !json_is_object(*answer)) {
        error_set(err, "not a JSON object: '%.80s'", w->input);
        json_decref(*answer);
        *answer = NULL;
    }
    memmove(w->input, w->input + used, w->input_size - used);
    w->input_size -= used;
    if (*answer) return 1;
    return error_prefix(err, "worker '%s'", w->name);
}

void worker_kill(struct worker *w)
{
    if (w->pid) {
        // Its group with it: a tool may stand before the worker.
        if (kill(-w->pid, SIGKILL)) kill(w->pid, SIGKILL);
        while (waitpid(w->pid, &w->exit_status, 0) < 0 && errno == EINTR) {
        }
        w->pid = 0;
        read_stderr(w);
        close_pipes(w);
    }
    w->input_size = w->output_size = 0;
}

void worker_stop(struct worker *w, double seconds)
{
    if (!w->pid) return;
    close_fd(&w->to);
    double limit = clock_now() + seconds;
    while (clock_now() < limit && !waitpid(w->pid, &w->exit_status, WNOHANG)) {
        read_stderr(w);
        usleep(2000);
    }
    if (clock_now() < limit) w->pid = 0;
    worker_kill(w);
    close_pipes(w);
}

void worker_release(struct worker *w)
{
    worker_kill(w);
    free(w->input);
    free(w->output);
    *w = (struct worker){.to = -1, .from = -1, .errors = -1};
}

static json_t *give_up(struct worker *w, enum worker_failure why)
{
    w->failure = why;
    return NULL;
}

json_t *worker_ask(struct worker *w, json_t *request, double seconds, struct error *err)
{
    json_incref(request);
    json_t *answer = worker_wait(w, worker_send(w, request), seconds, err);
    if (answer && answer_check(request, answer, err)) {
        json_decref(answer);
        answer = give_up(w, WORKER_INVALID);
        worker_kill(w);
    }
    json_decref(request);
    return answer;
}

json_t *worker_wait(struct worker *w, int64_t id, double seconds, struct error *err)
{
    double limit = clock_now() + seconds;
    bool dead = false;
    w->failure = WORKER_WORKS;
    for (;;) {
        json_t *answer;
        int got = worker_receive(w, &answer, err);
        if (got < 0) return give_up(w, WORKER_INVALID);
        if (got && json_get_integer(answer, "id", -1) == id && !json_object_get(answer, "progress")) return answer;
        if (got) {
            const char *what = json_get_string(answer, "what", NULL);
            if (json_object_get(answer, "progress")) limit = clock_now() + seconds;
            if (what && w->progress) w->progress(w->chatter_user, w, what, json_get_number(answer, "progress", 0));
            json_decref(answer);
            continue;
        }
        if (dead) return give_up(w, WORKER_DIED); // err says how
        if (interrupt_count()) {
            error_set(err, "interrupted");
            return give_up(w, WORKER_INTERRUPTED);
        }
        double left = limit - clock_now();
        if (left <= 0) {
            error_set(err, "worker '%s' did not answer within %.0f s", w->name, seconds);
            return give_up(w, WORKER_LATE);
        }
        struct pollfd p[3];
        int n = worker_poll(w, p);
        poll(p, (nfds_t)n, left > 1 ? 1000 : (int)(left * 1000) + 1);
        if (worker_io(w, err)) dead = true;
    }
}
