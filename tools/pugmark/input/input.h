// SPDX-License-Identifier: MIT
/**
 * @file The input of every subcommand: a capture (pugmark/capture.h), with the options that say how
 * to open it and what of it is wanted. Commands that look at elements alone decode all of it at
 * once (input_decode()); those that look at trees go through its segments one by one.
 */
#ifndef PUGMARK_TOOL_INPUT_H
#define PUGMARK_TOOL_INPUT_H

#include "capture/capture.h"
#include "common/known.h"
#include "common/messages.h"
#include "common/options.h"
#include "common/set_options.h"
#include "pugmark/advanced/peers.h"
#include "pugmark/pugmark.h"

/** All inputs are decoded together with other processes from now on; NULL: by this one. */
void input_among(struct pug_peers *peers);
struct pug_peers *input_peers(void);

/** How many inputs of a command that adds them up are spread over processes. */
struct input_spread {
    void *context;
    /** Is the n-th one read by all of them together? */
    bool (*is_shared)(void *context, size_t n);
    /** What became of the one before, if there was one; and the next for this process. */
    bool (*next)(void *context, int code, size_t *n);
    /**
     * Of that one: the file for what it counted, to go on later, or NULL. *done: it was done by an
     * earlier run, with this code, and if anything was counted the file is there.
     */
    const char *(*kept)(void *context, bool *done, int *code);
    /** All processes are through: the worst code of all. */
    int (*finish)(void *context);
};

/** NULL: they are not. */
void input_spread_over(const struct input_spread *spread);
const struct input_spread *input_spread(void);
/** Counts errors of an input for that one: they were reported. Did something? */
bool input_forgive(void);

/** Of several inputs one may have nothing of a process, thread or processor, but not all. */
struct input_several {
    const char *last; /**< operand */
    bool any;         /**< one of them had it */
};

/** The values of the options for live inputs. */
struct live_options {
    bool retry;
    uint64_t retry_ms, duration_ms; /**< 0: for ever */
    const char *save, *until;
    uint64_t ring; /**< 0: as usual */
};

/** The values of the shared options. */
struct input_options {
    const char *buffer;
    struct option_list sources;
    const char *protocol, *transport, *params;
    const char *core;
    struct option_list settings, elf, image;
    struct option_list pids, tids, cpus, comms, objects, replacements, symdirs;
    const char *symfs, *build_ids, *vmlinux, *kallsyms, *debuginfod, *time;
    const char *reference; /**< the version whose quirks are imitated; or NULL */
    bool quiet;
    uint64_t jobs; /**< threads; 0: as many as there are processors */
    bool confine, sandbox, no_sandbox;
    struct input_several *several; /**< where this is one of several inputs; or NULL */
    bool objects_elsewhere;        /**< another input may have the chosen objects */
    uint64_t source_limit;         /**< 0: as usual */
    uint32_t expansion;            /**< ranges of a packet byte; 0: as usual */
    struct live_options live;
    bool threads_later; /**< threads of a kernel may be found: --tid and --comm are of them, too */
};

/**
 * A regular file that does not say what is in it (no snapshot's, no perf.data); no --protocol does.
 */
bool input_is_bare(const struct input_options *options, const char *path);

/** Is it a program, or source text, in place of its trace? Then that was said. */
bool input_is_mistaken(const struct input_options *options, const char *path);

/** Was --clock HZ given? */
bool input_has_clock(const struct input_options *options);

/** Takes --clock HZ; target: the list of settings. */
bool input_take_clock(const struct option *option, void *target, const char *argument);

extern const struct option input_option_table[];
extern const size_t input_option_count;

#define INPUT_OPTIONS(options_)                                                                    \
    {                                                                                              \
        input_option_table, input_option_count, (options_), true                                   \
    }

/** The options' lists as the capture takes them. */
struct input_lists {
    struct pug_capture_program *programs;
    struct pug_capture_replacement *replacements;
    uint16_t *sources;
    int32_t *pids, *tids, *cpus;
    const char **objects;
    struct pug_capture_selection selection;
    char *words; /**< copies of what had to be cut */
};

