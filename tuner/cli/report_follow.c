// See report_follow.h.
#include "tuner/cli/report_follow.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tuner/base/installation.h"
#include "tuner/base/output_file.h"
#include "tuner/base/protocol.h"
#include "tuner/base/text.h"
#include "tuner/cli/report_write.h"
#include "tuner/cli/session.h"

enum { LOW_PRIORITY = 10, WORDS_MOST = OPTIONS_MAX_LIST + 16 };

// In the child. Ctrl-C is left to the tuner, which ends this process when it is done.
static void become_report(char *const argv[], pid_t tuner)
{
    int nowhere = open("/dev/null", O_RDWR);
    setpgid(0, 0);
    prctl(PR_SET_PDEATHSIG, SIGTERM);
    if (getppid() != tuner) _exit(0);        // the tuner died before prctl
    if (nice(LOW_PRIORITY) == -1) errno = 0; // goes on at normal priority
    for (int fd = 0; fd <= 2 && nowhere >= 0; fd++) (void)dup2(nowhere, fd);
    execv(argv[0], argv);
    _exit(EXIT_ENVIRONMENT);
}

static void start(struct report_follow *f, double seconds)
{
    char *program = installation_program("sweetspot"), *every = text_format("%.17gs", seconds);
    char *argv[WORDS_MOST];
    size_t count = 0;
    const char *const before[] = {program, "report", "--output", f->output, "--every", every};
    for (size_t i = 0; i < sizeof before / sizeof *before; i++) argv[count++] = (char *)before[i];
    if (f->store) argv[count++] = "--store";
    if (f->store) argv[count++] = (char *)f->store;
    argv[count++] = "--";
    for (size_t i = 0; i < f->jobs->count; i++) argv[count++] = (char *)f->jobs->items[i];
    argv[count] = NULL;
    pid_t tuner = getpid();
    f->child = fork();
    if (f->child == 0) become_report(argv, tuner);
    if (f->child < 0)
        fprintf(stderr, "sweetspot: cannot write the page during the run, only at the end: %s\n", strerror(errno));
    free(program);
    free(every);
}

int report_follow_begin(struct report_follow *f, double seconds)
{
    struct report_charts charts;
    struct output_file file;
    struct error err;
    f->child = -1;
    int status = report_charts_read(&charts, &err) || output_file_open(&file, f->output, &err);
    report_charts_release(&charts);
    if (status) return session_complain(EXIT_ENVIRONMENT, &err);
    output_file_close(&file, false, &err);
    if (!output_is_stream(f->output)) start(f, seconds);
    return 0;
}

int report_follow_end(struct report_follow *f, int status)
{
    struct report_files files = {0};
    struct report_charts charts = {0};
    struct error err;
    if (f->child > 0) {
        kill(f->child, SIGTERM);
        while (waitpid(f->child, NULL, 0) < 0 && errno == EINTR) continue;
    }
    if (report_files_find(&files, f->jobs, f->store)) return status;
    int written = report_charts_read(&charts, &err) ? session_complain(EXIT_ENVIRONMENT, &err)
                                                    : report_write(&files, &charts, FORMAT_PAGE, f->output, true);
    report_charts_release(&charts);
    report_files_release(&files);
    return status == EXIT_DONE && written == EXIT_ENVIRONMENT ? written : status;
}
