// SPDX-License-Identifier: MIT
/**
 * @file Profiles in the formats that other tools read: docs/book/answers/profiles.md says which,
 * and what for.
 */
#ifndef PUGMARK_EXPORT_H
#define PUGMARK_EXPORT_H

#include "pugmark/profile.h"

#ifdef __cplusplus
extern "C" {
#endif

struct pug_names;
struct pug_mcdc;

/** The weight of stacks. */
enum pug_export_weight { PUG_WEIGHT_INSTRUCTIONS, PUG_WEIGHT_CYCLES, PUG_WEIGHT_TIME };

/** Source files whose text is not in a page because they lie outside of the permitted folders. */
struct pug_report_withheld {
    uint64_t count;  /**< how many there are */
    char first[256]; /**< path of the first one, as debug information has it; cut where too long */
};

/** What a sentence is about that a report repeats: where it stands depends on that. */
enum pug_report_about {
    PUG_REPORT_WRONG,   /**< results are wrong or incomplete */
    PUG_REPORT_LOST,    /**< trace was lost; the rest is right */
    PUG_REPORT_TIMES,   /**< times alone are doubtful */
    PUG_REPORT_COUNTS,  /**< counts are doubtful or incomplete */
    PUG_REPORT_CHECKED, /**< something was checked and is right */
};

/** "wrong", "lost", "times", "counts", "checked". */
const char *pug_report_about_name(enum pug_report_about about);

/** The parts of a report beside the profile. Everything is borrowed. */
struct pug_report {
    const char *title; /**< of the page */
    /** One line of facts about the capture. */
    const struct pug_report_fact {
        const char *name, *value;
    } * facts;         /**< of what was traced */
    size_t fact_count; /**< how many there are */
    /** Timelines in the page's own form, one of each capture: a JSON array; or NULL. */
    const char *timelines;
    size_t timelines_size; /**< bytes of them */
    /**
     * A program can name any file as its source. So a page has the text of a file only if the file,
     * with links resolved, lies below one of these folders or of `permitted_dirs`, no name below
     * that folder begins with a dot, and it is a regular file of UTF-8 text. A file that is not at
     * its recorded path is looked for below these. Pages of coverage (html) heed this, too.
     */
    const char *const *source_dirs;
    size_t source_dir_count;              /**< how many there are */
    const char *const *permitted_dirs;    /**< for files at their recorded path only */
    size_t permitted_dir_count;           /**< how many there are */
    struct pug_report_withheld *withheld; /**< out: files that were refused; or NULL */
    /** A sentence that says what the report rests on. */
    const struct pug_report_point {
        const char *input, *text;    /**< of which input; the sentence */
        enum pug_report_about about; /**< what it is about */
    } * points;                      /**< in the order in which they are shown */
    size_t point_count;              /**< how many there are */
    const char *what;                /**< "crash on Cortex-A53, ETMv4, 754 instructions"; or NULL */
    const char *headline;            /**< how it ended, a sentence; or NULL */
    /** What happened in each capture, in the page's own form: a JSON array; or NULL. */
    const char *stories;
    size_t stories_size;       /**< bytes of them */
    const char *const *inputs; /**< as given on the command line, for commands to copy */
    size_t input_count;        /**< how many there are */
    uint64_t detail;           /**< times as much data as usual; 0: 1 */
    /** The profile to compare with, sorted by the export; NULL: none. */
    struct pug_profile *baseline;
    const char *baseline_title; /**< what it is called; or NULL */
    /** How long calls took in each capture, in the page's own form: a JSON array; or NULL. */
    const char *times;
    size_t times_size; /**< bytes of them */
    uint64_t spare[2]; /**< zero */
};

/** How an export is made. */
struct pug_export_options {
    /** Functions and lines; NULL: none are known. Formats that are made of them need it. */
    struct pug_names *names;
    /** Only code of these objects, by name (pug_profile_object_is()); none: of all. */
    const char *const *objects;
    size_t object_count;           /**< how many names there are */
    enum pug_export_weight weight; /**< of folded stacks */
    bool like_simpleperf;          /**< autofdo: targets of indirect branches are 0 */
    bool without_plt;              /**< bolt: leave out what ran in a procedure linkage table */
    bool mangled;            /**< names as the linker has them; formats for linkers always do */
    bool without_exclusions; /**< coverage: comments in the sources leave nothing out */
    size_t rows;             /**< of each table for people; 0: 20 */
    bool json;               /**< tables as lines of JSON */
    const struct pug_report *report; /**< report, and folders for html; or NULL */
    /** Coverage: "OLD=NEW", what paths of sources begin with, and what they shall begin with. */
    const char *const *path_map;
    size_t path_map_count; /**< how many there are */
    struct pug_mcdc *mcdc; /**< private: evaluations of decisions, for coverage; or NULL */
    uint64_t spare[4];     /**< zero */
};

/** Takes bytes of the output, in order. */
typedef void pug_export_fn(void *context, const void *bytes, size_t size);

/** A format. */
struct pug_export_format {
    const char *name;    /**< "autofdo" */
    const char *summary; /**< in a line */
    bool needs_names;    /**< without functions it has nothing to say */
    bool needs_stacks;   /**< the profile must have frames */
    bool uses_stacks;    /**< it has more in it when the profile has frames */
    bool one_object;     /**< a file speaks of one object: `objects` must choose one of several */
    bool binary;         /**< not for a terminal */
};

/** The n-th format, or NULL. */
const struct pug_export_format *pug_export_format_at(size_t n);

/**
 * Write a profile (which is sorted for that). `options` may be NULL: zeros.
 * PUG_ERR_INVALID_PARAM_TYPE: no such format;
 * PUG_ERR_NOT_FOUND: no object has one of the names, or several objects ran and the format speaks
 * of one; PUG_ERR_NOT_INIT: the format needs names or stacks that are not there; PUG_ERR_MEM.
 */
enum pug_status pug_export(struct pug_profile *profile, const char *format,
                           const struct pug_export_options *options, pug_export_fn *put,
                           void *context);

/**
 * Compare two profiles, function by function and line by line where there are names: what ran more
 * and what less, as tables or JSON. Objects are the same by the last component of their path,
 * functions by name, so that builds can be compared. What is equal in both is left out. As
 * pug_export(); PUG_ERR_NOT_FOUND: an object that is named is in neither.
 */
enum pug_status pug_export_diff(struct pug_profile *before, struct pug_profile *after,
                                const struct pug_export_options *options, pug_export_fn *put,
                                void *context);

/** The n-th format of coverage, or NULL. */
const struct pug_export_format *pug_export_coverage_at(size_t n);

/**
 * Write which lines, functions, instructions and branch outcomes were seen. As pug_export();
 * PUG_ERR_NOT_INIT: of no object that ran there are lines.
 */
enum pug_status pug_export_coverage(struct pug_profile *profile, const char *format,
                                    const struct pug_export_options *options, pug_export_fn *put,
                                    void *context);

#ifdef __cplusplus
}
#endif
#endif
