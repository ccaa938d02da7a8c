// SPDX-License-Identifier: MIT
/** @file What a rule says, as the parser leaves it. */
#ifndef PUG_CHECK_RULES_H
#define PUG_CHECK_RULES_H

#include "base/grow.h"
#include "pugmark/check.h"

/** Most rules that are checked at once. */
#define CHECK_RULES 4096u
/** The longest line, with those that "\" joins to it. */
#define CHECK_LINE ((size_t)65536)

enum check_kind {
    CHECK_TAKES,  /**< also "instructions" and "cycles" */
    CHECK_EVERY,  /**< runs every */
    CHECK_WITHIN, /**< … within … after, before */
    CHECK_FOLLOWS,
    CHECK_NEVER,      /**< never runs */
    CHECK_RUNS,       /**< runs, runs cmp N times */
    CHECK_EXCEPTIONS, /**< no exception but … */
    CHECK_EXCEPTION,  /**< exception … never */
    CHECK_DEPTH,
    CHECK_NOT_IN,
    CHECK_ONLY_IN,
    CHECK_COVERED,
    CHECK_PORT, /**< itm port … matches */
    CHECK_WATCH,
    CHECK_NO_LOSS,
    CHECK_NO_GAP,
    CHECK_PROGRAM,
    CHECK_SHARE,
};

enum check_cmp { CHECK_LESS, CHECK_AT_MOST, CHECK_MORE, CHECK_AT_LEAST, CHECK_EQUAL };

/** The part of a call that counts. */
enum check_part { CHECK_PART_ALL, CHECK_PART_OWN, CHECK_PART_NO_INTERRUPTS, CHECK_PART_WALL };

enum check_stat {
    CHECK_EACH,
    CHECK_MEAN,
    CHECK_PERCENTILE,
    CHECK_TOTAL,
    CHECK_LONGEST,
    CHECK_SHORTEST,
};

enum check_scope { CHECK_SCOPE_ALL, CHECK_SCOPE_THREADS, CHECK_SCOPE_CORES, CHECK_SCOPE_THREAD };

enum check_covered { CHECK_LINES, CHECK_FUNCTIONS, CHECK_OUTCOMES, CHECK_MCDC };

enum check_subject_kind {
    CHECK_NOBODY,
    CHECK_FUNCTION, /**< by name, glob or address */
    CHECK_EXCEPTION_NAMED,
    CHECK_PORT_LINE,
    CHECK_INTERRUPT, /**< any exception level */
    CHECK_THREAD,
};

/** The subject of a rule: a function, or an event. */
struct check_subject {
    uint8_t kind; /**< enum check_subject_kind */
    bool glob, by_address;
    const char *name; /**< of a function, an exception, a thread; what a port's line has to hold */
    const char *file; /**< of the function; or NULL */
    uint64_t number;  /**< an address; a port */
    uint32_t column, length;
};

struct check_quantity {
    uint64_t value; /**< nanoseconds, ticks, cycles, instructions, or a number */
    uint8_t unit;   /**< enum pug_check_unit */
};

struct check_rule {
    const char *file, *text, *line_text, *name;
    uint32_t line;
    uint8_t kind, cmp, part, stat, scope, covered;
    bool unless_undecided, before, never, has_limit;
    uint32_t percentile; /**< in thousandths of a percent */
    struct check_quantity limit;
    struct check_quantity tolerance; /**< of CHECK_EVERY; in the limit's unit */
    struct check_subject subject, other;
    const char *thread;   /**< of CHECK_SCOPE_THREAD, or of a share */
    struct pug_list list; /**< const char *: exceptions that may be */
};

struct check_text;

/** Reads all lines of a text into `rules`; errors into `errors`. */
enum pug_status pug_check_parse(struct check_text *texts, const char *file, const char *text,
                                size_t size, struct pug_list *rules, struct pug_list *errors);

/* ---- texts that live as long as the check ---- */

struct check_text {
    struct check_text_block *blocks;
    bool failed;
};
/** A copy; "" where there is no memory, and then `failed`. */
const char *pug_check_keep(struct check_text *texts, const char *text, size_t size);
const char *pug_check_keep_format(struct check_text *texts, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
void pug_check_text_free(struct check_text *texts);

/** Adds an error about `length` characters of a rule's line. */
void pug_check_wrong(struct check_text *texts, struct pug_list *errors,
                     const struct check_rule *rule, uint32_t column, uint32_t length,
                     const char *message);

/** The word of a list that is nearest to one, or NULL where none is near. */
const char *pug_check_nearest(const char *word, const char *const *words, size_t count);

/** Does a name match a pattern with "*" and "?"? */
bool pug_check_glob(const char *pattern, const char *name);
/** Matches a path: as a whole, or from after a "/" on. */
bool pug_check_glob_path(const char *pattern, const char *path);

#endif
