// SPDX-License-Identifier: MIT
#include "protocol/stm/message.h"

#include <stdlib.h>

/* sw_packets counts up to 255, of 8 bytes each. */
#define MESSAGE_PACKETS 255u
#define MESSAGE_BYTES   (MESSAGE_PACKETS * 8u)
#define STORE_BYTES     (16u * MESSAGE_BYTES)

bool stm_message_init(struct stm_message *message)
{
    message->bytes = malloc(STORE_BYTES);
    return message->bytes != NULL;
}

void stm_message_free(struct stm_message *message)
{
    free(message->bytes);
}

bool stm_message_ready(struct stm_message *message, struct pug_out *out)
{
    /* A packet may close a message of any length and begin another one. */
    if (!message->bytes || message->start + 2 * MESSAGE_BYTES <= STORE_BYTES)
        return true;
    if (!out->batch->flush(out->batch))
        return false;
    memmove(message->bytes, message->bytes + message->start, message->size);
    message->start = 0;
    return true;
}

static void append(struct stm_message *message, uint64_t value, unsigned bits)
{
    uint8_t *at = message->bytes + message->start + message->size;
    for (unsigned i = 0; i < bits / 8; i++)
        at[i] = (uint8_t)(value >> 8 * i);
    message->size += bits / 8;
}

void stm_message_add(struct stm_message *message, struct pug_out *out,
                     const struct pug_element *element)
{
    struct pug_element *whole = &message->element;
    bool begins = (element->sw_flags & PUG_SW_MARKER) || (element->flags & PUG_ELEM_HAS_TS) ||
                  whole->sw_packets == MESSAGE_PACKETS;
    if (begins)
        stm_message_close(message, out);
    if (whole->sw_packets == 0) {
        *whole = *element;
    } else {
        whole->sw_packets++;
        if (whole->sw_bits != element->sw_bits)
            whole->sw_bits = 0;
    }
    append(message, element->value, element->sw_bits);
}

void stm_message_close(struct stm_message *message, struct pug_out *out)
{
    struct pug_element *whole = &message->element;
    if (whole->sw_packets == 0)
        return;
    if (whole->sw_packets > 1) {
        whole->flags |= PUG_ELEM_PAYLOAD;
        whole->payload = message->bytes + message->start;
        whole->count = message->size;
        whole->value = 0;
        if (whole->sw_flags & PUG_SW_MARKER)
            whole->sw_flags |= PUG_SW_MARKER_FIRST;
        message->start += message->size;
    }
    out->batch->elements[out->batch->count++] = *whole;
    stm_message_drop(message);
}

void stm_message_drop(struct stm_message *message)
{
    message->element.sw_packets = 0;
    message->size = 0;
}
