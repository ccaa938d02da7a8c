// SPDX-License-Identifier: MIT
/** @file Names of memory spaces. */
#include "base/text.h"
#include "pugmark/advanced/image.h"
#include "pugmark/element.h"

#include <string.h>

static const struct {
    const char *text;
    uint8_t space;
} texts[] = {
    {"", PUG_SPACE_NONE},     {"EL1S", PUG_SPACE_EL1S}, {"EL1N", PUG_SPACE_EL1N},
    {"EL2N", PUG_SPACE_EL2},  {"EL3", PUG_SPACE_EL3},   {"EL2S", PUG_SPACE_EL2S},
    {"EL1R", PUG_SPACE_EL1R}, {"EL2R", PUG_SPACE_EL2R}, {"Root", PUG_SPACE_ROOT},
    {"Any S", PUG_SPACE_S},   {"Any NS", PUG_SPACE_N},  {"Any R", PUG_SPACE_R},
    {"Any", PUG_SPACE_ANY},
};

static const struct {
    const char *name;
    uint8_t space;
} names[] = {
    {"EL1S", PUG_SPACE_EL1S}, {"EL1N", PUG_SPACE_EL1N}, {"EL1R", PUG_SPACE_EL1R},
    {"EL2S", PUG_SPACE_EL2S}, {"EL2", PUG_SPACE_EL2},   {"EL2N", PUG_SPACE_EL2},
    {"EL2R", PUG_SPACE_EL2R}, {"EL3", PUG_SPACE_EL3},   {"ROOT", PUG_SPACE_ROOT},
    {"S", PUG_SPACE_S},       {"N", PUG_SPACE_N},       {"R", PUG_SPACE_R},
    {"ANY", PUG_SPACE_ANY},   {"H", PUG_SPACE_EL2},     {"P", PUG_SPACE_EL1N},
    {"NP", PUG_SPACE_EL1N},   {"SP", PUG_SPACE_EL1S},
};

#define COUNT(table) (sizeof(table) / sizeof((table)[0]))

size_t pug_space_text(uint8_t space, char *buffer, size_t size)
{
    struct pug_text text = PUG_TEXT(buffer, size);
    for (size_t i = 0; i < COUNT(texts); i++) {
        if (texts[i].space == space) {
            pug_text_put(&text, texts[i].text);
            return pug_text_end(&text);
        }
    }
    for (unsigned bit = 1; bit < 0x100; bit <<= 1)
        for (size_t i = 0; i < COUNT(texts) && (space & bit); i++)
            if (texts[i].space == bit)
                pug_text_format(&text, "%s,", texts[i].text);
    return pug_text_end(&text);
}

uint8_t pug_space_by_name(const char *name)
{
    for (size_t i = 0; name && i < COUNT(names); i++)
        if (strcmp(names[i].name, name) == 0)
            return names[i].space;
    return PUG_SPACE_ANY;
}

uint8_t pug_space_of_level(unsigned security, unsigned level)
{
    static const uint8_t spaces[4][4] = {
        [PUG_SEC_SECURE] = {PUG_SPACE_EL1S, PUG_SPACE_EL1S, PUG_SPACE_EL2S, PUG_SPACE_EL3},
        [PUG_SEC_NONSECURE] = {PUG_SPACE_EL1N, PUG_SPACE_EL1N, PUG_SPACE_EL2, PUG_SPACE_EL3},
        [PUG_SEC_ROOT] = {PUG_SPACE_ROOT, PUG_SPACE_ROOT, PUG_SPACE_ROOT, PUG_SPACE_ROOT},
        [PUG_SEC_REALM] = {PUG_SPACE_EL1R, PUG_SPACE_EL1R, PUG_SPACE_EL2R, PUG_SPACE_ROOT},
    };
    return spaces[security & 3][level & 3];
}
