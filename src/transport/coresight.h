// SPDX-License-Identifier: MIT
/**
 * @file The CoreSight frame demultiplexer's own interface, shared by its files: coresight.c
 * (settings, operations), coresight_sync.c (bytes to frames of 16 bytes), coresight_frame.c (frames
 * to runs), coresight_gather.c (frames to runs of one source after the other), coresight_count.c
 * (frames without a consumer).
 */
#ifndef PUG_TRANSPORT_CORESIGHT_H
#define PUG_TRANSPORT_CORESIGHT_H

#include "transport/builtin.h"

#define PUG_CS_COMPONENT    "DFMT_CSFRAMES"
#define PUG_CS_FRAME_BYTES  16u
#define PUG_CS_NO_FRAME     PUG_CS_FRAME_BYTES /* where a run would begin when there is no frame */
#define PUG_CS_FEW_SPLICED  64u /* frames: what becomes of them stays in the first-level cache */
#define PUG_CS_MOST_SPLICED 256u
#define PUG_CS_FSYNC        0xFFFFFF7Fu

/* Bits of the "flags" setting: the reference's numbers. */
enum pug_cs_flag {
    PUG_CS_FSYNCS = 0x01,
    PUG_CS_HSYNCS = 0x02,
    PUG_CS_MEM_ALIGN = 0x04,
    PUG_CS_RAW_PACKED = 0x08,
    PUG_CS_RAW_UNPACKED = 0x10,
    PUG_CS_RESET_ON_4X_FSYNC = 0x20,
    PUG_CS_ALL_FLAGS = 0x3f,
};

enum pug_cs_id {
    PUG_CS_ID_NULL = 0x00,
    PUG_CS_ID_FIRST_RESERVED = 0x70,
    PUG_CS_ID_FLUSH = 0x7b,
    PUG_CS_ID_TRIGGER = 0x7d,
    PUG_CS_ID_SYNC = 0x7f, /* may not be used: its byte is that of syncs */
};

/** The null source and the ids that the architecture keeps for itself. */
static inline bool pug_cs_is_reserved(uint16_t id)
{
    return id == PUG_CS_ID_NULL || id >= PUG_CS_ID_FIRST_RESERVED;
}

/** The part of the input that is not taken yet. */
struct pug_cs_block {
    const uint8_t *at, *end;
};

static inline bool pug_cs_has_frame(const struct pug_cs_block *block)
{
    return block->end - block->at >= (ptrdiff_t)PUG_CS_FRAME_BYTES;
}

struct pug_cs_gathering;

struct pug_coresight {
    struct pug_transport_sink *sink;
    uint32_t flags;                     /* enum pug_cs_flag */
    bool dstream;                       /* 504 bytes of frames, then 8 of footer */
    bool find_padding;                  /* FSYNCs in memory-aligned frames are padding */
    size_t used;                        /* what the last call took */
    struct pug_cs_gathering *gathering; /* NULL: nothing was gathered yet */

    /* where in the input: from here on all is forgotten at a reset */
    bool started;    /* `index` is valid */
    uint64_t index;  /* of the next byte */
    uint16_t column; /* DSTREAM: place in the 512-byte block */
    enum pug_response worst;

    /* synchronisation */
    bool synced;
    bool odd;               /* `first` waits for the other byte of its pair */
    bool half_sync;         /* the first pair of an FSYNC was taken */
    bool half_sync_carried; /* ... at the end of an earlier block */
    bool in_padding;
    uint8_t first;
    uint32_t shift;   /* the last 4 bytes */
    uint64_t skipped; /* bytes since synchronisation was lost */

    /* the frame being collected */
    uint8_t fill;
    uint64_t frame_index;
    uint8_t frame[PUG_CS_FRAME_BYTES];

    /* the last whole frame, run by run */
    uint16_t id;       /* whose the next byte is */
    uint8_t ids;       /* even bytes that are ids and still to come: a bit each */
    uint8_t aux;       /* its byte 15 */
    uint8_t from;      /* where the next run begins */
    uint8_t told_from; /* ... as its index has it */
    bool run_there;    /* `run` waits to be taken */
    bool run_offered;  /* ... and was offered before */
    bool run_begun;    /* ... and part of it was taken */
    struct pug_run run;
    uint8_t bytes[2 * PUG_CS_FRAME_BYTES]; /* the frame's, with their bits 0 */

