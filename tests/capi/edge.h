// SPDX-License-Identifier: MIT
/** @file What the cases of edge_client share: writing down what happens, callbacks, shortcuts. */
#ifndef PUG_TESTS_CAPI_EDGE_H
#define PUG_TESTS_CAPI_EDGE_H

#include "edge_trace.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- cases ---- */

struct edge_case {
    const char *name; /**< NULL: one past the last */
    void (*run)(void);
    bool defined; /**< else the reference crashes, or may crash */
};

#define CASE(name)                                                                                 \
    {                                                                                              \
#name, name, true                                                                          \
    }
#define UNDEFINED(name)                                                                            \
    {                                                                                              \
#name, name, false                                                                         \
    }

/* One list a file, edge_NAME.c. */
extern const struct edge_case edge_tree[], edge_memory[], edge_text[], edge_log[], edge_custom[];

/* ---- writing down ---- */

/** A line, like printf(). */
void say(const char *format, ...) __attribute__((format(printf, 1, 2)));

/** Text of a callback, on one line. */
void say_text(const char *who, const char *text);

#define CODE(call) say("%s = %d", #call, (int)(call))

/** The last error that the library logged. */
void say_last_error(void);

/* ---- callbacks that write down ---- */

extern int waits;    /**< so many elements are answered WAIT */
extern int fatal_at; /**< this one is answered FATAL; -1: none */
extern int elements; /**< so far */

ocsd_datapath_resp_t on_element(const void *context, const ocsd_trc_index_t index, const uint8_t id,
                                const ocsd_generic_trace_elem *element);
ocsd_datapath_resp_t on_sink(const void *context, const ocsd_datapath_op_t op,
                             const ocsd_trc_index_t index, const void *packet);
void on_monitor(const void *context, const ocsd_datapath_op_t op, const ocsd_trc_index_t index,
                const void *packet, const uint32_t size, const uint8_t *bytes);
void on_string(const void *context, const char *text, const int length);

/* Memory: the program. */
uint32_t give_memory(const ocsd_vaddr_t address, uint32_t wanted, uint8_t *buffer);
uint32_t on_memory(const void *context, const ocsd_vaddr_t address,
                   const ocsd_mem_space_acc_t space, const uint32_t wanted, uint8_t *buffer);
uint32_t on_memory_id(const void *context, const ocsd_vaddr_t address,
                      const ocsd_mem_space_acc_t space, const uint8_t id, const uint32_t wanted,
                      uint8_t *buffer);

/* ---- shortcuts ---- */

/* Trees: of frames, of one source, and of one source with a full ETMv4 decoder and its program. */
dcd_tree_handle_t formatted(void);
dcd_tree_handle_t single(void);
dcd_tree_handle_t full_single(void);

int create(dcd_tree_handle_t tree, const char *name, int flags, const void *cfg);
ocsd_datapath_resp_t op(dcd_tree_handle_t tree, ocsd_datapath_op_t operation);

/** Process bytes; how many were. */
uint32_t data(dcd_tree_handle_t tree, uint32_t index, const uint8_t *bytes, uint32_t size);

/** Bytes of one source in CoreSight frames; how many those are. */
uint32_t frame(uint8_t id, const uint8_t *bytes, uint32_t size, uint8_t *frames);

#endif
