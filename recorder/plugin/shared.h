// SPDX-License-Identifier: MIT
/**
 * @file Memory of the program's process and of the one that writes its path file. Everything in it
 * reaches the file, however the program ends: even when it cannot react (SIGKILL).  So at any
 * moment it must make sense; what belongs together changes with one store.
 */
#ifndef PUG_RECORDER_PLUGIN_SHARED_H
#define PUG_RECORDER_PLUGIN_SHARED_H

#include "../path_format.h"

#include <semaphore.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define SHARED_RING   (1u << 20) /* bytes of records underway; longer than any record */
#define SHARED_EVENTS 65536u     /* of a processor */
#define SHARED_MARGIN 64u        /* what one block adds is shorter */

/** The events of a processor, packed into one number. */
struct tail {
    uint32_t size; /**< bytes of events; 17 bits */
    uint32_t cut;  /**< the last block, if it ran no further, has retired so many; TAIL_WHOLE */
    uint64_t hits; /**< after the events: blocks that came in the same order as the last time */
};

#define TAIL_WHOLE 0xfffu               /* all of the last block retired */
#define TAIL_HITS  (UINT64_C(1) << 34u) /* more of them are written as an event */

static inline uint64_t tail_pack(struct tail tail)
{
    return tail.hits << 29 | (uint64_t)(tail.cut ^ TAIL_WHOLE) << 17 | tail.size;
}

static inline struct tail tail_unpack(uint64_t packed)
{
    return (struct tail){
        .size = packed & 0x1ffff, .cut = (packed >> 17 & 0xfff) ^ TAIL_WHOLE, .hits = packed >> 29};
}

struct shared_cpu {
    _Alignas(64) _Atomic uint64_t tail; /**< tail_pack(); nothing at first */
    _Atomic uint64_t sent;  /**< its events are in the ring as soon as that has so many bytes */
    _Atomic uint64_t began; /**< when the events did */
};

struct shared {
    sem_t filled, drained;       /**< the ring was, a little */
    _Atomic uint64_t put, taken; /**< bytes of whole records that went into the ring, and out */
    _Atomic bool ended;          /**< the program did, as programs do */
    _Atomic bool gone;           /**< the writer has ended */
    uint8_t ring[SHARED_RING];
    struct shared_cpu cpus[REC_PATH_CPUS];
    uint8_t events[REC_PATH_CPUS][SHARED_EVENTS];
};

/** LEB128; at most 10 bytes. Returns how many. */
size_t put_number(uint8_t *to, uint64_t value);
/**
 * An event that is not a block's hit; it follows the hits that came before it. At most 20 bytes.
 */
size_t put_event(uint8_t *to, uint64_t hits, enum rec_path_event kind, uint64_t operand);

#endif
