// SPDX-License-Identifier: MIT
#include "recorder/stm.h"

#include <stdlib.h>

#define ASYNC_RUN 21u

/** Opcode nibbles of a packet type, in each of its forms; first nibble highest. */
struct form {
    uint16_t opcode;
    uint8_t nibbles; /**< of the opcode; 0: there is no such form */
};

enum { PLAIN, TIMED, MARKED, MARKED_TIMED };

static const struct {
    uint8_t payload; /**< nibbles */
    struct form forms[4];
} packets[PUG_STM_TYPE_COUNT] = {
    [PUG_STM_VERSION] = {1, {[PLAIN] = {0xF00, 3}}},
    [PUG_STM_FREQ] = {8, {[PLAIN] = {0xF08, 3}}},
    [PUG_STM_NULL] = {0, {[PLAIN] = {0x0, 1}, [TIMED] = {0xF01, 3}}},
    [PUG_STM_TRIG] = {2, {[PLAIN] = {0xF06, 3}, [TIMED] = {0xF07, 3}}},
    [PUG_STM_GERR] = {2, {[PLAIN] = {0xF2, 2}}},
    [PUG_STM_MERR] = {2, {[PLAIN] = {0x2, 1}}},
    [PUG_STM_M8] = {2, {[PLAIN] = {0x1, 1}}},
    [PUG_STM_C8] = {2, {[PLAIN] = {0x3, 1}}},
    [PUG_STM_C16] = {4, {[PLAIN] = {0xF3, 2}}},
    [PUG_STM_FLAG] = {0, {[PLAIN] = {0xFE, 2}, [TIMED] = {0xE, 1}}},
    [PUG_STM_D4] = {1, {{0xC, 1}, {0xFC, 2}, {0xFD, 2}, {0xD, 1}}},
    [PUG_STM_D8] = {2, {{0x4, 1}, {0xF4, 2}, {0xF8, 2}, {0x8, 1}}},
    [PUG_STM_D16] = {4, {{0x5, 1}, {0xF5, 2}, {0xF9, 2}, {0x9, 1}}},
    [PUG_STM_D32] = {8, {{0x6, 1}, {0xF6, 2}, {0xFA, 2}, {0xA, 1}}},
    [PUG_STM_D64] = {16, {{0x7, 1}, {0xF7, 2}, {0xFB, 2}, {0xB, 1}}},
};

void rec_stm_nibble(struct rec_stm *stm, unsigned nibble)
{
    if (stm->half)
        rec_put(stm->bytes, (uint8_t)(stm->low | nibble << 4));
    stm->low = nibble & 0xf;
    stm->half = !stm->half;
}

void rec_stm_nibbles(struct rec_stm *stm, const char *text)
{
    for (; *text; text++)
        if (*text != ' ')
            rec_stm_nibble(stm, (unsigned)strtoul((char[]){*text, 0}, NULL, 16));
}

/** Most significant nibble first. */
static void put_value(struct rec_stm *stm, uint64_t value, unsigned nibbles)
{
    while (nibbles-- > 0)
        rec_stm_nibble(stm, value >> 4 * nibbles & 0xf);
}

static uint64_t payload_of(const struct pug_stm_packet *packet)
{
    switch (packet->type) {
    case PUG_STM_M8: return packet->master;
    case PUG_STM_C8:
    case PUG_STM_C16: return packet->channel;
    default: return packet->payload;
    }
}

static uint64_t encoded(uint64_t timestamp, uint8_t ts_type)
{
    return ts_type == PUG_STM_TS_GREY ? timestamp ^ timestamp >> 1 : timestamp;
}

static void put_ts(struct rec_stm *stm, const struct pug_stm_packet *packet)
{
    unsigned nibbles = packet->ts_bits / 4u;
    rec_stm_nibble(stm, nibbles <= 12 ? nibbles : nibbles == 14 ? 13 : 14);
    put_value(stm, encoded(packet->timestamp, packet->ts_type), nibbles);
}

void rec_stm_put(struct rec_stm *stm, const struct pug_stm_packet *packet)
{
    if (packet->type == PUG_STM_ASYNC) {
        for (unsigned i = 0; i < ASYNC_RUN; i++)
            rec_stm_nibble(stm, 0xf);
        rec_stm_nibble(stm, 0);
        return;
    }
    if (packet->type >= PUG_STM_TYPE_COUNT)
        return;
    bool marked = packet->marker && packet->type != PUG_STM_FLAG;
    const struct form *form =
        &packets[packet->type].forms[(marked ? MARKED : PLAIN) + (packet->has_ts ? TIMED : PLAIN)];
    if (form->nibbles == 0)
        return;
    put_value(stm, form->opcode, form->nibbles);
    put_value(stm, payload_of(packet), packets[packet->type].payload);
    if (packet->has_ts)
        put_ts(stm, packet);
}

uint8_t rec_stm_ts_bits(uint64_t previous, uint64_t timestamp, enum pug_stm_ts_type ts_type)
{
    static const uint8_t lengths[] = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 14, 16};
    uint64_t difference = encoded(previous, ts_type) ^ encoded(timestamp, ts_type);
    for (unsigned i = 0; i < sizeof(lengths) - 1; i++)
        if (difference >> 4 * lengths[i] == 0)
            return 4u * lengths[i];
    return 64;
}

void rec_stm_end(struct rec_stm *stm)
{
    if (stm->half)
        rec_stm_nibble(stm, 0);
}
