// SPDX-License-Identifier: MIT
#include "port_format.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/** Columns of a conversion, at most. */
#define WIDTH_MOST 64

/** A conversion: "%-08.3ld" without its length. */
struct conversion {
    char flags[8];
    int width, precision; /* -1: none */
    char kind;
    const char *rest; /* what follows it */
};

static int take_number(const char **at)
{
    int number = 0;
    for (; isdigit((unsigned char)**at); (*at)++)
        number = number < WIDTH_MOST ? number * 10 + (**at - '0') : number;
    return number < WIDTH_MOST ? number : WIDTH_MOST;
}

/** Parses the text after a '%'; false: it is no conversion of one number. */
static bool parse(const char *at, struct conversion *conversion)
{
    size_t flags = 0;
    *conversion = (struct conversion){.width = -1, .precision = -1};
    for (; *at && strchr("-+ #0", *at); at++)
        if (flags + 1 < sizeof(conversion->flags))
            conversion->flags[flags++] = *at;
    if (isdigit((unsigned char)*at))
        conversion->width = take_number(&at);
    if (*at == '.') {
        at++;
        conversion->precision = take_number(&at);
    }
    at += strspn(at, "hlLzjtq");
    conversion->kind = *at;
    conversion->rest = *at ? at + 1 : at;
    return *at && strchr("cdiuxXoeEfFgGaA%", *at);
}

bool port_format_check(const char *format)
{
    struct conversion conversion;
    for (const char *at = format; (at = strchr(at, '%')) != NULL; at = conversion.rest)
        if (!parse(at + 1, &conversion))
            return false;
    return true;
}

bool port_format_is_line(const char *format)
{
    struct conversion conversion;
    bool characters = false, others = false;
    for (const char *at = format; (at = strchr(at, '%')) != NULL; at = conversion.rest) {
        if (!parse(at + 1, &conversion))
            return true;
        characters |= conversion.kind == 'c';
        others |= conversion.kind != 'c' && conversion.kind != '%';
    }
    return others || !characters;
}

static int64_t signed_value(const struct pug_dwt_event *event)
{
    const unsigned bits = 8u * event->size;
    const int64_t value = event->value;
    return bits > 0 && value >> (bits - 1) & 1 ? value - (INT64_C(1) << bits) : value;
}

static void put_characters(struct pug_text *text, const struct pug_dwt_event *event)
{
    for (unsigned i = 0; i < event->size; i++) {
        const char c = (char)(event->value >> 8 * i);
        if (c != 0)
            pug_text_put_n(text, &c, 1);
    }
}

/** One number by a format of printf() that is put together here, of checked parts. */
static void put_number(struct pug_text *text, const struct conversion *conversion,
                       const struct pug_dwt_event *event)
{
    char format[48], out[512], width[16] = "", precision[16] = "";
    const bool floats = strchr("eEfFgGaA", conversion->kind) != NULL;
    float real = 0;
    memcpy(&real, &event->value, sizeof(real));
    if (conversion->width >= 0)
        snprintf(width, sizeof(width), "%d", conversion->width);
    if (conversion->precision >= 0)
        snprintf(precision, sizeof(precision), ".%d", conversion->precision);
    snprintf(format, sizeof(format), "%%%s%s%s%s%c", conversion->flags, width, precision,
             floats ? "" : "ll", conversion->kind);
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
    if (floats && event->size == 4)
        snprintf(out, sizeof(out), format, (double)real);
    else if (floats) /* no floating-point number has so few bits */
        snprintf(out, sizeof(out), "0x%" PRIx32, event->value);
    else if (conversion->kind == 'd' || conversion->kind == 'i')
        snprintf(out, sizeof(out), format, (long long)signed_value(event));
    else
        snprintf(out, sizeof(out), format, (unsigned long long)event->value);
#pragma GCC diagnostic pop
    pug_text_put(text, out);
}

/** Puts the character after a backslash. Returns the text after it. */
static const char *put_escape(struct pug_text *text, const char *at)
{
    char c = *at;
    if (c == 'x' && isxdigit((unsigned char)at[1]) && isxdigit((unsigned char)at[2])) {
        const char digits[3] = {at[1], at[2], 0};
        c = (char)strtoul(digits, NULL, 16);
        at += 2;
    } else if (c == 'n') {
        c = '\n';
    } else if (c == 't') {
        c = '\t';
    } else if (c == 0) {
        c = '\\';
        at--;
    }
    pug_text_put_n(text, &c, 1);
    return at + 1;
}

void port_format_put(struct pug_text *text, const char *format, const struct pug_dwt_event *event)
{
    struct conversion conversion;
    for (const char *at = format; *at;) {
        if (*at == '\\') {
            at = put_escape(text, at + 1);
            continue;
        }
        if (*at != '%' || !parse(at + 1, &conversion)) {
            pug_text_put_n(text, at++, 1);
            continue;
        }
        if (conversion.kind == '%')
            pug_text_put(text, "%");
        else if (conversion.kind == 'c')
            put_characters(text, event);
        else
            put_number(text, &conversion, event);
        at = conversion.rest;
    }
}
