// SPDX-License-Identifier: MIT
/**
 * @file Findings: what is wrong with a capture, as data. Each finding has a code, a place and
 * values; pug_finding_text() makes its sentence, which is the same everywhere.
 *
 *     struct pug_findings *findings;
 *     if (pug_capture_diagnose(capture, NULL, &findings) == PUG_OK)
 *         for (size_t n = 0; (finding = pug_finding_at(findings, n)) != NULL; n++) ...
 *     pug_findings_free(findings);
 */
#ifndef PUGMARK_FINDINGS_H
#define PUGMARK_FINDINGS_H

#include "pugmark/advanced/diagnose.h"
#include "pugmark/capture.h"

#ifdef __cplusplus
extern "C" {
#endif

/** What a finding means for the result. */
enum pug_finding_about {
    PUG_FINDING_WRONG,   /**< the result is wrong or incomplete */
    PUG_FINDING_LOST,    /**< trace was lost; the rest is right */
    PUG_FINDING_NOTE,    /**< something is odd, and no proof that it is wrong */
    PUG_FINDING_CHECKED, /**< something was compared, and agrees */
};

/** The kind of a finding, and the fields of struct pug_finding that it has. */
enum pug_finding_code {
    PUG_FINDING_PROGRAM,    /**< contradicts the trace: source, count of `total` branches, index,
                                 address, contradiction; `several`: one of many programs */
    PUG_FINDING_MEMORY,     /**< no memory there: source, count, places with their counts, `cut` */
    PUG_FINDING_PARAMETERS, /**< an encoder's are missing: source, count, name: all of them */
    PUG_FINDING_SETTINGS,   /**< contradict the trace: source, count, index, words */
    PUG_FINDING_MISFIT,   /**< trace without ranges contradicts the program: count, index, words */
    PUG_FINDING_CUT,      /**< the trace ends inside a packet or frame */
    PUG_FINDING_EMPTY,    /**< the trace is empty */
    PUG_FINDING_OTHERS,   /**< count of `total` bytes are of ids without a source: places */
    PUG_FINDING_STRAY,    /**< the id `source` may be that of the sources in places: count bytes,
                               name: protocol, `cut` */
    PUG_FINDING_LITTLE,   /**< count of a source's `total` bytes could be decoded */
    PUG_FINDING_NO_SYNC,  /**< no place to begin at: source, count bytes, name, words: its title */
    PUG_FINDING_NO_BYTES, /**< of the source, or `several`: places: the ids that have some */
    PUG_FINDING_NOTHING,  /**< nothing could be decoded of a source's `count` bytes */
    PUG_FINDING_SKIPPED,  /**< count of `total` bytes are not framed as the transport `name` */
    PUG_FINDING_BAD_IDS,  /**< count of `total` bytes are of ids that cannot be */
    PUG_FINDING_BAD_PACKETS, /**< count in `total` bytes */
    PUG_FINDING_RATE,        /**< bytes of an SWO pin look so at a wrong rate: source */
    PUG_FINDING_NOISE,       /**< bad packets of an SWO pin between good ones: source */
    PUG_FINDING_FITS,        /**< packets are right with other settings: name, words: why */
    PUG_FINDING_LOOKS_LIKE,  /**< name: protocol, other: transport, settings, words: why, format,
                                  said; `several`: it is not the first guess */
    PUG_FINDING_TURNED,      /**< the same, with bytes of each word of `width` turned round */
    PUG_FINDING_UNKNOWN,     /**< the bytes look like nothing that is known */
    PUG_FINDING_TRIED,       /**< trace and program agree with the setting `name`: words: what it
                                  is; `several`: it is not the first one */
    PUG_FINDING_TEXT,        /**< a file's text is missing: count, name: path, words: why */
    PUG_FINDING_MORE_TEXT,   /**< of `count` more files */
    PUG_FINDING_UNMAPPED,    /**< no record maps a file there: count, address */
    PUG_FINDING_UNVERIFIED,  /**< no build id: name: file, other: the path that ran */
    PUG_FINDING_NO_ELEMENTS, /**< nothing could be decoded of `count` bytes; `cut`: the first ones
                              */
    PUG_FINDING_LOSS,      /**< trace was lost: source, count of overflows, total: of lost syncs */
    PUG_FINDING_UNDEFINED, /**< instructions ran whose encoding is undefined: source, count,
                                index, address, opcode */
    PUG_FINDING_AGREES,    /**< count branches agree with the program: source; `cut`: there is
                                more trace, which was not compared */
    PUG_FINDING_CODES
};

/** Most places of a finding. */
#define PUG_FINDING_PLACES 8u

/** Addresses, or an id and how many bytes it has. */
struct pug_finding_place {
    uint64_t first, last; /**< both inclusive */
    uint64_t count;       /**< how often execution came there, or bytes */
    bool least;           /**< the count is at least that */
};

/** A finding. Fields that its code does not have are 0. Strings are never NULL. */
struct pug_finding {
    enum pug_finding_code code;           /**< the kind: it says what the fields hold */
    enum pug_finding_about about;         /**< what it means for the result */
    uint32_t segment;                     /**< of the capture, by number */
    uint16_t source;                      /**< trace id; PUG_SOURCE_UNKNOWN: of no source */
    bool several, cut;                    /**< see the code */
    uint64_t index;                       /**< of the trace: the first place */
    uint64_t address;                     /**< of the program; PUG_ADDRESS_UNKNOWN: of no address */
    uint64_t count, total;                /**< see the code */
    enum pug_contradiction contradiction; /**< the first one of a program */
    uint32_t opcode;                      /**< the first 4 bytes of the first instruction */
    unsigned width;                       /**< bytes of a word */
    size_t place_count;                   /**< how many of these there are: */
    struct pug_finding_place places[PUG_FINDING_PLACES]; /**< addresses, or ids */
    uint64_t before; /**< bytes before the first id, which belong to none of the places */
    const char *name, *other, *settings, *words; /**< see the code */
    const char *format, *said; /**< a snapshot's word for it, and its present one; or "" */
};

/** Writes a finding's sentence, as snprintf(): without the end of a line. Returns its length. */
size_t pug_finding_text(const struct pug_finding *finding, char *buffer, size_t size);

/** Returns the short name of a code, such as "program": for tables and scripts. */
const char *pug_finding_name(enum pug_finding_code code);

struct pug_findings;

/** Options of pug_capture_diagnose(). All zero: as usual. */
struct pug_diagnose_options {
    unsigned threads; /**< as of pug_jobs */
    uint64_t most;    /**< bytes of each segment to decode; 0: all of them */
    /** The options of pug_capture_open(): settings that may be wrong are tried. NULL: none are. */
    const struct pug_capture_options *opened;
    uint64_t spare[4]; /**< zero */
};

/**
 * Decodes a capture and finds what is wrong with it, in the order of segments. PUG_ERR_MEM;
 * PUG_ERR_INVALID_PARAM_VAL: something is NULL, or the capture is a live stream.
 */
enum pug_status pug_capture_diagnose(struct pug_capture *capture,
                                     const struct pug_diagnose_options *options,
                                     struct pug_findings **findings);
/** NULL is left alone. */
void pug_findings_free(struct pug_findings *findings);

/** Returns the n-th finding, which stays as long as the findings; NULL after the last one. */
const struct pug_finding *pug_finding_at(const struct pug_findings *findings, size_t n);

#ifdef __cplusplus
}
#endif
#endif
