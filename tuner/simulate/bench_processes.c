// The bench's runs, distributed over processes. See bench.h.
#include "tuner/simulate/bench.h"

#include <errno.h>
#include <stdatomic.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "tuner/base/colour.h"
#include "tuner/base/installation.h"

// The data that the processes share.
struct board {
    atomic_size_t next; // the next run to start
    atomic_size_t done;
    atomic_int failed;
    struct error error; // of the first run that failed
};

void *bench_shared(size_t bytes, struct error *err)
{
    void *memory = mmap(NULL, bytes ? bytes : 1, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (memory != MAP_FAILED) return memory;
    error_set(err, "no memory for the results: %s", strerror(errno));
    return NULL;
}

void bench_unshare(void *memory, size_t bytes)
{
    if (memory) munmap(memory, bytes ? bytes : 1);
}

size_t bench_runs(const struct bench_options *o)
{
    return o->strategy_count * o->file_count * (size_t)o->seeds;
}

size_t bench_run_number(const struct bench_options *o, size_t strategy, size_t file, size_t seed)
{
    return (strategy * o->file_count + file) * (size_t)o->seeds + seed;
}

static void work(const struct bench_options *o, bench_runner *one, void *user, struct board *board)
{
    size_t seeds = (size_t)o->seeds;
    for (;;) {
        size_t run = atomic_fetch_add(&board->next, 1);
        if (run >= bench_runs(o) || atomic_load(&board->failed)) return;
        struct error err = {""};
        if (one(user, run / seeds / o->file_count, run / seeds % o->file_count, run % seeds, &err) < 0) {
            int none = 0;
            if (atomic_compare_exchange_strong(&board->failed, &none, 1)) board->error = err;
            return;
        }
        atomic_fetch_add(&board->done, 1);
    }
}

int bench_deal(const struct bench_options *o, bench_runner *one, void *user, struct error *err)
{
    pid_t children[BENCH_MAX_PROCESSES];
    struct board *board = bench_shared(sizeof *board, err);
    if (!board) return -1;
    int64_t wanted = o->processes > 0 ? o->processes : installation_cores();
    if (wanted > BENCH_MAX_PROCESSES) wanted = BENCH_MAX_PROCESSES;
    if ((size_t)wanted > bench_runs(o)) wanted = (int64_t)bench_runs(o);
    int count = 0, status, result = 0;
    fflush(NULL);
    for (; count < wanted; count++) {
        pid_t child = fork();
        if (child == 0) {
            work(o, one, user, board);
            _exit(0);
        }
        if (child < 0) break;
        children[count] = child;
    }
    if (count == 0) work(o, one, user, board); // no process could be started: work here
    for (int left = count; left > 0;) {
        struct timespec pause = {0, 20 * 1000 * 1000};
        nanosleep(&pause, NULL);
        for (int i = 0; i < count; i++) {
            if (children[i] <= 0 || waitpid(children[i], &status, WNOHANG) != children[i]) continue;
            children[i] = 0;
            left--;
            if (WIFSIGNALED(status))
                result = error_set(err, "a process of the bench was killed by signal %d", WTERMSIG(status));
            else if (WEXITSTATUS(status))
                result = error_set(err, "a process of the bench ended with status %d", WEXITSTATUS(status));
        }
        if (o->progress) {
            terminal_clear_line(stderr);
            fprintf(stderr, "replay: %zu of %zu runs ", atomic_load(&board->done), bench_runs(o));
        }
    }
    if (o->progress) terminal_clear_line(stderr);
    if (result == 0 && atomic_load(&board->failed)) {
        *err = board->error;
        result = -1;
    }
    bench_unshare(board, sizeof *board);
    return result;
}
