// SPDX-License-Identifier: MIT
/** @file Rust's names: v0 (RFC 2603). */
#include "names/demangle.h"

#include <inttypes.h>
#include <string.h>

struct rust {
    const char *begin, *at, *end;
    struct pug_text text;
    unsigned depth;
    unsigned steps; /* back references may repeat themselves: work has an end */
    uint64_t lifetimes;
    bool quiet, failed;
};

#define STEPS 20000u

static void put_n(struct rust *rust, const char *text, size_t length)
{
    if (!rust->quiet)
        pug_text_put_n(&rust->text, text, length);
    rust->failed |= rust->text.length > DEMANGLE_TEXT;
}

static void put(struct rust *rust, const char *text)
{
    put_n(rust, text, strlen(text));
}

static bool enter(struct rust *rust)
{
    rust->failed |= ++rust->depth > DEMANGLE_DEPTH || ++rust->steps > STEPS;
    return !rust->failed;
}

static bool eat(struct rust *rust, char byte)
{
    if (rust->failed || rust->at >= rust->end || *rust->at != byte)
        return false;
    rust->at++;
    return true;
}

static char take(struct rust *rust)
{
    if (rust->failed || rust->at >= rust->end) {
        rust->failed = true;
        return '\0';
    }
    return *rust->at++;
}

static uint64_t one_more(struct rust *rust, uint64_t value)
{
    rust->failed |= value == UINT64_MAX;
    return value + 1;
}

/* "_" is 0, "0_" 1 and so on. */
static uint64_t base62(struct rust *rust)
{
    uint64_t value = 0;
    if (eat(rust, '_'))
        return 0;
    while (!eat(rust, '_')) {
        const char byte = take(rust);
        uint64_t digit = byte >= '0' && byte <= '9'   ? (uint64_t)(byte - '0')
                         : byte >= 'a' && byte <= 'z' ? (uint64_t)(byte - 'a') + 10
                         : byte >= 'A' && byte <= 'Z' ? (uint64_t)(byte - 'A') + 36
                                                      : 62;
        if (digit == 62 || value > (UINT64_MAX - digit) / 62) {
            rust->failed = true;
            return 0;
        }
        value = value * 62 + digit;
    }
    return one_more(rust, value);
}

static uint64_t optional_base62(struct rust *rust, char tag)
{
    return eat(rust, tag) ? one_more(rust, base62(rust)) : 0;
}

struct span {
    const char *text;
    size_t length;
    bool encoded; /* it has letters beyond ASCII */
};

static struct span read_identifier(struct rust *rust, uint64_t *disambiguator)
{
    size_t length = 0;
    *disambiguator = optional_base62(rust, 's');
    const bool encoded = eat(rust, 'u');
    rust->failed |= rust->at >= rust->end || *rust->at < '0' || *rust->at > '9';
    if (!eat(rust, '0'))
        while (rust->at < rust->end && *rust->at >= '0' && *rust->at <= '9' && length < 65536)
            length = length * 10 + (size_t)(*rust->at++ - '0');
    eat(rust, '_');
    rust->failed |= length > (size_t)(rust->end - rust->at);
    if (rust->failed)
        return (struct span){"", 0, false};
    const struct span span = {rust->at, length, encoded};
    rust->at += length;
    return span;
}

/* Names with letters beyond ASCII stay in their encoding. */
static void identifier(struct rust *rust, uint64_t *disambiguator)
{
    const struct span span = read_identifier(rust, disambiguator);
    put(rust, span.encoded ? "punycode{" : "");
    put_n(rust, span.text, span.length);
    put(rust, span.encoded ? "}" : "");
}

static void constant(struct rust *rust);
static void path(struct rust *rust, bool in_value);
static void type(struct rust *rust);

/* Go on at an earlier place, for one thing. */
static void back(struct rust *rust, void (*what)(struct rust *))
{
    const char *tag = rust->at - 1;
    const uint64_t place = base62(rust);
    if (rust->failed || place >= (uint64_t)(tag - rust->begin)) {
        rust->failed = true;
        return;
    }
    const char *after = rust->at;
    rust->at = rust->begin + place;
    what(rust);
    rust->at = after;
}

