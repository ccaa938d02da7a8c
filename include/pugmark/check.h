// SPDX-License-Identifier: MIT
/**
 * @file Rules that a trace has to keep: read from a text, checked in one pass, answered one by one.
 *
 *     struct pug_check *check = pug_check_new();
 *     if (pug_check_read(check, "rules.txt", text, size) != PUG_OK)
 *         ... pug_check_error_at(check, n, &error) says where and why
 *     pug_check_capture(check, capture, NULL, NULL);      // as often as there are captures
 *     pug_check_finish(check);
 *     for (n = 0; pug_check_verdict_at(check, n, &verdict); n++)
 *         ...
 *
 * docs/book/answers/check.md has the rules' grammar, and what each means at its edges. Unknown is
 * not passed: where trace was lost, memory is missing, or times are too rare, a rule is undecided.
 * Counts of several captures add up, and the answers are the same for any number of threads.
 *
 * An object belongs to one thread at a time. Texts live as long as the object.
 */
#ifndef PUGMARK_CHECK_H
#define PUGMARK_CHECK_H

#include "pugmark/capture.h"

#ifdef __cplusplus
extern "C" {
#endif

struct pug_check;
struct pug_names;

/** The result of a rule. */
enum pug_verdict {
    PUG_HOLDS,
    PUG_VIOLATED,
    PUG_UNDECIDED, /**< the trace does not show it */
};

/** The unit of a rule's numbers. */
enum pug_check_unit {
    PUG_CHECK_NO_UNIT, /**< a plain number: calls, functions above another one */
    PUG_CHECK_NANOSECONDS,
    PUG_CHECK_TICKS, /**< of the trace's timestamps */
    PUG_CHECK_CYCLES,
    PUG_CHECK_INSTRUCTIONS,
    PUG_CHECK_THOUSANDTHS, /**< of a percent */
};

/** Something that is wrong with a rule. */
struct pug_check_error {
    const char *file;      /**< as it was called */
    uint32_t line, column; /**< from 1 on; a column is a character */
    uint32_t length;       /**< characters that are meant */
    const char *text;      /**< the line, without its end */
    const char *message;   /**< what is wrong, and what was expected */
    uint64_t spare[2];     /**< zero */
};

/** The place of an event. */
struct pug_check_place {
    const char *capture;  /**< its path */
    uint64_t index;       /**< trace index */
    uint64_t time;        /**< where `has_time`: in `unit` */
    uint8_t unit;         /**< enum pug_check_unit */
    bool has_time;        /**< the trace has one */
    uint16_t source;      /**< trace id */
    const char *thread;   /**< NULL: it is not known */
    const char *function; /**< NULL: no function's */
    const char *path;     /**< of the function's source file; NULL: not known */
    uint32_t line;        /**< that it begins at; 0: not known */
    uint64_t spare[2];    /**< zero */
};

/** The result of one rule. */
struct pug_check_verdict {
    const char *rule;         /**< its text */
    const char *name;         /**< that it was given, or NULL */
    const char *file;         /**< where it stands */
    uint32_t line;            /**< there */
    enum pug_verdict verdict; /**< the result */
    bool excused;             /**< it is undecided, and says that this is no matter */
    bool beforehand;          /**< it was undecided before anything was decoded */
    const char *why;          /**< one sentence; never NULL */
    bool has_place;           /**< the next one is the first violation's, or what left it open */
    struct pug_check_place place; /**< see `has_place` */
    uint64_t violations, unknown; /**< how often it was violated, or left open */
    uint64_t count;               /**< measured: calls, distances, pairs; else what was counted */
    uint8_t unit; /**< enum pug_check_unit: of the next ones; PUG_CHECK_NO_UNIT: none */
    uint64_t shortest, longest, total; /**< of what was measured, at least */
    bool rough;                        /**< they may be more: times in the trace are too rare */
    uint64_t value;    /**< that was compared with the limit, where there is one value */
    uint64_t spare[4]; /**< zero */
};

/** How to check. */
struct pug_check_options {
    unsigned threads;                              /**< 0: one for each processor */
    struct pug_names *names;                       /**< functions' lines; or NULL */
    const struct pug_capture_selection *selection; /**< or NULL */
    bool strict; /**< calls that began before the trace, or end after it, leave a rule undecided */
    bool stop;   /**< stop at the first violation */
    /** Optional: called with each rule that is violated, or else undecided, as soon as it is. */
    void (*found)(void *context, size_t rule);
    void *found_context;                            /**< is handed to it */
    bool (*progress)(void *context, uint64_t done); /**< as in struct pug_capture_decode */
    void *progress_context;                         /**< is handed to progress() */
    /** Of pug_check_capture(): the real-time kernel, as in struct pug_profiler_options. */
    const char *rtos;
    uint64_t spare[3]; /**< zero */
};

/** NULL: no memory. */
struct pug_check *pug_check_new(void);
/** NULL is left alone. */
void pug_check_free(struct pug_check *check);

/**
 * Reads rules and adds them to those that are there. `file` is what messages call the text. All of
 * a text is read. PUG_ERR_FORMAT: some of it is wrong, see pug_check_error_at(); PUG_ERR_MEM;
 * PUG_ERR_LIMIT: more than 4096 rules, or a line of more than 64 KiB.
 */
enum pug_status pug_check_read(struct pug_check *check, const char *file, const char *text,
                               size_t size);

/** The n-th thing that is wrong with the rules; false: nothing more is. */
bool pug_check_error_at(const struct pug_check *check, size_t n, struct pug_check_error *error);

/**
 * Looks whether a capture can answer the rules: finds their functions in its programs. Decodes
 * nothing. PUG_ERR_NOT_FOUND: a rule names what no program has, see pug_check_error_at();
 * PUG_ERR_MEM. Rules that this capture can never decide are undecided from now on.
 */
enum pug_status pug_check_begin(struct pug_check *check, struct pug_capture *capture,
                                const struct pug_check_options *options);

/**
 * Behind pug_check_begin(): fills in what a capture is decoded with, for a caller that decodes it
 * itself. pug_check_end() follows.
 */
void pug_check_decode(struct pug_check *check, struct pug_capture_decode *decode);

/** The capture is decoded. Returns the decoding's status, or what went wrong with checking. */
enum pug_status pug_check_end(struct pug_check *check, enum pug_status status);

/**
 * Begins, decodes and ends. `options` and `result` may be NULL. Returns as pug_check_begin(),
 * pug_capture_decode() and pug_check_end() do.
 */
enum pug_status pug_check_capture(struct pug_check *check, struct pug_capture *capture,
                                  const struct pug_check_options *options,
                                  struct pug_capture_result *result);

/** All captures were checked: decides what their sums decide. */
enum pug_status pug_check_finish(struct pug_check *check);

/** Was anything decoded that a rule could be about? */
bool pug_check_saw(const struct pug_check *check);

/** What became of the n-th rule; false: there are no more. Also before pug_check_finish(). */
bool pug_check_verdict_at(const struct pug_check *check, size_t n,
                          struct pug_check_verdict *verdict);

/** "holds", "violated", "undecided". */
const char *pug_verdict_name(enum pug_verdict verdict);

/** A number in a unit for people: "20.5 us", "120 cycles", "85.1 %". Returns its length. */
size_t pug_check_value_text(uint64_t value, enum pug_check_unit unit, char *buffer, size_t size);

#ifdef __cplusplus
}
#endif
#endif
