// SPDX-License-Identifier: MIT
/** @file PTM packets in words. */
#include "protocol/ptm/ptm.h"

#define TYPE(name) [PUG_PTM_##name]

static const struct {
    const char *name, *description;
} types[] = {
    TYPE(NOTSYNC) = {"NOTSYNC", "PTM Not Synchronised"},
    TYPE(INCOMPLETE_EOT) = {"INCOMPLETE_EOT", "Incomplete packet flushed at end of trace"},
    TYPE(NOERROR) = {"NO_ERROR", "Error type not set"},
    TYPE(BRANCH_ADDRESS) = {"BRANCH_ADDRESS", "Branch address packet"},
    TYPE(A_SYNC) = {"ASYNC", "Alignment Synchronisation Packet"},
    TYPE(I_SYNC) = {"ISYNC", "Instruction Synchronisation packet"},
    TYPE(TRIGGER) = {"TRIGGER", "Trigger Event packet"},
    TYPE(WPOINT_UPDATE) = {"WP_UPDATE", "Waypoint update packet"},
    TYPE(IGNORE) = {"IGNORE", "Ignore packet"},
    TYPE(CONTEXT_ID) = {"CTXTID", "Context ID packet"},
    TYPE(VMID) = {"VMID", "VM ID packet"},
    TYPE(ATOM) = {"ATOM", "Atom packet"},
    TYPE(TIMESTAMP) = {"TIMESTAMP", "Timestamp packet"},
    TYPE(EXCEPTION_RET) = {"ERET", "Exception return packet"},
    TYPE(BRANCH_OR_BYPASS_EOT) = {"UNKNOWN", "Unknown packet type"},
    TYPE(TPIU_PAD_EOB) = {"UNKNOWN", "Unknown packet type"},
    TYPE(BAD_SEQUENCE) = {"BAD_SEQUENCE", "Invalid sequence in packet"},
    TYPE(RESERVED) = {"RESERVED", "Reserved Packet Header"},
};

/** Index of a packet type in the table; numbers that are none are UNKNOWN. */
static unsigned known_type(uint32_t type)
{
    return type < sizeof(types) / sizeof(types[0]) ? type : PUG_PTM_TPIU_PAD_EOB;
}

const char *pug_ptm_packet_name(uint32_t type)
{
    return types[known_type(type)].name;
}

static void put_cycles(struct pug_text *text, const struct pug_ptm_packet *packet)
{
    if (packet->has_cycle_count)
        pug_text_format(text, "Cycles=%u; ", packet->cycle_count);
}

static void put_branch(struct pug_text *text, const struct pug_ptm_packet *packet)
{
    pug_armv7_branch_text(text, &packet->address, packet->isa, packet->previous_isa,
                          &packet->context);
    if (packet->exception.present)
        pug_text_format(text, "Excep=%s [%02x]; ",
                        pug_armv7_exception_name(packet->exception.number),
                        packet->exception.number);
    put_cycles(text, packet);
}

static void put_isync(struct pug_text *text, const struct pug_ptm_packet *packet)
{
    pug_text_format(text, "(%s); ", pug_armv7_isync_reason_text(packet->isync_reason));
    pug_text_format(text, "Addr=0x%08llx; ", (unsigned long long)packet->address.value);
    pug_text_put(text, pug_armv7_security_text(&packet->context));
    pug_text_put(text, packet->context.hyp ? "Hyp; " : " ");
    if (packet->context.updated_context_id)
        pug_text_format(text, "CtxtID=%08x; ", packet->context.context_id);
    pug_text_format(text, "ISA=%s; ", pug_armv7_isa_text(packet->isa));
    put_cycles(text, packet);
}

static void put_timestamp(struct pug_text *text, const struct pug_ptm_packet *packet)
{
    pug_text_put(text, "TS=0x");
    pug_armv7_hex_text(text, packet->timestamp, 16);
    if (packet->timestamp_bits > 0) {
        pug_text_put(text, " ~[0x");
        pug_armv7_hex_text(text, packet->timestamp & pug_armv7_mask(packet->timestamp_bits), 1);
        pug_text_put(text, "]");
    }
    pug_text_format(text, "(%llu); ", (unsigned long long)packet->timestamp);
    put_cycles(text, packet);
}

size_t pug_ptm_packet_text(const void *pointer, char *buffer, size_t size)
{
    const struct pug_ptm_packet *packet = pointer;
    struct pug_text text = PUG_TEXT(buffer, size);
    pug_text_format(&text, "%s : %s; ", pug_ptm_packet_name(packet->type),
                    types[known_type(packet->type)].description);
    switch (packet->type) {
    case PUG_PTM_BRANCH_ADDRESS:
    case PUG_PTM_WPOINT_UPDATE: put_branch(&text, packet); break;
    case PUG_PTM_I_SYNC: put_isync(&text, packet); break;
    case PUG_PTM_CONTEXT_ID:
        pug_text_format(&text, "CtxtID=0x%08x; ", packet->context.context_id);
        break;
    case PUG_PTM_VMID:
        pug_text_put(&text, packet->context.vmid_as_character ? "VMID=0x0" : "VMID=0x");
        pug_armv7_vmid_text(&text, &packet->context);
        pug_text_put(&text, "; ");
        break;
    case PUG_PTM_ATOM:
        pug_armv7_atoms_text(&text, &packet->atoms);
        pug_text_put(&text, "; ");
        put_cycles(&text, packet);
        break;
    case PUG_PTM_TIMESTAMP: put_timestamp(&text, packet); break;
    case PUG_PTM_BAD_SEQUENCE:
        pug_text_format(&text, "[%s]; ", pug_ptm_packet_name(packet->header_type));
        break;
    default: break;
    }
    return pug_text_end(&text);
}
