// SPDX-License-Identifier: MIT
/** @file Packets of GDB's remote protocol: framing, checksums, acknowledgements. */
#ifndef PUGMARK_TOOL_GDB_PACKET_H
#define PUGMARK_TOOL_GDB_PACKET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/** Most bytes of a packet that is read; longer ones are thrown away. */
#define GDB_PACKET_MOST 16384u

/** A connection. */
struct gdb_link {
    int in, out;
    bool no_ack, closed;
    bool interrupted; /**< \x03 came */
    uint8_t room[4096];
    size_t at, count; /**< of these, what was not looked at yet */
    char packet[GDB_PACKET_MOST + 1];
    size_t size;
    unsigned state, sum, given;
    bool too_long;
};

/**
 * Waits for the next packet and acknowledges it: link->packet, terminated, of link->size bytes.
 * False: the peer is gone, or (link->interrupted) it wants to interrupt.
 */
bool gdb_link_read(struct gdb_link *link);

/** Looks whether the peer interrupts or went away, without waiting. What else came stays. */
bool gdb_link_interrupted(struct gdb_link *link);

/** Sends a packet. */
void gdb_link_send(struct gdb_link *link, const char *bytes, size_t size);

#endif
