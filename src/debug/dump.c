// SPDX-License-Identifier: MIT
/**
 * @file Dumps of memory in a snapshot. They were made when the trace had ended, and nothing says
 * which part of them is code. Where code ran it was there all the time; the rest counts at the end.
 */
#include "base/hash.h"
#include "debug/history.h"
#include "image/image.h"
#include "pugmark/advanced/capture.h"

#include <stdlib.h>
#include <string.h>

static uint64_t hash_of(const struct pug_address_space *space, uint64_t piece)
{
    const uint64_t hash = pug_hash_mix((uintptr_t)space, piece);
    return hash ? hash : 1;
}

/** The slot of a hash, or the free one where it would be. */
static uint64_t *slot_of(const struct pug_history *history, uint64_t hash)
{
    uint32_t at = (uint32_t)hash & (history->piece_slots - 1);
    while (history->pieces[at] != 0 && history->pieces[at] != hash)
        at = (at + 1) & (history->piece_slots - 1);
    return &history->pieces[at];
}

/** Makes room for one more piece. */
static bool make_room(struct pug_history *history)
{
    if (history->pieces && history->piece_count < history->piece_slots / 2)
        return true;
    uint64_t *old = history->pieces;
    const uint32_t count = history->piece_slots;
    history->piece_slots = count ? count * 2 : 4096;
    history->pieces = calloc(history->piece_slots, sizeof(*history->pieces));
    if (!history->pieces) {
        history->pieces = old;
        history->piece_slots = count;
        history->status = PUG_ERR_MEM;
        return false;
    }
    history->memory += (uint64_t)(history->piece_slots - count) * sizeof(*history->pieces);
    for (uint32_t i = 0; old && i < count; i++)
        if (old[i] != 0)
            *slot_of(history, old[i]) = old[i];
    free(old);
    return true;
}

static bool add_code(struct pug_history *history, const struct pug_history_block *block)
{
    const uint64_t last = (block->end - 1) / PUG_CODE_PIECE;
    for (uint64_t piece = block->start / PUG_CODE_PIECE; piece <= last; piece++) {
        if (!make_room(history))
            return false;
        const uint64_t hash = hash_of(block->origin.space, piece);
        uint64_t *slot = slot_of(history, hash);
        history->piece_count += *slot == 0;
        *slot = hash;
    }
    return true;
}

/** Did code run in the piece that an address is in? */
static bool has_code(struct pug_history *history, const struct pug_address_space *space,
                     uint64_t address)
{
    struct pug_history_block block;
    while (pug_history_next_block(history, &history->piece_events, &block))
        if (block.end > block.start && !add_code(history, &block))
            return false;
    const uint64_t hash = hash_of(space, address / PUG_CODE_PIECE);
    return history->pieces && *slot_of(history, hash) == hash;
}

enum pug_dump_kind pug_history_dump(struct pug_history *history,
                                    const struct pug_history_place *place, uint64_t address,
                                    uint64_t *end)
{
    const struct pug_address_space *space = place->origin.space;
    const struct pug_reader_space reader = pug_history_reader(place);
    struct pug_window window;
    uint64_t last;
    if (pug_capture_kind(history->config.capture) != PUG_CAPTURE_SNAPSHOT || !space ||
        !pug_image_find(pug_address_space_image(space), &reader, address, &window) ||
        window.accessor ==
            pug_image_program(pug_address_space_image(space), &reader, address, &last))
        return PUG_DUMP_NONE;
    const uint64_t left = window.last - address;
    const uint64_t piece = PUG_CODE_PIECE - 1 - address % PUG_CODE_PIECE;
    if (history->ended && place->position + 1 == history->positions) {
        *end = address + left + (left < UINT64_MAX - address);
        return PUG_DUMP_KNOWN;
    }
    *end = address + (left < piece ? left : piece) + 1;
    return has_code(history, space, address) ? PUG_DUMP_KNOWN : PUG_DUMP_UNKNOWN;
}
