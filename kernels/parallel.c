// See parallel.h. Pieces are handed out one by one from a common counter, so that uneven ones (alignments of different
// lengths) are balanced.
#include "kernels/parallel.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <unistd.h>

#include "tuner/base/clock.h"

enum { THREADS_MAX = 64 };

struct loop {
    int64_t n, grain;
    parallel_body *body;
    void *user;
    _Atomic int64_t next; // piece
};

static void (*watcher)(void *user, double share);
static void *watcher_user;

void parallel_watch(void (*tell)(void *user, double share), void *user)
{
    watcher = tell;
    watcher_user = user;
}

void parallel_tell(void *unused)
{
    (void)unused;
    if (watcher) watcher(watcher_user, 0);
}

static bool do_piece(struct loop *l)
{
    int64_t begin = atomic_fetch_add(&l->next, 1) * l->grain, end = begin + l->grain;
    if (begin >= l->n) return false;
    l->body(l->user, begin, end < l->n ? end : l->n);
    return true;
}

static void *work(void *loop)
{
    while (do_piece(loop)) {
    }
    return NULL;
}

static void work_and_tell(struct loop *l)
{
    double told = clock_now();
    while (do_piece(l)) {
        if (!watcher || clock_now() - told < PARALLEL_QUIET) continue;
        told = clock_now();
        double share = (double)(l->next * l->grain) / (double)l->n;
        watcher(watcher_user, share < 1 ? share : 1);
    }
}

void parallel_for(int64_t n, int64_t grain, parallel_body *body, void *user)
{
    struct loop loop = {.n = n, .grain = grain > 0 ? grain : 1, .body = body, .user = user};
    pthread_t thread[THREADS_MAX];
    int64_t pieces = (n + loop.grain - 1) / loop.grain, count = sysconf(_SC_NPROCESSORS_ONLN), started = 0;
    if (count > THREADS_MAX) count = THREADS_MAX;
    if (count > pieces) count = pieces;
    while (started < count - 1 && !pthread_create(&thread[started], NULL, work, &loop)) started++;
    work_and_tell(&loop); // this thread works too, even if no other could be started
    while (started > 0) pthread_join(thread[--started], NULL);
}
