// SPDX-License-Identifier: MIT
/** @file Named values: what a caller says of a trace unit, a protocol or a transport. */
#ifndef PUGMARK_SETTING_H
#define PUGMARK_SETTING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/** One named value. Names are those of the specification ("TRCIDR0", "iaddress_width_p"). */
struct pug_setting {
    const char *name; /**< what is set */
    uint64_t value;   /**< of numbers */
    const char *text; /**< for settings that are words; NULL for numbers */
};

/** Receives each name that is looked up in a list, to find settings that nothing reads. */
struct pug_settings_watch {
    void (*asked)(void *context, const char *name, bool word); /**< only a word would do */
    void *context;                                             /**< is handed to it */
};

/** A list of settings. The list, its strings and its watch belong to the caller. */
struct pug_settings {
    const struct pug_setting *items;        /**< the first of a name counts */
    size_t count;                           /**< how many there are */
    const struct pug_settings_watch *watch; /**< or NULL */
};

/**
 * A few bytes of trace can stand for a great deal of execution, and damaged or hostile ones for far
 * more than ever ran. So many ranges (of up to 1024 instructions: what has more counts as several)
 * a byte of a packet may give at most; beyond that the packet is bad, with a message, and decoding
 * goes on at the next synchronisation. Protocols have it each in its own measure: an atom may be a
 * 32nd of a byte; a packet of E-Trace and a message of N-Trace count as 8 bytes, whatever they
 * have, since a few of them repeat a loop that ran for long. Bounds that a protocol's settings have
 * (walk_limit, branch_limit) hold besides.
 */
#define PUG_EXPANSION (UINT32_C(1) << 20)

/** Choices of the user, per source. */
struct pug_decode_options {
    bool halt_on_bad_packet;     /**< a bad packet is fatal instead of a resynchronisation */
    bool error_on_bad_packet;    /**< … is an error instead of a warning */
    bool check_direct_branch;    /**< N atom on an unconditional direct branch: bad image */
    bool check_strict_branch;    /**< N atom on any unconditional branch: bad image */
    bool check_range_continuity; /**< successive ranges must join */
    bool check_skips_thumb;      /**< the branch checks leave T32 alone */
    bool split_source_address;   /**< ETE: split source-address ranges at N atoms */
    bool check_opcode;           /**< A64 opcode with empty upper half is an error */
    bool data_elements;          /**< ETMv3: data packets become elements (native tools: on) */
    bool join_payloads;          /**< STM: the data packets of a message become one element */
    uint32_t range_limit;        /**< most instructions in one range; 0: the built-in bound only */
    uint32_t expansion;          /**< see PUG_EXPANSION; 0: that many */
    uint32_t spare[7];           /**< zero */
};

#ifdef __cplusplus
}
#endif
#endif
