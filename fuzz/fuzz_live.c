// SPDX-License-Identifier: MIT
/**
 * @file Any bytes from a socket, in any pieces, as a live input: what is read is what came, or what
 * stands in OpenOCD's notifications; and any clients of `serve`, who may send what they like.
 */
#include "driver.h"
#include "files.h"
#include "live/clients.h"
#include "live/live.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#define CHOICES 24u
#define MOST    32768u /* a socket holds so much until it is read */

static void need(bool good)
{
    if (!good)
        abort();
}

/* ---- a live input ---- */

static int listen_at(const char *path)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    need(strlen(path) < sizeof(address.sun_path));
    memcpy(address.sun_path, path, strlen(path) + 1);
    const int listener = socket(AF_UNIX, SOCK_STREAM, 0);
    unlink(path);
    need(bind(listener, (struct sockaddr *)&address, sizeof(address)) == 0);
    need(listen(listener, 1) == 0);
    return listener;
}

/** What is there, in pieces of so many bytes; `timeout` below 0: all that is still to come. */
static size_t read_all(struct pug_live *live, uint8_t *bytes, size_t piece, int timeout)
{
    size_t count = 0;
    int64_t got;
    while ((got = pug_live_read(live, bytes + count, piece, timeout)) > 0) {
        need((size_t)got <= piece);
        count += (size_t)got;
    }
    return count;
}

static int digit_of(uint8_t byte)
{
    const char *found = byte ? strchr("00112233445566778899aAbBcCdDeEfF", byte) : NULL;
    return found ? (int)(found - "00112233445566778899aAbBcCdDeEfF") / 2 : -1;
}

/** What stands in notifications, message by message; in place. */
static size_t told_bytes(uint8_t *bytes, size_t size)
{
    static const char begin[] = "type target_trace data ";
    const size_t length = sizeof(begin) - 1;
    size_t count = 0, end;
    for (size_t at = 0; at < size; at = end + 1) {
        for (end = at; end < size && bytes[end] != 0x1a;)
            end++;
        const bool told = end - at >= length && memcmp(bytes + at, begin, length) == 0;
        for (size_t i = at + length; told && i + 1 < end; i++)
            if (digit_of(bytes[i]) >= 0 && digit_of(bytes[i + 1]) >= 0) {
                bytes[count++] = (uint8_t)(digit_of(bytes[i]) << 4 | digit_of(bytes[i + 1]));
                i++;
            }
    }
    return count;
}

static void take_input(const uint8_t *choices, const uint8_t *data, size_t size)
{
    static uint8_t came[2 * MOST], wanted[MOST];
    char name[4200], path[4096];
    struct pug_live_place place;
    const char *why;
    snprintf(path, sizeof(path), "%s", fuzz_place("socket"));
    snprintf(name, sizeof(name), "unix:%s", path);
    need(pug_live_place(name, &place, &why));
    place.tcl = choices[0] & 1;
    const int listener = listen_at(path);
    struct pug_live *live = NULL;
    const struct pug_live_options options = {.stop = -1};
    need(pug_live_open(&place, &options, &live) == PUG_OK);
    const int peer = accept(listener, NULL, NULL);
    need(peer >= 0);
    size_t count = 0, sent = 0;
    for (unsigned n = 0; sent < size; n++) {
        const size_t step = 1 + choices[1 + n % 16] * (size_t)16,
                     some = step < size - sent ? step : size - sent;
        need(write(peer, data + sent, some) == (ssize_t)some);
        sent += some;
        count += read_all(live, came + count, 1 + choices[n % CHOICES] * (size_t)8, 0);
    }
    close(peer);
    count += read_all(live, came + count, MOST, -1);
    memcpy(wanted, data, size);
    const size_t expected = place.tcl ? told_bytes(wanted, size) : size;
    need(count == expected && memcmp(came, wanted, count) == 0);
    pug_live_free(live);
    close(listener);
    unlink(path);
    (void)pug_live_guess(data, size, choices[2] & 1, choices[2] & 2);
}

