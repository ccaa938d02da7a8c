// SPDX-License-Identifier: MIT
/** @file What the names of live inputs say. */
#include "live/live.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const struct {
    const char *name;
    enum pug_live_scheme scheme;
} schemes[] = {
    {"tcp:", PUG_LIVE_TCP},
    {"tcp-listen:", PUG_LIVE_LISTEN},
    {"unix:", PUG_LIVE_UNIX},
    {"serial:", PUG_LIVE_SERIAL},
};

static const struct preset {
    const char *name;
    uint16_t port, fallback;
    bool tcl;
    const char *transport, *hint, *silence;
} presets[] = {
    {.name = "openocd",
     .port = 3443,
     .hint = "OpenOCD has no usual port: give its TPIU or SWO `configure -output :3443`",
     .silence = "enable the TPIU or SWO in OpenOCD (`NAME.tpiu enable`), and the port of the ITM"},
    {.name = "openocd-tcl",
     .port = 6666,
     .tcl = true,
     .hint = "OpenOCD's TCL server listens on port 6666 unless `tcl_port` says another",
     .silence = "enable the TPIU or SWO in OpenOCD with `configure -output -`"},
    {.name = "pyocd",
     .port = 3443,
     .hint = "start pyOCD with -S -O enable_swv=1 -O swv_system_clock=HZ",
     .silence = "the core must run with the ITM enabled, and swv_system_clock must fit"},
    {.name = "jlink",
     .port = 2332,
     .hint = "start the J-Link GDB server; its SWO port is 2332",
     .silence = "in GDB say `monitor SWO EnableTarget 0 0 1 0`"},
    {.name = "orbuculum",
     .port = 3402,
     .fallback = 3443,
     .hint = "orbuculum serves ORBFLOW on port 3402, and plain ITM on 3443"},
};

static const struct preset *preset_of(const char *input)
{
    for (size_t i = 0; i < sizeof(presets) / sizeof(presets[0]); i++) {
        const size_t length = strlen(presets[i].name);
        if (strncmp(input, presets[i].name, length) == 0 &&
            (input[length] == 0 || input[length] == ':'))
            return &presets[i];
    }
    return NULL;
}

static const char *rest_of_scheme(const char *input, enum pug_live_scheme *scheme)
{
    for (size_t i = 0; i < sizeof(schemes) / sizeof(schemes[0]); i++) {
        const size_t length = strlen(schemes[i].name);
        if (strncmp(input, schemes[i].name, length) != 0)
            continue;
        *scheme = schemes[i].scheme;
        return input + length;
    }
    return NULL;
}

bool pug_live_names(const char *input)
{
    enum pug_live_scheme scheme;
    return rest_of_scheme(input, &scheme) || preset_of(input);
}

static bool is_port(const char *text)
{
    char *end;
    const unsigned long port = isdigit((unsigned char)*text) ? strtoul(text, &end, 10) : 0;
    return port > 0 && port < 65536 && *end == 0;
}

/** "HOST:PORT", "[HOST]:PORT"; the port stays as it is where the name has none. */
static bool take_address(const char *text, struct pug_live_place *place)
{
    const bool bracketed = *text == '[';
    const char *close = bracketed ? strchr(text, ']') : NULL;
    const char *colon =
        bracketed ? (close && close[1] == ':' ? close + 1 : NULL) : strrchr(text, ':');
    const char *begin = bracketed ? text + 1 : text;
    const char *end = bracketed ? close : colon ? colon : text + strlen(text);
    if (!end || (size_t)(end - begin) >= sizeof(place->host) || (close && close[1] && !colon))
        return false;
    if (colon && (!is_port(colon + 1) || strlen(colon + 1) >= sizeof(place->port)))
        return false;
    if (end > begin)
        snprintf(place->host, sizeof(place->host), "%.*s", (int)(end - begin), begin);
    if (colon)
        memcpy(place->port, colon + 1, strlen(colon + 1) + 1);
    return true;
}

static bool take_preset(const struct preset *preset, const char *rest, struct pug_live_place *place)
{
    *place = (struct pug_live_place){.scheme = PUG_LIVE_TCP,
                                     .host = "localhost",
                                     .transport = preset->transport,
                                     .hint = preset->hint,
                                     .silence = preset->silence,
                                     .fallback = preset->fallback,
                                     .tcl = preset->tcl,
                                     .preset = *rest == 0};
    snprintf(place->port, sizeof(place->port), "%u", (unsigned)preset->port);
    if (*rest != ':')
        return true;
    if (is_port(rest + 1) && strlen(rest + 1) < sizeof(place->port)) {
        place->fallback = 0;
        return memcpy(place->port, rest + 1, strlen(rest + 1) + 1), true;
    }
    place->port[0] = 0;
    if (!take_address(rest + 1, place))
        return false;
    if (place->port[0]) /* it was given */
        place->fallback = 0;
    else
        snprintf(place->port, sizeof(place->port), "%u", (unsigned)preset->port);
    return true;
}

/** "DEVICE@BAUD". */
static bool take_serial(const char *rest, struct pug_live_place *place, const char **why)
{
    const char *at = strrchr(rest, '@');
    char *end = NULL;
    const unsigned long baud = at && isdigit((unsigned char)at[1]) ? strtoul(at + 1, &end, 10) : 0;
    const size_t length = at ? (size_t)(at - rest) : strlen(rest);
    *why = "expected serial:DEVICE or serial:DEVICE@BAUD";
    if (length == 0 || length >= sizeof(place->path) ||
        (at && (!end || *end || baud == 0 || baud > 100000000)))
        return false;
    memcpy(place->path, rest, length);
    place->baud = (uint32_t)baud;
    return true;
}

bool pug_live_place(const char *input, struct pug_live_place *place, const char **why)
{
    enum pug_live_scheme scheme = PUG_LIVE_FILE;
    const struct preset *preset = preset_of(input);
    const char *rest = rest_of_scheme(input, &scheme);
    *place = (struct pug_live_place){.scheme = scheme};
    *why = "expected NAME, NAME:HOST or NAME:HOST:PORT";
    if (preset)
        return take_preset(preset, input + strlen(preset->name), place);
    if (!rest)
        rest = input;
    switch (scheme) {
    case PUG_LIVE_SERIAL: return take_serial(rest, place, why);
    case PUG_LIVE_LISTEN:
        memcpy(place->host, "127.0.0.1", sizeof("127.0.0.1"));
        *why = "expected tcp-listen:PORT or tcp-listen:HOST:PORT";
        if (is_port(rest) && strlen(rest) < sizeof(place->port))
            return memcpy(place->port, rest, strlen(rest) + 1), true;
        return take_address(rest, place) && place->port[0];
    case PUG_LIVE_TCP:
        *why = "expected tcp:HOST:PORT";
        return take_address(rest, place) && place->port[0] && place->host[0];
    case PUG_LIVE_UNIX:
    case PUG_LIVE_FILE: break;
    }
    *why = *rest ? "the path is too long" : "expected a path";
    return *rest &&
           snprintf(place->path, sizeof(place->path), "%s", rest) < (int)sizeof(place->path);
}
