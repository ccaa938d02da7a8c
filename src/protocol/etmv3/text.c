// SPDX-License-Identifier: MIT
/** @file ETMv3 packets in words. */
#include "protocol/etmv3/etmv3.h"

#include <stdio.h>

#define TYPE(name) [PUG_ETMV3_##name]

static const struct {
    const char *name, *description;
} types[] = {
    TYPE(NOERROR) = {"I_RESERVED", "Reserved Packet Header"},
    TYPE(NOTSYNC) = {"NOTSYNC", "Trace Stream not synchronised"},
    TYPE(INCOMPLETE_EOT) = {"INCOMPLETE_EOT.", "Incomplete packet at end of trace data."},
    TYPE(BRANCH_ADDRESS) = {"BRANCH_ADDRESS", "Branch address."},
    TYPE(A_SYNC) = {"A_SYNC", "Alignment Synchronisation."},
    TYPE(CYCLE_COUNT) = {"CYCLE_COUNT", "Cycle Count."},
    TYPE(I_SYNC) = {"I_SYNC", "Instruction Packet synchronisation."},
    TYPE(I_SYNC_CYCLE) = {"I_SYNC_CYCLE", "Instruction Packet synchronisation with cycle count."},
    TYPE(TRIGGER) = {"TRIGGER", "Trace Trigger Event."},
    TYPE(P_HDR) = {"P_HDR", "Atom P-header."},
    TYPE(STORE_FAIL) = {"STORE_FAIL", "Data Store Failed."},
    TYPE(OOO_DATA) = {"OOO_DATA", "Out of Order data value packet."},
    TYPE(OOO_ADDR_PLC) = {"OOO_ADDR_PLC", "Out of Order data address placeholder."},
    TYPE(NORM_DATA) = {"NORM_DATA", "Data trace packet."},
    TYPE(DATA_SUPPRESSED) = {"DATA_SUPPRESSED", "Data trace suppressed."},
    TYPE(VAL_NOT_TRACED) = {"VAL_NOT_TRACED", "Data trace value not traced."},
    TYPE(IGNORE) = {"IGNORE", "Packet ignored."},
    TYPE(CONTEXT_ID) = {"CONTEXT_ID", "Context ID change."},
    TYPE(VMID) = {"VMID", "VMID change."},
    TYPE(EXCEPTION_ENTRY) = {"EXCEPTION_ENTRY", "Exception entry data marker."},
    TYPE(EXCEPTION_EXIT) = {"EXCEPTION_EXIT", "Exception return."},
    TYPE(TIMESTAMP) = {"TIMESTAMP", "Timestamp Value."},
    TYPE(BRANCH_OR_BYPASS_EOT) = {"BRANCH_OR_BYPASS_EOT.", "Branch or Bypass packet at end."},
    TYPE(BAD_SEQUENCE) = {"BAD_SEQUENCE", "Invalid sequence for packet type."},
    TYPE(BAD_TRACEMODE) = {"BAD_TRACEMODE", "Invalid packet type for this trace mode."},
    TYPE(RESERVED) = {"I_RESERVED", "Reserved Packet Header"},
};

const char *pug_etmv3_packet_name(uint32_t type)
{
    return types[type < sizeof(types) / sizeof(types[0]) ? type : PUG_ETMV3_RESERVED].name;
}

/* ---- branches ---- */

static const char *m_exception_name(const struct pug_etmv3_exception *exception, char *buffer,
                                    size_t size)
{
    static const char *const names[0x18] = {
        [0x00] = "No Exception", [0x09] = "usage Fault", [0x0a] = "NMI",      [0x0b] = "SVC",
        [0x0c] = "DebugMonitor", [0x0d] = "Mem Manage",  [0x0e] = "PendSV",   [0x0f] = "SysTick",
        [0x11] = "PE Reset",     [0x13] = "HardFault",   [0x15] = "BusFault",
    };
    unsigned number = exception->number;
    if (number < 0x18 && names[number])
        return names[number];
    if (number > 8 && number < 0x18)
        return "Reserved";
    snprintf(buffer, size, "IRQ%u", number < 8 ? number : number == 8 ? 0 : number - 0x10);
    return buffer;
}

static void put_exception(struct pug_text *text, const struct pug_etmv3_exception *exception)
{
    char buffer[16];
    if (exception->m_profile) {
        pug_text_format(text, "Exception=%s", m_exception_name(exception, buffer, sizeof(buffer)));
        if (exception->resume)
            pug_text_format(text, "; Resume=%u", exception->resume);
    } else if (exception->unnamed) {
        pug_text_format(text, "Exception=%u; ", exception->number);
    } else {
        pug_text_format(text, "Exception=%s; ", pug_armv7_exception_name(exception->number));
    }
    if (exception->cancel)
        pug_text_put(text, "; Cancel prev instr");
}

