// SPDX-License-Identifier: MIT
#include "support/crew.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct letter {
    struct letter *next;
    uint32_t channel;
    struct pug_peers_message message;
};

struct member {
    struct pug_peers peers; /* first: it is the way from peers to their member */
    struct crew *crew;
    pthread_t thread;
    struct letter *first, **last;
};

struct crew {
    pthread_mutex_t lock;
    pthread_cond_t posted;
    struct member *members;
    crew_fn *work;
    void *context;
};

static void send_to(void *context, unsigned to, uint32_t channel, const void *bytes, size_t size)
{
    struct member *self = context, *member = &self->crew->members[to];
    struct letter *letter = calloc(1, sizeof(*letter));
    letter->channel = channel;
    letter->message.from = self->peers.number;
    letter->message.size = size;
    letter->message.bytes = size > 0 ? malloc(size) : NULL;
    if (size > 0)
        memcpy(letter->message.bytes, bytes, size);
    pthread_mutex_lock(&self->crew->lock);
    *member->last = letter;
    member->last = &letter->next;
    pthread_cond_broadcast(&self->crew->posted);
    pthread_mutex_unlock(&self->crew->lock);
}

/** Take the first letter that fits out of the box; NULL: there is none. */
static struct letter *take_letter(struct member *self, unsigned from, uint32_t channel)
{
    for (struct letter **link = &self->first; *link; link = &(*link)->next) {
        struct letter *letter = *link;
        if (letter->channel != channel ||
            (from != PUG_PEERS_ANYBODY && letter->message.from != from))
            continue;
        *link = letter->next;
        if (self->last == &letter->next)
            self->last = link;
        return letter;
    }
    return NULL;
}

static bool receive_from(void *context, unsigned from, uint32_t channel, bool wait,
                         struct pug_peers_message *message)
{
    struct member *self = context;
    struct letter *letter;
    pthread_mutex_lock(&self->crew->lock);
    while (!(letter = take_letter(self, from, channel)) && wait)
        pthread_cond_wait(&self->crew->posted, &self->crew->lock);
    pthread_mutex_unlock(&self->crew->lock);
    if (letter)
        *message = letter->message;
    free(letter);
    return letter != NULL;
}

static void give_up(void *context, const char *why)
{
    const struct member *self = context;
    fprintf(stderr, "peer %u: %s\n", self->peers.number, why);
    abort();
}

static void *work(void *context)
{
    struct member *self = context;
    self->crew->work(&self->peers, self->crew->context);
    return NULL;
}

struct crew_traffic crew_run(unsigned count, size_t piece, size_t block, crew_fn *function,
                             void *context)
{
    struct crew crew = {.lock = PTHREAD_MUTEX_INITIALIZER,
                        .posted = PTHREAD_COND_INITIALIZER,
                        .members = calloc(count, sizeof(struct member)),
                        .work = function,
                        .context = context};
    struct crew_traffic traffic = {0};
    for (unsigned i = 0; i < count; i++) {
        struct member *member = &crew.members[i];
        *member = (struct member){.peers = {.number = i,
                                            .count = count,
                                            .piece = piece,
                                            .block = block,
                                            .context = member,
                                            .send = send_to,
                                            .receive = receive_from,
                                            .fail = give_up},
                                  .crew = &crew};
        member->last = &member->first;
    }
    for (unsigned i = 0; i < count; i++)
        pthread_create(&crew.members[i].thread, NULL, work, &crew.members[i]);
    for (unsigned i = 0; i < count; i++)
        pthread_join(crew.members[i].thread, NULL);
    for (unsigned i = 0; i < count; i++) {
        struct letter *letter;
        traffic.messages += crew.members[i].peers.sent_messages;
        traffic.bytes += crew.members[i].peers.sent_bytes;
        while ((letter = crew.members[i].first) != NULL) {
            crew.members[i].first = letter->next;
            free(letter->message.bytes);
            free(letter);
        }
    }
    free(crew.members);
    return traffic;
}