static void lifetime(struct rust *rust, uint64_t number)
{
    char name[32] = "'_";
    if (number > 0 && number <= rust->lifetimes) {
        const uint64_t depth = rust->lifetimes - number;
        struct pug_text text = PUG_TEXT(name, sizeof(name));
        const char letter = (char)('a' + depth % 26);
        pug_text_put(&text, "'");
        pug_text_put_n(&text, &letter, 1);
        if (depth >= 26)
            pug_text_decimal(&text, depth / 26);
        pug_text_end(&text);
    }
    put(rust, name);
}

/* ---- constants ---- */

static const char hex[] = "0123456789abcdef";

/* Digits up to "_": how many, without zeros in front where `number`. */
static size_t hex_digits(struct rust *rust, bool number, const char **digits)
{
    *digits = rust->at;
    while (!rust->failed && !eat(rust, '_')) {
        const char byte = take(rust);
        rust->failed |= !byte || !strchr(hex, byte);
    }
    if (rust->failed)
        return 0;
    const char *end = rust->at - 1;
    while (number && *digits < end && **digits == '0')
        (*digits)++;
    return (size_t)(end - *digits);
}

static uint64_t hex_value(const char *digits, size_t length)
{
    uint64_t value = 0;
    for (size_t i = 0; i < length; i++)
        value = value << 4 | (uint64_t)(strchr(hex, digits[i]) - hex);
    return value;
}

/* A number of no more bits than `most` has; others are damage. */
static uint64_t small_number(struct rust *rust, uint64_t most)
{
    const char *digits;
    const size_t length = hex_digits(rust, true, &digits);
    const uint64_t value = length <= 16 ? hex_value(digits, length) : UINT64_MAX;
    rust->failed |= value > most;
    return value;
}

/* Beyond 64 bits as it is encoded. */
static void integer(struct rust *rust)
{
    char text[24];
    struct pug_text out = PUG_TEXT(text, sizeof(text));
    const char *digits;
    put(rust, eat(rust, 'n') ? "-" : "");
    const size_t length = hex_digits(rust, true, &digits);
    if (length > 16) {
        put(rust, "0x");
        put_n(rust, digits, length);
        return;
    }
    pug_text_decimal(&out, hex_value(digits, length));
    pug_text_end(&out);
    put(rust, text);
}

/* As it is written in quotes of this kind. */
static void character(struct rust *rust, uint32_t value, char quote)
{
    char text[16];
    struct pug_text out = PUG_TEXT(text, sizeof(text));
    const char *escape = value == '\t'   ? "t"
                         : value == '\r' ? "r"
                         : value == '\n' ? "n"
                         : value == '\\' ? "\\"
                                         : NULL;
    if (escape)
        pug_text_format(&out, "\\%s", escape);
    else if (value < 0x20 || value > 0x7e)
        pug_text_format(&out, "\\u{%x}", (unsigned)value);
    else
        pug_text_format(&out, "%s%c", value == (unsigned char)quote ? "\\" : "", (char)value);
    pug_text_end(&out);
    put(rust, text);
}

/* One character of UTF-8 in hexadecimal digits; how many digits, 0: it is none. */
static size_t decoded(const char *digits, size_t left, uint32_t *value)
{
    const uint64_t first = left >= 2 ? hex_value(digits, 2) : 0xff;
    const unsigned more = first < 0x80             ? 0
                          : (first & 0xe0) == 0xc0 ? 1
                          : (first & 0xf0) == 0xe0 ? 2
                          : (first & 0xf8) == 0xf0 ? 3
                                                   : 4;
    if (more > 3 || 2 * ((size_t)more + 1) > left)
        return 0;
    *value = (uint32_t)(more == 0 ? first : first & (0x3fu >> more));
    for (unsigned i = 1; i <= more; i++) {
        const uint64_t byte = hex_value(digits + (size_t)2 * i, 2);
        if ((byte & 0xc0) != 0x80)
            return 0;
        *value = *value << 6 | (uint32_t)(byte & 0x3f);
    }
    return 2 * ((size_t)more + 1);
}

