// See prior_file.h.
#include "tuner/run/prior_file.h"

#include <string.h>
#include <unistd.h>

#include "tuner/base/input_file.h"
#include "tuner/recorded/transfer.h"
#include "tuner/store/store.h"

// The beginning of every SQLite file.
static const char store_magic[16] = "SQLite format 3";

static int is_store(const char *path, struct error *err)
{
    char head[sizeof store_magic] = "";
    int fd = input_file_open(path, err);
    if (fd < 0) return -1;
    ssize_t got = pread(fd, head, sizeof head, 0);
    close(fd);
    return got == (ssize_t)sizeof head && !memcmp(head, store_magic, sizeof head);
}

static int visit(void *user, const struct trial *trial)
{
    transfer_add(user, trial->config, trial->status, trial->objective);
    return 0;
}

static int add_store(struct transfer *t, const char *path, const char *environment, struct error *err)
{
    struct store *store;
    struct environment last;
    if (store_open(&store, path, false, err)) return -1;
    int status =
        environment ? store_read_environment(store, environment, err) : store_last_environment(store, &last, err);
    if (status == 1) status = error_set(err, "%s: the store has no trials", path);
    if (!status && store_scan(store, visit, t, err) < 0) status = -1;
    store_close(store);
    return status;
}

static int add_recorded(struct transfer *t, const char *path, struct error *err)
{
    struct recorded *r = recorded_read(path, err);
    if (!r) return -1;
    transfer_add_recorded(t, r);
    recorded_free(r);
    return 0;
}

struct prior *prior_file_read(const char *path, const char *environment, const struct space *space, struct error *err)
{
    int store = is_store(path, err);
    if (store < 0) return NULL;
    struct transfer t;
    transfer_init(&t, space);
    struct prior *prior = NULL;
    if (!(store ? add_store(&t, path, environment, err) : add_recorded(&t, path, err))) {
        prior = transfer_prior(&t, err);
        if (!prior) error_prefix(err, "%s", path);
    }
    transfer_release(&t);
    return prior;
}
