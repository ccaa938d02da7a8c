// SPDX-License-Identifier: MIT
/** @file The vector tables of a source's core: those of its program, or where VTOR was. */
#include "image/vectors.h"
#include "capture/capture.h"

void pug_capture_vectors(struct pug_capture *capture, const struct pug_image *image,
                         uint16_t source, struct pug_vectors *vectors)
{
    static const char *const registers[] = {"VTOR", "VTOR_NS"};
    const struct pug_capture_source *is;
    uint32_t bases[2];
    unsigned count = 0;
    pug_vectors_find(vectors, image, source);
    for (size_t n = 0; (is = pug_capture_source_at(capture, n)) != NULL; n++) {
        if (!is->settings || (source != PUG_VECTORS_ANY && is->id != source))
            continue;
        for (unsigned i = 0; i < 2 && count < 2; i++) {
            const struct pug_setting *found = pug_settings_find(is->settings, registers[i]);
            if (found)
                bases[count++] = (uint32_t)found->value & ~UINT32_C(0x7f);
        }
    }
    pug_vectors_choose(vectors, bases, count);
}
