// SPDX-License-Identifier: MIT
/** @file What verify.c and verify_parts.c share: ranges with their addresses, and the path. */
#ifndef PUGMARK_TOOL_VERIFY_INTERNAL_H
#define PUGMARK_TOOL_VERIFY_INTERNAL_H

#include "pugmark/advanced/consumer.h"
#include "pugmark/capture.h"
#include "pugmark/walk.h"
#include "recorder/path.h"
#include "verify.h"
#include "verify_data.h"

#define VERIFY_CPUS REC_PATH_CPUS

enum verify_what { VERIFY_RANGE, VERIFY_EXCEPTION, VERIFY_RETURN };

/**
 * A range with its instructions' addresses one after the other in the part; or an exception, or a
 * return from one.
 */
struct verify_piece {
    uint64_t index; /**< of the packet */
    uint32_t segment, count;
    uint16_t source;
    int32_t cpu;      /**< or of perf.data the number of the thread's cursor; -1: unknown */
    uint8_t what;     /**< enum verify_what */
    uint8_t numbers;  /**< of an exception: enum pug_exception_numbers */
    bool has_back;    /**< and it has a return address: */
    uint32_t number;  /**< of an exception; of a range its context id */
    uint64_t back;    /**< return address */
    bool has_context; /**< of a range: its context id is known */
    int8_t level;     /**< of a range: exception level or privilege mode; -1: unknown */
};

/** A data access that was decoded, and whose it is. */
struct verify_data_piece {
    struct pug_element element;
    struct verify_piece where;
};

struct verify;

struct verify_part {
    struct verify *verify;
    struct verify_piece *pieces;
    size_t piece_count, piece_room;
    uint64_t *addresses;
    size_t count, room;
    struct verify_data_piece *data;
    size_t data_count, data_room;
    struct pug_walk *walk;
    const struct pug_image *image; /**< that the walk reads */
    struct pug_piece *piece;
    bool failed;
};

/** An exception of the path, or a return from one. */
struct verify_trap {
    uint8_t kind; /**< enum rec_path_trap */
    bool numbered, known;
    uint32_t number;
    uint64_t address;
};

/** How far the path of a processor, or of a thread, is compared. */
struct verify_cursor {
    struct rec_path_reader *reader;
    int file;
    const struct rec_path_block *block;
    uint32_t done, count; /**< instructions of the block */
    uint32_t offset;
    uint64_t compared, total; /**< total: in the path */
    struct verify_trap trap;  /**< the one that comes next, where `at_trap` */
    bool at_trap;
    bool chained;     /**< the last one was a return that another exception was tail-chained to */
    bool last_return; /**< the trace has one at the end of the path */
    uint64_t exceptions, returns, traps_total; /**< compared; traps_total: both, in the path */
    struct {
        bool known;
        uint64_t value;
    } context, privilege;   /**< in force */
    uint64_t task;          /**< of a thread: its id */
    bool here[VERIFY_CPUS]; /**< it runs on this processor now */
};

struct verify {
    const struct verify_options *options;
    struct input *input;
    struct pug_capture *capture; /**< of the input */
    struct verify_cursor cursors[VERIFY_CPUS];
    bool by_task;                /**< cursors are threads, not processors */
    unsigned task_count;         /**< of those */
    bool has_data;               /**< data accesses are compared, too */
    bool has_traps;              /**< exceptions are */
    struct rec_path_header path; /**< of the path */
    bool differs, failed;
    struct verify_piece where; /**< it differs in this range */
    struct verify_data *data;
};

/** The number of a thread's cursor; -1: the path has no such thread. */
int32_t verify_task(const struct verify *verify, uint64_t task);

/** Of a snapshot: the processor that a source traces, by its core's name, or its own. */
int32_t verify_source_cpu(const struct pug_capture_source *source);

/** Moves the cursor to what comes next in its path. Returns false at the path's end. */
bool verify_step(struct verify *verify, unsigned number);
/** Compares an exception or a return of the trace with the path; says how they differ. */
bool verify_traps_take(struct verify *verify, const struct verify_piece *piece);
/** Says that the path has an exception or a return that the trace has not. */
void verify_traps_missing(const struct verify *verify, unsigned number);
/** Compares the context of a range that begins; says how it differs. */
bool verify_traps_context(struct verify *verify, const struct verify_piece *piece);

struct verify_name {
    char text[40];
};

/** Returns "processor 1", or "thread 4711". */
struct verify_name verify_name_of(const struct verify *verify, unsigned number);

/* verify_parts.c: functions of struct pug_consumer */
void *verify_begin(void *context, unsigned worker, struct pug_piece *piece);
void verify_elements(void *part, const struct pug_origin *origin,
                     const struct pug_element *elements, size_t count);
void verify_drop(void *part);

#endif
