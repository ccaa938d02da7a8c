// SPDX-License-Identifier: MIT
/** @file Named values: a trace unit's registers, a protocol's parameters, a transport's options. */
#ifndef PUGMARK_SETTINGS_H
#define PUGMARK_SETTINGS_H

#include "pugmark/setting.h"

#ifdef __cplusplus
extern "C" {
#endif

/** Find a setting by its name (case-sensitive), or NULL. The first one wins. */
const struct pug_setting *pug_settings_find(const struct pug_settings *settings, const char *name);

/** The number named `name`, or `otherwise` where the list has none. */
uint64_t pug_settings_number(const struct pug_settings *settings, const char *name,
                             uint64_t otherwise);

/** The word named `name`, or `otherwise` where the list has none. */
const char *pug_settings_word(const struct pug_settings *settings, const char *name,
                              const char *otherwise);

/**
 * A copy with strings of its own and no watch, for pug_settings_free(); false: no memory, and
 * `copy` is as it was.
 */
bool pug_settings_copy(const struct pug_settings *settings, struct pug_settings *copy);
/** Free what pug_settings_copy() made. */
void pug_settings_free(struct pug_settings *copy);

/** Core architecture numbers ("arch" setting); plain comparison orders them. */
enum pug_arch {
    PUG_ARCH_UNKNOWN = 0,
    PUG_ARCH_CUSTOM = 1,
    PUG_ARCH_V4 = 0x400,
    PUG_ARCH_V5 = 0x500,
    PUG_ARCH_V6 = 0x600,
    PUG_ARCH_V7 = 0x700,
    PUG_ARCH_V8 = 0x800,
    PUG_ARCH_V8R3 = 0x803,
    PUG_ARCH_AA64 = 0x864,
};

/** Core profiles ("profile" setting). Cores older than profiles count as A. */
enum pug_arch_profile {
    PUG_PROFILE_UNKNOWN = 0,
    PUG_PROFILE_M = 1,
    PUG_PROFILE_R = 2,
    PUG_PROFILE_A = 3,
    PUG_PROFILE_CUSTOM = 4,
};

/**
 * Architecture and profile of a core from the name of its product or architecture ("Cortex-A53",
 * "ARM1136JF-S", "armv8-a", "ARMv6-M", "AArch64"); case, blanks, '-', '_' and ',' do not matter.
 * Returns false, and leaves both alone, for a name that it does not know.
 */
bool pug_core_by_name(const char *name, enum pug_arch *arch, enum pug_arch_profile *profile);

/**
 * The n-th product that pug_core_by_name() knows, "Cortex-A53". Writes at most `size` bytes with
 * the closing NUL and returns the length of the whole name; 0 after the last one.
 */
size_t pug_core_name(size_t n, char *buffer, size_t size);

/** pug_core_by_name() as the reference has it: fewer names, and each letter counts. */
bool pug_core_by_reference_name(const char *name, enum pug_arch *arch,
                                enum pug_arch_profile *profile);

#ifdef __cplusplus
}
#endif
#endif
