// SPDX-License-Identifier: MIT
#include "protocol/stm/message.h"

#include <stdlib.h>

bool stm_message_init(struct stm_message *message, const struct pug_out *out)
{
    message->slots = out->batch->limit + PUG_OUT_STEP + 1;
    message->bytes = malloc(message->slots * STM_MESSAGE_ROOM);
    return message->bytes != NULL;
}

void stm_message_free(struct stm_message *message)
{
    free(message->bytes);
}

void stm_message_add(struct stm_message *message, struct pug_out *out,
                     const struct pug_element *element)
{
    struct pug_element *whole = &message->element;
    unsigned bits = element->sw_bits;
    if ((element->sw_flags & PUG_SW_MARKER) || (element->flags & PUG_ELEM_HAS_TS) ||
        !stm_message_takes(message, whole, bits))
        stm_message_close(message, out);
    if (whole->sw_packets > 0) {
        stm_message_go_on(message, whole, element->value, bits);
        return;
    }
    *whole = *element;
    stm_message_append(message, element->value, bits);
}

void stm_message_push(struct stm_message *message, struct pug_out *out)
{
    stm_message_finish(message, &message->element);
    out->batch->elements[out->batch->count++] = message->element;
    stm_message_drop(message);
}

void stm_message_drop(struct stm_message *message)
{
    message->element.sw_packets = 0;
    message->size = 0;
}
