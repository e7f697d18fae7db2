// Sources of prior data for a run's model: the files of --prior and, automatically, the results in stores. Only other
// environments (another device, problem or version of the source) are considered: those of this store, and those of
// neighbouring stores that were made from the same template. The PRIOR_STORES nearest environments are used: those
// whose settings differ least. Another store's results for the same environment are not used, because a user who begins
// a new store wants a fresh start.
//
// In a replay only the files are used, so the sequence depends only on the seed and the results, not on other stores.
//
// Nothing here ends a run: a prior from which nothing can be learnt is left out, with a message if the user named it.
#include <glob.h>
#include <unistd.h>

#include "tuner/base/input_file.h"
#include "tuner/recorded/transfer.h"
#include "tuner/run/search.h"

// One file ------------------------------------------------------------------------------------------------------------

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

static int take_trial(void *user, const struct trial *trial)
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
    if (!status && store_scan(store, take_trial, t, err) < 0) status = -1;
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
    autorelease(transfer_release) struct transfer t;
    transfer_init(&t, space);
    if (store ? add_store(&t, path, environment, err) : add_recorded(&t, path, err)) return NULL;
    struct prior *prior = transfer_prior(&t, err);
    if (!prior) error_prefix(err, "%s", path);
    return prior;
}

// All priors ----------------------------------------------------------------------------------------------------------

enum { PRIOR_STORES = 3, PRIOR_STORES_SEEN = 100 }; // the most environments that are used, stores that are searched

struct near {
    char *path, *key;
    double distance;
};

struct near_list {
    const struct environment *own;
    struct display *display;
    const char *path; // path of the store that is searched
    bool beside;      // the store belongs to another job
    struct near nearest[PRIOR_STORES + 1];
    size_t count;
};

static void drop(struct near *n)
{
    free(n->path);
    free(n->key);
}

static int visit(void *user, const struct environment *e)
{
    struct near_list *l = user;
    bool same_source = !strcmp(e->source_hash, l->own->source_hash);
    if (!strcmp(e->key, l->own->key) || (l->beside && !same_source)) return 0;
    struct near one = {text_copy(l->path), text_copy(e->key), environment_distance(l->own->settings, e->settings)};
    size_t at = l->count++;
    for (; at > 0 && l->nearest[at - 1].distance > one.distance; at--) l->nearest[at] = l->nearest[at - 1];
    l->nearest[at] = one;
    if (l->count > PRIOR_STORES) drop(&l->nearest[--l->count]);
    return 0;
}

static void look_into(struct near_list *l, const char *path, bool beside)
{
    struct store *store;
    struct error err;
    l->path = path;
    l->beside = beside;
    if (store_open(&store, path, false, &err)) {
        display_log(l->display, "no prior: %s", err.message);
        return;
    }
    if (store_each_environment(store, visit, l, &err) < 0)
        display_log(l->display, "no prior: %s: %s", path, err.message);
    store_close(store);
}

static void look_beside(struct near_list *l, const char *own)
{
    autofree char *folder = text_directory(own), *pattern = text_pattern(folder, "/*.db");
    glob_t files;
    if (!glob(pattern, 0, NULL, &files)) {
        for (size_t i = 0; i < files.gl_pathc && i < PRIOR_STORES_SEEN; i++)
            if (!input_file_is_same(files.gl_pathv[i], own)) look_into(l, files.gl_pathv[i], true);
        if (files.gl_pathc > PRIOR_STORES_SEEN)
            display_log(l->display, "of %zu stores in %s, only %d were searched for priors", files.gl_pathc, folder,
                        PRIOR_STORES_SEEN);
        globfree(&files);
    }
}

static int read_prior(struct search *s, const char *path, const char *key, struct display *display, struct error *err)
{
    struct prior *prior = prior_file_read(path, key, s->job->space, err);
    if (!prior) return -1;
    display_log(display, "prior: %s", path);
    s->priors.list[s->priors.count++] = prior;
    return 0;
}

void search_collect_priors(struct search *s, const struct tune_options *o, const struct environment *own, bool replay,
                           struct display *display)
{
    struct near_list l = {.own = own, .display = display};
    struct error err;
    for (size_t i = 0; i < o->earlier.prior_count; i++)
        if (read_prior(s, o->earlier.priors[i], NULL, display, &err))
            display_message(display, "warning: no prior: %s", err.message);
    if (o->earlier.alone || replay) return;
    look_into(&l, o->files.store_path, false);
    look_beside(&l, o->files.store_path);
    for (size_t i = 0; i < l.count; i++) {
        bool room = s->priors.count < PRIOR_MOST;
        if (room && read_prior(s, l.nearest[i].path, l.nearest[i].key, display, &err))
            display_log(display, "no prior: %s", err.message);
        drop(&l.nearest[i]);
    }
}
