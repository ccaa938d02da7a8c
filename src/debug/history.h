// SPDX-License-Identifier: MIT
/**
 * @file A history from inside.
 *
 * What can happen is an *event*: a range of instructions, an exception, an end of a stretch, a
 * loss, a call, a return. Each distinct event is kept once (events.c), with the thread that it
 * happens to. A history is a sequence of their numbers, in *pages* of PUG_PAGE_EVENTS, which are
 * packed (page.c): in most places an event is followed by the one that followed it the last time.
 * Beside its events a page has notes of where in the trace they come from, and a list of those that
 * are in it, by which searches pass over it.
 *
 * fill.c makes events of elements. move.c goes there and back. stack.c has the calls at a position.
 * keep.c writes a history to a file, and reads it.
 */
#ifndef PUG_DEBUG_HISTORY_H
#define PUG_DEBUG_HISTORY_H

#include "base/grow.h"
#include "pugmark/advanced/history.h"
#include "pugmark/advanced/image.h"
#include "pugmark/walk.h"

#define PUG_PAGE_EVENTS 4096u
#define PUG_PAGE_VIEWS  8u
#define PUG_CODE_PIECE  1024u

enum pug_history_what {
    PUG_WHAT_RANGE,
    PUG_WHAT_TRAP,  /**< an exception; `start` is its return address where `count` is 1 */
    PUG_WHAT_STOP,  /**< the end of a stretch; `start` is where it would go on */
    PUG_WHAT_GAP,   /**< trace is missing */
    PUG_WHAT_ENTER, /**< a call */
    PUG_WHAT_LEAVE, /**< `count` calls are over: not positions */
};

/** An event. All bytes of it but the last fields are its identity. */
struct pug_history_event {
    uint64_t start, end; /**< ENTER: the function's start; where it returns to */
    uint64_t site;       /**< ENTER: the call instruction */
    const struct pug_address_space *space;
    uint32_t thread;
    uint32_t count;  /**< positions, but of LEAVE; ENTER: the depth of a function that was found */
    uint32_t number; /**< of an exception */
    uint32_t context_id, vmid;
    uint32_t buffer;
    uint16_t source;
    uint8_t what; /**< enum pug_history_what */
    uint8_t isa, context_flags, security;
    int8_t level;
    uint8_t kind;    /**< ENTER: enum pug_call_kind; GAP: enum pug_call_gap; TRAP: is it a fault? */
    uint8_t numbers; /**< enum pug_exception_numbers; GAP: enum pug_unsync */
    uint8_t flags;   /**< PUG_FLAG_… */
    uint8_t last_size;
    uint8_t pad[5];
    /* what was found out of it later */
    const char *name;  /**< ENTER: of the function */
    uint32_t *offsets; /**< RANGE: where instructions begin; NULL: not known yet, or `width` */
    uint32_t width;    /**< RANGE: bytes of each instruction; 0: they differ */
    uint32_t alike;    /**< next event + 1 whose hash has the same end */
};
#define PUG_EVENT_KEY offsetof(struct pug_history_event, name)

#define PUG_FLAG_CALLS      1u /**< RANGE: its last instruction called */
#define PUG_FLAG_HAS_RETURN 2u /**< ENTER: `end` is known */
#define PUG_FLAG_DEEP       4u /**< ENTER: `count` is its depth */

static inline uint64_t pug_event_positions(const struct pug_history_event *event)
{
    return event->what <= PUG_WHAT_STOP ? event->count : 0;
}

/** A frame that outlives a page. */
struct pug_kept_frame {
    uint32_t below; /**< kept frame + 1, or 0 */
    uint32_t event; /**< ENTER */
    int64_t depth;
};

/** A sealed page. */
struct pug_history_page {
    uint64_t first;               /**< position of its first event */
    uint8_t *bytes;               /**< events, then notes, then the list of distinct events */
    uint32_t events, notes, list; /**< bytes of each */
    uint32_t buffer, segment;     /**< when it begins */
    uint64_t index, time;
};

/** A page that is open. */
struct pug_page_view {
    uint32_t page;
    uint32_t count; /**< events */
    uint64_t used;  /**< when it was asked for last */
    uint64_t first; /**< position of its first event */
    uint32_t events[PUG_PAGE_EVENTS];
    uint64_t at[PUG_PAGE_EVENTS + 1]; /**< positions before each event, in the page */
};

/** A growing piece of bytes. */
struct pug_history_bytes {
    uint8_t *bytes;
    size_t count, room;
};

