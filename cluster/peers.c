// SPDX-License-Identifier: MIT
#include "world.h"

#include <limits.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum tag { TAG_END = 1, TAG_DONE, TAG_NEXT, TAG_NUMBER, TAG_FIRST };

/* MPI has 32767 tags at least. */
#define TAGS 32000u
/* Bytes on their way beyond which a sender waits. */
#define ON_THE_WAY ((size_t)64 << 20)
/* Looks for a message before it is time to sleep between them. */
#define PATIENCE 200u

/** A message that MPI has not sent yet. */
struct outgoing {
    struct outgoing *next;
    MPI_Request request;
    size_t size;
    uint8_t bytes[];
};

struct cluster {
    struct pug_peers peers;
    MPI_Comm world;
    int messages; /* a descriptor: standard error as it was */
    struct outgoing *outgoing;
    size_t on_the_way;
    bool tells_traffic;
    bool threads; /* more than one may use MPI */
    /* Work that is handed out, on number 0: */
    pthread_t clerk;
    bool has_clerk;
    pthread_mutex_t lock; /* guards what follows */
    uint32_t next, numbers;
};

void cluster_say(const struct cluster *cluster, const char *format, ...)
{
    char text[2048];
    va_list arguments;
    va_start(arguments, format);
    int length = vsnprintf(text, sizeof(text), format, arguments);
    va_end(arguments);
    if (length > (int)sizeof(text) - 1)
        length = (int)sizeof(text) - 1;
    if (length > 0 && write(cluster->messages, text, (size_t)length) < 0)
        return; /* no other process */
}

/** Ends all processes. */
_Noreturn static void fail(void *context, const char *why)
{
    const struct cluster *cluster = context;
    char host[MPI_MAX_PROCESSOR_NAME] = "";
    int length;
    MPI_Get_processor_name(host, &length);
    cluster_say(cluster, "pugmark-mpi: process %u on %s: %s; nothing was written\n",
                cluster->peers.number, host, why);
    MPI_Abort(cluster->world, 4);
    _exit(4);
}

/* ---- sending ---- */

static void settle(struct cluster *cluster)
{
    struct outgoing **link = &cluster->outgoing;
    while (*link) {
        struct outgoing *outgoing = *link;
        int done = 0;
        MPI_Test(&outgoing->request, &done, MPI_STATUS_IGNORE);
        if (!done) {
            link = &outgoing->next;
            continue;
        }
        cluster->on_the_way -= outgoing->size;
        *link = outgoing->next;
        free(outgoing);
    }
}

static void nap(unsigned *looks)
{
    const struct timespec time = {.tv_nsec = *looks < 4 * PATIENCE ? 20000 : 200000};
    if (++*looks > PATIENCE)
        nanosleep(&time, NULL);
}

/* NOLINTBEGIN(clang-analyzer-optin.mpi.MPI-Checker): settle() waits */
static void send_to(void *context, unsigned to, uint32_t channel, const void *bytes, size_t size)
{
    struct cluster *cluster = context;
    struct outgoing *outgoing = malloc(sizeof(*outgoing) + size);
    unsigned looks = 0;
    if (!outgoing || size > INT_MAX)
        fail(cluster, outgoing ? "a message of more than 2 GiB" : "out of memory");
    outgoing->size = size;
    if (size > 0)
        memcpy(outgoing->bytes, bytes, size);
    MPI_Isend(outgoing->bytes, (int)size, MPI_BYTE, (int)to, (int)(TAG_FIRST + channel % TAGS),
              cluster->world, &outgoing->request);
    outgoing->next = cluster->outgoing;
    cluster->outgoing = outgoing;
    cluster->on_the_way += size;
    settle(cluster);
    while (cluster->on_the_way > ON_THE_WAY) {
        nap(&looks);
        settle(cluster);
    }
}
/* NOLINTEND(clang-analyzer-optin.mpi.MPI-Checker) */

/* ---- the end ---- */

void cluster_tell_traffic(struct cluster *cluster)
{
    cluster->tells_traffic = true;
}

_Noreturn static void leave(struct cluster *cluster, int code)
{
    if (cluster->tells_traffic)
        cluster_say(cluster,
                    "pugmark-mpi: process %u sent %llu messages, %llu bytes; read %llu bytes of "
                    "trace\n",
                    cluster->peers.number, (unsigned long long)cluster->peers.sent_messages,
                    (unsigned long long)cluster->peers.sent_bytes,
                    (unsigned long long)cluster->peers.read_bytes);
    for (struct outgoing *outgoing = cluster->outgoing; outgoing; outgoing = outgoing->next)
        MPI_Cancel(&outgoing->request);
    MPI_Finalize();
    fflush(NULL);
    _exit(code);
}

/** Did number 0 end the job? Then this process does. */
static void look_for_end(struct cluster *cluster)
{
    int there = 0, code;
    MPI_Iprobe(0, TAG_END, cluster->world, &there, MPI_STATUS_IGNORE);
    if (!there)
        return;
    MPI_Recv(&code, 1, MPI_INT, 0, TAG_END, cluster->world, MPI_STATUS_IGNORE);
    leave(cluster, code);
}

/** Did another process end that is still needed? */
static void look_for_deserters(struct cluster *cluster)
{
    int there = 0;
    uint32_t run;
    MPI_Status status;
    MPI_Iprobe(MPI_ANY_SOURCE, TAG_DONE, cluster->world, &there, &status);
    if (!there)
        return;
    MPI_Recv(&run, 1, MPI_UINT32_T, status.MPI_SOURCE, TAG_DONE, cluster->world, &status);
    if (run >= cluster->peers.run)
        return;
    char why[128];
    snprintf(why, sizeof(why),
             "process %d could not do what the others did: does it see the same files?",
             status.MPI_SOURCE);
    fail(cluster, why);
}

