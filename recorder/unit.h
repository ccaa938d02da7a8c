// SPDX-License-Identifier: MIT
/**
 * @file What every program-flow encoder looks like to the engine: a table of what can happen to a
 * processor that is traced. Each protocol fills one table over its packet encoder.
 */
#ifndef PUG_RECORDER_UNIT_H
#define PUG_RECORDER_UNIT_H

#include "pugmark/advanced/isa.h"
#include "recorder/bytes.h"
#include "recorder/path.h"

#include <stdio.h>

struct rec_place {
    uint64_t address;
    uint8_t isa; /**< enum pug_isa */
};

/** An instruction that retired. */
struct rec_step {
    uint64_t pc;
    const struct pug_insn *insn;
    const uint8_t *bytes;
    const struct rec_path_access *accesses; /**< of it, where data are traced */
    uint32_t access_count;
    struct rec_place next;
    uint32_t since; /**< instructions since the last waypoint, this one included */
    uint8_t isa;
    bool taken;   /**< it is a branch, and not at `next` by going on */
    bool trapped; /**< a trap comes before what is at `next` runs */
    bool returns; /**< it returned from an exception, as the path says */
    bool chained; /**< and another exception is tail-chained: nothing runs at `next` */
};

/** The state of the processor. */
struct rec_situation {
    uint64_t time;
    uint32_t context_id;
    uint8_t privilege; /**< exception level; RISC-V: mode */
};

enum rec_why {
    REC_WHY_START,
    REC_WHY_OVERFLOW, /**< trace was lost before */
    REC_WHY_RETURN,   /**< from where is not traced */
};

struct rec_trap {
    enum rec_path_trap kind;
    struct rec_place back; /**< goes on there later; RISC-V: what trapped */
    struct rec_place to;   /**< the handler */
    bool traced;           /**< what runs there is; else trace goes off */
    bool begun;            /**< the instruction at `back` was begun; its code is in the path */
    struct rec_place last; /**< the instruction that retired last */
    uint32_t since;        /**< instructions since the last waypoint */
    bool numbered;         /**< the path says which exception it is: */
    uint32_t number;       /**< as rec_exception_number() takes it */
    bool chained;          /**< tail-chained: there is nothing to go back to */
    struct rec_situation situation;
};

/** What a unit may report directly after a waypoint. */
enum rec_between {
    REC_BETWEEN_SYNC = 1,
    REC_BETWEEN_TIME = 2,
    REC_BETWEEN_CONTEXT = 4, /**< it changed */
    REC_BETWEEN_CYCLES = 8,
    REC_BETWEEN_OTHER = 16, /**< whatever else the protocol has that says nothing of the flow */
};

/** A choice that the user has: `--set NAME=VALUE`. */
struct rec_option {
    const char *name;
    uint64_t otherwise, most;
    uint64_t random; /**< with a seed and no --set: 0 to this; 0: it stays as it is */
    const char *help;
};

#define REC_OPTIONS 40u

/** A feature of the protocol that is not generated, and the reason. */
struct rec_absent {
    const char *name, *why;
};

struct rec_unit_class;

/** How a unit is made. */
struct rec_unit_setup {
    uint8_t family;         /**< enum rec_path_family */
    uint16_t source;        /**< trace id, or RISC-V source id */
    unsigned sources;       /**< how many there are at most */
    const uint64_t *values; /**< of the class's options */
    bool data;              /**< data are traced */
    bool m_profile;         /**< Arm's M profile, and the architecture of such a core: */
    uint16_t arch;          /**< enum pug_arch */
    uint64_t seed;
    struct rec_bytes *out;
};

struct rec_unit; /**< each class's own */

