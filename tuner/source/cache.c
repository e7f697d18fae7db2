// See cache.h.
#include "tuner/source/cache.h"

#include <errno.h>
#include <unistd.h>

#include "tuner/base/hash.h"
#include "tuner/base/input_file.h"
#include "tuner/base/output_file.h"

char *cache_path(const char *folder, const char *key, const char *suffix)
{
    return text_format("%s/%.2s/%s%s", folder, key, key, suffix);
}

// Hashes all members of an entry except "hash".
static bool hash_entry(const json_t *entry, char hash[HASH_TEXT_SIZE])
{
    autojson json_t *rest = json_copy((json_t *)entry);
    json_object_del(rest, "hash");
    autofree char *text = rest ? json_dumps(rest, JSON_COMPACT | JSON_SORT_KEYS) : NULL;
    if (text) hash_content(text, strlen(text), hash);
    return text != NULL;
}

static bool whole(const json_t *entry, const char *cubin_path)
{
    char hash[HASH_TEXT_SIZE];
    size_t size;
    if (!json_is_object(entry) || !json_is_object(json_object_get(entry, "figures")) || !hash_entry(entry, hash) ||
        strcmp(hash, json_get_string(entry, "hash", "")) != 0)
        return false;
    autofree char *cubin = input_file_read(cubin_path, 0, &size, NULL);
    if (!cubin) return false;
    hash_content(cubin, size, hash);
    return size && (int64_t)size == json_get_integer(entry, "cubin_bytes", -1) &&
           !strcmp(hash, json_get_string(entry, "cubin_hash", ""));
}

json_t *cache_find(const char *folder, const char *key, const char *suffix)
{
    autofree char *cubin = cache_path(folder, key, suffix), *path = cache_path(folder, key, ".json"),
                  *text = input_file_read(path, INPUT_FILE_TEXT_MOST, NULL, NULL);
    autojson json_t *entry = text ? json_loads(text, 0, NULL) : NULL;
    return entry && whole(entry, cubin) ? json_incref(json_object_get(entry, "figures")) : NULL;
}

static int write_renamed(const char *path, const void *data, size_t size, struct error *err)
{
    autofree char *temporary = text_format("%s.%ld", path, (long)getpid());
    FILE *file = fopen(temporary, "we");
    bool good = file && fwrite(data, 1, size, file) == size;
    if (file && fclose(file)) good = false;
    if (good && rename(temporary, path)) good = false;
    if (!good) error_set(err, "cannot write '%s': %s", path, strerror(errno));
    if (!good) unlink(temporary);
    return good ? 0 : -1;
}

int cache_add(const char *folder, const char *key, const char *suffix, const void *cubin, size_t size, json_t *figures,
              struct error *err)
{
    autofree char *cubin_path = cache_path(folder, key, suffix), *path = cache_path(folder, key, ".json"), *text = NULL;
    char hash[HASH_TEXT_SIZE];
    hash_content(cubin, size, hash);
    autojson json_t *entry =
        json_pack("{s:O, s:I, s:s}", "figures", figures, "cubin_bytes", (json_int_t)size, "cubin_hash", hash);
    int result = -1;
    if (entry && hash_entry(entry, hash) && !json_object_set_new(entry, "hash", json_string(hash)))
        text = json_dumps(entry, JSON_COMPACT);
    if (!text)
        error_set(err, "out of host memory");
    else if (!output_make_folders(cubin_path, err) && !write_renamed(cubin_path, cubin, size, err))
        result = write_renamed(path, text, strlen(text), err);
    return result;
}
