// SPDX-License-Identifier: MIT
/** @file Rust's names: v0 (RFC 2603), and those before, which look like C++ with a hash at the end.
 */
#include "names/demangle.h"

#include <inttypes.h>
#include <string.h>

/* ---- before v0 ---- */

static bool is_hash(const char *at)
{
    for (int i = 0; i < 16; i++)
        if (!at[i] || !strchr("0123456789abcdef", at[i]))
            return false;
    return at[16] == 'E';
}

/* "$LT$" and its like; bytes used, 0: none. */
static size_t put_escape(struct pug_text *text, const char *at, size_t left)
{
    static const struct {
        const char *code, *text;
    } escapes[] = {{"$SP$", "@"}, {"$BP$", "*"}, {"$RF$", "&"}, {"$LT$", "<"},
                   {"$GT$", ">"}, {"$LP$", "("}, {"$RP$", ")"}, {"$C$", ","}};
    for (size_t i = 0; i < sizeof(escapes) / sizeof(escapes[0]); i++) {
        const size_t length = strlen(escapes[i].code);
        if (length <= left && strncmp(at, escapes[i].code, length) == 0) {
            pug_text_put(text, escapes[i].text);
            return length;
        }
    }
    if (left >= 5 && strncmp(at, "$u", 2) == 0) { /* "$u7e$" */
        unsigned value = 0;
        size_t used = 2;
        for (; used < left && at[used] != '$'; used++) {
            const char *digit = strchr("0123456789abcdef", at[used]);
            if (!digit || used > 7)
                return 0;
            value = value * 16 + (unsigned)(digit - "0123456789abcdef");
        }
        if (used == left || value < 0x20 || value > 0x7e)
            return 0;
        const char byte = (char)value;
        pug_text_put_n(text, &byte, 1);
        return used + 1;
    }
    return 0;
}

static bool put_part(struct pug_text *text, const char *at, size_t size)
{
    if (size > 1 && at[0] == '_' && at[1] == '$') /* so that it does not begin with a sign */
        at++, size--;
    while (size > 0) {
        size_t used = 1;
        if (size >= 2 && at[0] == '.' && at[1] == '.') {
            pug_text_put(text, "::");
            used = 2;
        } else if (at[0] == '$') {
            used = put_escape(text, at, size);
            if (used == 0)
                return false;
        } else {
            pug_text_put_n(text, at, 1);
        }
        at += used;
        size -= used;
    }
    return true;
}

size_t pug_names_demangle_rust_legacy(const char *name, char *buffer, size_t size)
{
    struct pug_text text = PUG_TEXT(buffer, size);
    const char *at = name + 3;
    const size_t all = strlen(name);
    if (strncmp(name, "_ZN", 3) != 0)
        return 0;
    for (bool first = true; *at >= '1' && *at <= '9'; first = false) {
        size_t length = 0;
        while (*at >= '0' && *at <= '9' && length < all)
            length = length * 10 + (size_t)(*at++ - '0');
        if (length > all - (size_t)(at - name))
            return 0;
        if (length == 17 && *at == 'h' && is_hash(at + 1) && !first)
            return pug_text_end(&text);
        if (!first)
            pug_text_put(&text, "::");
        if (!put_part(&text, at, length))
            return 0;
        at += length;
    }
    return 0;
}

/* ---- v0 ---- */

struct rust {
    const char *begin, *at, *end;
    struct pug_text text;
    unsigned depth;
    unsigned steps; /* back references may repeat themselves: work has an end */
    uint64_t lifetimes;
    bool quiet, failed;
};

#define STEPS 20000u

static void put(struct rust *rust, const char *text)
{
    if (!rust->quiet)
        pug_text_put(&rust->text, text);
    rust->failed |= rust->text.length > DEMANGLE_TEXT;
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

/* An identifier; what has letters beyond ASCII is left as it is encoded. */
static void identifier(struct rust *rust, uint64_t *disambiguator)
{
    char piece[2] = "";
    size_t length = 0;
    *disambiguator = optional_base62(rust, 's');
    const bool encoded = eat(rust, 'u');
    if (rust->at >= rust->end || *rust->at < '0' || *rust->at > '9') {
        rust->failed = true;
        return;
    }
    if (!eat(rust, '0'))
        while (rust->at < rust->end && *rust->at >= '0' && *rust->at <= '9' && length < 65536)
            length = length * 10 + (size_t)(*rust->at++ - '0');
    eat(rust, '_');
    if (length > (size_t)(rust->end - rust->at)) {
        rust->failed = true;
        return;
    }
    put(rust, encoded ? "punycode{" : "");
    for (; length > 0; length--) {
        piece[0] = *rust->at++;
        put(rust, piece);
    }
    put(rust, encoded ? "}" : "");
}

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

static void constant(struct rust *rust)
{
    if (eat(rust, 'p')) {
        put(rust, "_");
        return;
    }
    if (eat(rust, 'B')) {
        back(rust, constant);
        return;
    }
    const char kind = take(rust);
    const bool negative = eat(rust, 'n');
    const char *digits = rust->at;
    uint64_t value = 0;
    while (!rust->failed && !eat(rust, '_')) {
        const char byte = take(rust);
        const char *digit = byte ? strchr("0123456789abcdef", byte) : NULL;
        if (!digit) {
            rust->failed = true;
            return;
        }
        value = value << 4 | (uint64_t)(digit - "0123456789abcdef");
    }
    char text[64];
    struct pug_text out = PUG_TEXT(text, sizeof(text));
    if (kind == 'b')
        pug_text_put(&out, value ? "true" : "false");
    else if (kind == 'c')
        pug_text_format(&out, value >= 0x20 && value < 0x7f ? "'%c'" : "'\\u{%x}'",
                        (unsigned)value);
    else if (rust->at - digits > 17)
        pug_text_put(&out, "0x..."); /* 128 bits */
    else
        pug_text_format(&out, "%s%" PRIu64, negative ? "-" : "", value);
    pug_text_end(&out);
    put(rust, text);
}

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
    put(rust, space == 'C' ? "::{closure" : space == 'S' ? "::{shim" : "::{");
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
    if (rust->failed || ++rust->depth > DEMANGLE_DEPTH || ++rust->steps > STEPS) {
        rust->failed = true;
        return;
    }
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

static void function_type(struct rust *rust)
{
    const uint64_t outer = rust->lifetimes;
    uint64_t number;
    binder(rust);
    put(rust, eat(rust, 'U') ? "unsafe " : "");
    if (eat(rust, 'K')) {
        put(rust, "extern \"");
        if (eat(rust, 'C'))
            put(rust, "C");
        else
            identifier(rust, &number);
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
    if (rust->failed || ++rust->depth > DEMANGLE_DEPTH || ++rust->steps > STEPS) {
        rust->failed = true;
        return;
    }
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
