// SPDX-License-Identifier: MIT
/**
 * @file Programs that listen to `pugmark serve`, on four ports. A thread of its own writes to them,
 * so that none of them holds up decoding. What they send is discarded.
 */
#ifndef PUGMARK_TOOL_CLIENTS_H
#define PUGMARK_TOOL_CLIENTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/** The output of a port, by its distance from the first one. */
enum client_kind { CLIENT_JSON, CLIENT_TEXT, CLIENT_RAW, CLIENT_ORBFLOW, CLIENT_KINDS };

#define CLIENTS_MOST 32u
/** Most bytes that wait for a client that does not read. */
#define CLIENT_ROOM ((size_t)1 << 20)

struct clients;

/** Bind the ports; NULL, having said why. */
struct clients *clients_new(const char *host, unsigned port);
/** Begin to serve; `greeting` is the first line of JSON, and is copied. False, having said why. */
bool clients_start(struct clients *clients, const char *greeting, size_t size);
/** Is there one of this kind? */
bool clients_want(struct clients *clients, enum client_kind kind);
/** A whole line, or a packet: a client for whom there is no room loses it. */
void clients_put(struct clients *clients, enum client_kind kind, const void *bytes, size_t size);
/** Write what waits, for a second at most, and close. NULL is left alone. */
void clients_end(struct clients *clients);

#endif
