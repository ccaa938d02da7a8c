// SPDX-License-Identifier: MIT
/**
 * @file Any bytes as words: JSON must be JSON, and what is printable must not have control bytes,
 * whatever names and payloads hold; names of C++ and Rust are any bytes, too.
 */
#include "driver.h"
#include "pugmark/names.h"
#include "text/json.h"
#include "text/sink.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- a reader of JSON, which only says whether it is ---- */

struct reader {
    const char *at, *end;
};

static bool value(struct reader *reader, unsigned depth);

static void blanks(struct reader *reader)
{
    while (reader->at < reader->end && strchr(" \n", *reader->at) && *reader->at)
        reader->at++;
}

static bool take(struct reader *reader, char byte)
{
    blanks(reader);
    if (reader->at == reader->end || *reader->at != byte)
        return false;
    reader->at++;
    return true;
}

/** The bytes that continue a character of UTF-8; -1: none begins like this. */
static int continuation(uint8_t first)
{
    return first < 0x80   ? 0
           : first < 0xc2 ? -1
           : first < 0xe0 ? 1
           : first < 0xf0 ? 2
           : first < 0xf5 ? 3
                          : -1;
}

static bool string(struct reader *reader)
{
    if (!take(reader, '"'))
        return false;
    while (reader->at < reader->end && *reader->at != '"') {
        const uint8_t byte = (uint8_t)*reader->at++;
        if (byte < 0x20)
            return false;
        if (byte == '\\') {
            if (reader->at == reader->end || !strchr("\"\\/bfnrtu", *reader->at))
                return false;
            reader->at++;
        }
        for (int more = continuation(byte); more != 0; more--) {
            if (more < 0 || reader->at == reader->end || ((uint8_t)*reader->at++ & 0xc0) != 0x80)
                return false;
        }
    }
    return take(reader, '"');
}

static bool members(struct reader *reader, char close, bool named, unsigned depth)
{
    if (take(reader, close))
        return true;
    do {
        if (named && (!string(reader) || !take(reader, ':')))
            return false;
        if (!value(reader, depth + 1))
            return false;
    } while (take(reader, ','));
    return take(reader, close);
}

static bool word(struct reader *reader)
{
    const char *from = reader->at;
    while (reader->at < reader->end && *reader->at &&
           strchr("-+.eE0123456789nulltruefalse", *reader->at))
        reader->at++;
    return reader->at > from;
}

static bool value(struct reader *reader, unsigned depth)
{
    blanks(reader);
    if (reader->at == reader->end || depth > PUG_JSON_DEPTH)
        return false;
    if (*reader->at == '"')
        return string(reader);
    if (take(reader, '{'))
        return members(reader, '}', true, depth);
    if (take(reader, '['))
        return members(reader, ']', false, depth);
    return word(reader);
}

/* ---- the target ---- */

static void fail(const char *what, const uint8_t *data, size_t size)
{
    fprintf(stderr, "%s: ", what);
    fwrite(data, 1, size, stderr);
    abort();
}

static void check_json(const uint8_t *data, size_t size, const char *text)
{
    struct pug_memory memory = {0};
    struct pug_sink sink = pug_memory_sink(&memory);
    struct pug_json json = pug_json_begin(&sink);
    double real = 0;
    memcpy(&real, data, size < sizeof(real) ? size : sizeof(real));
    json.in_markup = size & 1;
    pug_json_object(&json, NULL);
    pug_json_string(&json, text, text);
    pug_json_array(&json, "n");
    pug_json_string_n(&json, NULL, (const char *)data, size);
    pug_json_real(&json, NULL, real);
    pug_json_signed(&json, NULL, (int64_t)size - 100);
    pug_json_bytes(&json, NULL, data, size);
    pug_json_null(&json, NULL);
    pug_json_close(&json);
    pug_json_close(&json);
    pug_json_line(&json);
    struct reader reader = {memory.bytes, memory.bytes + memory.count};
    if (memory.failed)
        abort();
    if (!value(&reader, 0))
        fail("not JSON", data, size);
    blanks(&reader);
    if (reader.at != reader.end || ((size & 1) && memchr(memory.bytes, '<', memory.count)))
        fail("more than JSON", data, size);
    free(memory.bytes);
}

static void check_printable(const uint8_t *data, size_t size, const char *text)
{
    struct pug_memory memory = {0};
    struct pug_sink sink = pug_memory_sink(&memory);
    pug_sink_printable(&sink, text);
    for (size_t i = 0; i < memory.count; i++)
        if ((uint8_t)memory.bytes[i] < 0x20 || memory.bytes[i] == 0x7f)
            fail("a control byte", data, size);
    free(memory.bytes);
}

static void check_name(const char *text)
{
    char small[16], large[2048];
    const size_t length = pug_demangle(text, large, sizeof(large));
    if (length != pug_demangle(text, small, sizeof(small)))
        abort();
    if (length > 0 && length < sizeof(large) && strlen(large) != length)
        abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char *text = malloc(size + 1);
    if (!text)
        return 0;
    memcpy(text, data, size);
    text[size] = 0;
    check_json(data, size, text);
    check_printable(data, size, text);
    check_name(text);
    free(text);
    return 0;
}

size_t fuzz_begin(uint8_t *data, size_t room, struct rec_random *random)
{
    static const char *const names[] = {
        "_ZNSt6vectorIiSaIiEE9push_backERKi",
        "_ZNK5boost10filesystem4path8filenameEv",
        "_ZZN3foo3barEvENKUlT_E_clIiEEDaS1_",
        "_ZSt4moveIRSsEONSt16remove_referenceIT_E4typeEOS2_",
        "_ZN4core3fmt9Formatter3pad17h0123456789abcdefE",
        "_RNvMsr_NtCs3ssYzQotkvD_3std4pathNtB5_7PathBuf3newCs15kBYyAo9fc_7mycrate",
        "_RINvNtC3std3mem8align_ofNtNtC3std3mem12DiscriminantE",
        "_ZN1AIXadL_Z1fvEEEC1Ev",
        "</script>\"\\\n\t\xc3\xa4\xe2\x82\xac\xf0\x9f\x90\xbe",
    };
    const char *name = names[rec_random_below(random, sizeof(names) / sizeof(names[0]))];
    size_t size = 0;
    for (; size < room && name[size]; size++)
        data[size] = (uint8_t)name[size];
    return size;
}
