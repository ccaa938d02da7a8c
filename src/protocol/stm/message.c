// SPDX-License-Identifier: MIT
#include "protocol/stm/message.h"

#include <stdlib.h>

bool pug_stm_message_init(struct pug_stm_message *message, const struct pug_out *out)
{
    message->slots = out->batch->limit + PUG_OUT_STEP + 1;
    message->bytes = malloc(message->slots * PUG_STM_MESSAGE_ROOM);
    return message->bytes != NULL;
}

void pug_stm_message_free(struct pug_stm_message *message)
{
    free(message->bytes);
}

void pug_stm_message_add(struct pug_stm_message *message, struct pug_out *out,
                         const struct pug_element *element)
{
    struct pug_element *whole = &message->element;
    unsigned bits = element->sw_bits;
    if ((element->sw_flags & PUG_SW_MARKER) || (element->flags & PUG_ELEM_HAS_TS) ||
        !pug_stm_message_takes(message, whole, bits))
        pug_stm_message_close(message, out);
    if (whole->sw_packets > 0) {
        pug_stm_message_go_on(message, whole, element->value, bits);
        return;
    }
    *whole = *element;
    pug_stm_message_append(message, element->value, bits);
}

void pug_stm_message_push(struct pug_stm_message *message, struct pug_out *out)
{
    pug_stm_message_finish(message, &message->element);
    out->batch->elements[out->batch->count++] = message->element;
    pug_stm_message_drop(message);
}

void pug_stm_message_drop(struct pug_stm_message *message)
{
    message->element.sw_packets = 0;
    message->size = 0;
}
