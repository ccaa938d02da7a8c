// SPDX-License-Identifier: MIT
/**
 * @file Messages: consecutive data packets of one master and channel, joined into one payload.
 *
 * A packet with a marker or a timestamp begins a message; whatever is not a data packet ends it,
 * and so does its length. A message of one packet is an ordinary element.
 */
#ifndef PUG_PROTOCOL_STM_MESSAGE_H
#define PUG_PROTOCOL_STM_MESSAGE_H

#include "pugmark/protocol.h"

/** The longest payload of one element. */
#define STM_MESSAGE_BYTES 512u

struct stm_message {
    struct pug_element element; /**< of the message under way: sw_packets is not 0 */
    uint32_t size;              /**< its bytes so far */
    size_t slot;                /**< where they are kept */
    /**
     * Payloads, each in a slot of STM_MESSAGE_BYTES. There are more slots than a batch has
     * elements, so that a payload lasts until its element is delivered.
     */
    size_t slots;
    uint8_t *bytes;
};

bool stm_message_init(struct stm_message *message, const struct pug_out *out);
void stm_message_free(struct stm_message *message);

/** A data packet, as the element that it would be alone. At most one element is pushed. */
void stm_message_add(struct stm_message *message, struct pug_out *out,
                     const struct pug_element *element);

/** private */
void stm_message_push(struct stm_message *message, struct pug_out *out);

/** Push the message under way, if there is one. */
static inline void stm_message_close(struct stm_message *message, struct pug_out *out)
{
    if (message->element.sw_packets > 0)
        stm_message_push(message, out);
}

/** Forget the message under way. */
void stm_message_drop(struct stm_message *message);

#endif
