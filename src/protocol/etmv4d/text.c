// SPDX-License-Identifier: MIT
/** @file Packets in words. */
#include "base/text.h"
#include "protocol/etmv4d/etmv4d.h"

static const struct {
    const char *name, *description;
} words[PUG_ETMV4D_TYPES] = {
    [PUG_ETMV4D_NOTSYNC] = {"D_NOTSYNC", "Not synchronised"},
    [PUG_ETMV4D_UNREAD] = {"D_UNREAD", "Behind a packet whose length is not known"},
    [PUG_ETMV4D_RESERVED] = {"D_RESERVED", "Reserved header"},
    [PUG_ETMV4D_INCOMPLETE_EOT] = {"D_INCOMPLETE_EOT", "The trace ends inside a packet"},
    [PUG_ETMV4D_ASYNC] = {"D_ASYNC", "Alignment synchronisation"},
    [PUG_ETMV4D_TRACE_INFO] = {"D_TRACE_INFO", "Trace info"},
    [PUG_ETMV4D_DISCARD] = {"D_DISCARD", "Discard"},
    [PUG_ETMV4D_OVERFLOW] = {"D_OVERFLOW", "Overflow"},
    [PUG_ETMV4D_NUM_DS_MKR] = {"D_NUM_DS_MKR", "Numbered data synchronisation marker"},
    [PUG_ETMV4D_UNNUM_DS_MKR] = {"D_UNNUM_DS_MKR", "Data synchronisation marker"},
    [PUG_ETMV4D_TIMESTAMP] = {"D_TIMESTAMP", "Timestamp"},
    [PUG_ETMV4D_SUPPRESSION] = {"D_SUPPRESSION", "Suppression"},
    [PUG_ETMV4D_EVENT] = {"D_EVENT", "Event"},
    [PUG_ETMV4D_VALUE_F1] = {"D_VAL_P2_F1", "Data value, format 1"},
    [PUG_ETMV4D_VALUE_F2] = {"D_VAL_P2_F2", "Data value, format 2"},
    [PUG_ETMV4D_VALUE_F3] = {"D_VAL_P2_F3", "Data value, format 3"},
    [PUG_ETMV4D_VALUE_F4] = {"D_VAL_P2_F4", "Data value, format 4"},
    [PUG_ETMV4D_VALUE_F5] = {"D_VAL_P2_F5", "Data value, format 5"},
    [PUG_ETMV4D_VALUE_F6] = {"D_VAL_P2_F6", "Data value, format 6"},
    [PUG_ETMV4D_ADDRESS_F1] = {"D_ADDR_P1_F1", "Data address, format 1"},
    [PUG_ETMV4D_ADDRESS_F2] = {"D_ADDR_P1_F2", "Data address, format 2"},
    [PUG_ETMV4D_ADDRESS_F3] = {"D_ADDR_P1_F3", "Data address, format 3"},
    [PUG_ETMV4D_ADDRESS_F4] = {"D_ADDR_P1_F4", "Data address, format 4"},
    [PUG_ETMV4D_ADDRESS_F5] = {"D_ADDR_P1_F5", "Data address, format 5"},
    [PUG_ETMV4D_ADDRESS_F6] = {"D_ADDR_P1_F6", "Data address, format 6"},
    [PUG_ETMV4D_ADDRESS_F7] = {"D_ADDR_P1_F7", "Data address, format 7"},
};

const char *pug_etmv4d_packet_name(uint32_t type)
{
    return type < PUG_ETMV4D_TYPES ? words[type].name : "D_UNKNOWN";
}

size_t pug_etmv4d_packet_text(const void *data, char *buffer, size_t size)
{
    const struct pug_etmv4d_packet *packet = data;
    struct pug_text text = PUG_TEXT(buffer, size);
    pug_text_format(&text, "%s : %s", words[packet->type].name, words[packet->type].description);
    if (packet->size > 0)
        pug_text_format(&text, "; %llu bytes", (unsigned long long)packet->size);
    if (packet->length_unknown)
        pug_text_put(&text, "; length unknown");
    return pug_text_end(&text);
}
