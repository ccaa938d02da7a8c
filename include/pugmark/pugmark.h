// SPDX-License-Identifier: MIT
/**
 * @file Pugmark's everyday interface. Read as a manual it begins here.
 *
 * A processor's trace says in few bytes what it did. Pugmark rebuilds it: bytes become packets,
 * packets *elements* (element.h): ranges of instructions that ran, exceptions, contexts, times,
 * software's own messages. Every protocol ends in the same elements.
 *
 * The simple way: open what you have, and take elements.
 *
 *     struct pug_capture *capture;
 *     if (pug_capture_open("perf.data", NULL, &capture) == PUG_OK)
 *         pug_capture_elements(capture, take, context); // calls take() with them, in order
 *     pug_capture_free(capture);
 *
 *     capture.h     a snapshot, a file of trace, perf.data: opened and decoded in one way
 *     cursor.h      the next element or instruction, from any place: pull in place of push
 *     walk.h        the instructions of a range: address, size, bytes, class
 *     calls.h       the functions that were entered and left, with times
 *     names.h       functions, files and lines of addresses
 *     timeline.h    calls over time, for viewers
 *     profile.h     what ran how often: made of captures (profiler.h), for other tools (export.h)
 *     disasm.h, dwt.h    instructions in words; what an ITM's hardware packets mean
 *
 * The parts, for programs with trace from elsewhere, are in advanced/ (advanced.h includes all):
 *
 *     correlate.h   several streams in the order of time
 *     diagnose.h    what is wrong with a decoding; what bytes look like
 *     tree.h        transport and sources; bytes go in, elements come out, waiting and flushing
 *     consumer.h    what threads make of elements; several consumers share one pass
 *     jobs.h        a capture in memory on all processors (peers.h: on several machines), with the
 *                   output of one thread
 *     counts.h      how often ranges ran, without elements
 *     image.h       program memory: buffers, files, ELF files, callbacks; symbols
 *     snapshot.h, params.h, settings.h    how trace units were configured
 *     index.h       where times, events and synchronisation points are in a capture
 *     packet.h, packet/NAME.h             packets themselves
 *     transport.h, encapsulation.h        how they travel
 *     isa.h, state.h                      instructions; what decoding goes on from
 *     log.h, status.h                     what went wrong, and where
 *     quirks.h                            defects of the reference that can be had
 *
 * Who adds a protocol or a transport goes on in author/protocol.h.
 *
 * Rules that hold wherever a header says nothing else:
 *
 * - Functions that can fail return enum pug_status, PUG_OK or an error. A pointer that is NULL and
 *   must not be is PUG_ERR_INVALID_PARAM_VAL. A failed call changes nothing, and where it was to
 *   make something that is NULL.
 * - pug_X_new(), pug_X_open(), pug_X_load() make objects that the caller frees with pug_X_free();
 *   freeing NULL does nothing. An object does not own what it was given, which must outlive it,
 *   unless the header says that it is copied. Strings that come out live as long as their object.
 * - A pointer that comes out is NULL only where the header says so, and where the n-th of something
 *   is asked for and there are not so many; that of an array with nothing in it may be NULL.
 * - Functions that cannot fail must be given their object: those that only ask it, or tell it who
 *   listens. Those that may be given NULL say so.
 * - Two objects never meet: they may be used on two threads at once. One object belongs to one
 * thread at a time. Exceptions are images, captures, indexes and profiles that no thread changes:
 * any number of threads may read them. Nothing is kept outside of objects but the lists of
 *   protocols and transports that a program registers.
 * - Functions that write text work like snprintf(): always terminated where there is room for a
 *   byte, and they return the length of the whole text.
 * - Structs that are filled in have room to grow, `spare`, which is zero when they are initialised
 *   by name. A zeroed option means as usual.
 */
#ifndef PUGMARK_PUGMARK_H
#define PUGMARK_PUGMARK_H

#include "pugmark/calls.h"
#include "pugmark/capture.h"
#include "pugmark/check.h"
#include "pugmark/cursor.h"
#include "pugmark/disasm.h"
#include "pugmark/dwt.h"
#include "pugmark/element.h"
#include "pugmark/export.h"
#include "pugmark/log.h"
#include "pugmark/names.h"
#include "pugmark/profile.h"
#include "pugmark/profiler.h"
#include "pugmark/setting.h"
#include "pugmark/status.h"
#include "pugmark/timeline.h"
#include "pugmark/walk.h"

/** The version of the headers, and of all that is built with them: it is said here alone. */
#define PUG_VERSION_MAJOR 0
/** The version of the headers. */
#define PUG_VERSION_MINOR 3
/** The version of the headers. */
#define PUG_VERSION_PATCH 0
/** The version of the headers in words. */
#define PUG_VERSION PUG_VERSION_OF(PUG_VERSION_MAJOR, PUG_VERSION_MINOR, PUG_VERSION_PATCH)
/** How PUG_VERSION is made. */
#define PUG_VERSION_OF(major, minor, patch) PUG_VERSION_TEXT(major, minor, patch)
/** How PUG_VERSION is made. */
#define PUG_VERSION_TEXT(major, minor, patch) #major "." #minor "." #patch

#ifdef __cplusplus
extern "C" {
#endif

/** Version of the library that runs, as opposed to the header's: "0.3.0". */
const char *pug_version(void);

/** Returns the features of this build, separated by blanks: "elf dwarf threads". */
const char *pug_features(void);

#ifdef __cplusplus
}
#endif
#endif