static void string(struct rust *rust)
{
    const char *digits;
    size_t left = hex_digits(rust, false, &digits);
    put(rust, "\"");
    while (!rust->failed && left > 0) {
        uint32_t value = 0;
        const size_t used = decoded(digits, left, &value);
        rust->failed |= used == 0;
        if (used > 0)
            character(rust, value, '"');
        digits += used;
        left -= used;
    }
    put(rust, "\"");
}

static void constant_in_value(struct rust *rust);

static unsigned constants(struct rust *rust)
{
    unsigned count = 0;
    for (; !rust->failed && !eat(rust, 'E'); count++) {
        put(rust, count > 0 ? ", " : "");
        constant_in_value(rust);
    }
    return count;
}

static void fields(struct rust *rust)
{
    uint64_t number;
    for (bool first = true; !rust->failed && !eat(rust, 'E'); first = false) {
        put(rust, first ? "" : ", ");
        identifier(rust, &number);
        put(rust, ": ");
        constant_in_value(rust);
    }
}

/* A structure, or a variant of an enumeration: with nothing, as a tuple, or with names. */
static void variant(struct rust *rust)
{
    path(rust, true);
    switch (take(rust)) {
    case 'U': break;
    case 'T':
        put(rust, "(");
        constants(rust);
        put(rust, ")");
        break;
    case 'S':
        put(rust, " { ");
        fields(rust);
        put(rust, " }");
        break;
    default: rust->failed = true;
    }
}

/* Those that are made of others. */
static void compound(struct rust *rust, char kind)
{
    switch (kind) {
    case 'e':
        put(rust, "*");
        string(rust);
        break;
    case 'R':
    case 'Q':
        put(rust, kind == 'R' ? "&" : "&mut ");
        constant_in_value(rust);
        break;
    case 'A':
        put(rust, "[");
        constants(rust);
        put(rust, "]");
        break;
    case 'T':
        put(rust, "(");
        put(rust, constants(rust) == 1 ? ",)" : ")");
        break;
    default: variant(rust);
    }
}

static void simple(struct rust *rust, char kind)
{
    if (kind == 'b') {
        put(rust, small_number(rust, 1) ? "true" : "false");
    } else if (kind == 'c') {
        put(rust, "'");
        character(rust, (uint32_t)small_number(rust, 0x10ffff), '\'');
        put(rust, "'");
    } else if (kind && strchr("ahijlmnostxy", kind)) {
        integer(rust);
    } else {
        rust->failed = true;
    }
}

/* As an argument, what is more than a word is in braces. */
static void constant_within(struct rust *rust, bool in_value)
{
    if (!enter(rust))
        return;
    const char kind = take(rust);
    if (kind == 'p') {
        put(rust, "_");
    } else if (kind == 'B') {
        back(rust, in_value ? constant_in_value : constant);
    } else if (kind == 'R' && eat(rust, 'e')) {
        string(rust);
    } else if (kind && strchr("eRQATV", kind)) {
        put(rust, in_value ? "" : "{");
        compound(rust, kind);
        put(rust, in_value ? "" : "}");
    } else {
        simple(rust, kind);
    }
    rust->depth--;
}

static void constant_in_value(struct rust *rust)
{
    constant_within(rust, true);
}

static void constant(struct rust *rust)
{
    constant_within(rust, false);
}

/* ---- paths and types ---- */

static void generic(struct rust *rust)
{
    if (eat(rust, 'L'))
        lifetime(rust, base62(rust));
    else if (eat(rust, 'K'))
        constant(rust);
    else
        type(rust);
}

static void generics(struct rust *rust)
{
    for (bool first = true; !rust->failed && !eat(rust, 'E'); first = false) {
        put(rust, first ? "" : ", ");
        generic(rust);
    }
}

static void path_in_type(struct rust *rust)
{
    path(rust, false);
}

static void path_in_value(struct rust *rust)
{
    path(rust, true);
}

