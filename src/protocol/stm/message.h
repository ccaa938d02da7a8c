// SPDX-License-Identifier: MIT
/**
 * @file Messages: consecutive data packets of one master and channel, joined into one payload.
 *
 * A packet with a marker or a timestamp begins a message; whatever is not a data packet ends it,
 * and so does its length. A message of one packet is an ordinary element.
 */
#ifndef PUG_PROTOCOL_STM_MESSAGE_H
#define PUG_PROTOCOL_STM_MESSAGE_H

#include "pugmark/author/protocol.h"

/** The longest payload of one element. */
#define PUG_STM_MESSAGE_BYTES 512u
/** … and what it takes to write eight bytes anywhere in it. */
#define PUG_STM_MESSAGE_ROOM (PUG_STM_MESSAGE_BYTES + 8u)

struct pug_stm_message {
    struct pug_element element; /**< of the message under way: sw_packets is not 0 */
    uint32_t size;              /**< its bytes so far */
    size_t slot;                /**< where they are kept */
    /**
     * Payloads, each in a slot of PUG_STM_MESSAGE_ROOM. There are more slots than a batch has
     * elements, so that a payload lasts until its element is delivered.
     */
    size_t slots;
    uint8_t *bytes;
};

bool pug_stm_message_init(struct pug_stm_message *message, const struct pug_out *out);
void pug_stm_message_free(struct pug_stm_message *message);

static inline uint8_t *pug_stm_message_payload(const struct pug_stm_message *message)
{
    return message->bytes + message->slot * PUG_STM_MESSAGE_ROOM;
}

/** Has a message room for `bits` more? */
static inline bool pug_stm_message_takes(const struct pug_stm_message *message,
                                         const struct pug_element *whole, unsigned bits)
{
    return whole->sw_packets != UINT8_MAX && message->size + bits / 8 <= PUG_STM_MESSAGE_BYTES;
}

/** The payload of one more packet. */
static inline void pug_stm_message_append(struct pug_stm_message *message, uint64_t value,
                                          unsigned bits)
{
    uint8_t *to = pug_stm_message_payload(message) + message->size;
    for (unsigned i = 0; i < sizeof(value); i++)
        to[i] = (uint8_t)(value >> 8 * i);
    message->size += bits / 8;
}

/** A packet after the first one. */
static inline void pug_stm_message_go_on(struct pug_stm_message *message, struct pug_element *whole,
                                         uint64_t value, unsigned bits)
{
    whole->sw_packets++;
    if (whole->sw_bits != bits)
        whole->sw_bits = 0;
    pug_stm_message_append(message, value, bits);
}

/** The message is whole. */
static inline void pug_stm_message_finish(struct pug_stm_message *message,
                                          struct pug_element *whole)
{
    if (whole->sw_packets > 1) {
        whole->flags |= PUG_ELEM_PAYLOAD;
        whole->payload = pug_stm_message_payload(message);
        whole->count = message->size;
        whole->value = 0;
        if (whole->sw_flags & PUG_SW_MARKER)
            whole->sw_flags |= PUG_SW_MARKER_FIRST;
        if (++message->slot == message->slots)
            message->slot = 0;
    }
    message->size = 0;
}

/** A data packet, as the element that it would be alone. At most one element is pushed. */
void pug_stm_message_add(struct pug_stm_message *message, struct pug_out *out,
                         const struct pug_element *element);

/** private */
void pug_stm_message_push(struct pug_stm_message *message, struct pug_out *out);

/** Push the message under way, if there is one. */
static inline void pug_stm_message_close(struct pug_stm_message *message, struct pug_out *out)
{
    if (message->element.sw_packets > 0)
        pug_stm_message_push(message, out);
}

/** Forget the message under way. */
void pug_stm_message_drop(struct pug_stm_message *message);

#endif
