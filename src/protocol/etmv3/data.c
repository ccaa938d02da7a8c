// SPDX-License-Identifier: MIT
/**
 * @file ETMv3 data trace: transfers and the instructions that make them.
 *
 * A data packet belongs to the load or store that was traced last, also when other instructions
 * were traced since. Its first transfer has the A bit and an address; the others follow at the next
 * address. An out-of-order placeholder stands where the transfer is made; the value comes later
 * with the same tag. Data elements are held like their instruction: it may yet be cancelled, or
 * turn out to be aborted.
 */
#include "protocol/etmv3/decoder.h"

void pug_etmv3_data_instruction(struct pug_etmv3_decoder *decoder, uint64_t address, uint8_t isa)
{
    uint8_t bytes[4] = {0};
    struct pug_arm_access access;
    if (pug_codemap_read(decoder->code, address, bytes, sizeof(bytes)) < 2 ||
        !pug_arm_access(isa, pug_armv7_little_endian(bytes, 4), &access) ||
        (access.coprocessor && !decoder->config->cprt))
        return;
    struct pug_etmv3_transfer *transfer = &decoder->transfer;
    transfer->pc = address;
    transfer->has_pc = true;
    transfer->access = access.access == PUG_ACCESS_SWAP ? PUG_ACCESS_LOAD : access.access;
    transfer->swap = access.access == PUG_ACCESS_SWAP;
    transfer->size = access.size;
    transfer->doubleword = access.doubleword;
    transfer->has_address = false;
}

void pug_etmv3_data_automatic(struct pug_etmv3_decoder *decoder, enum pug_access access)
{
    decoder->transfer = (struct pug_etmv3_transfer){.access = (uint8_t)access};
    if (access != PUG_ACCESS_UNKNOWN)
        decoder->transfer.size = 4;
}

/** On to the transfer that a packet is about. */
static void next_transfer(struct pug_etmv3_decoder *decoder, const struct pug_etmv3_packet *packet)
{
    struct pug_etmv3_transfer *transfer = &decoder->transfer;
    transfer->big_endian = packet->data.big_endian;
    if (packet->data.updated_address) {
        transfer->address = packet->data.address.value;
        transfer->has_address = packet->data.address.valid_bits == 32;
    } else if (transfer->has_address) {
        transfer->address += 4; /* of several transfers each is a word */
    }
}

/** The transfer is done: of a swap the store comes next. */
static void end_transfer(struct pug_etmv3_transfer *transfer)
{
    if (transfer->swap)
        transfer->access = PUG_ACCESS_STORE;
}

static void put_transfer(struct pug_etmv3_decoder *decoder,
                         const struct pug_etmv3_transfer *transfer, bool has_value, uint32_t value)
{
    if (!has_value && !transfer->has_address)
        return;
    struct pug_element *element =
        pug_etmv3_put(decoder, has_value ? PUG_ELEM_DATA_VALUE : PUG_ELEM_DATA_ADDRESS);
    element->reason = transfer->access;
    element->last_size = transfer->size;
    element->value = value;
    if (transfer->has_address) {
        element->start = transfer->address;
        element->flags |= PUG_ELEM_HAS_ADDRESS;
    }
    if (transfer->has_pc) {
        element->end = transfer->pc;
        element->flags |= PUG_ELEM_HAS_PC;
    }
    if (transfer->big_endian)
        element->flags |= PUG_ELEM_BIG_ENDIAN;
    if (decoder->data_lost)
        element->flags |= PUG_ELEM_OVERFLOW;
    decoder->data_lost = false;
    if (++decoder->list.held > PUG_ETMV3_LIST_MOST)
        decoder->list.held = 0;
}

/** The value of a placeholder that came before; of a doubleword there may be two. */
static void put_tagged(struct pug_etmv3_decoder *decoder, const struct pug_etmv3_packet *packet)
{
    struct pug_etmv3_transfer unknown = {.access = PUG_ACCESS_UNKNOWN};
    struct pug_etmv3_transfer *tagged = &decoder->tagged[packet->data.tag & 3];
    if (tagged->values_left == 0) {
        put_transfer(decoder, &unknown, true, packet->data.value);
        return;
    }
    put_transfer(decoder, tagged, true, packet->data.value);
    tagged->address += 4;
    tagged->values_left--;
}

/** The store that was traced last wrote nothing. */
static void store_failed(struct pug_etmv3_decoder *decoder)
{
    struct pug_element *last = pug_etmv3_from_end(decoder, 0);
    if (last && (last->type == PUG_ELEM_DATA_ADDRESS || last->type == PUG_ELEM_DATA_VALUE)) {
        last->reason = PUG_ACCESS_SC_FAIL;
        return;
    }
    struct pug_etmv3_transfer failed = decoder->transfer;
    failed.access = PUG_ACCESS_SC_FAIL;
    put_transfer(decoder, &failed, false, 0);
}

void pug_etmv3_data(struct pug_etmv3_decoder *decoder, const struct pug_etmv3_packet *packet)
{
    struct pug_etmv3_transfer *transfer = &decoder->transfer;
    switch (packet->type) {
    case PUG_ETMV3_NORM_DATA:
        next_transfer(decoder, packet);
        put_transfer(decoder, transfer, decoder->config->data_values, packet->data.value);
        end_transfer(transfer);
        break;
    case PUG_ETMV3_VAL_NOT_TRACED:
        next_transfer(decoder, packet);
        put_transfer(decoder, transfer, false, 0);
        end_transfer(transfer);
        break;
    case PUG_ETMV3_OOO_ADDR_PLC:
        next_transfer(decoder, packet);
        put_transfer(decoder, transfer, false, 0);
        decoder->tagged[packet->data.tag & 3] = *transfer;
        decoder->tagged[packet->data.tag & 3].values_left = transfer->doubleword ? 2 : 1;
        end_transfer(transfer);
        break;
    case PUG_ETMV3_OOO_DATA: put_tagged(decoder, packet); break;
    case PUG_ETMV3_STORE_FAIL: store_failed(decoder); break;
    default: decoder->data_lost = true; /* DATA_SUPPRESSED */
    }
}
