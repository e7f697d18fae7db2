// How a scripted worker (fake_worker.c) fails: it dies, stops, prints endlessly, or sends impossible answers.
#pragma once

#include <signal.h>
#include <sys/file.h>
#include <unistd.h>

#include "tests/fake_request.h"
#include "tuner/base/text.h"

// Results that no real worker could send. The configuration's mode selects one in a trial or, with the prefix "final_",
// in a final.
static const struct {
    const char *mode, *member, *value;
} impossible[] = {
    {"time_zero", "time", "0"},
    {"time_tiny", "time", "5e-324"},
    {"time_negative", "time", "-1e-3"},
    {"time_huge", "time", "1e308"},
    {"time_text", "time", "\"soon\""},
    {"error_negative", "error", "-1"},
    {"sample_zero", "samples", "[1e-3, 0]"},
    {"count_real", "count", "2.5"},
    {"problem_far", "problem", "1000000"},
    {"problem_none", "problem", "null"},
    {"energy_text", "energy", "[1, 2]"},
};

// Makes one problem in an answer invalid if the mode requires it. In a final, "time" means the time of a round.
static inline void spoil(const json_t *object, bool in_final, json_t *problems)
{
    for (size_t i = 0; i < sizeof impossible / sizeof *impossible; i++) {
        autofree char *mode = text_format("%s%s", in_final ? "final_" : "", impossible[i].mode);
        json_t *problem = json_array_get(problems, 0);
        if (mode_is(object, mode)) {
            json_t *value = json_loads(impossible[i].value, JSON_DECODE_ANY, NULL);
            if (in_final && !strcmp(impossible[i].member, "time"))
                json_array_set_new(json_object_get(problem, "times"), 0, value);
            else
                json_object_set_new(problem, impossible[i].member, value);
        }
    }
}

// $FAKE_FAULT is "op:kind:N": the first N requests with this op, counted over all workers, cause this fault. The op
// "start" stands for the start of a worker. The file $FAKE_LOG.faults holds the count.
static inline void suffer(const char *op)
{
    char wanted[32], kind[32], path[4096];
    int times, n = 0;
    const char *fault = getenv("FAKE_FAULT"), *log = getenv("FAKE_LOG");
    if (!fault || !log || sscanf(fault, "%31[^:]:%31[^:]:%d", wanted, kind, &times) != 3 || strcmp(op, wanted)) return;
    snprintf(path, sizeof path, "%s.faults", log);
    FILE *file = fopen(path, "a+");
    if (!file || flock(fileno(file), LOCK_EX)) abort(); // workers exclude each other here
    for (int c; (c = fgetc(file)) != EOF;) n += c == '\n';
    fseek(file, 0, SEEK_END); // required between reading and writing
    if (n < times) fprintf(file, "%s %s\n", op, kind);
    fclose(file);
    if (n >= times) return;
    if (!strcmp(kind, "orphan")) { // leaves two processes, one of them in its own session
        autofree char *command = text_format("(setsid sleep 298.1 & echo $!; sleep 298.1 & echo $!) >>%s.orphans", log);
        if (system(command)) abort();
    }
    if (!strcmp(kind, "kill") || !strcmp(kind, "orphan")) raise(SIGKILL);
    if (!strcmp(kind, "stop")) raise(SIGSTOP);
    if (!strcmp(kind, "exit")) _exit(1);
    if (!strcmp(kind, "deaf")) close(STDIN_FILENO); // so that writing to it fails
    if (!strcmp(kind, "mute")) close(STDOUT_FILENO);
    if (!strcmp(kind, "deaf") || !strcmp(kind, "mute")) pause();
    while (!strcmp(kind, "flood")) fputs("and so on\n", stderr);
    while (!strcmp(kind, "endless")) fputs("and so on", stdout);
    if (!strcmp(kind, "quiet")) close(STDERR_FILENO);
    if (!strcmp(kind, "slow") || !strcmp(kind, "quiet")) sleep(2);
}

// $FAKE_SPOIL is "OP JSON": in answers to these requests, the members in JSON are added or replaced.
static inline void spoil_answer(const char *op, json_t *answer)
{
    const char *how = getenv("FAKE_SPOIL"), *json = how ? strchr(how, ' ') : NULL;
    if (!json || strlen(op) != (size_t)(json - how) || strncmp(how, op, strlen(op)) != 0) return;
    autojson json_t *members = json_loads(json, 0, NULL);
    json_object_update_recursive(answer, members);
}

// $FAKE_OTHERS names a kind of request. Every request of this kind except the first is answered with another request's
// number.
static inline bool answers_others(const char *op, const json_t *request)
{
    static int asked;
    const char *which = getenv("FAKE_OTHERS");
    return which && !strcmp(which, op) && (strcmp(op, "compile") || json_object_get(request, "config")) && asked++;
}
