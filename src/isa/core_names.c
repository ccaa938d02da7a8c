// SPDX-License-Identifier: MIT
/** @file Cores by name: a list of products, then the patterns of architecture names. */
#include "pugmark/settings.h"

#include <string.h>

static const struct {
    const char *name;
    enum pug_arch arch;
    enum pug_arch_profile profile;
} products[] = {
    {"Cortex-A77", PUG_ARCH_V8R3, PUG_PROFILE_A}, {"Cortex-A76", PUG_ARCH_V8R3, PUG_PROFILE_A},
    {"Cortex-A75", PUG_ARCH_V8R3, PUG_PROFILE_A}, {"Cortex-A65", PUG_ARCH_V8R3, PUG_PROFILE_A},
    {"Cortex-A55", PUG_ARCH_V8R3, PUG_PROFILE_A}, {"Cortex-A73", PUG_ARCH_V8, PUG_PROFILE_A},
    {"Cortex-A72", PUG_ARCH_V8, PUG_PROFILE_A},   {"Cortex-A57", PUG_ARCH_V8, PUG_PROFILE_A},
    {"Cortex-A53", PUG_ARCH_V8, PUG_PROFILE_A},   {"Cortex-A35", PUG_ARCH_V8, PUG_PROFILE_A},
    {"Cortex-A32", PUG_ARCH_V8, PUG_PROFILE_A},   {"Cortex-A17", PUG_ARCH_V7, PUG_PROFILE_A},
    {"Cortex-A15", PUG_ARCH_V7, PUG_PROFILE_A},   {"Cortex-A12", PUG_ARCH_V7, PUG_PROFILE_A},
    {"Cortex-A9", PUG_ARCH_V7, PUG_PROFILE_A},    {"Cortex-A8", PUG_ARCH_V7, PUG_PROFILE_A},
    {"Cortex-A7", PUG_ARCH_V7, PUG_PROFILE_A},    {"Cortex-A5", PUG_ARCH_V7, PUG_PROFILE_A},
    {"Cortex-R52", PUG_ARCH_V8, PUG_PROFILE_R},   {"Cortex-R8", PUG_ARCH_V7, PUG_PROFILE_R},
    {"Cortex-R7", PUG_ARCH_V7, PUG_PROFILE_R},    {"Cortex-R5", PUG_ARCH_V7, PUG_PROFILE_R},
    {"Cortex-R4", PUG_ARCH_V7, PUG_PROFILE_R},    {"Cortex-M33", PUG_ARCH_V8, PUG_PROFILE_M},
    {"Cortex-M55", PUG_ARCH_V8, PUG_PROFILE_M},   {"Cortex-M23", PUG_ARCH_V8, PUG_PROFILE_M},
    {"Cortex-M0", PUG_ARCH_V7, PUG_PROFILE_M},    {"Cortex-M0+", PUG_ARCH_V7, PUG_PROFILE_M},
    {"Cortex-M3", PUG_ARCH_V7, PUG_PROFILE_M},    {"Cortex-M4", PUG_ARCH_V7, PUG_PROFILE_M},
};

static bool starts_with(const char *text, const char *start)
{
    return strncmp(text, start, strlen(start)) == 0;
}

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
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

static enum pug_arch arch_by_version(char major, char minor)
{
    if (major < '7')
        return PUG_ARCH_UNKNOWN;
    if (major == '7')
        return PUG_ARCH_V7;
    if (major == '9' || minor > '3')
        return PUG_ARCH_AA64;
    return minor == '3' ? PUG_ARCH_V8R3 : PUG_ARCH_V8;
}

/* "<M>-<P>…" or "<M>.<m>-<P>…", one digit each, and no other dot. */
static bool by_version(const char *text, enum pug_arch *arch, enum pug_arch_profile *profile)
{
    char major = *text++, minor = '0';
    if (!is_digit(major))
        return false;
    if (*text == '.') {
        minor = text[1];
        if (!is_digit(minor))
            return false;
        text += 2;
    }
    if (text[0] != '-' || strchr(text, '.'))
        return false;
    enum pug_arch_profile known_profile = profile_by_letter(text[1]);
    enum pug_arch known_arch = arch_by_version(major, minor);
    if (known_profile == PUG_PROFILE_UNKNOWN || known_arch == PUG_ARCH_UNKNOWN)
        return false;
    *arch = known_arch;
    *profile = known_profile;
    return true;
}

bool pug_core_by_name(const char *name, enum pug_arch *arch, enum pug_arch_profile *profile)
{
    for (size_t i = 0; i < sizeof(products) / sizeof(products[0]); i++) {
        if (strcmp(products[i].name, name) != 0)
            continue;
        *arch = products[i].arch;
        *profile = products[i].profile;
        return true;
    }
    if (starts_with(name, "ARMv"))
        return by_version(name + strlen("ARMv"), arch, profile);
    if (!starts_with(name, "ARM-AA64") && !starts_with(name, "ARM-aa64"))
        return false;
    const char *rest = name + strlen("ARM-AA64");
    *arch = PUG_ARCH_AA64;
    *profile = starts_with(rest, "-R")   ? PUG_PROFILE_R
               : starts_with(rest, "-M") ? PUG_PROFILE_M
                                         : PUG_PROFILE_A;
    return true;
}
