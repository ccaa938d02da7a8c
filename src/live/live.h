// SPDX-License-Identifier: MIT
/**
 * @file Live inputs: sockets, serial lines, pipes and devices, read as their bytes arrive.
 *
 * place.c understands names ("tcp:localhost:3443", "openocd"). socket.c and serial.c open them.
 * tcl.c takes the bytes out of OpenOCD's notifications. live.c reads and reconnects. save.c keeps
 * the bytes in files. room.c reads on a thread, so that a peer that cannot wait loses nothing.
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
    const char *save;     /**< keep the raw bytes in this file, or "FOLDER/"; NULL: not at all */
    uint64_t ring;        /**< keep so many of the newest bytes until they are read; 0: as usual */
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
/** Close the connection: nothing more is read or saved. */
void pug_live_close(struct pug_live *live);
/** Why it could not be opened or read. */
const char *pug_live_why(const struct pug_live *live);

#define PUG_LIVE_OVER  0
#define PUG_LIVE_ERROR (-1)
#define PUG_LIVE_PAUSE (-2) /**< nothing came within the timeout */
#define PUG_LIVE_GAP   (-3) /**< what comes next does not continue what came; pug_live_dropped() */

/* Without --ring and --save sockets and serial lines have so much room. */
#define PUG_LIVE_ROOM ((size_t)4 << 20)

/**
 * Read what is there, waiting at most so many milliseconds (below 0: for ever) for the first byte.
 */
int64_t pug_live_read(struct pug_live *live, uint8_t *bytes, size_t size, int timeout);

/** Did a stop descriptor or the duration end it? */
bool pug_live_stopped(const struct pug_live *live);
/** How many bytes came so far. */
uint64_t pug_live_came(const struct pug_live *live);
const struct pug_live_place *pug_live_where(const struct pug_live *live);
/** The rate of a serial line; 0: unknown, or it is none. */
uint32_t pug_live_line_rate(const struct pug_live *live);
/** Of the last gap: bytes that came and did not fit; 0: the peer went away. */
uint64_t pug_live_dropped(const struct pug_live *live);

/** A connection, whose bytes are kept in a folder. Times: nanoseconds since 1970. */
struct pug_live_connection {
    uint64_t began, ended; /**< `ended`: 0 while it lasts */
    uint64_t bytes;        /**< that were saved */
};
/** The n-th one; NULL: there are fewer, or --save names no folder. */
const struct pug_live_connection *pug_live_connection_at(const struct pug_live *live, size_t n);
/** The name of its file in the folder. */
void pug_live_connection_file(size_t n, char *name, size_t size);

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

/* ---- rate.c ---- */

/** number of bytes that are looked at */
#define PUG_LIVE_RATE_SAMPLE 4096u

/**
 * Bytes that came from a serial line at this rate: the usual rate at which they would be the text
 * of an ITM. 0: they are that at this rate, or no rate is clearly better.
 */
uint32_t pug_live_rate(const uint8_t *bytes, size_t size, uint32_t rate);

/* ---- sockets, also for those who listen ---- */

/** A connection that sends at once, is noticed when it dies, and is not inherited. */
void pug_live_set_up(int file);

/* ---- private, but for pug_live_listen() ---- */

/** Does this errno of read() say that the peer is gone? */
bool pug_live_is_gone(int error);

/** What is kept of the bytes (save.c). */
struct pug_live_save {
    const char *path;                        /**< a file, or a folder; NULL: nothing */
    int file;                                /**< of the present connection; below 0: none */
    bool failed;                             /**< nothing is saved any more */
    bool reads_back;                         /**< what was saved can be read again */
    struct pug_live_connection *connections; /**< of a folder */
    size_t count, room;
};

/** Begin the file of the n-th connection, from 1 on. False, with *why of `size` bytes. */
bool pug_live_save_begin(struct pug_live_save *save, unsigned number, char *why, size_t size);
/** The connection is over; so many of its bytes were saved. */
void pug_live_save_end(struct pug_live_save *save, uint64_t bytes);

/** Where a preset or name leads: the descriptor, or -1 with errno and *why. */
int pug_live_connect(const struct pug_live_place *place, int stop, const char **why);
int pug_live_listen(const struct pug_live_place *place, const char **why);
int pug_live_accept(int listener, int stop);

struct pug_live_line;
int pug_live_serial(const struct pug_live_place *place, struct pug_live_line **line,
                    const char **why);
/** The line's rate; 0: unknown. */
uint32_t pug_live_serial_rate(const struct pug_live_line *line);
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
