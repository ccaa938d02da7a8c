// SPDX-License-Identifier: MIT
#include "clients.h"

#include "common/messages.h"
#include "live/live.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#ifndef _WIN32

#include <fcntl.h>
#include <inttypes.h>
#include <poll.h>
#include <pthread.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

struct client {
    int file;
    enum client_kind kind;
    uint8_t *ring;
    size_t begin, count;
    uint64_t lost; /* bytes that it lost and does not know of */
};

struct clients {
    int listeners[CLIENT_KINDS];
    int wake[2];
    pthread_t thread;
    pthread_mutex_t lock; /* guards what follows */
    struct client all[CLIENTS_MOST];
    size_t count, of_kind[CLIENT_KINDS];
    bool started, ending, awake;
    char *greeting;
    size_t greeting_size;
};

/* ---- what waits for a client ---- */

static void ring_put(struct client *client, const void *bytes, size_t size)
{
    const size_t at = (client->begin + client->count) % CLIENT_ROOM;
    const size_t first = size < CLIENT_ROOM - at ? size : CLIENT_ROOM - at;
    memcpy(client->ring + at, bytes, first);
    memcpy(client->ring, (const uint8_t *)bytes + first, size - first);
    client->count += size;
}

/** How much was lost, in a form that the port can carry; raw bytes can carry nothing. */
static size_t lost_words(const struct client *client, char *words, size_t size)
{
    if (client->lost && client->kind == CLIENT_JSON)
        return (size_t)snprintf(words, size, "{\"type\":\"lost\",\"bytes\":%" PRIu64 "}\n",
                                client->lost);
    if (client->lost && client->kind == CLIENT_TEXT)
        return (size_t)snprintf(words, size, "[%" PRIu64 " bytes lost]\n", client->lost);
    return 0;
}

/** Tell a client what it lost, as soon as there is room. False: not yet. */
static bool tell_lost(struct client *client, size_t wanted)
{
    char words[64];
    const size_t told = lost_words(client, words, sizeof(words));
    if (wanted + told > CLIENT_ROOM - client->count)
        return false;
    ring_put(client, words, told);
    client->lost = 0;
    return true;
}

static void client_put(struct client *client, const void *bytes, size_t size)
{
    if (tell_lost(client, size))
        ring_put(client, bytes, size);
    else
        client->lost += size;
}

static void wake_up(struct clients *clients)
{
    if (clients->awake)
        return;
    clients->awake = true;
    const ssize_t written = write(clients->wake[1], "", 1);
    (void)written;
}

bool clients_want(struct clients *clients, enum client_kind kind)
{
    pthread_mutex_lock(&clients->lock);
    const bool wanted = clients->of_kind[kind] > 0;
    pthread_mutex_unlock(&clients->lock);
    return wanted;
}

void clients_put(struct clients *clients, enum client_kind kind, const void *bytes, size_t size)
{
    pthread_mutex_lock(&clients->lock);
    for (size_t i = 0; i < clients->count; i++)
        if (clients->all[i].kind == kind)
            client_put(&clients->all[i], bytes, size);
    if (clients->of_kind[kind] > 0)
        wake_up(clients);
    pthread_mutex_unlock(&clients->lock);
}

/* ---- coming and going ---- */

static void refuse(int file, enum client_kind kind)
{
    static const char json[] =
        "{\"type\":\"error\",\"text\":\"32 clients are connected already\"}\n";
    static const char text[] = "pugmark: 32 clients are connected already\n";
    const bool is_json = kind == CLIENT_JSON;
    const ssize_t sent = send(file, is_json ? json : text,
                              is_json ? sizeof(json) - 1 : sizeof(text) - 1, MSG_DONTWAIT);
    (void)sent;
    close(file);
}

