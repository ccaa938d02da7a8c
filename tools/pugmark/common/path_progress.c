// SPDX-License-Identifier: MIT
#include "path_progress.h"

#include "progress.h"
#include "terminal.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#define LOOKED_EVERY (UINT64_C(1) << 16) /* items */
#define MILLION      1000000u

struct path_progress path_progress_begin(int file, uint64_t limit, bool quiet)
{
    struct stat status;
    const bool regular = fstat(file, &status) == 0 && S_ISREG(status.st_mode);
    return (struct path_progress){.size = regular ? (uint64_t)status.st_size : 0,
                                  .limit = limit,
                                  .start = progress_now(),
                                  .wanted = !quiet && terminal_is(stderr)};
}

/** How far it is where an end is known, and how fast. */
static void put_text(const struct path_progress *progress, uint64_t at, char *text, size_t size)
{
    const double seconds = progress->last - progress->start;
    if (progress->limit > MILLION)
        progress_text(text, size, progress->instructions / MILLION, progress->limit / MILLION,
                      seconds, "million instructions");
    else if (progress->size > 0)
        progress_text(text, size, at, progress->size, seconds, NULL);
    else
        progress_rate(text, size, (double)progress->instructions / MILLION / seconds,
                      "million instructions");
    const size_t used = strlen(text);
    snprintf(text + used, size - used, ", %" PRIu64 " million instructions",
             progress->instructions / MILLION);
}

static void draw(struct path_progress *progress, uint64_t at)
{
    char text[128];
    put_text(progress, at, text, sizeof(text));
    progress_draw(text, &progress->drawn);
    if (progress->size == 0)
        fputc('\r', stderr); /* what the program prints goes over it */
}

void path_progress_show(struct path_progress *progress, const struct rec_path_reader *reader,
                        const struct rec_path_item *item)
{
    progress->items++;
    if (item->kind == REC_PATH_RAN)
        progress->instructions += item->count;
    if (!progress->wanted || progress->items % LOOKED_EVERY != 0 ||
        progress->instructions < MILLION)
        return;
    const double now = progress_now();
    if (now - progress->start < 1 || now - progress->last < 1)
        return;
    progress->last = now;
    draw(progress, rec_path_reader_at(reader));
}

void path_progress_end(struct path_progress *progress)
{
    progress_wipe(&progress->drawn);
}
