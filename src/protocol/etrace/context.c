// SPDX-License-Identifier: MIT
/** @file Context and time: what packets of several formats carry. */
#include "protocol/etrace/decoder.h"

/** The time of a packet: its own field, or what the wrapping carries, whichever tells more. */
static bool update_time(struct pug_etrace_decoder *d)
{
    const struct pug_etrace_packet *p = d->packet;
    unsigned width = d->options.time_width, bits = p->timestamp_bits;
    if (p->has_time && width > bits) {
        d->time = p->time;
        d->time_known = true;
        return true;
    }
    if (bits == 0)
        return false;
    if (!d->time_known || bits >= 64)
        d->time = p->timestamp;
    else
        d->time += (p->timestamp - d->time) & ((UINT64_C(1) << bits) - 1);
    d->time_known = true;
    return true;
}

void pug_etrace_push_time(struct pug_etrace_decoder *d)
{
    if (update_time(d))
        pug_out_push(d->out, PUG_ELEM_TIMESTAMP, d->index)->timestamp = d->time;
}

/** What elements say of a privilege: flags, and the level, which is 0 without them. */
static uint8_t describe(unsigned privilege, int8_t *level)
{
    static const int8_t levels[] = {
        [PUG_ETRACE_PRIVILEGE_U] = 0,
        [PUG_ETRACE_PRIVILEGE_S] = 1,
        [2] = -1,
        [PUG_ETRACE_PRIVILEGE_M] = 3,
        [PUG_ETRACE_PRIVILEGE_D] = 3,
        [PUG_ETRACE_PRIVILEGE_VU] = 0,
        [PUG_ETRACE_PRIVILEGE_VS] = 1,
        [7] = -1,
    };
    const int8_t known = privilege < sizeof(levels) ? levels[privilege] : -1;
    const bool guest = privilege == PUG_ETRACE_PRIVILEGE_VU || privilege == PUG_ETRACE_PRIVILEGE_VS;
    *level = known < 0 ? 0 : known;
    return (uint8_t)((known < 0 ? 0 : PUG_CTX_LEVEL) | (guest ? PUG_CTX_VMID : 0));
}

static void change_space(struct pug_etrace_decoder *d)
{
    pug_codemap_element_space(d->code, &d->out->blank, PUG_SPACE_ANY);
    pug_etrace_forget_ways(d);
    pug_codemap_context_changed(d->code);
}

/** Context of the packet into force. True: it is another one. Else nothing is stored, for elements
    that are made of it at once would wait for that. */
static bool update_context(struct pug_etrace_decoder *d)
{
    const struct pug_etrace_packet *p = d->packet;
    struct pug_element *blank = &d->out->blank;
    int8_t level;
    uint8_t flags = describe(p->privilege, &level);
    uint32_t context_id = blank->context_id, vmid = blank->vmid;
    flags |= blank->context_flags & (uint8_t) ~(PUG_CTX_LEVEL | PUG_CTX_VMID);
    if (p->has_context) {
        flags |= PUG_CTX_CONTEXT_ID;
        context_id = (uint32_t)p->context;
    }
    if (p->has_context && d->config->asid_vmid) {
        context_id = p->context & 0xffff;
        if (flags & PUG_CTX_VMID)
            vmid = p->context >> 16 & 0x3fff;
    }
    if (context_id == blank->context_id && vmid == blank->vmid && level == blank->level &&
        flags == blank->context_flags)
        return false;
    blank->context_flags = flags;
    blank->level = level;
    blank->context_id = context_id;
    blank->vmid = vmid;
    change_space(d);
    return true;
}

void pug_etrace_push_context(struct pug_etrace_decoder *d, bool always)
{
    if (update_context(d) || always)
        pug_out_push(d->out, PUG_ELEM_PE_CONTEXT, d->index);
}