    /* of each byte that may be an id: can frames with it be counted? Asked once a call */
    bool knows_kinds;
    uint32_t kinds[256];

    /* a spliced run, and its gaps: not read before they are written, and not forgotten */
    uint8_t spliced[PUG_CS_MOST_SPLICED * PUG_CS_FRAME_BYTES];
    uint16_t gaps[PUG_CS_MOST_SPLICED * PUG_CS_FRAME_BYTES];
};

/** Does the next frame begin where the input does, while no consumer reads frames? */
static inline bool pug_cs_may_run_on(const struct pug_coresight *cs)
{
    return !(cs->sink->want & 3) && cs->synced && cs->fill == 0 && !cs->odd && !cs->half_sync;
}

static inline void pug_cs_pass_frame(struct pug_coresight *cs, struct pug_cs_block *block)
{
    cs->index += PUG_CS_FRAME_BYTES;
    block->at += PUG_CS_FRAME_BYTES;
}

static inline void pug_cs_answer(struct pug_coresight *cs, enum pug_response answer)
{
    if (answer > cs->worst)
        cs->worst = answer;
}

static inline void pug_cs_log(struct pug_coresight *cs, enum pug_severity severity,
                              enum pug_status code, uint64_t index, const char *text)
{
    pug_log_put(cs->sink->log, &(struct pug_log_record){.severity = severity,
                                                        .code = code,
                                                        .index = index,
                                                        .source = PUG_NO_SOURCE,
                                                        .component = PUG_CS_COMPONENT,
                                                        .text = text});
}

static inline void pug_cs_show(struct pug_coresight *cs, unsigned want, uint64_t index,
                               enum pug_frame_kind kind, uint16_t source, const uint8_t *bytes,
                               size_t size)
{
    if (cs->sink->want & want)
        cs->sink->frame(cs->sink->frame_context, PUG_OP_DATA, index, kind, source, bytes, size);
}

/** Four bytes in stream order: FSYNC is PUG_CS_FSYNC. */
static inline uint32_t pug_cs_word(const uint8_t *bytes)
{
    return (uint32_t)bytes[0] << 24 | (uint32_t)bytes[1] << 16 | (uint32_t)bytes[2] << 8 | bytes[3];
}

/** Eight bytes, the first one lowest. */
static inline uint64_t pug_cs_load(const uint8_t *bytes)
{
    uint64_t value;
    memcpy(&value, bytes, sizeof(value));
#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
    value = __builtin_bswap64(value);
#endif
    return value;
}

static inline void pug_cs_store(uint8_t *bytes, uint64_t value)
{
#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
    value = __builtin_bswap64(value);
#endif
    memcpy(bytes, &value, sizeof(value));
}

/**
 * The next whole frame, its index in `frame_index`; NULL when the block is used up, or when an
 * error ended the call (`worst` says so).
 */
const uint8_t *pug_cs_next_frame(struct pug_coresight *cs, struct pug_cs_block *block);

/** Take the frames of a block and hand out their runs, until an answer that stops; to `worst`. */
void pug_cs_take_frames(struct pug_coresight *cs, struct pug_cs_block *block);

/** Count frames, up to one of which somebody hears something, if only that it is there. */
void pug_cs_count_frames(struct pug_coresight *cs, struct pug_cs_block *block);

/**
 * Take frames source by source, and hand out what was gathered; answers to `worst`. What a consumer
 * that stops leaves of it waits. False: no frame was taken, the next one is for
 * pug_cs_take_frames().
 */
bool pug_cs_gather(struct pug_coresight *cs, struct pug_cs_block *block);
/** Hand out what waits of it. */
void pug_cs_give_gathered(struct pug_coresight *cs);
bool pug_cs_has_gathered(const struct pug_coresight *cs);
void pug_cs_forget_gathered(struct pug_coresight *cs);

/** Hand out what is left of what was taken; answers to `worst`. */
void pug_cs_deliver(struct pug_coresight *cs);

#endif
