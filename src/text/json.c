// SPDX-License-Identifier: MIT
#include "text/json.h"

#include <assert.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

struct pug_json pug_json_begin(struct pug_sink *sink)
{
    return (struct pug_json){.sink = sink};
}

/** A control character of two bytes, which a terminal may obey as it does others. */
static bool is_c1(const char *at, const char *end)
{
    return end - at > 1 && (unsigned char)at[0] == 0xc2 && ((unsigned char)at[1] & 0xe0) == 0x80;
}

/** A character that a string cannot hold as it is; where the next one is. */
static const char *put_escaped(struct pug_sink *sink, const char *at, const char *end)
{
    static const char plain[] = "\"\\\b\f\n\r\t", letters[] = "\"\\bfnrt";
    const bool c1 = is_c1(at, end);
    const unsigned char byte = (unsigned char)at[c1];
    const char *found = byte ? strchr(plain, byte) : NULL;
    if (found)
        pug_sink_format(sink, "\\%c", letters[found - plain]);
    else
        pug_sink_format(sink, "\\u%04x", byte < 0x80 || c1 ? byte : 0xfffdu);
    return at + 1 + c1;
}

/** What most strings consist of: ASCII that stands as it is everywhere. */
static inline bool is_plain(char c)
{
    const unsigned char byte = (unsigned char)c;
    return byte >= 0x20 && byte < 0x7f && byte != '"' && byte != '\\' && byte != '<';
}

/** Length of a character that may stand as it is, or 0; no more than `left` bytes are looked at. */
static unsigned plain_length(const struct pug_json *json, const char *at, size_t left)
{
    const unsigned char byte = (unsigned char)*at;
    if (byte < 0x80)
        return byte >= 0x20 && byte != '"' && byte != '\\' && byte != 0x7f &&
               !(byte == '<' && json->in_markup);
    if (is_c1(at, at + left))
        return 0;
    char window[5] = {0};
    memcpy(window, at, left < 4 ? left : 4);
    return pug_utf8_length(window);
}

#define SHORT 64u

/** A short string that stands as it is, in one piece with what is around it. False: it is none. */
static bool put_short(const struct pug_json *json, const char *before, const char *value,
                      size_t size, const char *behind)
{
    char text[SHORT + 8];
    size_t count = 0;
    if (size > SHORT)
        return false;
    for (; *before; before++)
        text[count++] = *before;
    text[count++] = '"';
    for (size_t i = 0; i < size; i++) {
        if (!is_plain(value[i]))
            return false;
        text[count++] = value[i];
    }
    text[count++] = '"';
    for (; *behind; behind++)
        text[count++] = *behind;
    pug_sink_put(json->sink, text, count);
    return true;
}

static void put_string(const struct pug_json *json, const char *value, size_t size)
{
    struct pug_sink *sink = json->sink;
    if (put_short(json, "", value, size, ""))
        return;
    const char *end = value + size;
    pug_sink_put(sink, "\"", 1);
    while (value < end) {
        const char *from = value;
        unsigned length;
        while (value < end && (length = plain_length(json, value, (size_t)(end - value))) > 0)
            value += length;
        pug_sink_put(sink, from, (size_t)(value - from));
        if (value < end)
            value = put_escaped(sink, value, end);
    }
    pug_sink_put(sink, "\"", 1);
}

/** Put the text before a value: a comma, its key. */
static void put_key(struct pug_json *json, const char *key)
{
    if (json->depth == 0)
        return;
    assert(!key == json->is_array[json->depth - 1]);
    const char *const before = json->filled[json->depth - 1] ? ", " : "";
    const size_t size = key ? strlen(key) : 0;
    json->filled[json->depth - 1] = true;
    if (!json->is_array[json->depth - 1] && put_short(json, before, key ? key : "", size, ": "))
        return;
    pug_sink_text(json->sink, before);
    if (json->is_array[json->depth - 1])
        return;
    put_string(json, key, size);
    pug_sink_put(json->sink, ": ", 2);
}

static void enter(struct pug_json *json, const char *key, bool is_array)
{
    put_key(json, key);
    pug_sink_text(json->sink, is_array ? "[" : "{");
    assert(json->depth < PUG_JSON_DEPTH);
    json->filled[json->depth] = false;
    json->is_array[json->depth++] = is_array;
}

void pug_json_object(struct pug_json *json, const char *key)
{
    enter(json, key, false);
}

void pug_json_array(struct pug_json *json, const char *key)
{
    enter(json, key, true);
}

void pug_json_close(struct pug_json *json)
{
    assert(json->depth > 0);
    pug_sink_text(json->sink, json->is_array[--json->depth] ? "]" : "}");
}

void pug_json_string_n(struct pug_json *json, const char *key, const char *value, size_t size)
{
    put_key(json, key);
    put_string(json, value, size);
}

void pug_json_string(struct pug_json *json, const char *key, const char *value)
{
    if (value)
        pug_json_string_n(json, key, value, strlen(value));
    else
        pug_json_null(json, key);
}

void pug_json_number(struct pug_json *json, const char *key, uint64_t value)
{
    put_key(json, key);
    pug_sink_decimal(json->sink, value);
}

void pug_json_signed(struct pug_json *json, const char *key, int64_t value)
{
    put_key(json, key);
    pug_sink_format(json->sink, "%" PRId64, value);
}

void pug_json_real(struct pug_json *json, const char *key, double value)
{
    if (!isfinite(value)) {
        pug_json_null(json, key);
        return;
    }
    put_key(json, key);
    pug_sink_format(json->sink, "%.15g", value);
}

void pug_json_hex(struct pug_json *json, const char *key, uint64_t value)
{
    put_key(json, key);
    pug_sink_put(json->sink, "\"0x", 3);
    pug_sink_hex(json->sink, value, 1);
    pug_sink_put(json->sink, "\"", 1);
}

void pug_json_bytes(struct pug_json *json, const char *key, const uint8_t *bytes, size_t size)
{
    put_key(json, key);
    pug_sink_put(json->sink, "\"", 1);
    for (size_t i = 0; i < size; i++)
        pug_sink_hex(json->sink, bytes[i], 2);
    pug_sink_put(json->sink, "\"", 1);
}

void pug_json_bool(struct pug_json *json, const char *key, bool value)
{
    put_key(json, key);
    pug_sink_text(json->sink, value ? "true" : "false");
}

void pug_json_literal(struct pug_json *json, const char *key, const char *digits, size_t size)
{
    put_key(json, key);
    pug_sink_put(json->sink, digits, size);
}

void pug_json_null(struct pug_json *json, const char *key)
{
    put_key(json, key);
    pug_sink_text(json->sink, "null");
}

void pug_json_line(struct pug_json *json)
{
    assert(json->depth == 0);
    pug_sink_put(json->sink, "\n", 1);
}
