// SPDX-License-Identifier: MIT
/**
 * @file Histories: where a program was, place by place, and moving there forwards and backwards.
 *
 *     struct pug_history *history;
 *     pug_history_new(&(struct pug_history_config){.capture = capture, .names = names}, &history);
 *     pug_capture_elements(capture, pug_history_take, history);
 *     pug_history_end(history);
 *     struct pug_history_move move = {.thread = 0, .backward = true};
 *     pug_history_step(history, position, &move);       // move.position, move.stop
 *
 * A *position* is a number that counts from 0. There is one before each instruction that was
 * executed, one before each exception whose return address the trace has (the instruction that
 * faulted was not executed: this is its place), and one at each end of a segment of trace, if it is
 * known where execution continued. All threads share one time: position n + 1 is later than
 * position n, whatever thread it belongs to.
 *
 * A history keeps a few bits for each block of code that ran. It finds a place by an index of the
 * blocks that each piece of it holds, not by stepping.
 *
 * One thread at a time may use a history. It borrows what its configuration names.
 */
#ifndef PUGMARK_HISTORY_H
#define PUGMARK_HISTORY_H

#include "pugmark/calls.h"
#include "pugmark/capture.h"

#ifdef __cplusplus
extern "C" {
#endif

/** The input of a history. */
struct pug_history_config {
    struct pug_capture *capture; /**< that it is of; not NULL */
    struct pug_names *names;     /**< names the functions of the call stack; NULL: nothing does */
    uint64_t limit;              /**< most bytes of memory; 0: 8 GiB, or less on a 32-bit host */
    uint64_t spare[4];           /**< zero */
};

struct pug_history;

/** Makes an empty history; the caller frees it. PUG_ERR_INVALID_PARAM_VAL, PUG_ERR_MEM. */
enum pug_status pug_history_new(const struct pug_history_config *config,
                                struct pug_history **history);
/** Frees it. NULL is left alone. */
void pug_history_free(struct pug_history *history);

/** Adds elements in the order of decoding: a pug_situated_fn. False: see pug_history_status(). */
bool pug_history_take(void *history, const struct pug_origin *origin,
                      const struct pug_element *elements, size_t count);
/**
 * Adds an access to memory that another source reports (a DWT), of `size` bytes, 1 to 8, in the
 * order of time with the elements: from the next position on `address` holds `value`.
 */
bool pug_history_access(struct pug_history *history, uint64_t address, uint64_t value,
                        unsigned size);
/** The trace is over. Nothing may be added after this. */
void pug_history_end(struct pug_history *history);
/** Is it over? */
bool pug_history_ended(const struct pug_history *history);
/** PUG_OK; PUG_ERR_MEM; PUG_ERR_LIMIT: it reached `limit`, and what came later is left out. */
enum pug_status pug_history_status(const struct pug_history *history);
/** Bytes of memory that it holds. */
uint64_t pug_history_memory(const struct pug_history *history);

/**
 * Writes a history that is over to a file, whole or not at all. `identity` is a number for all that
 * it depends on: the trace, programs, how it was decoded. PUG_ERR_INVALID_PARAM_VAL: it is not
 * over, or is not complete; PUG_ERR_MEM, also where it has tasks, which are not kept; PUG_ERR_FILE.
 */
enum pug_status pug_history_save(struct pug_history *history, const char *path, uint64_t identity);
/**
 * Reads such a file in place of the trace. Everything in it is checked first. PUG_ERR_FILE: it
 * cannot be read; PUG_ERR_INDEX_FOREIGN: its identity, the library's version or the host is another
 * one; PUG_ERR_INDEX_DAMAGED. *history is NULL then.
 */
enum pug_status pug_history_load(const struct pug_history_config *config, const char *path,
                                 uint64_t identity, struct pug_history **history);

/** How many positions there are. */
uint64_t pug_history_count(const struct pug_history *history);

/** A task, or a source where tasks are unknown. */
struct pug_history_thread {
    uint32_t task;     /**< of the capture, or PUG_NO_TASK */
    uint32_t buffer;   /**< of the capture: where its first trace is */
    uint16_t source;   /**< its trace id there */
    int32_t cpu;       /**< that ran it first, or PUG_NO_CPU */
    uint8_t isa;       /**< enum pug_isa: of its first instructions */
    bool m_profile;    /**< its exceptions are those of an M profile core */
    uint64_t first;    /**< its first position */
    uint64_t spare[4]; /**< zero */
};

/** The n-th thread, or NULL. Threads are numbered in the order of their first positions. */
const struct pug_history_thread *pug_history_thread_at(const struct pug_history *history, size_t n);

/** A block of code that ran. */
struct pug_history_block {
    uint64_t start, end;      /**< its first address, and the one after it */
    uint32_t thread;          /**< that ran it */
    uint8_t isa;              /**< enum pug_isa */
    struct pug_origin origin; /**< whose memory it is in; without a time */
    uint64_t spare[2];        /**< zero */
};

/**
 * Reads the next distinct block after the ones that were read: *n is 0 at first, and the caller's
 * mark. Blocks are in the order in which they ran first. False: there are no more.
 */
bool pug_history_next_block(const struct pug_history *history, uint32_t *n,
                            struct pug_history_block *block);

/** Is an object an ELF file that is there? */
bool pug_history_is_program(struct pug_history *history, uint32_t object);
/** The address of the first segment of an object's file, as the file has it; 0: not known. */
uint64_t pug_history_first_address(struct pug_history *history, uint32_t object);

/** Kinds of position. */
enum pug_history_kind {
    PUG_HISTORY_INSTRUCTION, /**< before an instruction that was executed */
    PUG_HISTORY_EXCEPTION,   /**< before an exception; `pc` is its return address */
    PUG_HISTORY_STOP,        /**< at the end of a stretch of trace */
};

/** A position. */
struct pug_history_place {
    uint64_t position;         /**< its number */
    uint64_t pc;               /**< where it is */
    uint64_t entry;            /**< where the block begins that the instruction is in */
    uint64_t link;             /**< the return address, where `has_link` */
    uint32_t thread;           /**< by number */
    uint32_t exception;        /**< its number, of an EXCEPTION */
    uint32_t context_id, vmid; /**< where context_flags say that they are known */
    uint8_t kind;              /**< enum pug_history_kind */
    uint8_t isa;               /**< enum pug_isa */
    uint8_t context_flags;     /**< enum pug_context_flag */
    uint8_t security;          /**< enum pug_security */
    int8_t level;              /**< exception level or privilege mode */
    uint8_t exception_numbers; /**< enum pug_exception_numbers */
    bool fault;                /**< an EXCEPTION whose instruction was not executed */
    bool has_link;             /**< a call was made just before: the link register is known */
    struct pug_origin origin;  /**< whose memory it sees; without a time */
    uint64_t spare[4];         /**< zero */
};

/** Reads a position. False: there is no such position, or no memory. */
bool pug_history_at(struct pug_history *history, uint64_t position,
                    struct pug_history_place *place);

/** The place in the trace of a position. */
struct pug_history_packet {
    uint32_t buffer, segment; /**< by number */
    uint64_t index;           /**< trace index of the packet */
    uint64_t time;            /**< the last timestamp or time of its thread; 0: none yet */
    uint64_t spare[2];        /**< zero */
};

/** Finds the packet of a position. False: there is no such position, or no memory. */
bool pug_history_packet(struct pug_history *history, uint64_t position,
                        struct pug_history_packet *packet);

/** The reason why a move ended. */
enum pug_history_end_kind {
    PUG_MOVE_DONE,        /**< it went as far as it was asked to */
    PUG_MOVE_BREAKPOINT,  /**< it came to a breakpoint */
    PUG_MOVE_LOSS,        /**< trace is missing here; the next such move continues after the loss */
    PUG_MOVE_BEGIN,       /**< nothing is known of earlier times */
    PUG_MOVE_END,         /**< the trace ends */
    PUG_MOVE_EXCEPTION,   /**< the trace ends in the exception that is here */
    PUG_MOVE_ENDED_EARLY, /**< `interrupted` said so, or there was no memory */
    PUG_MOVE_SPACE, /**< it came to an instruction in other memory than `space`, of that process */
};

/** Any thread. */
#define PUG_HISTORY_ANY UINT32_MAX

/** A move, and what came of it. */
struct pug_history_move {
    uint64_t position; /**< in: from where; out: to where */
    uint32_t thread;   /**< in: that moves, or ANY; out: that is where `position` is */
    bool backward;     /**< in: to earlier positions */
    bool in_range;     /**< in: a step goes on while `pc` is in [from, to) */
    uint64_t from, to; /**< in: that range */
    bool (*interrupted)(void *context); /**< in, optional: asked now and then; true: stop */
    void *context;                      /**< in: is handed to it */
    uint8_t stop;                       /**< out: enum pug_history_end_kind */
    uint8_t gap;                        /**< out, of a LOSS: enum pug_call_gap */
    uint8_t unsync; /**< out, of a LOSS: enum pug_unsync, what the trace says of it */
    /**
     * in, optional: stop at the first instruction of the thread's process that is in another
     * address space than this one, of a program that was loaded, unloaded or replaced meanwhile.
     */
    const struct pug_address_space *space;
    uint64_t spare[3]; /**< zero */
};

/**
 * Moves a thread by one instruction, or out of a range of addresses; or to a breakpoint, of
 * whatever thread, where it comes to one.
 */
void pug_history_step(struct pug_history *history, struct pug_history_move *move);
/** Moves to the next or last breakpoint, of whatever thread. */
void pug_history_run(struct pug_history *history, struct pug_history_move *move);

/** A place where a move stops. */
struct pug_history_breakpoint {
    uint64_t address;  /**< of the instruction */
    int32_t pid;       /**< of the process that it is in; PUG_NO_CPU: in all */
    uint64_t spare[1]; /**< zero */
};
/** Takes the breakpoints of moves from now on, which are copied. PUG_ERR_MEM. */
enum pug_status pug_history_breakpoints(struct pug_history *history,
                                        const struct pug_history_breakpoint *breakpoints,
                                        size_t count);

/**
 * Finds the position of a thread at the time of `position`: its first one that is not earlier, or
 * its last one. False: it has none.
 */
bool pug_history_of_thread(struct pug_history *history, uint64_t position, uint32_t thread,
                           uint64_t *found);

/** The target of pug_history_find(). */
enum pug_history_want {
    PUG_FIND_ADDRESS,   /**< the instruction at `value` */
    PUG_FIND_EXCEPTION, /**< an exception */
    PUG_FIND_OFFSET,    /**< the first position whose packet is at trace index `value` */
    PUG_FIND_TIME,      /**< the first position at time `value` or later */
    PUG_FIND_LOSS,      /**< the last position before trace was lost */
};

/**
 * Finds a position after `from`, or before it. Of OFFSET and TIME `from` and `backward` have no
 * meaning. False: there is none.
 */
bool pug_history_find(struct pug_history *history, enum pug_history_want want, uint64_t value,
                      uint64_t from, bool backward, uint64_t *found);

/** A frame of the call stack. */
struct pug_history_frame {
    const char *name;  /**< of the function; NULL: it is not known */
    uint64_t pc;       /**< where control is, or goes on when it comes back */
    uint64_t function; /**< where the function begins */
    uint64_t site;     /**< the call instruction in the caller; 0: it was not called */
    int64_t depth;     /**< the same from each place inside this call; greater is further in */
    uint8_t kind;      /**< enum pug_call_kind */
    bool has_caller;   /**< the next frame's `pc` is known */
    uint8_t exception_numbers; /**< enum pug_exception_numbers */
    uint32_t exception;        /**< its number; kind EXCEPTION */
    uint64_t spare[2];         /**< zero */
};

/**
 * Fills in the frames at a position from the innermost one out, at most `room`, and returns how
 * many there are; 0: there is no such position, or no memory.
 */
size_t pug_history_frames(struct pug_history *history, uint64_t position,
                          struct pug_history_frame *frames, size_t room);

/**
 * Reads memory as the thread of a place saw it then, and returns how many bytes are known from the
 * first one on. Known is what the program's files hold and the program cannot write, and what data
 * trace gave before. Of a snapshot's dump the pieces in which code ran are known at all times, and
 * all of it at the last position: it was made then.
 */
size_t pug_history_memory_at(struct pug_history *history, const struct pug_history_place *place,
                             uint64_t address, uint8_t *bytes, size_t size);

#ifdef __cplusplus
}
#endif
#endif
