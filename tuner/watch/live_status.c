// See live_status.h.
#include "tuner/watch/live_status.h"

#include <errno.h>
#include <unistd.h>

#include "tuner/base/clock.h"

const char *live_state_text(enum live_state state)
{
    static const char *const words[] = {"none", "here", "elsewhere", "silent", "dead"};
    return words[state];
}

char *live_status_path(const char *store_path)
{
    autofree char *real = realpath(store_path, NULL);
    return text_format("%s.status.json", real ? real : store_path);
}

const char *live_status_host(void)
{
    static char name[256];
    if (!*name && (gethostname(name, sizeof name - 1) || !*name || !json_takes(name))) strcpy(name, "?");
    return name;
}

// The id of the current boot, which differs between machines, and the namespace of process ids.
char *live_status_machine(void)
{
    char boot[64] = "", space[64] = "";
    FILE *file = fopen("/proc/sys/kernel/random/boot_id", "r");
    if (file && !fgets(boot, sizeof boot, file)) *boot = 0;
    if (file) fclose(file);
    boot[strcspn(boot, "\n")] = 0;
    ssize_t n = readlink("/proc/self/ns/pid", space, sizeof space - 1);
    space[n > 0 ? n : 0] = 0;
    return text_format("%s %s", *boot ? boot : live_status_host(), space);
}

// When a process began, in ticks since the boot; 0 if there is no such process. Together with the process id, this is
// unique on a machine.
static long long start_of(long pid)
{
    char path[64], text[1024];
    snprintf(path, sizeof path, "/proc/%ld/stat", pid);
    FILE *file = fopen(path, "r");
    size_t n = file ? fread(text, 1, sizeof text - 1, file) : 0;
    if (file) fclose(file);
    text[n] = 0;
    char *at = strrchr(text, ')'); // the process name before it may contain anything
    for (int field = 2; at && field < 22; field++) at = strchr(at + 1, ' ');
    return at ? strtoll(at, NULL, 10) : 0;
}

json_t *live_status_begin(double every)
{
    autofree char *machine = live_status_machine();
    json_t *document =
        json_pack("{s:s, s:i, s:f, s:f, s:s, s:s, s:I, s:I}", "format", LIVE_STATUS_FORMAT, "version",
                  LIVE_STATUS_VERSION, "written", clock_wall(), "every", every, "host", live_status_host(), "machine",
                  machine, "pid", (json_int_t)getpid(), "pid_started", (json_int_t)start_of((long)getpid()));
    return document;
}

// Does not call fsync, because the file is not needed after a crash of the machine.
int live_status_write(const char *path, const json_t *document, struct error *err)
{
    autofree char *temporary = text_format("%s.%ld", path, (long)getpid()), *text = json_dumps(document, JSON_COMPACT);
    FILE *file = fopen(temporary, "w");
    int status = file ? 0 : -1;
    if (file && fprintf(file, "%s\n", text) < 0) status = -1;
    if (file && fclose(file)) status = -1;
    if (!status && rename(temporary, path)) status = -1;
    if (status) error_set(err, "cannot write '%s': %s", path, strerror(errno));
    if (status && file) unlink(temporary);
    return status;
}

enum live_state live_status_decide(const json_t *document, const char *machine, double now)
{
    long pid = (long)json_get_integer(document, "pid", 0);
    if (!strcmp(json_get_string(document, "machine", ""), machine)) {
        bool there = pid > 0 && start_of(pid) == json_get_integer(document, "pid_started", -1);
        return there ? LIVE_HERE : LIVE_DEAD;
    }
    double silence = fmax(LIVE_STATUS_SILENCE, 5 * json_get_number(document, "every", 0));
    return fabs(now - json_get_number(document, "written", 0)) <= silence ? LIVE_ELSEWHERE : LIVE_SILENT;
}

int live_status_read(const char *store_path, struct live_status *live, struct error *err)
{
    autofree char *path = live_status_path(store_path);
    *live = (struct live_status){.state = LIVE_NONE, .age = NAN};
    autofree char *text = text_read_file(path, NULL);
    int status = 0;
    if (text && !(live->document = json_parse(text, err))) {
        status = error_prefix(err, "%s", path);
    } else if (text && (strcmp(json_get_string(live->document, "format", ""), LIVE_STATUS_FORMAT) ||
                        json_get_integer(live->document, "version", 0) != LIVE_STATUS_VERSION)) {
        status = error_set(err, "'%s' is not the live file of a run of this program's version", path);
        live_status_release(live);
    } else if (text) {
        autofree char *machine = live_status_machine();
        double now = clock_wall();
        live->age = now - json_get_number(live->document, "written", now);
        live->state = live_status_decide(live->document, machine, now);
    }
    return status;
}

void live_status_release(struct live_status *live)
{
    json_decref(live->document);
    *live = (struct live_status){.state = LIVE_NONE, .age = NAN};
}
