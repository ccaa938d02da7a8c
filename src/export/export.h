// SPDX-License-Identifier: MIT
/** @file What the formats share. */
#ifndef PUG_EXPORT_EXPORT_H
#define PUG_EXPORT_EXPORT_H

#include "pugmark/export.h"
#include "text/sink.h"

/** A profile on its way to a format. */
struct export
{
    const struct pug_profile *profile;
    const struct pug_export_options *options;
    struct pug_sink *sink;
    /* those that were chosen, in the profile's order */
    const uint32_t *objects;
    size_t object_count;
};

/** Writes a format. */
typedef enum pug_status export_fn(const struct export *export);

export_fn pug_export_autofdo, pug_export_profgen, pug_export_bolt, pug_export_fdata,
    pug_export_llvm, pug_export_pprof, pug_export_callgrind, pug_export_folded, pug_export_table,
    pug_export_json;

/** How often instructions from `first` to `last` ran, however they ended. */
struct export_range {
    uint64_t first, last, count;
};

/** A taken branch of an object. */
struct export_branch {
    uint64_t from, to, count;
    bool foreign; /* it leads out of the object, or nobody knows where; `to` is 0 */
};

/** The counts of one object, by place. */
struct export_counts {
    struct export_range *ranges;
    struct export_branch *branches;
    size_t range_count, branch_count;
};

/**
 * The counts of an object: ranges that differ in their end alone are one, branches that leave it
 * are one each by where they come from. Free them also where it failed.
 */
enum pug_status pug_export_counts(const struct export *export, uint32_t object,
                                  struct export_counts *counts);
void pug_export_counts_free(struct export_counts *counts);

/** Sort; branches that are equal but for their counts are made one. How many are left. */
size_t pug_export_join_branches(struct export_branch *branches, size_t count);

/** An address in the file of an object; where no segment tells, the address. */
uint64_t pug_export_offset(const struct pug_profile_object *object, uint64_t vaddr);

/** The build id in hexadecimal digits; "" where it is not known. */
struct export_build_id {
    char digits[2 * PUG_PROFILE_BUILD_ID + 1];
};
struct export_build_id pug_export_build_id(const struct pug_profile_object *object);

static inline const struct pug_profile_object *export_object(const struct export *export,
                                                             uint32_t number)
{
    size_t count;
    return &pug_profile_objects(export->profile, &count)[number];
}

#endif
