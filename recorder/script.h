// SPDX-License-Identifier: MIT
/**
 * @file Scripts of events (docs/book/formats/event-script.md): what software, hardware and modules
 * said, a line each, as trace of the macrocells and modules that carry it: STM, ITM with DWT, Open
 * SoC Debug.
 */
#ifndef PUG_RECORDER_SCRIPT_H
#define PUG_RECORDER_SCRIPT_H

#include "recorder/bytes.h"

#include <stdio.h>

#define REC_SCRIPT_WORDS 64u

/** A line's words. */
struct rec_words {
    const char *at[REC_SCRIPT_WORDS];
    size_t count;
};

/**
 * Cut a line, which is changed: a word in quotes has blanks; a # begins a comment. False: there are
 * too many.
 */
bool rec_words_split(char *line, struct rec_words *words);
/** A number up to `most`. */
bool rec_words_number(const char *text, uint64_t most, uint64_t *value);
/** Has it no more than so many bits? */
static inline bool rec_number_fits(uint64_t number, uint64_t bits)
{
    return bits >= 64 || number >> bits == 0;
}
/** The words after the first, exactly `count`, as numbers. */
bool rec_words_numbers(const struct rec_words *words, size_t count, uint64_t *values);
/** The value of NAME=VALUE; NULL: there is none. */
const char *rec_words_value(const struct rec_words *words, const char *name);
/** Returns the value as a number; `otherwise` without one. False: it is no number up to `most`. */
bool rec_words_named(const struct rec_words *words, const char *name, uint64_t most,
                     uint64_t otherwise, uint64_t *value);
/** Is the flag among the words after the first? */
bool rec_words_flag(const struct rec_words *words, const char *flag);

/** How the trace of a script is made. */
struct rec_script_config {
    uint16_t source;  /**< trace id */
    uint64_t seed;    /**< 0: no choice is random */
    uint64_t sync;    /**< synchronise once in so many events; 0: at the begin alone */
    uint64_t longest; /**< Open SoC Debug: words of a packet at most */
    void (*read_line)(void *context, FILE *lines); /**< called after each line; or NULL */
    void *read_context;
};

struct rec_script;

struct rec_script_class {
    const char *name, *format; /**< of the buffer */
    bool frames;               /**< CoreSight frames carry it */
    /** NULL: no memory. */
    struct rec_script *(*make)(const struct rec_script_config *config, struct rec_bytes *out);
    void (*free)(struct rec_script *script);
    /** One event. False: it is none. */
    bool (*event)(struct rec_script *script, const struct rec_words *words);
    void (*end)(struct rec_script *script);
    /** The n-th source: its type, and lines of its [regs] into the file. NULL: there is none. */
    const char *(*source)(const struct rec_script *script, unsigned n, FILE *registers);
};

extern const struct rec_script_class rec_script_stm, rec_script_itm, rec_script_osd;

struct rec_osd;
/** An event of Open SoC Debug, whatever its module has sent before. False: it is none. */
bool rec_script_osd_event(struct rec_osd *osd, const struct rec_words *words);

/** By the name that --protocol takes; NULL: there is none. */
const struct rec_script_class *rec_script_find(const char *name);

/** All lines of a script into a snapshot folder. False: `why` says what is wrong. */
bool rec_script_record(const struct rec_script_class *script_class,
                       const struct rec_script_config *config, FILE *lines, const char *folder,
                       char *why, size_t size);

#endif
