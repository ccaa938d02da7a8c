// SPDX-License-Identifier: MIT
/**
 * @file Finds what is wrong with a decoding. Does the program match the trace? Is memory missing?
 * Do the sources have any bytes? What could the bytes be that no decoder synchronised to?
 *
 * Evidence is collected from elements, whatever protocol they come from, on as many threads as
 * decode (consumer.h): each part collects by itself and is added, in the trace's order, to
 * the diagnosis. Of a long trace a part is looked at that depends on the trace's offsets alone;
 * what lies across the boundary of two parts is not.
 */
#ifndef PUGMARK_DIAGNOSE_H
#define PUGMARK_DIAGNOSE_H

#include "pugmark/advanced/image.h"
#include "pugmark/advanced/tree.h"
#include "pugmark/element.h"

#ifdef __cplusplus
extern "C" {
#endif

/** A way in which a trace contradicts the program that it was decoded with. */
enum pug_contradiction {
    PUG_CONTRA_UNTAKEN,      /**< an unconditional branch was not taken */
    PUG_CONTRA_GAP,          /**< execution did not go on where the code before leads */
    PUG_CONTRA_TARGET,       /**< a direct branch went elsewhere than it does in the code */
    PUG_CONTRA_EXCEPTION,    /**< an exception was taken where execution had not come to */
    PUG_CONTRA_NOT_EXECUTED, /**< an instruction without a condition was not executed */
    PUG_CONTRA_BOUNDARY,     /**< execution began inside of an instruction */
    PUG_CONTRA_DECODER,      /**< the decoder found that trace and program do not fit */
    PUG_CONTRA_UNTOLD,       /**< the trace gave no target for an indirect branch */
    PUG_CONTRA_CALLER, /**< a call returned to before itself, into the code that leads to it */
    PUG_CONTRA_RETURN, /**< a return went to where no call was before. Some programs do that */
    PUG_CONTRADICTIONS
};

/** "an unconditional branch was not taken" … */
const char *pug_contradiction_text(enum pug_contradiction kind);

/** Memory that was missing: 4 KiB that begin at `address`. */
struct pug_missing {
    uint64_t address, count;
};

/** No element that was read gives a place in the program. */
#define PUG_ADDRESS_UNKNOWN UINT64_MAX

/** Most pages without program memory that are listed. */
#define PUG_MISSING_PAGES 256u

/** What was seen of one source, in the part of the trace that was looked at. */
struct pug_evidence {
    uint16_t source;        /**< trace id */
    uint64_t looked;        /**< at so many ranges that were executed */
    uint64_t branches;      /**< of those that end in one */
    uint64_t returns;       /**< whose target was looked at */
    uint64_t return_places; /**< of PUG_CONTRA_RETURN: a bit for some 64th of the places */
    uint64_t counts[PUG_CONTRADICTIONS]; /**< how often each was met */
    struct {
        uint64_t index, address; /**< of the trace; of the program, or PUG_ADDRESS_UNKNOWN */
    } first[PUG_CONTRADICTIONS]; /**< where the count is not 0 */
    uint64_t missing;            /**< times that memory was not there, all of them */
    /** The pages; of more than these some, the same for any number of threads. */
    struct pug_missing pages[PUG_MISSING_PAGES];
    uint32_t page_count;   /**< how many of them are listed */
    uint32_t told_returns; /**< of returns, those to the last call: a return stack had known them */
    uint64_t no_syncs;     /**< synchronisation was lost, and decoding continued after it */
    uint64_t overflows;    /**< trace was lost on its way, and decoding continued after it */
    /**
     * How often instructions ran whose encoding is undefined (isa.h); repetitions may not count.
     */
    uint64_t undefined;
    struct {
        uint64_t index, address; /**< as of contradictions */
        uint32_t opcode;         /**< its first 4 bytes, the lowest first */
    } first_undefined;           /**< where the count is not 0 */
    uint64_t told; /**< 0: nothing was decoded of it but losses and the end; else not 0 */
};

/**
 * Contradictions without PUG_CONTRA_RETURN, unless most returns are among them: then those, too. 0
 * for a program that matches.
 */
uint64_t pug_evidence_contradictions(const struct pug_evidence *evidence);
/** The first of them: its kind, or PUG_CONTRADICTIONS where there is none. */
enum pug_contradiction pug_evidence_first(const struct pug_evidence *evidence);

struct pug_diagnosis;
struct pug_diagnosis_part;

/** `image`: the program, which has to stay; NULL: nothing is looked up in code. NULL: no memory. */
struct pug_diagnosis *pug_diagnosis_new(const struct pug_image *image);
/** NULL is left alone. */
void pug_diagnosis_free(struct pug_diagnosis *diagnosis);

/** A part, on any thread. NULL: no memory. */
struct pug_diagnosis_part *pug_diagnosis_begin(const struct pug_diagnosis *diagnosis);
/**
 * Are ranges looked at from the trace's offset `at` on? *end: up to where that holds. Who counts
 * ranges (counts.h) need not show the others; elements of all other kinds count everywhere.
 */
bool pug_diagnosis_looks(uint64_t at, uint64_t *end);
/** Elements of a part in their order, on one thread at a time. */
void pug_diagnosis_elements(struct pug_diagnosis_part *part, const struct pug_element *elements,
                            size_t count);
/**
 * What follows is of another program, as in a process of its own: nothing is concluded from what
 * came before. NULL: nothing is looked up in code. It has to stay as long as the part.
 */
void pug_diagnosis_image(struct pug_diagnosis_part *part, const struct pug_image *image);
/** Add the part and free it; parts in the trace's order, on one thread. */
void pug_diagnosis_take(struct pug_diagnosis *diagnosis, struct pug_diagnosis_part *part);
/** Free a part that does not count. */
void pug_diagnosis_drop(struct pug_diagnosis_part *part);

/**
 * Gets the evidence about the n-th source; false after the last one. They are in order of their
 * ids.
 */
bool pug_diagnosis_evidence(const struct pug_diagnosis *diagnosis, size_t n,
                            const struct pug_evidence **evidence);

/* ---- what a capture holds ---- */

/** One trace id of a capture. */
struct pug_survey_id {
    uint16_t id;       /**< trace id */
    bool described;    /**< the tree has a source for it */
    uint64_t bytes;    /**< of it */
    uint64_t unsynced; /**< of these, what was dropped for want of synchronisation */
    uint64_t bad;      /**< packets */
};

/** Most ids that are listed. */
#define PUG_SURVEY_IDS 64u

/** The content of a capture's frames. */
struct pug_survey {
    struct pug_survey_id ids[PUG_SURVEY_IDS]; /**< those with the most bytes first */
    size_t id_count;                          /**< how many are listed */
    uint64_t other_ids;                       /**< that are not listed */
    uint64_t bytes;                           /**< read of the capture */
    struct pug_transport_stats transport;     /**< what the transport counted */
};

/**
 * Reads the first `most` bytes of a capture as a new tree does, to find the sources of the bytes.
 * PUG_ERR_MEM, and what pug_tree_clone() says.
 */
enum pug_status pug_survey_capture(const struct pug_tree *tree, const uint8_t *bytes, uint64_t size,
                                   uint64_t most, struct pug_survey *survey);

/* ---- bytes of an unknown kind ---- */

/** A guess of what bytes are, and what speaks for it. */
struct pug_guess {
    const char *transport; /**< a transport's name: "coresight", "plain" … */
    const char *protocol;  /**< NULL: only the transport could be made out */
    unsigned score;        /**< 0 to 100 */
    char reason[160];      /**< "1,204 packets of 14 kinds, 12 synchronisations, nothing bad" */
    char settings[64];     /**< settings found from the bytes: "src_bits=2"; or "" */
};

/** Most guesses that are made. */
#define PUG_GUESSES 8u

/**
 * What these bytes look like, the best guess first; how many there are, at most PUG_GUESSES. Looks
 * at the first 256 KiB. Guesses that nothing speaks for are left out. Of a transport and protocol
 * there are several where ids of several widths do as well.
 */
size_t pug_guess_format(const uint8_t *bytes, size_t size, struct pug_guess guesses[PUG_GUESSES]);

#ifdef __cplusplus
}
#endif
#endif
