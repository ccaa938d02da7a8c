// SPDX-License-Identifier: MIT
#include "protocol/stm/message.h"

#include <stdlib.h>

bool stm_message_init(struct stm_message *message, const struct pug_out *out)
{
    message->slots = out->batch->limit + PUG_OUT_STEP + 1;
    message->bytes = malloc(message->slots * STM_MESSAGE_BYTES);
    return message->bytes != NULL;
}

void stm_message_free(struct stm_message *message)
{
    free(message->bytes);
}

static uint8_t *payload(struct stm_message *message)
{
    return message->bytes + message->slot * STM_MESSAGE_BYTES;
}

void stm_message_add(struct stm_message *message, struct pug_out *out,
                     const struct pug_element *element)
{
    struct pug_element *whole = &message->element;
    unsigned bytes = element->sw_bits / 8u;
    if ((element->sw_flags & PUG_SW_MARKER) || (element->flags & PUG_ELEM_HAS_TS) ||
        whole->sw_packets == UINT8_MAX || message->size + bytes > STM_MESSAGE_BYTES)
        stm_message_close(message, out);
    if (whole->sw_packets == 0) {
        *whole = *element;
    } else {
        whole->sw_packets++;
        if (whole->sw_bits != element->sw_bits)
            whole->sw_bits = 0;
    }
    for (unsigned i = 0; i < bytes; i++)
        payload(message)[message->size++] = (uint8_t)(element->value >> 8 * i);
}

void stm_message_push(struct stm_message *message, struct pug_out *out)
{
    struct pug_element *whole = &message->element;
    if (whole->sw_packets > 1) {
        whole->flags |= PUG_ELEM_PAYLOAD;
        whole->payload = payload(message);
        whole->count = message->size;
        whole->value = 0;
        if (whole->sw_flags & PUG_SW_MARKER)
            whole->sw_flags |= PUG_SW_MARKER_FIRST;
        message->slot = (message->slot + 1) % message->slots;
    }
    out->batch->elements[out->batch->count++] = *whole;
    stm_message_drop(message);
}

void stm_message_drop(struct stm_message *message)
{
    message->element.sw_packets = 0;
    message->size = 0;
}
