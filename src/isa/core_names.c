// SPDX-License-Identifier: MIT
/** @file Cores by name: products, and the names of architectures. */
#include "isa/core_names.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Products by what they are. Of those that have both, `reference` is what the reference knows. */
static const struct {
    enum pug_arch arch;
    enum pug_arch_profile profile;
    const char *reference, *others; /* with a blank after each */
} products[] = {
    {PUG_ARCH_V4, PUG_PROFILE_A, "",
     "ARM7TDMI ARM7TDMI-S ARM7EJ-S ARM710T ARM720T ARM740T ARM9TDMI ARM920T ARM922T ARM940T "},
    {PUG_ARCH_V5, PUG_PROFILE_A, "",
     "ARM9E-S ARM926EJ-S ARM946E-S ARM966E-S ARM968E-S ARM1020E ARM1022E ARM1026EJ-S "},
    {PUG_ARCH_V6, PUG_PROFILE_A, "",
     "ARM1136J-S ARM1136JF-S ARM1156T2-S ARM1156T2F-S ARM1176JZ-S ARM1176JZF-S ARM11MPCore "},
    {PUG_ARCH_V6, PUG_PROFILE_M, "", "Cortex-M0 Cortex-M0+ Cortex-M1 SC000 "},
    {PUG_ARCH_V7, PUG_PROFILE_A,
     "Cortex-A17 Cortex-A15 Cortex-A12 Cortex-A9 Cortex-A8 Cortex-A7 Cortex-A5 ", ""},
    {PUG_ARCH_V7, PUG_PROFILE_R, "Cortex-R8 Cortex-R7 Cortex-R5 Cortex-R4 ",
     "Cortex-R4F Cortex-R5F "},
    {PUG_ARCH_V7, PUG_PROFILE_M, "Cortex-M3 Cortex-M4 ", "Cortex-M4F Cortex-M7 SC300 "},
    {PUG_ARCH_V8, PUG_PROFILE_A,
     "Cortex-A73 Cortex-A72 Cortex-A57 Cortex-A53 Cortex-A35 Cortex-A32 ", "Cortex-A34 "},
    {PUG_ARCH_V8, PUG_PROFILE_R, "Cortex-R52 ", "Cortex-R52+ "},
    {PUG_ARCH_V8, PUG_PROFILE_M, "Cortex-M33 Cortex-M55 Cortex-M23 ",
     "Cortex-M35P Cortex-M52 Cortex-M85 STAR-MC1 "},
    {PUG_ARCH_V8R3, PUG_PROFILE_A, "Cortex-A77 Cortex-A76 Cortex-A75 Cortex-A65 Cortex-A55 ",
     "Cortex-A65AE Cortex-A76AE Cortex-A78 Cortex-A78AE Cortex-A78C Cortex-X1 Cortex-X1C "
     "Neoverse-E1 Neoverse-N1 "},
    {PUG_ARCH_AA64, PUG_PROFILE_R, "", "Cortex-R82 Cortex-R82AE "},
    {PUG_ARCH_AA64, PUG_PROFILE_A, "",
     "Cortex-A320 Cortex-A510 Cortex-A520 Cortex-A520AE Cortex-A710 Cortex-A715 Cortex-A720 "
     "Cortex-A720AE Cortex-A725 Cortex-X2 Cortex-X3 Cortex-X4 Cortex-X925 C1-Nano C1-Pro "
     "C1-Premium C1-Ultra Neoverse-V1 Neoverse-V2 Neoverse-V3 Neoverse-V3AE Neoverse-N2 "
     "Neoverse-N3 "},
};

/* ARMv6-M, which the reference takes for ARMv7-M. */
static const char reference_v7m[] = "Cortex-M0 Cortex-M0+ ";

#define PRODUCTS (sizeof(products) / sizeof(products[0]))

static bool starts_with(const char *text, const char *start)
{
    return strncmp(text, start, strlen(start)) == 0;
}

static enum pug_arch_profile profile_by_letter(char letter)
{
    switch (letter) {
    case 'A': return PUG_PROFILE_A;
    case 'R': return PUG_PROFILE_R;
    case 'M': return PUG_PROFILE_M;
    default: return PUG_PROFILE_UNKNOWN;
    }
}

static enum pug_arch arch_by_version(unsigned long major, unsigned long minor)
{
    static const enum pug_arch old[] = {PUG_ARCH_V4, PUG_ARCH_V5, PUG_ARCH_V6, PUG_ARCH_V7};
    if (major < 4)
        return PUG_ARCH_UNKNOWN;
    if (major < 8)
        return old[major - 4];
    if (major > 8 || minor > 3)
        return PUG_ARCH_AA64;
    return minor == 3 ? PUG_ARCH_V8R3 : PUG_ARCH_V8;
}