/** The stack of a thread was this at the begin of a page, and later ones. */
struct pug_stack_note {
    uint32_t page;
    uint32_t top; /**< kept frame + 1, or 0 */
};

/** A frame of the stack at the end of the history. */
struct pug_live_frame {
    uint32_t event;
    uint32_t kept; /**< kept frame + 1, or 0: not kept yet */
    int64_t depth;
};

/** The frames of a thread that a signal interrupted, as the kernel does not trace how. */
struct pug_suspended_frames {
    struct pug_live_frame *frames;
    uint32_t depth, room;
};
#define PUG_SUSPENDED_MOST 4u

struct pug_history_line {
    struct pug_history_thread thread;
    int32_t pid;
    /* the stack at the end */
    struct pug_live_frame *frames;
    uint32_t depth, room;
    int64_t bottom;   /**< depth of the last bottom frame */
    bool returned;    /**< … which was returned from */
    uint32_t leaving; /**< frames that are over, and still there */
    struct pug_suspended_frames suspended[PUG_SUSPENDED_MOST]; /**< the newest last */
    uint32_t suspended_count;
    int32_t stacks_found; /**< of threads of an M profile core, whose callers are unknown */
    struct pug_stack_note *stacks;
    uint32_t stack_count, stack_room;
    /* what it did last */
    struct pug_element range; /**< the last range; `count` 0: none since trace began */
    uint64_t begin;           /**< the range's first position */
    uint32_t ran;             /**< its event + 1 */
    const struct pug_address_space *space;
    bool trapped;  /**< an exception with a position followed it */
    bool has_next; /**< `next` is where it goes on */
    uint64_t next;
    uint8_t next_isa;
    bool missing; /**< … but trace is missing */
    bool resumes; /**< it goes on with the element that is taken, after missing trace */
    uint8_t gap, unsync;
    uint64_t time;
};

/** A segment of a program that is loaded. */
struct pug_program_segment {
    uint64_t vaddr, size; /**< what the file holds of it */
    uint8_t flags;        /**< of its program header */
};

/** The fields of a program's header. */
struct pug_debug_program {
    struct pug_program_segment *segments;
    uint32_t count;
};

/** The names of an object. */
struct pug_history_file {
    struct pug_names_file *file; /**< NULL: it has none */
    bool opened;
    bool read;
    struct pug_debug_program program;
};

/** The function at an address. */
struct pug_function_memo {
    const struct pug_address_space *space;
    uint64_t address;
    struct pug_function function;
    bool known, used;
};
#define PUG_FUNCTION_MEMOS 4096u

struct pug_history {
    struct pug_history_config config;
    enum pug_status status;
    bool ended;
    uint64_t memory;
    /* events */
    struct pug_history_event *events;
    uint32_t event_count, event_room;
    uint32_t *slots; /* by hash: event + 1 */
    uint32_t slot_count;
    /* the sequence */
    struct pug_history_page *pages;
    uint32_t page_count, page_room;
    struct pug_page_view open; /* the last page */
    uint64_t positions;
    struct pug_history_bytes notes;
    uint32_t noted; /* events of the open page before the last note */
    uint32_t buffer, segment;
    uint64_t index, time;
    struct {
        uint32_t buffer, segment;
        uint64_t index, time;
    } begun; /* of the open page */
    struct pug_page_view *views[PUG_PAGE_VIEWS];
    uint64_t clock;
    /* packing and unpacking: what followed each event last */
    uint32_t (*followers)[2];
    uint32_t *stamps;
    uint32_t follower_room, stamp;
    struct pug_history_bytes packed;
    /* threads and their calls */
    struct pug_history_line *lines;
    uint32_t line_count, line_room;
    struct pug_calls *calls;
    struct pug_kept_frame *kept;
    uint32_t kept_count, kept_room;
    const struct pug_origin *origin;
    uint32_t line; /* that elements are of */
    struct pug_function_memo *memos;
    char *kept_names;               /* of functions, where it was loaded */
    struct pug_history_file *files; /* by object */
    uint32_t file_room;
    /* reading code */
    struct pug_walk *walk;
    const struct pug_image *image;
    /* moving */
    struct pug_history_breakpoint *breakpoints;
    size_t breakpoint_count;
    uint8_t *hits; /* by event: 0 not looked at, 1 no, 2 yes */
    uint32_t hit_room;
    uint64_t told; /* position + 1 where a move reported an end */
    bool told_backward;
    struct pug_data_access *data; /* in their order */
    uint32_t data_count, data_room;
    /* where code ran, in pieces of PUG_CODE_PIECE bytes: hashes of space and piece, or 0 */
    uint64_t *pieces;
    uint32_t piece_slots, piece_count, piece_events; /* events that were looked at */
    uint32_t *by_task;                               /* thread + 1 of a task */
    uint32_t task_room;
    struct pug_live_frame *frames; /* of pug_history_frames() */
    uint32_t frame_room;
};

