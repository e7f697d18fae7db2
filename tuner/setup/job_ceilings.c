// See job_ceilings.h.
#include "tuner/setup/job_ceilings.h"

#include <string.h>

static bool lists(const json_t *document, const char *member, const char *name)
{
    size_t i;
    json_t *each;
    json_array_foreach(json_object_get(document, member), i, each)
    {
        if (json_is_string(each) && !strcmp(json_string_value(each), name)) return true;
    }
    return false;
}

// A document of an older version lists nothing, and holds what it measured.
static bool is_known(const json_t *known, const struct execution_unit *p, bool lasting)
{
    if (lasting && p->lasts) return lists(known, "lasting_pipes", p->name);
    return lists(known, "pipes", p->name) || (p->key && json_object_get(known, p->key));
}

json_t *job_ceilings_request(const struct job *job, const json_t *known)
{
    double times;
    const struct execution_unit *own = job_unit(job, &times);
    json_t *missing = json_array();
    for (int i = 0; i < UNIT_COUNT; i++) {
        const struct execution_unit *p = &execution_units[i];
        bool wanted = p == own || !p->arithmetic || (!own && p->key && !p->macro);
        if (wanted && !is_known(known, p, own)) json_array_append_new(missing, json_string(p->name));
    }
    if (json_array_size(missing))
        return json_pack("{s:s, s:b, s:o}", "op", "ceilings", "lasting", own != NULL, "pipes", missing);
    json_decref(missing);
    return NULL;
}

// `lasting`: only of pipes for which it makes a difference.
static void add_names(json_t *document, const char *member, const json_t *names, bool lasting)
{
    size_t i;
    json_t *each;
    if (!json_object_get(document, member)) json_object_set_new(document, member, json_array());
    json_array_foreach((json_t *)(uintptr_t)names, i, each)
    {
        const char *name = json_string_value(each);
        if (!lists(document, member, name) && (!lasting || pipe_find(name, NULL)->lasts))
            json_array_append(json_object_get(document, member), each);
    }
}

json_t *job_ceilings_merge(const json_t *known, const json_t *request, const json_t *answer)
{
    json_t *document = known ? json_deep_copy(known) : json_object(), *value;
    const char *key;
    json_object_foreach((json_t *)(uintptr_t)answer, key, value)
    {
        json_t *before = json_object_get(document, key);
        if (!strcmp(key, "id") || !strcmp(key, "status")) continue;
        if (json_is_object(value) && json_is_object(before))
            json_object_update(before, value);
        else
            json_object_set(document, key, value);
    }
    add_names(document, "pipes", json_object_get(request, "pipes"), false);
    if (json_get_bool(request, "lasting", false))
        add_names(document, "lasting_pipes", json_object_get(request, "pipes"), true);
    return document;
}

json_t *job_ceilings_defines(const struct job *job)
{
    double times;
    const struct execution_unit *own = job_unit(job, &times);
    json_t *defines = json_object();
    if (!own) return defines;
    const char *macro = own->macro ? own->macro : own->key ? NULL : execution_units[own->either[0]].macro;
    if (macro) json_object_set_new(defines, macro, json_string("1"));
    return defines;
}
