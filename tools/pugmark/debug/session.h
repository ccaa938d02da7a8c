// SPDX-License-Identifier: MIT
/**
 * @file A history of an input that somebody moves in: the GDB server and `pugmark debug`.
 */
#ifndef PUGMARK_TOOL_SESSION_H
#define PUGMARK_TOOL_SESSION_H

#include "input/capture_options.h"
#include "pugmark/advanced/history.h"
#include "pugmark/advanced/snapshot.h"
#include "text/sink.h"

#include <pthread.h>

/** A file that lies somewhere in a process, as far as its code ran. */
struct session_object {
    uint32_t object; /**< of the capture */
    int32_t pid;
    uint64_t bias; /**< what its addresses are more than the file's own */
};

struct session_options;

struct session {
    struct input input;
    const struct session_options *options; /**< while it is opened */
    struct pug_names *names;
    struct pug_history *history;
    struct pug_index *index; /**< where packets were looked for; or NULL */
    uint64_t identity;       /**< of what the history depends on; 0: it is not kept */
    uint64_t position;
    uint32_t thread; /**< whose position it is */
    int code;        /**< exit code of decoding */
    /* where a live input is read */
    bool live, has_feeder;
    bool ending; /**< no more is wanted */
    pthread_t feeder;
    pthread_mutex_t lock; /**< guards the history */
    int wake[2];          /**< a byte for what came; -1: not live */
    bool awake;
};

/** Options of a session. */
struct session_options {
    struct input_options input;
    struct capture_options capture;
};

/**
 * Reads the history that an earlier session left beside the index of the trace. False: there is
 * none that is of this trace, these programs and these options.
 */
bool kept_history_load(struct session *session, const struct pug_history_config *config);
/** Leaves it there, where the trace has an index and it was read without a fault. */
void kept_history_save(struct session *session);

/** Opens and reads an input. False, having said why; session->code is the exit code. */
bool session_open(struct session *session, const struct session_options *options,
                  const char *operand);
/** Ends and frees it; the exit code. */
int session_close(struct session *session);

void session_lock(struct session *session);
void session_unlock(struct session *session);
/** Waits until something came, or `more` (a descriptor, or -1) can be read. */
void session_wait(struct session *session, int more);

/** Is more of the trace to come? */
bool session_grows(const struct session *session);

/** The position of a thread now. False: it has none. */
bool session_place(struct session *session, uint32_t thread, struct pug_history_place *place);

/**
 * The registers of a thread's core as a snapshot has them, where they are those at `place`: the
 * last position, whose pc is theirs. NULL: they are not known there.
 */
const struct pug_snapshot_device *session_core(struct session *session,
                                               const struct pug_history_place *place);

/** Finds a source of a buffer in the capture's snapshot. False: it is not in one. */
bool core_source(const struct pug_capture *capture, uint32_t buffer, uint16_t id,
                 struct pug_snapshot_source *source);

/** Reads a register of a device by its name, in whatever case. False: it is not known. */
bool core_register(const struct pug_snapshot_device *device, const char *name, uint64_t *value);

/** Goes to a position. */
void session_go(struct session *session, uint64_t position);

/** The number of a thread's process as the system has it; PUG_NO_CPU: unknown. */
int32_t session_pid(const struct session *session, uint32_t thread);

/** The process of a thread: 1 and up. */
unsigned session_process(const struct session *session, uint32_t thread);

/** "task1 (1234)", "source 0x10": as people know a thread. */
void session_thread_words(const struct session *session, uint32_t thread, char *words, size_t size);

/** The time of a packet with its unit; "" if unknown. */
void session_time_words(const struct session *session, uint64_t time, char *words, size_t size);

/** Why a move stopped, in a line; "" where there is nothing to say. */
void session_stop_words(struct session *session, const struct pug_history_move *move, char *words,
                        size_t size);

/**
 * Does what a line of words says ("goto end", "where") and writes the answer. False: it is no such
 * command, or it could not be done; the answer says why.
 */
bool session_command(struct session *session, const char *line, struct pug_sink *sink);

#endif