/** Names of inputs, as a user or a script gives them. */
static void take_name(const uint8_t *data, size_t size)
{
    static const char *const begins[] = {"tcp:", "unix:", "serial:", "tcp-listen:", "openocd", ""};
    char name[600];
    struct pug_live_place place;
    const char *why;
    for (size_t i = 0; i < sizeof(begins) / sizeof(begins[0]); i++) {
        snprintf(name, sizeof(name), "%s%.*s", begins[i], (int)(size < 512 ? size : 512),
                 (const char *)data);
        if (pug_live_names(name) && !pug_live_place(name, &place, &why))
            need(why != NULL);
    }
}

/* ---- clients ---- */

static int connect_to(unsigned port)
{
    const struct sockaddr_in address = {.sin_family = AF_INET,
                                        .sin_port = htons((uint16_t)port),
                                        .sin_addr = {htonl(INADDR_LOOPBACK)}};
    const int file = socket(AF_INET, SOCK_STREAM, 0);
    need(file >= 0 && connect(file, (const struct sockaddr *)&address, sizeof(address)) == 0);
    return file;
}

/** The first that comes is the greeting, whatever was sent. */
static void check_greeting(int file, const char *greeting)
{
    char line[64];
    const size_t size = strlen(greeting);
    need(recv(file, line, size, MSG_WAITALL) == (ssize_t)size && memcmp(line, greeting, size) == 0);
}

static void take_clients(const uint8_t *choices, const uint8_t *data, size_t size)
{
    static const char greeting[] = "{\"type\":\"hello\"}\n";
    int files[40], count = 0;
    const unsigned most = choices[9] % 4 == 0 ? 40 : 8; /* at most 32 are served */
    unsigned port = 20000 + (unsigned)getpid() % 30000;
    struct clients *clients = NULL;
    for (int tries = 0; !clients && tries < 50; tries++)
        clients = clients_new("127.0.0.1", port += 4);
    need(clients && clients_start(clients, greeting, strlen(greeting)));
    for (unsigned n = 0; n < most; n++) {
        const uint8_t choice = choices[n % 8];
        const unsigned kind = choice % CLIENT_KINDS;
        const int file = files[count++] = connect_to(port + kind);
        (void)send(file, data, size < 4096 ? size : 4096, MSG_NOSIGNAL | MSG_DONTWAIT);
        clients_put(clients, (enum client_kind)(choices[n % 8 + 8] % CLIENT_KINDS), data, size);
        if (kind == CLIENT_JSON && n < 8)
            check_greeting(file, greeting);
        if (choice & 0x80 && most == 8)
            close(files[--count]);
    }
    while (count > 0)
        close(files[--count]);
    clients_end(clients);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size < CHOICES + 1)
        return 0;
    const uint8_t *choices = data;
    data += CHOICES;
    size = size - CHOICES < MOST ? size - CHOICES : MOST;
    take_input(choices, data, size);
    take_name(data, size);
    if (choices[3] % 8 == 0)
        take_clients(choices, data, size);
    return 0;
}

size_t fuzz_begin(uint8_t *data, size_t room, struct rec_random *random)
{
    static const char told[] = "type target_trace data ";
    static const char *const starts[] = {"", "PERFILE2", PUG_LIVE_MARK, "\x80\x01H\x01i\x19x",
                                         "\xff\xff\xff\x7f"};
    size_t size = CHOICES;
    if (room < 4096)
        return 0;
    for (unsigned i = 0; i < CHOICES; i++)
        data[i] = (uint8_t)rec_random_below(random, 256);
    size += (size_t)snprintf((char *)data + size, 64, "%s", starts[rec_random_below(random, 5)]);
    for (unsigned n = rec_random_below(random, 12); n > 0; n--) {
        if (rec_random_once_in(random, 2))
            size += (size_t)snprintf((char *)data + size, 64, "%s", told);
        for (unsigned i = rec_random_below(random, 60); i > 0; i--)
            data[size++] = (uint8_t) "0123456789abcdefABXY\r\n"[rec_random_below(random, 22)];
        data[size++] =
            rec_random_once_in(random, 3) ? (uint8_t)rec_random_below(random, 256) : 0x1a;
    }
    return size;
}
