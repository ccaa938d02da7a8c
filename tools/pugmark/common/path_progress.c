// SPDX-License-Identifier: MIT
#include "path_progress.h"

#include "progress.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define SHOWN_EVERY (UINT64_C(1) << 20) /* items */

struct path_progress path_progress_begin(int file, bool quiet)
{
    struct stat status;
    const bool regular = fstat(file, &status) == 0 && S_ISREG(status.st_mode);
    return (struct path_progress){.size = regular ? (uint64_t)status.st_size : 0,
                                  .start = time(NULL),
                                  .wanted = regular && !quiet && isatty(STDERR_FILENO)};
}

void path_progress_show(struct path_progress *progress, const struct rec_path_reader *reader)
{
    progress->items++;
    if (!progress->wanted || progress->size == 0 || progress->items % SHOWN_EVERY != 0 ||
        time(NULL) - progress->start < 1)
        return;
    char text[128];
    progress_text(text, sizeof(text), rec_path_reader_at(reader), progress->size,
                  (double)(time(NULL) - progress->start), NULL);
    const size_t used = strlen(text);
    snprintf(text + used, sizeof(text) - used, ", %" PRIu64 " million blocks",
             progress->items / 1000000);
    progress_draw(text, &progress->drawn);
}

void path_progress_end(struct path_progress *progress)
{
    progress_wipe(&progress->drawn);
}