static void type_as_path(struct rust *rust)
{
    put(rust, "<");
    type(rust);
    put(rust, " as ");
    path(rust, false);
    put(rust, ">");
}

/* "<impl>": where it stands is not shown. */
static void skip_impl(struct rust *rust)
{
    const bool quiet = rust->quiet;
    optional_base62(rust, 's');
    rust->quiet = true;
    path(rust, false);
    rust->quiet = quiet;
}

static void nested(struct rust *rust, bool in_value)
{
    uint64_t number;
    const char space = take(rust);
    path(rust, in_value);
    if (space >= 'a' && space <= 'z') {
        put(rust, "::");
        identifier(rust, &number);
        return;
    }
    put(rust, "::{");
    if (space == 'C' || space == 'S')
        put(rust, space == 'C' ? "closure" : "shim");
    else
        put_n(rust, &space, 1);
    const size_t before = rust->text.length;
    put(rust, ":");
    const size_t colon = rust->text.length;
    identifier(rust, &number);
    if (rust->text.length == colon)
        rust->text.length = before; /* it has no name */
    char text[32];
    struct pug_text out = PUG_TEXT(text, sizeof(text));
    pug_text_format(&out, "#%" PRIu64 "}", number);
    pug_text_end(&out);
    put(rust, text);
}

static void path(struct rust *rust, bool in_value)
{
    uint64_t number;
    if (!enter(rust))
        return;
    switch (take(rust)) {
    case 'C': identifier(rust, &number); break;
    case 'N': nested(rust, in_value); break;
    case 'M':
        skip_impl(rust);
        put(rust, "<");
        type(rust);
        put(rust, ">");
        break;
    case 'X':
        skip_impl(rust);
        type_as_path(rust);
        break;
    case 'Y': type_as_path(rust); break;
    case 'I':
        path(rust, in_value);
        put(rust, in_value ? "::<" : "<");
        generics(rust);
        put(rust, ">");
        break;
    case 'B': back(rust, in_value ? path_in_value : path_in_type); break;
    default: rust->failed = true;
    }
    rust->depth--;
}

static const char *basic_type(char tag)
{
    static const char *const names[26] = {
        ['a' - 'a'] = "i8",    ['b' - 'a'] = "bool", ['c' - 'a'] = "char", ['d' - 'a'] = "f64",
        ['e' - 'a'] = "str",   ['f' - 'a'] = "f32",  ['h' - 'a'] = "u8",   ['i' - 'a'] = "isize",
        ['j' - 'a'] = "usize", ['l' - 'a'] = "i32",  ['m' - 'a'] = "u32",  ['n' - 'a'] = "i128",
        ['o' - 'a'] = "u128",  ['p' - 'a'] = "_",    ['s' - 'a'] = "i16",  ['t' - 'a'] = "u16",
        ['u' - 'a'] = "()",    ['v' - 'a'] = "...",  ['x' - 'a'] = "i64",  ['y' - 'a'] = "u64",
        ['z' - 'a'] = "!"};
    return tag >= 'a' && tag <= 'z' ? names[tag - 'a'] : NULL;
}

/* "for<'a> " in front of what binds lifetimes. */
static void binder(struct rust *rust)
{
    const uint64_t bound = optional_base62(rust, 'G');
    if (bound > DEMANGLE_DEPTH) {
        rust->failed = true;
        return;
    }
    put(rust, bound > 0 ? "for<" : "");
    for (uint64_t i = 0; i < bound; i++) {
        put(rust, i > 0 ? ", " : "");
        rust->lifetimes++;
        lifetime(rust, 1);
    }
    put(rust, bound > 0 ? "> " : "");
}

/* An identifier, with "_" for "-". */
static void abi(struct rust *rust)
{
    uint64_t number;
    const struct span span = read_identifier(rust, &number);
    for (size_t i = 0; i < span.length; i++)
        put_n(rust, span.text[i] == '_' ? "-" : span.text + i, 1);
}

