// SPDX-License-Identifier: MIT
/** @file What packets are for an index. */
#include "protocol/itm/itm.h"

/** The address that an access of a comparator had, as far as it and a packet tell; false: not. */
static bool accessed(const struct pug_itm_config *config, unsigned source, unsigned size,
                     uint32_t value, uint32_t *address)
{
    const unsigned comparator = source >> 1 & 3;
    const bool known = config->comparator_set >> comparator & 1;
    const bool tells = source < PUG_ITM_DWT_VALUES; /* else it is of the value */
    if (tells && size == 4)
        *address = value;
    else if (tells)
        *address = (config->comparator[comparator] & 0xffff0000) | (value & 0xffff);
    else
        *address = config->comparator[comparator];
    return known || (tells && size == 4);
}

size_t pug_itm_hardware_marks(const struct pug_itm_config *config, unsigned source, unsigned size,
                              uint32_t value, struct pug_mark marks[PUG_MARK_LIMIT])
{
    size_t count = pug_mark_put(marks, 0, PUG_MARK_HARDWARE, source);
    uint32_t address;
    if (pug_itm_enters(source, value) && size == 2)
        count = pug_mark_put(marks, count, PUG_MARK_EXCEPTION, pug_itm_exception(value));
    else if (pug_itm_tells_pc(source) && size == 4)
        count = pug_mark_put(marks, count, PUG_MARK_ADDRESS, value);
    else if (pug_itm_is_access(source) && accessed(config, source, size, value, &address))
        count = pug_mark_put(marks, count, PUG_MARK_ADDRESS, address);
    return count;
}

size_t pug_itm_marks(const void *config, const void *data, struct pug_mark marks[PUG_MARK_LIMIT])
{
    const struct pug_itm_config *itm = config;
    const struct pug_itm_packet *packet = data;
    switch (packet->type) {
    case PUG_ITM_PKT_OVERFLOW: return pug_mark_put(marks, 0, PUG_MARK_OVERFLOW, 0);
    case PUG_ITM_PKT_GTS1:
    case PUG_ITM_PKT_GTS2:
        return packet->has_time ? pug_mark_put(marks, 0, PUG_MARK_TIMESTAMP, packet->time) : 0;
    case PUG_ITM_PKT_TS_LOCAL:
        return pug_mark_put(
            marks, 0, PUG_MARK_TIME_STEP,
            pug_itm_cycles(pug_itm_prescale(itm), itm->timestamp_loss, packet->value));
    case PUG_ITM_PKT_DWT:
        return pug_itm_hardware_marks(itm, packet->source, packet->size, packet->value, marks);
    case PUG_ITM_PKT_SWIT:
        return pug_mark_put(marks, 0, PUG_MARK_EVENT, pug_itm_port(packet->source, packet->page));
    default: return 0;
    }
}
