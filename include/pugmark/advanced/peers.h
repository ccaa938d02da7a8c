// SPDX-License-Identifier: MIT
/**
 * @file Several processes that decode one capture together, each a span of it. What they tell each
 * other goes through functions that somebody else fills in: messages between numbered processes,
 * over MPI (`pugmark-mpi`) or whatever there is.
 *
 * All of them do the same calls with the same inputs, in the same order: in those that take peers
 * each reads its span, and number 0 gets what one process alone would have: what it takes is all
 * of it, in its order. The others take nothing. They are of one build, on one kind of machine.
 */
#ifndef PUGMARK_PEERS_H
#define PUGMARK_PEERS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/** For receive(): whoever sent something. */
#define PUG_PEERS_ANYBODY UINT32_MAX

/** A message from another process. */
struct pug_peers_message {
    unsigned from;  /**< its number */
    uint8_t *bytes; /**< free() it; NULL where there are none */
    size_t size;    /**< bytes */
};

/**
 * Where processes keep what they have done, so that the same calls, made again by as many of them
 * of the same build, go on with it and give what they would have given. In files of a folder, by
 * call and process, which stay there.
 */
struct pug_peers_keep {
    const char *folder; /**< is there, and all have it */
    uint64_t identity;  /**< of inputs and what is done: what was kept of others does not count */
    uint64_t interval;  /**< milliseconds between two times */
    /** Optional: what was made may refer to what has to be safe by now; false: it is not. */
    bool (*settle)(void *context);
    void *context;     /**< is handed to settle() */
    uint64_t spare[4]; /**< zero */
};

/**
 * One of the processes, and its way to the others. One thread uses it at a time. Who takes it says
 * PUG_ERR_INVALID_PARAM_VAL where there are others and a function is missing that is not optional.
 */
struct pug_peers {
    unsigned number;     /**< of this one, from 0 on */
    unsigned count;      /**< of all of them */
    size_t piece, block; /**< as in struct pug_jobs, for tests; 0: as usual */
    void *context;       /**< is handed to these functions */
    /**
     * The bytes are the caller's again when it returns. It does not wait until they are received,
     * unless much is on its way. What one sends another on one channel comes in its order.
     */
    void (*send)(void *context, unsigned to, uint32_t channel, const void *bytes, size_t size);
    /** False: there is nothing from there, and it was not to be waited for. */
    bool (*receive)(void *context, unsigned from, uint32_t channel, bool wait,
                    struct pug_peers_message *message);
    /** This process cannot go on, so none can: says so and ends all of them. Does not return. */
    void (*fail)(void *context, const char *why);
    /** Optional: counts what was sent since then. */
    uint64_t sent_messages, sent_bytes;
    uint32_t run;                /**< private: the call at hand */
    struct pug_peers_keep *keep; /**< optional: what is done is kept */
    uint64_t read_bytes;         /**< of captures that were cut, read by this one; since then */
    uint64_t spare[2];           /**< zero */
};

#ifdef __cplusplus
}
#endif
#endif
