// SPDX-License-Identifier: MIT
/** @file What packets are for an index. */
#include "protocol/etmv4/etmv4.h"

size_t pug_etmv4_marks(const void *config, const void *data, struct pug_mark marks[PUG_MARK_LIMIT])
{
    const struct pug_etmv4_packet *packet = data;
    size_t n = 0;
    (void)config;
    switch (packet->type) {
    case PUG_ETMV4_TIMESTAMP: return pug_mark_put(marks, n, PUG_MARK_TIMESTAMP, packet->timestamp);
    case PUG_ETMV4_EVENT:
        for (unsigned bit = 0; bit < 4; bit++)
            if (packet->event >> bit & 1)
                n = pug_mark_put(marks, n, PUG_MARK_EVENT, bit);
        return n;
    case PUG_ETMV4_OVERFLOW: return pug_mark_put(marks, n, PUG_MARK_OVERFLOW, 0);
    case PUG_ETMV4_TRACE_ON: return pug_mark_put(marks, n, PUG_MARK_TRACE_ON, PUG_TRACE_ON_NORMAL);
    case PUG_ETMV4_TRANS_ST:
        return pug_mark_put(marks, n, PUG_MARK_TRANSACTION, PUG_MEMTRANS_START);
    case PUG_ETMV4_TRANS_COMMIT:
        return pug_mark_put(marks, n, PUG_MARK_TRANSACTION, PUG_MEMTRANS_COMMIT);
    case PUG_ETMV4_TRANS_FAIL:
        return pug_mark_put(marks, n, PUG_MARK_TRANSACTION, PUG_MEMTRANS_FAIL);
    case PUG_ETMV4_DISCARD: return pug_mark_put(marks, n, PUG_MARK_DISCARD, 0);
    case PUG_ETMV4_EXCEPT:
    case PUG_ETMV4_PE_RESET:
        return pug_mark_put(marks, n, PUG_MARK_EXCEPTION, packet->exception_type);
    case PUG_ETMV4_CTXT:
    case PUG_ETMV4_ADDR_CTXT_L_32IS0:
    case PUG_ETMV4_ADDR_CTXT_L_32IS1:
    case PUG_ETMV4_ADDR_CTXT_L_64IS0:
    case PUG_ETMV4_ADDR_CTXT_L_64IS1:
        if (packet->context.updated_context_id)
            n = pug_mark_put(marks, n, PUG_MARK_CONTEXT, packet->context.context_id);
        if (packet->context.updated_vmid)
            n = pug_mark_put(marks, n, PUG_MARK_VMID, packet->context.vmid);
        if (packet->type == PUG_ETMV4_CTXT)
            return n;
        return pug_mark_put(marks, n, PUG_MARK_ADDRESS, packet->address.value);
    case PUG_ETMV4_Q:
        if (!packet->q_has_address)
            return n;
        return pug_mark_put(marks, n, PUG_MARK_ADDRESS, packet->address.value);
    case PUG_ETMV4_ADDR_MATCH:
    case PUG_ETMV4_ADDR_S_IS0:
    case PUG_ETMV4_ADDR_S_IS1:
    case PUG_ETMV4_ADDR_L_32IS0:
    case PUG_ETMV4_ADDR_L_32IS1:
    case PUG_ETMV4_ADDR_L_64IS0:
    case PUG_ETMV4_ADDR_L_64IS1:
    case PUG_ETMV4_SRC_ADDR_MATCH:
    case PUG_ETMV4_SRC_ADDR_S_IS0:
    case PUG_ETMV4_SRC_ADDR_S_IS1:
    case PUG_ETMV4_SRC_ADDR_L_32IS0:
    case PUG_ETMV4_SRC_ADDR_L_32IS1:
    case PUG_ETMV4_SRC_ADDR_L_64IS0:
    case PUG_ETMV4_SRC_ADDR_L_64IS1:
        return pug_mark_put(marks, n, PUG_MARK_ADDRESS, packet->address.value);
    default: return 0;
    }
}