struct rec_unit_class {
    const char *name;
    const char *device; /**< type in a snapshot */
    const char *core;   /**< default name of the core */
    uint32_t families;  /**< bits, by enum rec_path_family */
    bool every;         /**< it gets every instruction, otherwise waypoints alone */
    bool frames;        /**< CoreSight frames carry it */
    uint16_t m_profile; /**< the oldest architecture of M profile cores that have it; 0: none has */
    uint16_t m_newest;  /**< and the newest */
    bool m_only;        /**< no other cores have it */
    bool ports;         /**< it needs the values of stores to stimulus ports */
    const struct rec_option *options;
    unsigned option_count;
    const struct rec_absent *absent; /**< its last one has no name; NULL: none */
    /** Mend what cannot be together. */
    void (*settle)(uint64_t *values, uint8_t family);
    struct rec_unit *(*make)(const struct rec_unit_setup *setup);
    void (*free)(struct rec_unit *unit);
    /** Does trace have all bits of context ids, with these values? NULL: never. */
    bool (*by_context)(const uint64_t *values);
    /** Returns the rules that classify instructions for it. */
    void (*isa)(const uint64_t *values, struct pug_isa_config *config);
    void (*begin)(struct rec_unit *unit, const struct rec_place *at,
                  const struct rec_situation *situation, enum rec_why why);
    void (*instruction)(struct rec_unit *unit, const struct rec_step *step);
    void (*trap)(struct rec_unit *unit, const struct rec_trap *trap);
    void (*between)(struct rec_unit *unit, unsigned what, const struct rec_place *at,
                    const struct rec_situation *situation);
    /**
     * Trace stops: the unit gets everything that ran. `since` instructions ran since the last
     * waypoint, the last of them at `last`; execution would go on at `next`.
     */
    void (*end)(struct rec_unit *unit, const struct rec_place *last, const struct rec_place *next,
                uint32_t since);
    /** Trace is lost from `at` on, where a waypoint has just been. */
    void (*lose)(struct rec_unit *unit, const struct rec_place *at);
    /**
     * Do the executed addresses, and with `data` those of accesses, fit into the bits that are
     * sent? NULL: always.
     */
    bool (*reaches)(const uint64_t *values, uint8_t family, bool data,
                    const struct rec_path_item *item);
    /**
     * Selects the accesses of an instruction, by its instruction set and bytes, that the protocol
     * reports: they are moved to the front, and counted. NULL: it has no data trace.
     */
    uint32_t (*tells)(const uint64_t *values, uint8_t isa, const uint8_t *bytes,
                      struct rec_path_access *accesses, uint32_t count);
    /** Settings for a decoder: lines of a device's [regs]. */
    void (*describe)(const struct rec_unit_setup *setup, FILE *file);
    /** More lines for the buffer in trace.ini; NULL: none. */
    void (*describe_buffer)(const struct rec_unit_setup *setup, FILE *file);
    const char *(*format)(const struct rec_unit_setup *setup); /**< of the buffer */
};

/* The fields of a class whose file names its functions as the table does. */
#define REC_UNIT_FUNCTIONS                                                                         \
    .settle = settle, .make = make, .free = unit_free, .isa = isa, .begin = begin,                 \
    .instruction = instruction, .trap = trap, .between = between, .end = end, .lose = lose,        \
    .describe = describe

/** By the name that --protocol takes; NULL: there is none. */
const struct rec_unit_class *rec_unit_find(const char *name);
/** All of them, NULL after the last. */
const struct rec_unit_class *rec_unit_at(unsigned n);

/** Place of an option of the class, or -1. */
int rec_unit_option(const struct rec_unit_class *unit_class, const char *name);
/** Defaults; or with a seed whatever is legal, where `given` says that the user chose nothing. */
void rec_unit_values(const struct rec_unit_class *unit_class, uint8_t family, const bool *given,
                     uint64_t seed, uint64_t *values);

extern const struct rec_unit_class rec_unit_etmv4, rec_unit_ete, rec_unit_etmv3, rec_unit_ptm,
    rec_unit_etrace, rec_unit_ntrace, rec_unit_mtb, rec_unit_itm;

#endif
