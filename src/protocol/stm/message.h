// SPDX-License-Identifier: MIT
/**
 * @file Messages: consecutive data packets of one master and channel, joined into one payload.
 *
 * A packet with a marker or a timestamp begins a message; whatever is not a data packet ends it. A
 * message of one packet is an ordinary element.
 */
#ifndef PUG_PROTOCOL_STM_MESSAGE_H
#define PUG_PROTOCOL_STM_MESSAGE_H

#include "pugmark/protocol.h"

struct stm_message {
    struct pug_element element; /**< of the message under way: sw_packets is not 0 */
    uint8_t *bytes;             /**< payloads of messages, those not delivered yet included */
    size_t start;               /**< of the message under way */
    uint32_t size;              /**< of the message under way */
};

bool stm_message_init(struct stm_message *message);
void stm_message_free(struct stm_message *message);

/** Is there room for the next packet's payload? False: the consumer waits. */
bool stm_message_ready(struct stm_message *message, struct pug_out *out);

/** A data packet, as the element that it would be alone. At most one element is pushed. */
void stm_message_add(struct stm_message *message, struct pug_out *out,
                     const struct pug_element *element);

/** Push the message under way, if there is one. */
void stm_message_close(struct stm_message *message, struct pug_out *out);

/** Forget the message under way. */
void stm_message_drop(struct stm_message *message);

#endif
