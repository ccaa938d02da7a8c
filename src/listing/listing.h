// SPDX-License-Identifier: MIT
/**
 * @file The reference's listing, line by line: for the lister and for the printers of the C API
 * drop-in. Each function appends to a text, with the closing newline where the reference writes
 * one.
 */
#ifndef PUG_LISTING_LISTING_H
#define PUG_LISTING_LISTING_H

#include "base/text.h"
#include "pugmark/advanced/tree.h"
#include "pugmark/author/protocol.h"

/** `0x0014 (NAME) [description]; TrcIdx=1; CS ID=10; text`: an error without who says it. */
void pug_listing_error(struct pug_text *text, const struct pug_log_record *record);

/** A log record as `COMPONENT : …`: an error as above, or the plain text of an OK message. */
void pug_listing_log(struct pug_text *text, const struct pug_log_record *record);

/** `Idx:0; ID:10; [0x00 ];<TAB>NAME : …`; without its bytes where `bytes` is false. */
void pug_listing_packet(struct pug_text *text, const struct pug_protocol *protocol, uint16_t slot,
                        const struct pug_packet *packet, bool bytes);

/** `ID:10<TAB>END OF TRACE DATA` and what else happens to a source; nothing for DATA. */
void pug_listing_operation(struct pug_text *text, uint16_t slot, enum pug_op op);

/** `Idx:0; ID:10; OCSD_GEN_TRC_ELEM_…(…)` */
void pug_listing_element(struct pug_text *text, const struct pug_element *element);

/** `Frame Data; Index      0;    RAW_PACKED; 00 01 …`, 16 bytes a line. */
void pug_listing_frame(struct pug_text *text, uint64_t index, enum pug_frame_kind kind,
                       uint16_t source, const uint8_t *bytes, size_t size);

/** The counters of one source; `stats` NULL: unavailable. */
void pug_listing_source_stats(struct pug_text *text, uint16_t slot,
                              const struct pug_reader_stats *stats);

/** The counters of the frame demultiplexer. */
void pug_listing_transport_stats(struct pug_text *text, const struct pug_transport_stats *stats);

/** `Gen_Info : Mapped Memory Accessors` and what is mapped. */
void pug_listing_image(struct pug_text *text, const struct pug_image *image);

#endif