/* ---- receiving ---- */

static bool probe(struct cluster *cluster, unsigned from, uint32_t channel, MPI_Message *message,
                  MPI_Status *status)
{
    const int source = from == PUG_PEERS_ANYBODY ? MPI_ANY_SOURCE : (int)from;
    int there = 0;
    MPI_Improbe(source, (int)(TAG_FIRST + channel % TAGS), cluster->world, &there, message, status);
    return there;
}

static bool receive_from(void *context, unsigned from, uint32_t channel, bool wait,
                         struct pug_peers_message *out)
{
    struct cluster *cluster = context;
    MPI_Message message;
    MPI_Status status;
    int size;
    for (unsigned looks = 0; !probe(cluster, from, channel, &message, &status); nap(&looks)) {
        if (!wait)
            return false;
        if (cluster->peers.number > 0)
            look_for_end(cluster);
        else
            look_for_deserters(cluster);
        if (cluster->outgoing)
            settle(cluster);
    }
    MPI_Get_count(&status, MPI_BYTE, &size);
    *out = (struct pug_peers_message){.from = (unsigned)status.MPI_SOURCE, .size = (size_t)size};
    out->bytes = malloc((size_t)size + 1);
    if (!out->bytes)
        fail(cluster, "out of memory");
    MPI_Mrecv(out->bytes, size, MPI_BYTE, &message, MPI_STATUS_IGNORE);
    return true;
}

/* ---- work that is handed out ---- */

static uint32_t next_number(struct cluster *cluster)
{
    pthread_mutex_lock(&cluster->lock);
    const uint32_t number = cluster->next;
    cluster->next += number < cluster->numbers;
    pthread_mutex_unlock(&cluster->lock);
    return number;
}

/** Give the next number to each process that asks, until all of them know that no more exist. */
static void *hand_out(void *context)
{
    struct cluster *cluster = context;
    unsigned looks = 0;
    for (unsigned left = cluster->peers.count - 1; left > 0; nap(&looks)) {
        MPI_Status status;
        int there = 0;
        MPI_Iprobe(MPI_ANY_SOURCE, TAG_NEXT, cluster->world, &there, &status);
        if (!there)
            continue;
        MPI_Recv(NULL, 0, MPI_BYTE, status.MPI_SOURCE, TAG_NEXT, cluster->world, &status);
        const uint32_t number = next_number(cluster);
        MPI_Send(&number, 1, MPI_UINT32_T, status.MPI_SOURCE, TAG_NUMBER, cluster->world);
        left -= number == cluster->numbers;
        looks = 0;
    }
    return NULL;
}

void cluster_hand_out(struct cluster *cluster, uint32_t numbers)
{
    cluster->next = 0;
    cluster->numbers = numbers;
    cluster->has_clerk = false;
    if (cluster->peers.number > 0 || cluster->peers.count == 1)
        return;
    if (cluster->threads)
        cluster->has_clerk = pthread_create(&cluster->clerk, NULL, hand_out, cluster) == 0;
    if (cluster->has_clerk)
        return;
    (void)hand_out(cluster); /* and does nothing else meanwhile */
    cluster->next = numbers;
}

bool cluster_next(struct cluster *cluster, uint32_t *number)
{
    if (cluster->peers.number == 0) {
        *number = next_number(cluster);
        if (*number == cluster->numbers && cluster->has_clerk)
            pthread_join(cluster->clerk, NULL);
        return *number < cluster->numbers;
    }
    MPI_Send(NULL, 0, MPI_BYTE, 0, TAG_NEXT, cluster->world);
    MPI_Recv(number, 1, MPI_UINT32_T, 0, TAG_NUMBER, cluster->world, MPI_STATUS_IGNORE);
    return *number < cluster->numbers;
}

/* ---- the whole ---- */

struct cluster *cluster_open(int *argc, char ***argv)
{
    int level, number, count;
    struct cluster *cluster = calloc(1, sizeof(*cluster));
    if (!cluster || MPI_Init_thread(argc, argv, MPI_THREAD_MULTIPLE, &level) != MPI_SUCCESS) {
        fprintf(stderr, "pugmark-mpi: MPI does not start\n");
        free(cluster);
        return NULL;
    }
    MPI_Comm_dup(MPI_COMM_WORLD, &cluster->world);
    MPI_Comm_rank(cluster->world, &number);
    MPI_Comm_size(cluster->world, &count);
    cluster->messages = dup(STDERR_FILENO);
    cluster->threads = level >= MPI_THREAD_MULTIPLE;
    pthread_mutex_init(&cluster->lock, NULL);
    cluster->peers = (struct pug_peers){.number = (unsigned)number,
                                        .count = (unsigned)count,
                                        .context = cluster,
                                        .send = send_to,
                                        .receive = receive_from,
                                        .fail = fail};
    return cluster;
}

MPI_Comm cluster_world(const struct cluster *cluster)
{
    return cluster->world;
}

struct pug_peers *cluster_peers(struct cluster *cluster)
{
    return &cluster->peers;
}

int cluster_close(struct cluster *cluster, int code)
{
    const struct pug_peers *peers = &cluster->peers;
    const uint32_t run = peers->run;
    unsigned looks = 0;
    if (peers->number > 0)
        MPI_Send(&run, 1, MPI_UINT32_T, 0, TAG_DONE, cluster->world);
    while (peers->number > 0) { /* look_for_end() does not come back */
        look_for_end(cluster);
        settle(cluster);
        nap(&looks);
    }
    for (unsigned to = 1; to < peers->count; to++)
        MPI_Send(&code, 1, MPI_INT, (int)to, TAG_END, cluster->world);
    leave(cluster, code);
}