static void add(struct clients *clients, enum client_kind kind)
{
    const int file = accept(clients->listeners[kind], NULL, NULL);
    if (file < 0)
        return;
    (void)fcntl(file, F_SETFD, FD_CLOEXEC);
    (void)fcntl(file, F_SETFL, O_NONBLOCK);
    uint8_t *ring = clients->count < CLIENTS_MOST ? malloc(CLIENT_ROOM) : NULL;
    if (!ring) {
        refuse(file, kind);
        return;
    }
    pug_live_set_up(file);
    struct client *client = &clients->all[clients->count++];
    *client = (struct client){.file = file, .kind = kind, .ring = ring};
    clients->of_kind[kind]++;
    if (kind == CLIENT_JSON)
        client_put(client, clients->greeting, clients->greeting_size);
}

static void drop(struct clients *clients, size_t n)
{
    struct client *client = &clients->all[n];
    close(client->file);
    free(client->ring);
    clients->of_kind[client->kind]--;
    *client = clients->all[--clients->count];
}

/* ---- the thread ---- */

/** Write what waits; false: the client is gone. */
static bool flush(struct client *client)
{
    while (client->count > 0) {
        const size_t whole = CLIENT_ROOM - client->begin;
        const size_t size = client->count < whole ? client->count : whole;
        const ssize_t sent = send(client->file, client->ring + client->begin, size, MSG_NOSIGNAL);
        if (sent < 0)
            return errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR;
        client->begin = (client->begin + (size_t)sent) % CLIENT_ROOM;
        client->count -= (size_t)sent;
    }
    return true;
}

/** Discard a client's input; false: it is gone. */
static bool discard(const struct client *client)
{
    uint8_t bytes[4096];
    const ssize_t got = recv(client->file, bytes, sizeof(bytes), MSG_DONTWAIT);
    return got > 0 || (got < 0 && (errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR));
}

/** With the lock. False: everything is written, or no client is left, and it has to end. */
static bool serve_round(struct clients *clients, struct pollfd *files, size_t polled)
{
    bool waiting = false;
    for (size_t n = polled; n-- > 0;) {
        struct client *client = &clients->all[n];
        const short events = files[1 + CLIENT_KINDS + n].revents;
        const bool there = !(events & (POLLIN | POLLHUP | POLLERR)) || discard(client);
        const bool alive = there && flush(client);
        if (alive && client->lost > 0 && tell_lost(client, 0))
            (void)flush(client);
        if (alive)
            waiting |= client->count > 0;
        else
            drop(clients, n);
    }
    for (unsigned kind = 0; kind < CLIENT_KINDS; kind++)
        if (files[1 + kind].revents & POLLIN)
            add(clients, (enum client_kind)kind);
    return !clients->ending || waiting;
}

static size_t fill(struct clients *clients, struct pollfd *files)
{
    files[0] = (struct pollfd){.fd = clients->wake[0], .events = POLLIN};
    for (unsigned kind = 0; kind < CLIENT_KINDS; kind++)
        files[1 + kind] = (struct pollfd){.fd = clients->listeners[kind], .events = POLLIN};
    for (size_t n = 0; n < clients->count; n++)
        files[1 + CLIENT_KINDS + n] =
            (struct pollfd){.fd = clients->all[n].file,
                            .events = (short)(POLLIN | (clients->all[n].count > 0 ? POLLOUT : 0))};
    return clients->count;
}

static void *serve(void *context)
{
    struct clients *clients = context;
    struct pollfd files[1 + CLIENT_KINDS + CLIENTS_MOST];
    struct timespec end = {0}, time;
    bool more = true;
    while (more) {
        pthread_mutex_lock(&clients->lock);
        const size_t polled = fill(clients, files);
        const bool ending = clients->ending;
        pthread_mutex_unlock(&clients->lock);
        (void)poll(files, 1 + CLIENT_KINDS + polled, ending ? 100 : -1);
        clock_gettime(CLOCK_MONOTONIC, &time);
        if (ending && end.tv_sec == 0)
            end.tv_sec = time.tv_sec + 2;
        pthread_mutex_lock(&clients->lock);
        if (files[0].revents) {
            char bytes[64];
            const ssize_t got = read(clients->wake[0], bytes, sizeof(bytes));
            (void)got;
            clients->awake = false;
        }
        more = serve_round(clients, files, polled) && !(ending && time.tv_sec >= end.tv_sec);
        pthread_mutex_unlock(&clients->lock);
    }
    return NULL;
}