/* ---- as the reference does it ---- */

/* "<M>-<P>…" or "<M>.<m>-<P>…", one digit each, and no other dot. */
static bool by_reference_version(const char *text, enum pug_arch *arch,
                                 enum pug_arch_profile *profile)
{
    char major = *text++, minor = '0';
    if (!isdigit((unsigned char)major))
        return false;
    if (*text == '.') {
        minor = text[1];
        if (!isdigit((unsigned char)minor))
            return false;
        text += 2;
    }
    if (text[0] != '-' || strchr(text, '.'))
        return false;
    enum pug_arch_profile known = profile_by_letter(text[1]);
    if (known == PUG_PROFILE_UNKNOWN || major < '7')
        return false;
    *arch = arch_by_version((unsigned long)(major - '0'), (unsigned long)(minor - '0'));
    *profile = known;
    return true;
}

/* Is the word in a list that has a blank after each? */
static bool lists(const char *list, const char *word)
{
    size_t length = strlen(word);
    for (; *list; list += strcspn(list, " ") + 1)
        if (strncmp(list, word, length) == 0 && list[length] == ' ')
            return true;
    return false;
}

bool pug_core_by_reference_name(const char *name, enum pug_arch *arch,
                                enum pug_arch_profile *profile)
{
    for (size_t i = 0; i < PRODUCTS && *name; i++) {
        if (!lists(products[i].reference, name))
            continue;
        *arch = products[i].arch;
        *profile = products[i].profile;
        return true;
    }
    if (*name && lists(reference_v7m, name)) {
        *arch = PUG_ARCH_V7;
        *profile = PUG_PROFILE_M;
        return true;
    }
    if (starts_with(name, "ARMv"))
        return by_reference_version(name + strlen("ARMv"), arch, profile);
    if (!starts_with(name, "ARM-AA64") && !starts_with(name, "ARM-aa64"))
        return false;
    const char *rest = name + strlen("ARM-AA64");
    *arch = PUG_ARCH_AA64;
    *profile = starts_with(rest, "-R")   ? PUG_PROFILE_R
               : starts_with(rest, "-M") ? PUG_PROFILE_M
                                         : PUG_PROFILE_A;
    return true;
}

/* ---- however it is written ---- */

#define NAME_ROOM 40

/* Capitals, digits, '.' and '+' of a word, of which a name consists; false if it is too long. */
static bool reduce(const char *word, size_t length, char reduced[NAME_ROOM])
{
    size_t at = 0;
    for (size_t i = 0; i < length; i++) {
        unsigned char c = (unsigned char)word[i];
        if (!isalnum(c) && c != '.' && c != '+')
            continue;
        if (at + 1 == NAME_ROOM)
            return false;
        reduced[at++] = (char)toupper(c);
    }
    reduced[at] = 0;
    return true;
}

static bool lists_reduced(const char *list, const char *wanted)
{
    char reduced[NAME_ROOM];
    for (; *list; list += strcspn(list, " ") + 1)
        if (reduce(list, strcspn(list, " "), reduced) && strcmp(reduced, wanted) == 0)
            return true;
    return false;
}

static bool by_product(const char *name, enum pug_arch *arch, enum pug_arch_profile *profile)
{
    if (starts_with(name, "ARMCORTEX") || starts_with(name, "ARMNEOVERSE"))
        name += strlen("ARM");
    for (size_t i = 0; i < PRODUCTS && *name; i++) {
        if (!lists_reduced(products[i].reference, name) && !lists_reduced(products[i].others, name))
            continue;
        *arch = products[i].arch;
        *profile = products[i].profile;
        return true;
    }
    return false;
}

/* The text after a version: letters of extensions and of the profile, which is A where none is
 * named; text after a '.' or a '+' are options ("M.MAINLINE", "A+CRC"). */
static bool by_letters(const char *text, enum pug_arch *arch, enum pug_arch_profile *profile)
{
    static const char *const extensions[] = {"",  "T",  "TE", "TEJ", "J", "K",
                                             "Z", "KZ", "T2", "VE",  "E", "S"};
    size_t length = strcspn(text, ".+");
    *profile = PUG_PROFILE_A;
    if (length >= 3 && strncmp(text + length - 3, "R64", 3) == 0) {
        *arch = PUG_ARCH_AA64;
        length -= 2;
    }
    if (length > 0 && profile_by_letter(text[length - 1]) != PUG_PROFILE_UNKNOWN)
        *profile = profile_by_letter(text[--length]);
    for (size_t i = 0; i < sizeof(extensions) / sizeof(extensions[0]); i++)
        if (strlen(extensions[i]) == length && strncmp(text, extensions[i], length) == 0)
            return true;
    return false;
}

