// `status --watch`: see status_live.h.
#include <sys/ioctl.h>
#include <time.h>
#include <unistd.h>

#include "tuner/base/base.h"
#include "tuner/base/clock.h"
#include "tuner/base/flat_csv.h"
#include "tuner/base/output_file.h"
#include "tuner/base/protocol.h"
#include "tuner/cli/options.h"
#include "tuner/cli/status_live.h"

static const double longest_silence = 120; // s

struct status_follower {
    int format;
    size_t drawn;   // lines of the last block, on a terminal
    size_t printed; // blocks
    double written; // of the newest version
    double heard;   // when that one was seen first, by this machine's clock
};

// Rows and columns of the terminal that standard output is; false: it is none that could be redrawn.
static bool terminal_size(size_t *rows, size_t *columns)
{
    const char *terminal = getenv("TERM");
    struct winsize size;
    if (!isatty(STDOUT_FILENO) || !terminal || !*terminal || !strcmp(terminal, "dumb")) return false;
    bool known = !ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) && size.ws_row > 2 && size.ws_col > 2;
    *rows = known ? size.ws_row : 24;
    *columns = known ? size.ws_col : 80;
    return true;
}

// The bytes of a line that fit into so many columns; UTF-8 continuation bytes take none.
static size_t fitting(const char *line, size_t length, size_t columns)
{
    size_t used = 0, i = 0;
    for (; i < length; i++) {
        used += ((unsigned char)line[i] & 0xc0) != 0x80;
        if (used > columns) break;
    }
    return i;
}

// Over the last block. Lines are cut, never wrapped, and the last row stays free, so that the next block finds its
// place; what has no room is counted.
static void redraw(struct status_follower *w, const char *text, size_t rows, size_t columns)
{
    size_t lines = 0, drawn = 0;
    for (const char *p = text; *p; p++) lines += *p == '\n';
    size_t room = lines < rows ? lines : rows - 2;
    if (w->drawn) printf("\033[%zuA\r", w->drawn);
    printf("\033[J");
    for (const char *line = text; drawn < room; drawn++) {
        size_t length = strcspn(line, "\n");
        printf("%.*s\n", (int)fitting(line, length, columns - 1), line);
        line += length + 1;
    }
    if (room < lines) printf("%zu more lines\n", lines - room);
    w->drawn = drawn + (room < lines);
}

static void print_block(struct status_follower *w, const json_t *live)
{
    char *text = NULL;
    size_t size = 0, rows, columns;
    FILE *out = open_memstream(&text, &size);
    if (!out) abort();
    fprintf(out, "%-15s%s on %s\n", "job", json_get_string(live, "job", "?"), json_get_string(live, "device", "?"));
    status_live_print(live, out);
    fclose(out);
    if (terminal_size(&rows, &columns))
        redraw(w, text, rows, columns);
    else
        printf("%s%s", w->printed ? "\n" : "", text);
    free(text);
}

static void print(struct status_follower *w, const json_t *live)
{
    if (w->format == FORMAT_JSON) {
        char *line = json_dumps(live, JSON_COMPACT | JSON_REAL_PRECISION(17));
        printf("%s\n", line);
        free(line);
    } else if (w->format == FORMAT_CSV) {
        char when[32];
        snprintf(when, sizeof when, "%.3f", json_get_number(live, "written", NAN));
        const char *const before[] = {json_get_string(live, "job", ""), when, NULL};
        if (!w->printed) printf("job,when,key,value\n");
        flat_csv_print(live, before, stdout);
    } else {
        print_block(w, live);
    }
    fflush(stdout);
    w->printed++;
}

// Clocks of machines may differ: a file that changes is alive whatever its time says.
static void hear(struct status_follower *w, struct live_status *live)
{
    double written = json_get_number(live->document, "written", 0), now = clock_now();
    bool first = w->written <= 0;
    if (first || written > w->written || written < w->written) {
        if (!first && live->state == LIVE_SILENT) live->state = LIVE_ELSEWHERE;
        w->written = written;
        w->heard = now;
    }
    if (!first && live->state == LIVE_ELSEWHERE) live->age = now - w->heard;
}

static void wait_for(double seconds)
{
    struct timespec left = {(time_t)seconds, (long)(1e9 * fmod(seconds, 1))};
    nanosleep(&left, NULL);
}

enum watch_outcome status_watch(const char *store_path, int format, double every)
{
    struct status_follower w = {.format = format};
    for (;;) {
        struct live_status live;
        struct error err;
        if (live_status_read(store_path, &live, &err)) {
            fprintf(stderr, "sweetspot: %s\n", err.message);
            return WATCH_FAILED;
        }
        if (live.state == LIVE_NONE) return w.printed ? WATCH_ENDED : WATCH_NO_RUN;
        hear(&w, &live);
        json_t *document = status_live_json(&live);
        bool dead = live.state == LIVE_DEAD,
             lost = live.state == LIVE_SILENT && clock_now() - w.heard > longest_silence;
        print(&w, document);
        json_decref(document);
        live_status_release(&live);
        if (dead || lost) return WATCH_KILLED;
        if (output_stdout_closed()) return WATCH_ENDED;
        wait_for(every);
    }
}
