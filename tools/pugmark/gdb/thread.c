// SPDX-License-Identifier: MIT
/** @file Thread ids: "p1.2" is thread 2 of process 1. Threads have one number in all processes. */
#include "server.h"

#include <string.h>

#ifndef _WIN32

void gdb_put_thread(struct gdb_server *server, uint32_t thread)
{
    if (server->multiprocess)
        pug_sink_format(&server->sink, "p%x.", session_process(server->session, thread));
    pug_sink_format(&server->sink, "%x", thread + 1);
}

bool gdb_take_number(const char **words, uint64_t *number)
{
    const char *at = *words;
    *number = 0;
    for (unsigned digits = 0; digits < 16; digits++, at++) {
        const char c = *at;
        if (c >= '0' && c <= '9')
            *number = *number << 4 | (uint64_t)(c - '0');
        else if (c >= 'a' && c <= 'f')
            *number = *number << 4 | (uint64_t)(c - 'a' + 10);
        else if (c >= 'A' && c <= 'F')
            *number = *number << 4 | (uint64_t)(c - 'A' + 10);
        else
            break;
    }
    const bool any = at != *words;
    *words = at;
    return any;
}

/** The first thread of a process, of the one that moves if it is in it. */
static bool find_in_process(struct gdb_server *server, uint64_t process, uint32_t *thread)
{
    struct session *session = server->session;
    if (session_process(session, session->thread) == process) {
        *thread = session->thread;
        return true;
    }
    for (*thread = 0; pug_history_thread_at(session->history, *thread); ++*thread)
        if (session_process(session, *thread) == process)
            return true;
    return false;
}

bool gdb_take_thread(struct gdb_server *server, const char *words, uint32_t *thread,
                     const char **end)
{
    uint64_t process = 0, number;
    *thread = PUG_HISTORY_ANY;
    *end = words;
    if (*words == 'p') {
        words++;
        if (strncmp(words, "-1", 2) == 0)
            words += 2;
        else if (!gdb_take_number(&words, &process))
            return false;
        *end = words;
        if (*words != '.')
            return process == 0 || find_in_process(server, process, thread);
        words++;
    }
    if (strncmp(words, "-1", 2) == 0) {
        *end = words + 2;
        return true;
    }
    if (!gdb_take_number(&words, &number))
        return false;
    *end = words;
    if (number == 0)
        return process == 0 || find_in_process(server, process, thread);
    if (number > UINT32_MAX || !pug_history_thread_at(server->session->history, number - 1))
        return false;
    *thread = (uint32_t)(number - 1);
    return true;
}

#endif
