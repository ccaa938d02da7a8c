// SPDX-License-Identifier: MIT
/**
 * @file For authors of protocols. How captures describe a protocol's sources, for code that opens
 * captures: the names of such a device in snapshots, the registers with its set-up, and the
 * transport of its trace in a file of its own. Everything is optional, and zero where there is
 * nothing to say.
 */
#ifndef PUG_AUTHOR_DESCRIPTION_H
#define PUG_AUTHOR_DESCRIPTION_H

#include "pugmark/advanced/packet.h"
#include "pugmark/advanced/settings.h"

#ifdef __cplusplus
extern "C" {
#endif

/** The consequence of a register that is missing in a capture. */
enum pug_register_need {
    PUG_REGISTER_REQUIRED, /**< the source cannot be made: there is no value that would do */
    PUG_REGISTER_ASSUMED,  /**< a value is assumed and reported, since decoding depends on it */
    PUG_REGISTER_ID,       /**< required to tell sources in frames apart; nothing else needs it */
    PUG_REGISTER_UNUSED,   /**< the reference reports it, but nothing depends on it */
};

/** A register of a source. It becomes the setting of its name. */
struct pug_register {
    const char *name;            /**< the register's name in capture files and settings */
    const char *other_name;      /**< that it has, too, or NULL */
    enum pug_register_need need; /**< whether it has to be there */
    uint32_t assumed;            /**< where a capture does not have it and it is not required */
};

/** What a snapshot calls a device of the protocol: "ETMv4.5" has the name ETM, version 4. */
struct pug_device_type {
    const char *name;      /**< before its version; letters of either case */
    unsigned version;      /**< its major one, where several protocols have the name; else 0 */
    const char *reference; /**< what the reference knows it as, up to the first '.' ("ETM4") */
    /**
     * Which of its streams the protocol is of: 0 the first. Its trace id is that of the device plus
     * this number; the setting "stream" gives it, too.
     */
    unsigned stream;
};

/**
 * A usual set-up of sources, used to find out what bytes are (pug_guess_format()).
 */
struct pug_usual {
    const char *settings;  /**< "NAME=VALUE NAME=VALUE": all that reading packets depends on */
    const char *told;      /**< of these what a user would have to say, for `--set`; or "" */
    const char *transport; /**< in which its bytes are; NULL: bare, or in CoreSight frames */
    unsigned syncs;        /**< such bytes have so many synchronisation points at least */
};

/** Most values of a doubt. */
#define PUG_DOUBT_VALUES 10u

/**
 * A setting of a source that is easily wrong, and then makes other packets, or another flow, of its
 * bytes: the width of a field, an option. Where trace and program do not fit the others are tried.
 */
struct pug_doubt {
    const char *setting;               /**< a register or parameter … */
    const char *what;                  /**< … and what these bits of it say */
    uint64_t bits;                     /**< those; UINT64_MAX: all of it */
    uint64_t values[PUG_DOUBT_VALUES]; /**< what they can be, in their place */
    unsigned count;                    /**< how many of these there are */
};

/** How well a packet fits, used to find out what bytes are. */
enum pug_fit {
    PUG_FIT_USUAL,
    PUG_FIT_LEADING,  /**< the same, but that it is of use before a synchronisation point, too */
    PUG_FIT_DOUBTFUL, /**< it has reserved values, or more bytes than such packets have: a bad one
                       */
};

/** What captures have of a protocol's sources, and what its timestamps and counts mean. */
struct pug_description {
    const struct pug_device_type *types;  /**< the last one has no name; or NULL: the protocol's */
    const struct pug_register *registers; /**< the last one has no name; or NULL: none */
    /** It traces an Arm core, whose kind becomes the settings "arch" and "profile" … */
    bool traces_core;
    enum pug_arch usual_arch; /**< … and this one if it is unknown */
    /**
     * The transport of its trace in a file of its own. The setting "src_id" distinguishes its
     * sources.  NULL: bare ("plain"), or in frames, where its registers name its id.
     */
    const char *transport;
    bool dwt;           /**< its elements tell of events of a DWT (pugmark/dwt.h) */
    bool counts_apart;  /**< a timestamp's cycle count is not part of the sum of cycle counts */
    bool of_parameters; /**< files of parameters that name no protocol are its sources' */
    bool takes_all;   /**< nearly all bytes make packets of it: only faultless ones speak for it */
    bool steps_apart; /**< PUG_MARK_TIME_STEP counts another clock than its timestamps */
    bool exceptions_decoded; /**< exceptions are no marks: decoding alone finds which they are */
    unsigned module;     /**< type of an Open SoC Debug module that is such a source; 0: none is */
    const char *extends; /**< the protocol that it is with more packets; or NULL */
    const struct pug_usual *usual; /**< the last one has no settings; NULL: it is not guessed */
    /** How a packet speaks for a guess that is not bad itself; NULL: all do as usual ones. */
    enum pug_fit (*fit)(const struct pug_packet *packet);
    /**
     * Settings that may be wrong; the last one has no setting. NULL: nothing that could be tried.
     */
    const struct pug_doubt *doubts;
    /**
     * Where a source may begin to decode whose bytes have no synchronisation point for long: the
     * first byte of a packet, by a guess; SIZE_MAX: nowhere. It becomes the setting "begin_at", and
     * "guess_sync" is 1. NULL: it does not.
     */
    size_t (*begin)(const uint8_t *bytes, size_t size);
    uint64_t spare[1]; /**< zero */
};

#ifdef __cplusplus
}
#endif
#endif
