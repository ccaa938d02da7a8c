// SPDX-License-Identifier: MIT
#ifdef __linux__
#define _DEFAULT_SOURCE /* struct winsize */
#endif
#include "terminal.h"

#include "messages.h"
#include "options.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#ifndef _WIN32
#include <sys/ioctl.h>
#endif

bool terminal_is(FILE *stream)
{
    return isatty(fileno(stream));
}

static unsigned asked_width(FILE *stream)
{
    uint64_t columns;
    if (parse_number(getenv("COLUMNS"), &columns) && columns > 0 && columns < 10000)
        return (unsigned)columns;
#ifdef TIOCGWINSZ
    struct winsize size;
    if (ioctl(fileno(stream), TIOCGWINSZ, &size) == 0 && size.ws_col > 0)
        return size.ws_col;
#else
    (void)stream;
#endif
    return 80;
}

unsigned terminal_width(FILE *stream)
{
    const unsigned width = asked_width(stream);
    return width < 40 ? 40 : width > 200 ? 200 : width;
}

bool terminal_colour(FILE *stream, const char *when)
{
    if (when && strcmp(when, "auto") != 0)
        return strcmp(when, "always") == 0;
    const char *term = getenv("TERM"), *no = getenv("NO_COLOR");
    return terminal_is(stream) && !(no && *no) && term && strcmp(term, "dumb") != 0;
}

bool terminal_may_have(const char *output, const char *what)
{
    if ((output && strcmp(output, "-") != 0) || !terminal_is(stdout))
        return true;
    message_say(
        "pugmark: %s is not written to a terminal; -o FILE writes a file, and | gives it to "
        "another program\n",
        what);
    return false;
}
