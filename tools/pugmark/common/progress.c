// SPDX-License-Identifier: MIT
#include "progress.h"

#include "terminal.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

double progress_now(void)
{
    struct timespec now = {0};
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

struct progress progress_begin(uint64_t all, bool quiet, bool (*go_on)(void))
{
    return (struct progress){
        .all = all ? all : 1, /* nothing is done at once */
        .start = progress_now(),
        .wanted = all > 0 && !quiet && terminal_is(stderr), /* a stream has no end to come near */
        .go_on = go_on,
    };
}

struct progress progress_begin_count(uint64_t all, const char *what, bool quiet)
{
    struct progress progress = progress_begin(all, quiet, NULL);
    progress.what = what;
    return progress;
}

void progress_rate(char *text, size_t size, double rate, const char *what)
{
    static const char *const units[] = {"B", "kB", "MB", "GB", "TB"};
    unsigned unit = 0;
    if (what) {
        snprintf(text, size, "%.*f %s/s", rate < 10 ? 1 : 0, rate, what);
        return;
    }
    while (rate >= 1000 && unit < 4) {
        rate /= 1000;
        unit++;
    }
    snprintf(text, size, "%.*f %s/s", rate < 10 && unit > 0 ? 1 : 0, rate, units[unit]);
}

/** "40 s", "3 min", "2 h 5 min". */
static void put_left(char *text, size_t size, double seconds)
{
    if (seconds < 100)
        snprintf(text, size, "%.0f s", seconds);
    else if (seconds < 6000)
        snprintf(text, size, "%.0f min", seconds / 60);
    else if (seconds < 3600e3)
        snprintf(text, size, "%.0f h", seconds / 3600);
    else
        snprintf(text, size, "days");
}

void progress_text(char *text, size_t size, uint64_t done, uint64_t all, double seconds,
                   const char *what)
{
    char rate[32], left[32];
    const double share = all > 0 ? (double)done / (double)all : 0;
    progress_rate(rate, sizeof(rate), seconds > 0 ? (double)done / seconds : 0, what);
    put_left(left, sizeof(left), share > 0 ? seconds / share - seconds : 0);
    snprintf(text, size, "%3.0f %%, %s, %s left", share < 1 ? share * 100 : 100, rate, left);
}

void progress_draw(const char *text, size_t *drawn)
{
    const size_t length = strlen(text), gap = *drawn > length ? *drawn - length : 0;
    fprintf(stderr, "\r%s%*s", text, (int)gap, "");
    *drawn = length;
}

void progress_wipe(size_t *drawn)
{
    if (*drawn > 0)
        fprintf(stderr, "\r%*s\r", (int)*drawn, "");
    *drawn = 0;
}

bool progress_show(void *context, uint64_t done)
{
    struct progress *progress = context;
    const double now = progress->wanted ? progress_now() : 0;
    if (progress->wanted && now - progress->start >= 1 && now - progress->last >= 1) {
        char text[96];
        progress_text(text, sizeof(text), done, progress->all, now - progress->start,
                      progress->what);
        progress_draw(text, &progress->drawn);
        progress->last = now;
    }
    return !progress->go_on || progress->go_on();
}

struct progress progress_begin_file(FILE *file, bool quiet)
{
    struct stat status;
    const bool regular = fstat(fileno(file), &status) == 0 && S_ISREG(status.st_mode);
    return progress_begin(regular ? (uint64_t)status.st_size : 0, quiet, NULL);
}

void progress_show_file(struct progress *progress, FILE *file)
{
    const uint64_t lines_each = 4096;
    if (progress->wanted && ++progress->lines % lines_each == 0)
        (void)progress_show(progress, (uint64_t)ftello(file));
}

void progress_end(struct progress *progress)
{
    progress_wipe(&progress->drawn);
}
