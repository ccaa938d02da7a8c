// SPDX-License-Identifier: MIT
/** @file Inside of the engine: its streams, and what a stream's blocks are to its unit. */
#ifndef PUG_RECORDER_STREAM_H
#define PUG_RECORDER_STREAM_H

#include "recorder/engine.h"
#include "recorder/prepared.h"

#define REC_STREAMS 128u

/** A processor's identity, and its context from the next block on. */
struct rec_identity {
    uint64_t task;
    struct rec_situation coming;
    bool in_context; /* somebody said in which */
    bool of_machine; /* it is a machine's: its processes may share addresses */
};

/** A processor that is traced. */
struct rec_stream {
    unsigned cpu;
    struct rec_identity is;
    struct rec_unit *unit;
    struct rec_bytes out;
    bool on, told_gap;
    struct prepared *block;                        /* ran last; what it led to is not known yet */
    uint32_t count;                                /* instructions of it that retired */
    struct rec_path_access *accesses;              /* of the block, those that the protocol reports
                                                    */
    uint32_t access_count, access_room, access_at; /* at: given to the unit so far */
    uint8_t it;                                    /* T32 instructions still in an IT block */
    uint32_t since;                                /* instructions since the last waypoint */
    struct rec_place last;                         /* the instruction that retired last */
    struct prepared *empty; /* the block that ran last may be that: nothing, at an address */
    bool asked, gap, trapped;
    struct rec_path_item trap; /* where `trapped` */
    bool returned;             /* the block's last instruction returned from an exception */
    struct rec_path_item back; /* where `returned` */
    bool told_trap;            /* the unit got a trap or a return since the last block ran */
    bool t32_bit;              /* addresses of traps have bit 0 set where T32 instructions are */
    bool preempted;            /* another exception comes before what it returned to runs */
    bool fresh;                /* nothing was traced yet */
    enum rec_why why;
    struct rec_situation situation, told;
    uint64_t ran; /* instructions */
    uint64_t sync_at, time_at, cycles_at, other_at, lose_at, resume_at;
    uint64_t room;  /* bytes until the sink is full */
    uint64_t given; /* bytes since the source restarted */
};

struct rec_engine {
    struct rec_engine_config config;
    struct rec_engine_output output;
    struct rec_random random;
    struct pug_isa_config isa;
    char core[64]; /* of the processors, as a snapshot names it; "": unknown */
    bool m_profile;
    struct rec_stream *streams[REC_STREAMS];
    unsigned stream_count;
    uint8_t stream_of[REC_PATH_CPUS];          /* + 1; 0: none yet */
    struct rec_identity before[REC_PATH_CPUS]; /* of those that have none: nothing ran there yet */
    struct prepared **blocks;                  /* by id */
    uint32_t block_count;
    struct rec_memory *memory;
    uint32_t version; /* of memory */
    uint64_t instructions, left_out, lost;
    const char *error;
    bool ended;
};

/** Gives the output an item of the path. */
void rec_engine_give_path(struct rec_engine *engine, const struct rec_path_item *item);

/** Say why nothing goes on, unless that is said. False. */
bool rec_engine_fail(struct rec_engine *engine, const char *why);

/** The place of an instruction of the block; after the last one: where the block ends. */
struct rec_place rec_stream_place_in(const struct prepared *block, uint32_t n);
/** The place where execution would have continued after the block without the trap. */
struct rec_place rec_stream_natural_next(const struct rec_stream *stream);
/** Where a trap goes back to, or a return goes on: the item's address, with its instruction set. */
struct rec_place rec_stream_place_of(const struct rec_stream *stream,
                                     const struct rec_path_item *item);
/** Called when the place after the last block is known. */
void rec_stream_resolve(struct rec_engine *engine, struct rec_stream *stream,
                        const struct rec_place *next);

#endif
