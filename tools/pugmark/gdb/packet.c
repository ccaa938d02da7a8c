// SPDX-License-Identifier: MIT
#include "packet.h"

#ifndef _WIN32

#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define PEER_WAIT 30000 /* milliseconds that a peer has to take what is sent */

enum { OUTSIDE, INSIDE, ESCAPED, SUM_1, SUM_2 };

static bool write_all(struct gdb_link *link, const char *bytes, size_t size)
{
    while (size > 0 && !link->closed) {
        const ssize_t put = write(link->out, bytes, size);
        struct pollfd file = {.fd = link->out, .events = POLLOUT};
        if (put > 0) {
            bytes += put;
            size -= (size_t)put;
        } else if (put < 0 && errno == EINTR) {
            continue;
        } else if (put < 0 && (errno == EAGAIN || errno == EWOULDBLOCK)) {
            link->closed = poll(&file, 1, PEER_WAIT) <= 0;
        } else {
            link->closed = true;
        }
    }
    return !link->closed;
}

/** Reads more bytes; `wait`: until there are some. False: none came. */
static bool more(struct gdb_link *link, bool wait)
{
    struct pollfd file = {.fd = link->in, .events = POLLIN};
    if (link->at > 0 && link->at == link->count)
        link->at = link->count = 0;
    if (link->count == sizeof(link->room) && link->at > 0) {
        memmove(link->room, link->room + link->at, link->count - link->at);
        link->count -= link->at;
        link->at = 0;
    }
    if (link->closed || link->count == sizeof(link->room))
        return false;
    for (;;) {
        const int ready = poll(&file, 1, wait ? -1 : 0);
        if (ready < 0 && errno == EINTR)
            continue;
        if (ready <= 0)
            return false;
        const ssize_t got =
            read(link->in, link->room + link->count, sizeof(link->room) - link->count);
        if (got > 0) {
            link->count += (size_t)got;
            return true;
        }
        if (got < 0 && (errno == EINTR || errno == EAGAIN))
            continue;
        link->closed = true;
        return false;
    }
}

static unsigned digit(uint8_t byte)
{
    return byte >= '0' && byte <= '9'   ? byte - '0' + 0u
           : byte >= 'a' && byte <= 'f' ? byte - 'a' + 10u
           : byte >= 'A' && byte <= 'F' ? byte - 'A' + 10u
                                        : 16;
}

static void put(struct gdb_link *link, uint8_t byte)
{
    if (link->size < GDB_PACKET_MOST)
        link->packet[link->size++] = (char)byte;
    else
        link->too_long = true;
}

/** A packet came; is it good? */
static bool finish(struct gdb_link *link, uint8_t last)
{
    const unsigned low = digit(last);
    const bool good =
        link->given < 16 && low < 16 && (link->given << 4 | low) == link->sum && !link->too_long;
    link->packet[link->size] = 0;
    link->state = OUTSIDE;
    if (!link->no_ack)
        (void)write_all(link, good ? "+" : "-", 1);
    return good;
}

/** One more byte; true: a packet is whole. */
static bool take(struct gdb_link *link, uint8_t byte)
{
    if (byte == '$' && link->state != ESCAPED) {
        link->state = INSIDE;
        link->size = link->sum = 0;
        link->too_long = false;
        return false;
    }
    switch (link->state) {
    case OUTSIDE: link->interrupted |= byte == 3; return false;
    case INSIDE:
        if (byte == '#') {
            link->state = SUM_1;
            return false;
        }
        link->sum = (link->sum + byte) & 0xff;
        if (byte == '}')
            link->state = ESCAPED;
        else
            put(link, byte);
        return false;
    case ESCAPED:
        link->sum = (link->sum + byte) & 0xff;
        put(link, byte ^ 0x20);
        link->state = INSIDE;
        return false;
    case SUM_1:
        link->given = digit(byte);
        link->state = SUM_2;
        return false;
    default: return finish(link, byte);
    }
}

bool gdb_link_read(struct gdb_link *link)
{
    for (;;) {
        while (link->at < link->count) {
            if (take(link, link->room[link->at++]))
                return true;
            if (link->interrupted)
                return false;
        }
        if (!more(link, true))
            return false;
    }
}

bool gdb_link_interrupted(struct gdb_link *link)
{
    (void)more(link, false);
    while (link->state == OUTSIDE && link->at < link->count &&
           (link->room[link->at] == 3 || link->room[link->at] == '+'))
        link->interrupted |= link->room[link->at++] == 3;
    return link->interrupted || link->closed;
}

void gdb_link_send(struct gdb_link *link, const char *bytes, size_t size)
{
    static const char hex[] = "0123456789abcdef";
    char *packet = malloc(size * 2 + 4);
    size_t count = 0;
    unsigned sum = 0;
    if (!packet) {
        link->closed = true;
        return;
    }
    packet[count++] = '$';
    for (size_t i = 0; i < size; i++) {
        const char byte = bytes[i];
        const bool escaped = byte == '$' || byte == '#' || byte == '}' || byte == '*';
        if (escaped)
            packet[count++] = '}';
        packet[count++] = (char)(escaped ? byte ^ 0x20 : byte);
    }
    for (size_t i = 1; i < count; i++)
        sum = (sum + (uint8_t)packet[i]) & 0xff;
    packet[count++] = '#';
    packet[count++] = hex[sum >> 4];
    packet[count++] = hex[sum & 15];
    (void)write_all(link, packet, count);
    free(packet);
}

#endif
