// SPDX-License-Identifier: MIT
/**
 * @file Live inputs: sockets, serial lines, pipes and devices, read as their bytes arrive.
 *
 * place.c understands names ("tcp:localhost:3443", "openocd"). socket.c and serial.c open them.
 * tcl.c takes the bytes out of OpenOCD's notifications. live.c reads, reconnects and saves.
 * guess.c recognises what the first bytes are.
 */
#ifndef PUG_LIVE_LIVE_H
#define PUG_LIVE_LIVE_H

#include "pugmark/status.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/** How an input is opened. */
enum pug_live_scheme {
    PUG_LIVE_FILE, /**< standard input, a FIFO, a character device */
    PUG_LIVE_TCP,
    PUG_LIVE_LISTEN,
    PUG_LIVE_UNIX,
    PUG_LIVE_SERIAL,
};

#define PUG_LIVE_NAME 256u

/** The parts of a name. */
struct pug_live_place {
    enum pug_live_scheme scheme;
    char host[PUG_LIVE_NAME];
    char port[8];
    char path[4096];       /**< of a socket, a device, or a file */
    uint32_t baud;         /**< of a serial line; 0: the rate stays as it is */
    const char *transport; /**< that a preset implies; NULL: the bytes show it */
    const char *hint;      /**< what to do when a preset refuses; NULL: nothing special */
    const char *silence;   /**< what to do when a preset says nothing; or NULL */
    uint16_t fallback;     /**< port to try when the first is refused; 0: none */
    bool tcl;              /**< OpenOCD's notifications */
    bool preset;           /**< a bare word */
};

/** Does a name have a known scheme, or is it a preset? A name with a slash in front is a file. */
bool pug_live_names(const char *input);

/** False: it has a known scheme, and the rest is wrong; *why says what. */
bool pug_live_place(const char *input, struct pug_live_place *place, const char **why);

struct pug_live_options {
    bool retry;           /**< reconnect when the peer refuses or goes away */
    uint64_t retry_ms;    /**< for so long; 0: for ever */
    uint64_t duration_ms; /**< end after so long; 0: never */
    const char *save;     /**< keep the raw bytes in this file; NULL: they are not kept */
    int stop;             /**< end when this descriptor becomes readable; below 0: none */
    void (*say)(void *context, const char *text); /**< takes messages; may be NULL */
    void *context;                                /**< is handed to it */
};

struct pug_live;

/** Open; PUG_ERR_FILE: pug_live_why() of *live says why, also then it is to be freed. */
enum pug_status pug_live_open(const struct pug_live_place *place,
                              const struct pug_live_options *options, struct pug_live **live);
/** NULL is left alone. Restores the settings of a serial line. */
void pug_live_free(struct pug_live *live);
/** Why it could not be opened or read. */
const char *pug_live_why(const struct pug_live *live);

#define PUG_LIVE_OVER  0
#define PUG_LIVE_ERROR (-1)
#define PUG_LIVE_PAUSE (-2) /**< nothing came within the timeout */
#define PUG_LIVE_GAP   (-3) /**< the peer went away; what comes next is of another connection */

/**
 * Read what is there, waiting at most so many milliseconds (below 0: for ever) for the first byte.
 */
int64_t pug_live_read(struct pug_live *live, uint8_t *bytes, size_t size, int timeout);

/** Did a stop descriptor or the duration end it? */
bool pug_live_stopped(const struct pug_live *live);
/** How many bytes came so far. */
uint64_t pug_live_came(const struct pug_live *live);
const struct pug_live_place *pug_live_where(const struct pug_live *live);
/** The descriptor that is read. */
int pug_live_descriptor(const struct pug_live *live);

/* ---- guess.c ---- */

enum pug_live_kind {
    PUG_LIVE_UNDECIDED,
    PUG_LIVE_PERF,     /**< perf.data of a pipe */
    PUG_LIVE_ITM,      /**< raw, with a synchronisation packet */
    PUG_LIVE_ITM_OPEN, /**< raw, begun without one */
    PUG_LIVE_TPIU,     /**< in CoreSight frames */
    PUG_LIVE_ORBFLOW,
    PUG_LIVE_UNKNOWN, /**< nothing that is known here begins so */
};

/** number of bytes that always suffices to decide */
#define PUG_LIVE_ENOUGH 8192u
/** The file mark of ORBFLOW, which is no packet. */
#define PUG_LIVE_MARK      "%%ORBFLOW1.0.0%%"
#define PUG_LIVE_MARK_SIZE 16u

/** What the first bytes of a stream are; `paused`: nothing came after them for 5 ms. */
enum pug_live_kind pug_live_guess(const uint8_t *bytes, size_t size, bool paused, bool ended);

/* ---- sockets, also for those who listen ---- */

/** A connection that sends at once, is noticed when it dies, and is not inherited. */
void pug_live_set_up(int file);

/* ---- private, but for pug_live_listen() ---- */

/** Where a preset or name leads: the descriptor, or -1 with errno and *why. */
int pug_live_connect(const struct pug_live_place *place, int stop, const char **why);
int pug_live_listen(const struct pug_live_place *place, const char **why);
int pug_live_accept(int listener, int stop);

struct pug_live_line;
int pug_live_serial(const struct pug_live_place *place, struct pug_live_line **line,
                    const char **why);
/** Restores the settings; frees. NULL is left alone. */
void pug_live_serial_end(struct pug_live_line *line, int file);

/** Takes `type target_trace data HEX` out of what OpenOCD sends. */
struct pug_live_tcl {
    size_t matched;
    bool data;
    int digit; /**< the first of two; below 0: none */
};
#define PUG_LIVE_TCL_ASK "tcl_trace on\x1a"
size_t pug_live_tcl(struct pug_live_tcl *tcl, uint8_t *bytes, size_t size);

#endif
