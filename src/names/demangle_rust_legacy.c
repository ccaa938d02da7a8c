// SPDX-License-Identifier: MIT
/** @file Rust's names before v0: they look like C++ with a hash at the end. */
#include "names/demangle.h"

#include <string.h>

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
