// SPDX-License-Identifier: MIT
/**
 * @file JSON that is always well formed, whatever the strings hold.
 *
 *     struct pug_json json = pug_json_begin(&sink);
 *     pug_json_object(&json, NULL);
 *     pug_json_string(&json, "name", name);
 *     pug_json_array(&json, "counts");
 *     pug_json_number(&json, NULL, 3);
 *     pug_json_close(&json);                      // the array
 *     pug_json_close(&json);                      // the object
 *     pug_json_line(&json);                       // JSON lines: a new value follows
 *
 * Each value gets its key: a word in an object, NULL in an array and at the top.
 */
#ifndef PUG_TEXT_JSON_H
#define PUG_TEXT_JSON_H

#include "text/sink.h"

#define PUG_JSON_DEPTH 64

struct pug_json {
    struct pug_sink *sink;
    bool in_markup; /**< it stands in HTML: no string may hold a '<' as it is */
    unsigned depth;
    bool filled[PUG_JSON_DEPTH]; /**< something stands in it already */
    bool is_array[PUG_JSON_DEPTH];
};

struct pug_json pug_json_begin(struct pug_sink *sink);

void pug_json_object(struct pug_json *json, const char *key);
void pug_json_array(struct pug_json *json, const char *key);
/** End the innermost object or array. */
void pug_json_close(struct pug_json *json);

/** What is no UTF-8 in a string becomes U+FFFD, a byte each. NULL gives null. */
void pug_json_string(struct pug_json *json, const char *key, const char *value);
void pug_json_string_n(struct pug_json *json, const char *key, const char *value, size_t size);
void pug_json_number(struct pug_json *json, const char *key, uint64_t value);
void pug_json_signed(struct pug_json *json, const char *key, int64_t value);
/** A number that is none (infinite, no number) gives null. */
void pug_json_real(struct pug_json *json, const char *key, double value);
/** "0x…", a string: readers of JSON lose the low bits of large numbers. */
void pug_json_hex(struct pug_json *json, const char *key, uint64_t value);
/** Bytes, two hexadecimal digits each, a string. */
void pug_json_bytes(struct pug_json *json, const char *key, const uint8_t *bytes, size_t size);
void pug_json_bool(struct pug_json *json, const char *key, bool value);
/** A number that is written already. */
void pug_json_literal(struct pug_json *json, const char *key, const char *digits, size_t size);
void pug_json_null(struct pug_json *json, const char *key);

/** End the line after a whole value; the next one stands alone. */
void pug_json_line(struct pug_json *json);

#endif