struct input {
    const struct input_options *options;
    struct input_lists lists;
    struct pug_log *log;
    struct pug_capture *capture;
    /* The segment at hand: */
    size_t segment;
    size_t chosen;          /**< how many segments there are to go through */
    const char *trace_path; /**< what it is called in messages */
    const uint8_t *trace;
    uint64_t trace_size;  /**< bytes at `trace`; 0 where they come from a stream */
    uint64_t trace_whole; /**< of a stream that is over, of which the beginning is left, all of it;
                               else the same */
    struct pug_tree *tree;
    const struct pug_image *image; /**< of the tree */
    struct diagnosis *diagnosis;   /**< private: of this tree; NULL where nothing is diagnosed */

    size_t piece; /**< bytes that a thread decodes at once; 0: as the library thinks */
    int failure;  /**< exit code where it cannot be opened, or gets no tree */
    bool fatal;
    bool wrong;             /**< private: something was found to be */
    uint64_t errors_before; /**< private: errors logged before the first tree was made, or twice */
    bool opened;            /**< private: messages are about the trace from now on */
    bool unsound;           /**< private: reading it failed, and that was said */
    bool examined;          /**< private: a diagnosis was made, or is not wanted */
    bool silent;            /**< private: the messages were reported before */
    bool by_elements;       /**< private: all of it was decoded to elements */
    bool partial;           /**< private: of the trace only the beginning is at hand */
    struct messages messages; /**< private: of the run at hand */
    bool narrow; /**< private: only what is wrong in a part of the trace is reported … */
    uint64_t narrow_from, narrow_to; /**< … [from, to) */
    bool described;                  /**< faults are part of the output, or reported */
    bool refused;                    /**< private: options do not fit, and that was reported */
    bool *heard;                     /**< private: buffers with a chosen source; NULL: all are */
    uint8_t *trace_copy;             /**< private: the trace where it is not in memory anyhow */
    struct set_options set;          /**< private: --set and --core */
    struct known known; /**< private: the names that transport and protocols look for */
    struct known told;  /**< private: names that nothing reads, and that were reported */
    struct pug_settings_watch watch;
    struct pug_quirks quirks;       /**< private: of the reference that is imitated */
    struct pug_capture_stream live; /**< private: of a stream */
    bool is_stream;                 /**< the operand is one */
    /** Optional: looks at captured bytes before they are decoded, each once, on this thread. */
    void (*on_bytes)(void *context, const uint8_t *bytes, size_t size);
    void *bytes_context; /**< is handed to it */
};

/** Open the input; false, having said why, if it cannot be read. It stands at the first segment. */
bool input_open(struct input *input, const struct input_options *options, const char *operand);

/** The kinds of input that a command can work with. */
enum input_need {
    INPUT_NEEDS_TRACE,  /**< as input_open() */
    INPUT_NEEDS_COUNTS, /**< trace, or what a recorder counted in its place (branch lists) */
    INPUT_NEEDS_NOTHING /**< whatever it is: info */
};

/** Opens the input. Returns false, having said why, where it does not hold what is needed, too. */
bool input_open_for(struct input *input, const struct input_options *options, const char *operand,
                    enum input_need need);
/** Does a perf.data hold what is needed? Other inputs do. Returns false, having said why. */
bool input_holds(const struct input *input, enum input_need need);
/** Has it counts in place of trace? */
bool input_is_counted(const struct input *input);

/** The path of the n-th object of something; NULL: it has no more. */
typedef const char *object_fn(const void *of, size_t n);
/** Name them, on standard error, up to the end of the line. */
void input_say_objects(object_fn *object_at, const void *of);
/** Say that none of them is called so. */
void input_refuse_object(const char *wanted, object_fn *object_at, const void *of);

/** Reads a stream's trace to its end, for commands that need more of it than its elements. */
void input_settle(struct input *input);

/** Go back to the first segment. */
void input_first(struct input *input);

/** Go on to the next segment that is chosen; false: there is none, and the last one stays. */
bool input_next(struct input *input);

