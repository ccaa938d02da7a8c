// SPDX-License-Identifier: MIT
#include "progress.h"

#include <stdio.h>
#include <unistd.h>

struct progress progress_begin(uint64_t all, bool quiet, bool (*go_on)(void))
{
    return (struct progress){
        .all = all ? all : 1, /* nothing is done at once */
        .start = time(NULL),
        .wanted = all > 0 && !quiet && isatty(STDERR_FILENO), /* a stream has no end to come near */
        .go_on = go_on,
    };
}

bool progress_show(void *context, uint64_t done)
{
    struct progress *progress = context;
    if (progress->wanted && time(NULL) - progress->start >= 1) {
        fprintf(stderr, "\r%3u %%", (unsigned)(done * 100 / progress->all));
        progress->shown = true;
    }
    return !progress->go_on || progress->go_on();
}

void progress_end(const struct progress *progress)
{
    if (progress->shown)
        fprintf(stderr, "\r     \r");
}
