// SPDX-License-Identifier: MIT
/** @file The lister's state, shared by its files: main.c, session.c (a snapshot's buffers). */
#ifndef LISTER_LISTER_H
#define LISTER_LISTER_H

#include "options.h"
#include "pugmark/advanced/snapshot.h"
#include "pugmark/pugmark.h"

struct lister;

/** A source's packet printer. */
struct packet_printer {
    struct lister *lister;
    struct pug_source *source;
};

struct lister {
    struct output output;
    struct options options;
    struct pug_log *log;
    char *last_error; /* text of the last error, with its code; NULL: none yet */

    struct pug_snapshot *snapshot;
    const struct pug_snapshot_buffer *buffer; /* that the tree is made from */
    struct pug_image *image;
    struct pug_tree *tree;
    bool single;
    struct packet_printer packet_printers[128]; /* by slot */

    unsigned waits;                       /* elements still to be answered with WAIT */
    bool wait_unanswered;                 /* no FLUSH since the last WAIT */
    uint64_t counts[PUG_ELEM_TYPE_COUNT]; /* -profile */
};

/** Decode what the snapshot holds, as the options say; the exit code. */
int session_run(struct lister *lister);

/** Attach everything that prints to the tree. False: there is nothing to list. */
bool printers_attach(struct lister *lister);

#endif
