// SPDX-License-Identifier: MIT
/**
 * @file The shell's own shape, shared by its files. The shell translates: calls and structs of the
 * OpenCSD C API to Pugmark's and back. It decodes nothing.
 */
#ifndef OPENCSD_SHELL_H
#define OPENCSD_SHELL_H

#include "errlog.h"
#include "pugmark/advanced/image.h"
#include "pugmark/author/protocol.h"
#include "pugmark/pugmark.h"

#include <opencsd/c_api/opencsd_c_api.h>
#include <opencsd/itm/trc_pkt_types_itm.h>

/* ---- elements: element.c ---- */

/** The context of an element, in two words. */
struct shell_context {
    uint64_t ids;
    uint32_t levels;
};

/** The client's element: one object that is made over for each. */
struct shell_element {
    ocsd_generic_trace_elem client;
    uint64_t payload; /**< of software trace */
    uint8_t type;     /**< enum pug_element_type: another one like it needs a few words only */
    struct shell_context context; /**< of a range */
};

/** Takes elements for a struct shell_tree and gives each to the client's function. */
pug_elements_fn shell_give_elements;

/** From the client to Pugmark, for printing. */
void shell_element_from_client(const ocsd_generic_trace_elem *client, struct pug_element *out);

/** `OCSD_GEN_TRC_ELEM_NAME(details)`; like snprintf(). */
size_t shell_element_text(const struct pug_element *element, char *buffer, size_t size);

/* ---- packets: packets.c ---- */

union shell_client_packet {
    ocsd_etmv4_i_pkt etmv4;
    ocsd_etmv3_pkt etmv3;
    ocsd_ptm_pkt ptm;
    ocsd_stm_pkt stm;
    ocsd_itm_pkt itm;
};

/** A built-in protocol: how its configuration and packets translate. */
struct shell_protocol {
    const char *name; /**< the client's and Pugmark's */
    ocsd_trace_protocol_t number;
    bool has_stats; /**< its packet reader counts */
    const struct shell_register *registers;
    size_t register_count;
    void (*to_client)(const void *packet, union shell_client_packet *client);
    /** The packet in words. */
    size_t (*client_text)(const void *client, char *buffer, size_t size);
};

/** A 32-bit member of a client's configuration, and the setting it is. */
struct shell_register {
    const char *name;
    size_t offset;
};

#define SHELL_MOST_REGISTERS 16u

const struct shell_protocol *shell_protocol_by_name(const char *name);
const struct shell_protocol *shell_protocol_by_number(ocsd_trace_protocol_t number);

/* ---- custom decoders: custom.c ---- */

struct shell_custom_kind;

/** A registered kind of decoder, or NULL. */
const struct shell_custom_kind *shell_custom_by_name(const char *name);

/** What is to be made: the one setting of the protocol below, by its address. */
#define SHELL_CUSTOM_REQUEST "request"
struct shell_decoder;
struct shell_custom_request {
    const struct shell_custom_kind *kind;
    struct shell_decoder *decoder;
    const void *cfg;
    int flags;
};

/** The protocol that adapts a decoder from outside. */
extern const struct pug_protocol shell_custom_protocol;

/** Tell a custom decoder which packet callbacks are in use. */
void shell_custom_update(struct shell_decoder *decoder);

/* ---- trees: tree.c, decoder.c, memory.c ---- */

/** The state of a packet printer. */
struct shell_printer {
    struct errlog_output *output; /**< where it writes; NULL: nowhere */
    uint16_t id;                  /**< the ID that it prints */
    bool on;
};

/** One decoder of a tree. */
struct shell_decoder {
    struct shell_decoder *next;
    struct shell_tree *tree;
    struct pug_source *source;
    const struct shell_protocol *protocol; /**< NULL: custom */
    const struct shell_custom_decoder *custom;
    enum pug_severity verbosity; /**< what it logs was fixed when it was made */
    bool full;
    FnDefPktDataIn sink;
    const void *sink_context;
    FnDefPktDataMon monitor;
    const void *monitor_context;
    struct shell_printer sink_printer, monitor_printer;
    union shell_client_packet packet;
    ocsd_decode_stats_t stats;
};

struct shell_memory;

/** The object that a dcd_tree_handle_t points to. */
struct shell_tree {
    struct shell_tree *next; /**< in the list of live trees */
    struct pug_tree *tree;
    struct pug_image *image;
    struct pug_log *log;
    struct shell_decoder *decoders;
    struct shell_memory *memory;
    bool single;
    bool check_opcode;
    enum pug_severity verbosity; /**< of what logs for the tree itself */
    bool started;
    uint64_t next_index;   /**< of the byte after what was processed; the client's has 32 bits */
    unsigned code_starved; /**< how often code had no memory, as far as the client knows */
    bool text_starved;     /**< there was no memory for what was to be printed */

    FnTraceElemIn element_fn;
    const void *element_context;
    struct shell_element element;
    bool element_printer;
    struct errlog_output *element_output;

    unsigned frame_flags;
    struct errlog_output *frame_output;
};

/** Is this a tree that lives? */
bool shell_tree_is_live(const struct shell_tree *tree);

struct shell_decoder *shell_decoder_of(struct shell_tree *tree, uint8_t id);
void shell_decoders_free(struct shell_tree *tree);
/** Used when packets and other operations print. */
void shell_decoder_forget_printer(struct shell_printer *printer);

/** Give a client's element to whoever takes the tree's elements. */
ocsd_datapath_resp_t shell_tree_client_element(struct shell_tree *tree, ocsd_trc_index_t index,
                                               uint8_t id, const ocsd_generic_trace_elem *element);

bool shell_memory_new(struct shell_tree *tree);
void shell_memory_free(struct shell_tree *tree);

/** Errors of the library, as the client knows them. */
static inline ocsd_err_t shell_error(enum pug_status status)
{
    return status <= PUG_OK && status >= PUG_ERR_WRONG_PROGRAM ? (ocsd_err_t)-status
                                                               : OCSD_ERR_FAIL;
}

/** A space as clients of every version mean it: 1.3.3 knew five, and all five were "any". */
static inline uint8_t shell_space(ocsd_mem_space_acc_t space)
{
    return space == 0x1f ? PUG_SPACE_ANY : (uint8_t)space;
}

#endif
