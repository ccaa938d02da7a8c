// SPDX-License-Identifier: MIT
/** @file Translation of packets, one pair of functions a protocol. */
#ifndef OPENCSD_PACKETS_H
#define OPENCSD_PACKETS_H

#include "shell.h"

void shell_etmv4_to_client(const void *packet, union shell_client_packet *client);
void shell_etmv3_to_client(const void *packet, union shell_client_packet *client);
void shell_ptm_to_client(const void *packet, union shell_client_packet *client);
void shell_stm_to_client(const void *packet, union shell_client_packet *client);
void shell_itm_to_client(const void *packet, union shell_client_packet *client);

/* A client's packet in words; like snprintf(). */
size_t shell_etmv4_client_text(const void *client, char *buffer, size_t size);
size_t shell_etmv3_client_text(const void *client, char *buffer, size_t size);
size_t shell_ptm_client_text(const void *client, char *buffer, size_t size);
size_t shell_stm_client_text(const void *client, char *buffer, size_t size);
size_t shell_itm_client_text(const void *client, char *buffer, size_t size);

#endif
