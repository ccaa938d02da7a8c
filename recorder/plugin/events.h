// SPDX-License-Identifier: MIT
/** @file What each processor does, as events of the path file. */
#ifndef PUG_RECORDER_PLUGIN_EVENTS_H
#define PUG_RECORDER_PLUGIN_EVENTS_H

#include "situation.h"

#include <stdbool.h>
#include <stdint.h>

/** How far a block is known to have run if it runs no further; 0: to its end. */
typedef uint64_t events_reach;

/** Returns the reach for exactly so many retired instructions. */
events_reach events_reach_of(uint32_t retired);

/** A block, as events tell of it. */
struct events_block {
    uint32_t id, count; /**< count: instructions */
    events_reach reach; /**< when it begins */
};

/** Processors' events are kept. With `tasks` they are threads, reported at their first event. */
void events_begin(bool tasks);
/** None are kept any more. */
void events_stop(void);

/** Everything from here on runs in that situation. */
void events_situation(unsigned cpu, const struct situation *situation);
/** The block, of so many, runs. It stays where it is. */
void events_block(unsigned cpu, const struct events_block *block, uint32_t blocks);
/** Memory was accessed by an instruction of the block: 2^size bytes; a load, unless it stored. */
struct events_access {
    const struct events_block *block;
    uint64_t address, value;
    uint32_t insn;
    uint8_t size;
    bool store, known; /**< known: `value` is */
};

void events_access(unsigned cpu, const struct events_access *access);
/** It came further. */
void events_reached(unsigned cpu, events_reach reach);
/** The last instruction of the block asked the system; `retired`: it did, and is no trap itself. */
void events_syscall(unsigned cpu, uint64_t number, bool retired);
struct trap;

/** An exception is taken, or returned from, before the block that is given next. */
void events_trap(unsigned cpu, const struct trap *trap);
/** Returns the block that was given last; NULL: none. */
const struct events_block *events_last(unsigned cpu);
/** Of the block that was given last only so many instructions retired. */
void events_cut(unsigned cpu, uint32_t retired);
/** Send what waits. */
void events_send(unsigned cpu);
/** The thread ended; another may get its number. */
void events_exit(unsigned cpu);
/** In a forked child: nothing ran yet, and what the parent did is the parent's. */
void events_forget(void);

#endif
