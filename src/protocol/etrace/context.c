// SPDX-License-Identifier: MIT
/** @file Context and time: what packets of several formats carry. */
#include "protocol/etrace/decoder.h"

void pug_etrace_push_time(struct pug_etrace_decoder *d)
{
    if (!d->packet->tells_time)
        return;
    pug_out_push(d->out, PUG_ELEM_TIMESTAMP, d->index)->timestamp = d->packet->now;
    pug_etrace_tally(d);
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
        context_id = pug_etrace_context_id(d->config, p);
        (void)pug_etrace_vmid(d->config, p, &vmid);
    }
    if (context_id == blank->context_id && vmid == blank->vmid && level == blank->level &&
        flags == blank->context_flags)
        return false;
    pug_etrace_count_close(d);
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
