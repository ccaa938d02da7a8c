// SPDX-License-Identifier: MIT
/** @file Wraps trace into ORBFLOW frames (COBS, a tag, a checksum). */
#ifndef PUG_RECORDER_ORBFLOW_H
#define PUG_RECORDER_ORBFLOW_H

#include "recorder/bytes.h"

/** The data as COBS groups, with the 0x00 that ends them. */
void rec_cobs(struct rec_bytes *bytes, const uint8_t *data, size_t size);

/** One frame: tag, data, checksum. */
void rec_orbflow(struct rec_bytes *bytes, uint8_t tag, const uint8_t *data, size_t size);

#endif