static void put_branch(struct pug_text *text, const struct pug_etmv3_packet *packet)
{
    pug_text_put(text, "; ");
    pug_armv7_branch_text(text, &packet->address, packet->isa, packet->previous_isa,
                          &packet->context);
    if (packet->exception.present)
        put_exception(text, &packet->exception);
}

/* ---- others ---- */

static void put_isync(struct pug_text *text, const struct pug_etmv3_packet *packet)
{
    pug_text_format(text, "; (%s); ", pug_armv7_isync_reason_text(packet->isync.reason));
    if (!packet->isync.no_address) {
        pug_text_format(text, "Addr=0x%08llx; ", (unsigned long long)packet->address.value);
        if (packet->isync.has_lsip)
            pug_text_format(text, "LSiP=0x%08llx; ",
                            (unsigned long long)packet->isync.lsip_address);
    }
    pug_text_put(text, pug_armv7_security_text(&packet->context));
    pug_text_put(text, packet->context.hyp ? "Hyp; " : " ");
    if (packet->context.updated_context_id)
        pug_text_format(text, "CtxtID=%x; ", packet->context.context_id);
    if (packet->isync.no_address)
        return;
    pug_text_format(text, "ISA=%s; ", pug_armv7_isa_text(packet->isa));
    if (packet->isync.has_cycle_count)
        pug_text_format(text, "Cycles=%u; ", packet->cycle_count);
}

static void put_waits(struct pug_text *text, unsigned count)
{
    for (unsigned i = 0; i < count; i++)
        pug_text_put(text, "W");
}

/** W is a cycle; where it stands depends on the format. */
static void put_atoms(struct pug_text *text, const struct pug_etmv3_packet *packet)
{
    pug_text_put(text, "; ");
    if (packet->cycle_count == 0) {
        pug_armv7_atoms_text(text, &packet->atoms);
        return;
    }
    if (packet->format == 1) {
        for (unsigned i = 0; i < packet->atoms.count; i++)
            pug_text_put(text, packet->atoms.bits >> i & 1 ? "WE" : "WN");
    } else {
        put_waits(text, packet->format == 2 ? 1 : packet->cycle_count);
        pug_armv7_atoms_text(text, &packet->atoms);
    }
    pug_text_format(text, "; Cycles=%u", packet->cycle_count);
}

static void put_data(struct pug_text *text, const struct pug_etmv3_packet *packet)
{
    const struct pug_etmv3_data *data = &packet->data;
    if (data->updated_address) {
        pug_text_put(text, "; Addr=");
        pug_armv7_address_text(text, &data->address);
    }
    if (data->updated_value || packet->type == PUG_ETMV3_OOO_DATA)
        pug_text_format(text, "; Val=0x%x", data->value);
    if (packet->type == PUG_ETMV3_OOO_DATA || packet->type == PUG_ETMV3_OOO_ADDR_PLC)
        pug_text_format(text, "; OO_Tag=0x%x", data->tag);
}

size_t pug_etmv3_packet_text(const void *pointer, char *buffer, size_t size)
{
    const struct pug_etmv3_packet *packet = pointer;
    struct pug_text text = PUG_TEXT(buffer, size);
    uint8_t type = packet->type;
    pug_text_put(&text, pug_etmv3_packet_name(type));
    pug_text_put(&text, " : ");
    pug_text_put(&text, types[type <= PUG_ETMV3_RESERVED ? type : PUG_ETMV3_RESERVED].description);
    switch (type) {
    case PUG_ETMV3_BRANCH_ADDRESS: put_branch(&text, packet); break;
    case PUG_ETMV3_CYCLE_COUNT: pug_text_format(&text, "; Cycles=%u", packet->cycle_count); break;
    case PUG_ETMV3_I_SYNC:
    case PUG_ETMV3_I_SYNC_CYCLE: put_isync(&text, packet); break;
    case PUG_ETMV3_P_HDR: put_atoms(&text, packet); break;
    case PUG_ETMV3_OOO_DATA:
    case PUG_ETMV3_OOO_ADDR_PLC:
    case PUG_ETMV3_NORM_DATA:
    case PUG_ETMV3_VAL_NOT_TRACED: put_data(&text, packet); break;
    case PUG_ETMV3_CONTEXT_ID:
        pug_text_format(&text, "; CtxtID=0x%x", packet->context.context_id);
        break;
    case PUG_ETMV3_VMID:
        pug_text_put(&text, "; VMID=0x");
        pug_armv7_vmid_text(&text, &packet->context);
        break;
    case PUG_ETMV3_TIMESTAMP:
        pug_text_format(&text, "; TS=0x%llx (%llu) ", (unsigned long long)packet->timestamp,
                        (unsigned long long)packet->timestamp);
        break;
    case PUG_ETMV3_INCOMPLETE_EOT:
    case PUG_ETMV3_BAD_SEQUENCE:
    case PUG_ETMV3_BAD_TRACEMODE:
        pug_text_format(&text, "[%s]", pug_etmv3_packet_name(packet->header_type));
        break;
    default: break;
    }
    return pug_text_end(&text);
}