/* ---- beginning and end ---- */

static bool bind_ports(struct clients *clients, const char *host, unsigned port)
{
    struct pug_live_place place = {.scheme = PUG_LIVE_LISTEN};
    snprintf(place.host, sizeof(place.host), "%s", host);
    for (unsigned kind = 0; kind < CLIENT_KINDS; kind++) {
        const char *why;
        snprintf(place.port, sizeof(place.port), "%u", port + kind);
        clients->listeners[kind] = pug_live_listen(&place, &why);
        if (clients->listeners[kind] >= 0) {
            (void)fcntl(clients->listeners[kind], F_SETFL, O_NONBLOCK);
            continue;
        }
        message_say("pugmark: port %u of %s: %s; --port N takes N to N+3\n", port + kind, host,
                    why ? why : strerror(errno));
        return false;
    }
    return true;
}

struct clients *clients_new(const char *host, unsigned port)
{
    struct clients *clients = calloc(1, sizeof(*clients));
    if (!clients)
        return NULL;
    for (unsigned kind = 0; kind < CLIENT_KINDS; kind++)
        clients->listeners[kind] = -1;
    clients->wake[0] = clients->wake[1] = -1;
    pthread_mutex_init(&clients->lock, NULL);
    if (bind_ports(clients, host, port) && pipe(clients->wake) == 0) {
        (void)fcntl(clients->wake[0], F_SETFL, O_NONBLOCK);
        (void)fcntl(clients->wake[1], F_SETFL, O_NONBLOCK);
        return clients;
    }
    clients_end(clients);
    return NULL;
}

bool clients_start(struct clients *clients, const char *greeting, size_t size)
{
    clients->greeting = malloc(size + 1);
    if (clients->greeting) {
        memcpy(clients->greeting, greeting, size);
        clients->greeting_size = size;
        clients->started = pthread_create(&clients->thread, NULL, serve, clients) == 0;
    }
    if (!clients->started)
        message_say("pugmark: no thread for clients: %s\n", strerror(errno));
    return clients->started;
}

void clients_end(struct clients *clients)
{
    if (!clients)
        return;
    if (clients->started) {
        pthread_mutex_lock(&clients->lock);
        clients->ending = true;
        wake_up(clients);
        pthread_mutex_unlock(&clients->lock);
        pthread_join(clients->thread, NULL);
    }
    while (clients->count > 0)
        drop(clients, 0);
    for (unsigned kind = 0; kind < CLIENT_KINDS; kind++)
        if (clients->listeners[kind] >= 0)
            close(clients->listeners[kind]);
    for (unsigned i = 0; i < 2; i++)
        if (clients->wake[i] >= 0)
            close(clients->wake[i]);
    pthread_mutex_destroy(&clients->lock);
    free(clients->greeting);
    free(clients);
}

#else

struct clients *clients_new(const char *host, unsigned port)
{
    (void)host;
    (void)port;
    message_say("pugmark: serve is not there on this system\n");
    return NULL;
}

bool clients_start(struct clients *clients, const char *greeting, size_t size)
{
    (void)clients;
    (void)greeting;
    (void)size;
    return false;
}

bool clients_want(struct clients *clients, enum client_kind kind)
{
    (void)clients;
    (void)kind;
    return false;
}

void clients_put(struct clients *clients, enum client_kind kind, const void *bytes, size_t size)
{
    (void)clients;
    (void)kind;
    (void)bytes;
    (void)size;
}

void clients_end(struct clients *clients)
{
    (void)clients;
}

#endif
