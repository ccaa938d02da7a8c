// SPDX-License-Identifier: MIT
/**
 * @file A GDB server over a history: what GDB asks of a processor is answered from what it did.
 *
 * server.c takes packets, resume.c moves, transfer.c has the documents that GDB reads (threads,
 * programs, registers), target.c the registers.
 */
#ifndef PUGMARK_TOOL_GDB_SERVER_H
#define PUGMARK_TOOL_GDB_SERVER_H

#include "debug/session.h"
#include "packet.h"
#include "target.h"

#define GDB_BREAKPOINTS_MOST 100000u

struct gdb_server {
    struct session *session;
    struct gdb_link *link;
    enum gdb_target target;
    uint32_t general, moving; /**< threads of Hg and Hc; PUG_HISTORY_ANY: none was named */
    bool multiprocess, swbreak;
    bool over; /**< the peer is done */
    struct pug_history_breakpoint *breakpoints;
    size_t breakpoint_count, breakpoint_room;
    struct pug_memory reply;
    struct pug_sink sink;       /**< into the reply */
    struct pug_memory document; /**< that GDB reads in pieces */
    char document_name[64];
    struct session_object *objects;
    uint64_t *samples; /**< of each object, an address where its code ran */
    size_t object_count, object_room;
    uint32_t blocks; /**< the mark of pug_history_next_block() */
    /** A stop that GDB is told when it resumes: it had to read libraries first, and goes on then.
     */
    struct pug_history_move waiting;
    bool waits, goes_on;                   /**< goes_on: it stopped for the libraries alone */
    uint64_t libraries;                    /**< a hash of the list that GDB has */
    const struct pug_address_space *space; /**< that it was made in */
};

/** Serves one connection until it ends. */
void gdb_serve(struct session *session, struct gdb_link *link);

/* resume.c */
/** Handles vCont, s, c, bs, bc: moves and answers where that led. */
void gdb_resume(struct gdb_server *server, const char *packet);
/** Answers where it stands. */
void gdb_tell_stop(struct gdb_server *server, const struct pug_history_move *move);

/* transfer.c */
/** Answers a qXfer packet. False: there is no such document. */
bool gdb_transfer(struct gdb_server *server, const char *packet);
/** Returns by how much the program of the general thread's process was moved. */
uint64_t gdb_offset(struct gdb_server *server);
/** Has the list of libraries changed since GDB read it? */
bool gdb_libraries_changed(struct gdb_server *server);

/* thread.c */
/** Writes the id of a thread as the peer knows it. */
void gdb_put_thread(struct gdb_server *server, uint32_t thread);
/**
 * Reads a thread id. PUG_HISTORY_ANY: all, or any one. False: it is none, or there is no such
 * thread. *end is what follows.
 */
bool gdb_take_thread(struct gdb_server *server, const char *words, uint32_t *thread,
                     const char **end);

/** Reads a hexadecimal number. False: there is none. */
bool gdb_take_number(const char **words, uint64_t *number);

#endif
