// SPDX-License-Identifier: MIT
#include "recorder/itm.h"

/** `count` bytes of 7 bits each, low group first, bit 7 set in all but the last. */
static void put_continued(struct rec_bytes *bytes, uint64_t value, unsigned count)
{
    for (unsigned i = 0; i < count; i++)
        rec_put(bytes, (uint8_t)((value >> 7 * i & 0x7f) | (i + 1 < count ? 0x80 : 0)));
}

static void put_source(struct rec_bytes *bytes, const struct pug_itm_packet *packet)
{
    unsigned size_bits = packet->size == 4 ? 3 : packet->size;
    unsigned hardware = packet->type == PUG_ITM_PKT_DWT ? 4 : 0;
    rec_put(bytes, (uint8_t)(packet->source << 3 | hardware | size_bits));
    rec_put_le(bytes, packet->value, packet->size);
}

static void put_local_ts(struct rec_bytes *bytes, const struct pug_itm_packet *packet)
{
    if (packet->source == 0 && packet->size == 1 && packet->value >= 1 && packet->value <= 6) {
        rec_put(bytes, (uint8_t)(packet->value << 4));
        return;
    }
    rec_put(bytes, (uint8_t)(0xc0 | packet->source << 4));
    put_continued(bytes, packet->value, packet->size);
}

static void put_gts1(struct rec_bytes *bytes, const struct pug_itm_packet *packet)
{
    uint32_t flags = packet->size == 4 ? (uint32_t)packet->source << 26 : 0;
    rec_put(bytes, 0x94);
    put_continued(bytes, packet->value | flags, packet->size);
}

static void put_gts2(struct rec_bytes *bytes, const struct pug_itm_packet *packet)
{
    rec_put(bytes, 0xb4);
    put_continued(bytes, (uint64_t)packet->value_top << 32 | packet->value,
                  packet->size == 5 ? 6 : packet->size);
}

static void put_extension(struct rec_bytes *bytes, const struct pug_itm_packet *packet)
{
    unsigned top_bit = packet->source & 0x1f;
    unsigned count = top_bit == 31 ? 4 : (top_bit - 2) / 7;
    unsigned hardware = packet->source & PUG_ITM_EXTENSION_HARDWARE ? 4 : 0;
    rec_put(bytes, (uint8_t)(8 | hardware | (packet->value & 7) << 4 | (count ? 0x80 : 0)));
    put_continued(bytes, packet->value >> 3, count < 4 ? count : 3);
    if (count == 4) {
        bytes->data[bytes->size - 1] |= 0x80;
        rec_put(bytes, (uint8_t)(packet->value >> 24));
    }
}

void rec_itm_put(struct rec_bytes *bytes, const struct pug_itm_packet *packet)
{
    switch (packet->type) {
    case PUG_ITM_PKT_ASYNC: rec_itm_async(bytes); break;
    case PUG_ITM_PKT_OVERFLOW: rec_put(bytes, 0x70); break;
    case PUG_ITM_PKT_SWIT:
    case PUG_ITM_PKT_DWT: put_source(bytes, packet); break;
    case PUG_ITM_PKT_TS_LOCAL: put_local_ts(bytes, packet); break;
    case PUG_ITM_PKT_GTS1: put_gts1(bytes, packet); break;
    case PUG_ITM_PKT_GTS2: put_gts2(bytes, packet); break;
    case PUG_ITM_PKT_EXTENSION: put_extension(bytes, packet); break;
    default: break;
    }
}

void rec_itm_async(struct rec_bytes *bytes)
{
    rec_put_n(bytes, (const uint8_t[]){0, 0, 0, 0, 0, 0x80}, 6);
}

void rec_itm_swit(struct rec_bytes *bytes, unsigned port, uint32_t value, unsigned size)
{
    put_source(bytes, &(struct pug_itm_packet){.type = PUG_ITM_PKT_SWIT,
                                               .source = port & 0x1f,
                                               .value = value,
                                               .size = (uint8_t)size});
}

void rec_itm_page(struct rec_bytes *bytes, unsigned page)
{
    put_extension(bytes, &(struct pug_itm_packet){.type = PUG_ITM_PKT_EXTENSION,
                                                  .source = PUG_ITM_EXTENSION_PAGE,
                                                  .size = 4,
                                                  .value = page});
}

void rec_itm_dwt(struct rec_bytes *bytes, unsigned source, uint32_t value, unsigned size)
{
    put_source(bytes, &(struct pug_itm_packet){.type = PUG_ITM_PKT_DWT,
                                               .source = (uint8_t)source,
                                               .value = value,
                                               .size = (uint8_t)size});
}

void rec_itm_local_ts(struct rec_bytes *bytes, unsigned relation, uint32_t cycles)
{
    unsigned size = 1;
    while (size < 4 && cycles >> 7 * size)
        size++;
    put_local_ts(bytes, &(struct pug_itm_packet){.type = PUG_ITM_PKT_TS_LOCAL,
                                                 .source = relation & 3,
                                                 .value = cycles,
                                                 .size = (uint8_t)size});
}