/** Bytes of trace in all that is chosen. */
uint64_t input_bytes(const struct input *input);

/** Prints the segment of the lines that follow, where there are several. */
void input_head(const struct input *input, size_t segment);

/** A new tree with all (chosen) sources, in place of the one before; false, having said why. */
bool input_tree(struct input *input, bool decode);
/** The same tree once more, where it is of all that was chosen: what it knows of code is kept. */
bool input_tree_again(struct input *input);

/** The same, to decode program flow; false, having said so, if no source has any. */
bool input_flow_tree(struct input *input);

/** Was this source chosen with --source? All are where none was named. */
bool input_wants(const struct input *input, uint16_t id);

/**
 * Options of a command whose operands are inputs: of these none alone has to have what is chosen.
 */
void input_of_several(struct input_options *options, char *const *operands,
                      struct input_several *several);

/**
 * Runs the segment's whole trace through the tree and ends it, on as many threads as wanted;
 * `go_on` may end it early. `consumer` gets the elements; NULL: only watched packets are wanted.
 */
void input_run(struct input *input, const struct pug_consumer *consumer, bool (*go_on)(void));
/** The same: a function gets the elements, on the caller's thread and in their order. */
void input_run_elements(struct input *input, pug_elements_fn *function, void *context,
                        bool (*go_on)(void));

/**
 * Decode all that is chosen, with what the options select; `decode` says whom elements go to, the
 * rest of it is filled in here. False, having said why: nothing of it can be decoded.
 */
bool input_decode(struct input *input, struct pug_capture_decode *decode, bool (*go_on)(void),
                  struct pug_capture_result *result);

/** As input_decode(), without a word of how it ended, which is input_concluded()'s. */
enum pug_status input_decode_quietly(struct input *input, struct pug_capture_decode *decode,
                                     bool (*go_on)(void), struct pug_capture_result *result);

/** The capture has no threads, and the command finds those of a kernel. */
bool input_finds_threads(const struct input *input);

/** Do options select more than buffers and sources? Then input_decode() is asked. */
bool input_selects(const struct input *input);

/**
 * For what looks at the bytes of one buffer: false, having said so, where options select elements
 * of them, or where the input is in pieces. `what` needs it.
 */
bool input_is_whole(const struct input *input, const char *what);
/** The same, but --time may choose. */
bool input_is_one(const struct input *input, const char *what);

/**
 * After some other way of decoding all of it: say how that ended, where it did not end well; the
 * exit code.
 */
int input_concluded(struct input *input, enum pug_status status,
                    const struct pug_capture_result *result);

/** Has a source of the tree program flow? */
bool input_flows(const struct input *input);

/** Has it program flow? False, having said so, if no source has any. */
bool input_has_flow(struct input *input);
/** Behind that: does more than one source of program flow speak, of those that were chosen? */
bool input_has_flows(const struct input *input);

/** How many threads input_run() and input_decode() use at most. */
unsigned input_jobs(const struct input *input);

/**
 * What is wrong counts, and is said, of [from, to) of the trace alone, however much of it is
 * decoded for that, and of what is read from now on.
 */
void input_narrow(struct input *input, uint64_t from, uint64_t to);
/** Does it count what is at a place? */
bool input_counts(const struct input *input, uint64_t index);

/** After the last run of a tree: say what is wrong with it, if something is. The exit code. */
int input_result(struct input *input);
/**
 * For a command that reads packets and decodes nothing: at most so many of the first bytes of the
 * trace are decoded to see whether settings and program fit. Its tree is another one then.
 */
int input_examine(struct input *input, uint64_t most);

void input_close(struct input *input);
/**
 * Did reading an input fail after it was opened, or was there no memory for it? Said when it was
 * closed. What was made of it must not get its final name.
 */
bool input_failed(void);
/** The same before it is closed; said at once. */
bool input_unsound(struct input *input);
/** As if reading an input had failed; it was said. */
void input_lose(void);
/** There is no memory for what is wanted of it: say so, and have it fail. */
void input_starve(struct input *input);

#endif