/** An access to memory in data trace. */
struct pug_data_access {
    uint64_t position; /**< of the first position that is not before it */
    uint64_t address, value;
    uint32_t thread;
    uint8_t size;
    bool unknown; /**< it changed memory, and the new value is unknown */
    bool big_endian;
};

/* events.c */
/** The number of an event, which is added where it is new; UINT32_MAX: no memory. */
uint32_t pug_history_event(struct pug_history *history, const struct pug_history_event *event);
/** The address of an instruction of a range. */
uint64_t pug_event_address(struct pug_history *history, struct pug_history_event *event,
                           uint32_t n);
/** The n of the instruction at an address; UINT32_MAX: none begins there. */
uint32_t pug_event_instruction(struct pug_history *history, struct pug_history_event *event,
                               uint64_t address);
/** Returns the reader of memory for it. */
struct pug_reader_space pug_event_reader(const struct pug_history_event *event);

/* page.c */
/** Adds an event to the sequence. */
bool pug_history_append(struct pug_history *history, uint32_t event);
/** Packs the last page: nothing follows. */
bool pug_history_seal(struct pug_history *history);
/** Notes where in the trace what comes next is. */
bool pug_history_note(struct pug_history *history, uint32_t buffer, uint32_t segment,
                      uint64_t index, uint64_t time);
/** Opens a page; NULL: no memory. Valid until PUG_PAGE_VIEWS others were opened. */
const struct pug_page_view *pug_history_view(struct pug_history *history, uint32_t page);
/** Is one of a page's events wanted? */
bool pug_page_has(struct pug_history *history, uint32_t page,
                  bool (*wanted)(struct pug_history *history, void *context, uint32_t event),
                  void *context);
/** The page that a position is in, and the event in it. False: none is. */
bool pug_history_locate(struct pug_history *history, uint64_t position, uint32_t *page,
                        uint32_t *event);
/** The place in the trace of the n-th event of a page. */
void pug_page_packet(const struct pug_history *history, uint32_t page, uint32_t n,
                     struct pug_history_packet *packet);
/** Counts the pages, with the last one. */
static inline uint32_t pug_history_pages(const struct pug_history *history)
{
    return history->page_count + (history->open.count > 0);
}

/* stack.c */
void pug_history_on_call(void *history, const struct pug_call_event *event);
/** Takes away the frames that are over: before anything else is appended. */
bool pug_history_leave(struct pug_history *history);
/** The page is full: keep the frames that go on. */
bool pug_history_keep_stacks(struct pug_history *history);

/* memory.c */
/** The program that an object is; NULL: it is none, or not there. */
const struct pug_debug_program *pug_history_program(struct pug_history *history, uint32_t object);
void pug_debug_program_free(struct pug_debug_program *program);
/** Who reads memory where the processor stands: its source, its state and its context. */
struct pug_reader_space pug_history_reader(const struct pug_history_place *place);

/* dump.c */
/** How the content of a snapshot's dump counts at an address. */
enum pug_dump_kind {
    PUG_DUMP_NONE,    /**< it is not a dump that answers for the address */
    PUG_DUMP_KNOWN,   /**< it is what was there */
    PUG_DUMP_UNKNOWN, /**< it was made later, and may have changed */
};
/** Looks at the memory of a place; `end` is the address up to which the answer holds. */
enum pug_dump_kind pug_history_dump(struct pug_history *history,
                                    const struct pug_history_place *place, uint64_t address,
                                    uint64_t *end);

/* code.c */
/** As pug_locate_fn, for the thread that elements are of. */
bool pug_history_function(void *history, uint32_t task, const struct pug_element *element,
                          uint64_t address, struct pug_function *function);
/** Where execution continues after a range; false: unknown. */
bool pug_history_next(struct pug_history *history, const struct pug_history_line *line,
                      uint64_t *next, uint8_t *isa);

/** Grows an array to hold `count` items; the new ones are zero. False: no memory, or too much. */
bool pug_history_grow(struct pug_history *history, void *items, uint32_t *room, uint64_t count,
                      size_t size);

#endif
