// SPDX-License-Identifier: MIT
/**
 * @file Are frames memory-aligned, or do they come from a trace port, with syncs between and in
 * them? The bytes tell: an even byte of a frame is never 0xff, since id 0x7F is not used, so that
 * in aligned frames an FSYNC (ff ff ff 7f) can only be padding, in groups of four.
 */
#include "transport/coresight_guess.h"

#include <string.h>

#define FSYNC_BYTES  4u
#define FEW          2u /* FSYNCs: one alone may be rubbish at a buffer's end */
#define ENOUGH_HSYNC 4u

static const uint8_t padding[16] = {0xff, 0xff, 0xff, 0x7f, 0xff, 0xff, 0xff, 0x7f,
                                    0xff, 0xff, 0xff, 0x7f, 0xff, 0xff, 0xff, 0x7f};

static bool is_fsync(const uint8_t *bytes, size_t size, size_t at)
{
    return size - at >= FSYNC_BYTES && memcmp(bytes + at, padding, FSYNC_BYTES) == 0;
}

/** FSYNCs that are no padding of aligned frames. Counts no further than needed. */
static bool has_fsyncs(const uint8_t *bytes, size_t size)
{
    size_t count = 0;
    for (size_t at = 0; at < size;) {
        const uint8_t *next = memchr(bytes + at, 0xff, size - at);
        if (!next)
            break;
        at = (size_t)(next - bytes);
        if (at % sizeof(padding) == 0 && size - at >= sizeof(padding) &&
            memcmp(next, padding, sizeof(padding)) == 0) {
            at += sizeof(padding);
        } else if (!is_fsync(bytes, size, at)) {
            at++;
        } else if (at == 0 || ++count == FEW) {
            return true;
        } else {
            at += FSYNC_BYTES;
        }
    }
    return false;
}

/** Is each even byte 0xff that of an HSYNC (ff 7f), and are there some? */
static bool has_hsyncs(const uint8_t *bytes, size_t size)
{
    size_t count = 0;
    for (size_t at = 0; at + 2 <= size; at += 2) {
        if (bytes[at] != 0xff)
            continue;
        if (at % sizeof(padding) == 0 && size - at >= sizeof(padding) &&
            memcmp(bytes + at, padding, sizeof(padding)) == 0)
            at += sizeof(padding) - 2;
        else if (bytes[at + 1] != 0x7f)
            return false;
        else
            count++;
    }
    return count >= ENOUGH_HSYNC;
}

const char *pug_coresight_guess(const uint8_t *bytes, size_t size)
{
    return has_fsyncs(bytes, size) ? "fsyncs" : has_hsyncs(bytes, size) ? "hsyncs" : "mem_align";
}

bool pug_coresight_shows(const uint8_t *bytes, size_t size)
{
    return has_fsyncs(bytes, size) || has_hsyncs(bytes, size);
}

bool pug_coresight_fsyncs(const uint8_t *bytes, size_t size)
{
    return has_fsyncs(bytes, size);
}

bool pug_coresight_is_told(const struct pug_settings *settings)
{
    static const char *const names[] = {"flags", "fsyncs", "hsyncs", "mem_align",
                                        "reset_on_4x_fsync"};
    bool told = false;
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
        told |= pug_settings_find(settings, names[i]) != NULL;
    return told;
}
