// SPDX-License-Identifier: MIT
#include "common/said.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

static const struct said_listener *listening;

void said_listen(const struct said_listener *listener)
{
    listening = listener;
}

bool said_heard(void)
{
    return listening != NULL;
}

void said(enum said_about about, const char *format, ...)
{
    char words[8192];
    va_list arguments;
    if (!listening)
        return;
    va_start(arguments, format);
    const int length = vsnprintf(words, sizeof(words), format, arguments);
    va_end(arguments);
    if (length < 0)
        return;
    for (size_t end = strlen(words); end > 0 && words[end - 1] == '\n'; end--)
        words[end - 1] = 0;
    listening->hear(listening->context, about, words);
}