static bool by_version(const char *text, enum pug_arch *arch, enum pug_arch_profile *profile)
{
    char *end;
    if (!isdigit((unsigned char)*text))
        return false;
    unsigned long major = strtoul(text, &end, 10), minor = 0;
    if (*end == '.' && isdigit((unsigned char)end[1]))
        minor = strtoul(end + 1, &end, 10);
    else if (*end == '.' && !end[1])
        return false;
    enum pug_arch known = major < 100 ? arch_by_version(major, minor) : PUG_ARCH_UNKNOWN;
    enum pug_arch_profile letter;
    if (known == PUG_ARCH_UNKNOWN || !by_letters(end, &known, &letter))
        return false;
    *arch = known;
    *profile = letter;
    return true;
}

/* "ARM-AA64", "AArch64-R": names of an execution state. */
static bool by_state(const char *name, enum pug_arch *arch, enum pug_arch_profile *profile)
{
    static const char *const states[] = {"ARMAA64", "AARCH64", "AARCH32"};
    enum pug_arch_profile letter;
    for (size_t i = 0; i < sizeof(states) / sizeof(states[0]); i++) {
        enum pug_arch known = i < 2 ? PUG_ARCH_AA64 : PUG_ARCH_V7;
        if (!starts_with(name, states[i]) || !by_letters(name + strlen(states[i]), &known, &letter))
            continue;
        *arch = known;
        *profile = letter;
        return true;
    }
    return false;
}

bool pug_core_by_name(const char *name, enum pug_arch *arch, enum pug_arch_profile *profile)
{
    char reduced[NAME_ROOM] = {0};
    if (!name || !arch || !profile || !reduce(name, strlen(name), reduced))
        return false;
    if (starts_with(reduced, "ARMV"))
        return by_version(reduced + strlen("ARMV"), arch, profile);
    return by_product(reduced, arch, profile) || by_state(reduced, arch, profile);
}

/** The n-th name of a list that has a blank after each; where the list ends n is counted down. */
static const char *name_in(const char *list, size_t *n)
{
    for (; *list; list += strcspn(list, " ") + 1)
        if ((*n)-- == 0)
            return list;
    return NULL;
}

size_t pug_core_name(size_t n, char *buffer, size_t size)
{
    for (size_t i = 0; i < PRODUCTS; i++) {
        const char *name = name_in(products[i].reference, &n);
        if (!name)
            name = name_in(products[i].others, &n);
        if (!name)
            continue;
        const int length = (int)strcspn(name, " ");
        snprintf(buffer, size, "%.*s", length, name);
        return (size_t)length;
    }
    if (size > 0)
        *buffer = 0;
    return 0;
}

void pug_core_of_settings(const struct pug_settings *settings, struct pug_log *log,
                          const char *component, enum pug_arch *arch,
                          enum pug_arch_profile *profile)
{
    const char *name = pug_settings_word(settings, "core", NULL);
    char text[128];
    if (name && !pug_core_by_name(name, arch, profile)) {
        snprintf(text, sizeof(text), "Core '%s' is not known: architecture 0x%03x, profile %s.",
                 name, *arch, *profile == PUG_PROFILE_UNKNOWN ? "unknown" : "A");
        pug_log_put(log, &(struct pug_log_record){.severity = PUG_SEV_WARN,
                                                  .index = PUG_NO_INDEX,
                                                  .source = PUG_NO_SOURCE,
                                                  .component = component,
                                                  .text = text});
    }
    *arch = (enum pug_arch)pug_settings_number(settings, "arch", *arch);
    *profile = (enum pug_arch_profile)pug_settings_number(settings, "profile", *profile);
}

void pug_log_profile_unknown(struct pug_log *log, const char *component)
{
    pug_log_put(log,
                &(struct pug_log_record){
                    .severity = PUG_SEV_WARN,
                    .index = PUG_NO_INDEX,
                    .source = PUG_NO_SOURCE,
                    .component = component,
                    .text = "The profile of the core is not known: exceptions in T32 code have "
                            "numbers and no names, which differ between the A and the M "
                            "profile. Name the core with --core, for example Cortex-M33."});
}