static void function_type(struct rust *rust)
{
    const uint64_t outer = rust->lifetimes;
    binder(rust);
    put(rust, eat(rust, 'U') ? "unsafe " : "");
    if (eat(rust, 'K')) {
        put(rust, "extern \"");
        if (eat(rust, 'C'))
            put(rust, "C");
        else
            abi(rust);
        put(rust, "\" ");
    }
    put(rust, "fn(");
    for (bool first = true; !rust->failed && !eat(rust, 'E'); first = false) {
        put(rust, first ? "" : ", ");
        type(rust);
    }
    put(rust, ")");
    if (!eat(rust, 'u')) {
        put(rust, " -> ");
        type(rust);
    }
    rust->lifetimes = outer;
}

/* A trait with its associated types: "Iterator<Item = u8>". */
static void bound_trait(struct rust *rust)
{
    uint64_t number;
    const char *generic_end = rust->at;
    bool open = false;
    if (generic_end < rust->end && *generic_end == 'I') {
        rust->at++;
        path(rust, false);
        put(rust, "<");
        generics(rust);
        open = true;
    } else {
        path(rust, false);
    }
    while (eat(rust, 'p')) {
        put(rust, open ? ", " : "<");
        open = true;
        identifier(rust, &number);
        put(rust, " = ");
        type(rust);
    }
    put(rust, open ? ">" : "");
}

static void dyn_type(struct rust *rust)
{
    const uint64_t outer = rust->lifetimes;
    put(rust, "dyn ");
    binder(rust);
    for (bool first = true; !rust->failed && !eat(rust, 'E'); first = false) {
        put(rust, first ? "" : " + ");
        bound_trait(rust);
    }
    rust->lifetimes = outer;
    if (!eat(rust, 'L')) {
        rust->failed = true;
        return;
    }
    const uint64_t number = base62(rust);
    if (number > 0) {
        put(rust, " + ");
        lifetime(rust, number);
    }
}

static void tuple(struct rust *rust)
{
    unsigned count = 0;
    put(rust, "(");
    for (; !rust->failed && !eat(rust, 'E'); count++) {
        put(rust, count > 0 ? ", " : "");
        type(rust);
    }
    put(rust, count == 1 ? ",)" : ")");
}

static void reference(struct rust *rust, bool mutable)
{
    put(rust, "&");
    if (eat(rust, 'L')) {
        const uint64_t number = base62(rust);
        if (number > 0) {
            lifetime(rust, number);
            put(rust, " ");
        }
    }
    put(rust, mutable ? "mut " : "");
    type(rust);
}

static void type(struct rust *rust)
{
    if (!enter(rust))
        return;
    const char tag = take(rust);
    if (basic_type(tag)) {
        put(rust, basic_type(tag));
        rust->depth--;
        return;
    }
    switch (tag) {
    case 'A':
    case 'S':
        put(rust, "[");
        type(rust);
        if (tag == 'A') {
            put(rust, "; ");
            constant(rust);
        }
        put(rust, "]");
        break;
    case 'T': tuple(rust); break;
    case 'R':
    case 'Q': reference(rust, tag == 'Q'); break;
    case 'P':
    case 'O':
        put(rust, tag == 'P' ? "*const " : "*mut ");
        type(rust);
        break;
    case 'F': function_type(rust); break;
    case 'D': dyn_type(rust); break;
    case 'B': back(rust, type); break;
    default: rust->at--; path(rust, false);
    }
    rust->depth--;
}

size_t pug_names_demangle_rust(const char *name, char *buffer, size_t size)
{
    const size_t suffix = strcspn(name, ".$"); /* what LLVM adds */
    struct rust rust = {
        .begin = name + 2, .at = name + 2, .end = name + suffix, .text = PUG_TEXT(buffer, size)};
    if (strncmp(name, "_R", 2) != 0 || !name[2])
        return 0;
    path(&rust, true);
    if (!rust.failed && rust.at < rust.end) { /* for whom a generic one was made */
        rust.quiet = true;
        path(&rust, false);
    }
    return rust.failed || rust.at < rust.end ? 0 : pug_text_end(&rust.text);
}
