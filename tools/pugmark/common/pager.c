// SPDX-License-Identifier: MIT
#include "pager.h"
#include "common/messages.h"

#include "command.h"
#include "files/whole.h"
#include "terminal.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct pager {
    FILE *pipe; /* to the pager, or NULL */
    bool terminal;
    int error; /* errno of the first write that failed */
    size_t count;
    char bytes[1 << 16];
};

static const char *program(void)
{
#ifdef _WIN32
    return NULL; /* output goes straight */
#endif
    const char *own = getenv("PUGMARK_PAGER"), *any = getenv("PAGER");
    const char *chosen = own ? own : any ? any : "less";
    return *chosen && strcmp(chosen, "cat") != 0 ? chosen : NULL;
}

bool pager_starts(bool straight)
{
    return isatty(STDOUT_FILENO) && !straight && program();
}

struct pager *pager_open(bool straight)
{
    struct pager *pager = malloc(sizeof(*pager));
    if (!pager) {
        message_say("pugmark: out of memory\n");
        return NULL;
    }
    pager->pipe = NULL;
    pager->error = 0;
    pager->count = 0;
    pager->terminal = isatty(STDOUT_FILENO);
    if (pager_starts(straight)) {
        setenv("LESS", "FRX", 0); /* short output stays, colours are colours */
        pager->pipe = popen(program(), "w");
    }
    return pager;
}

static void empty(struct pager *pager)
{
    int descriptor = pager->pipe ? fileno(pager->pipe) : STDOUT_FILENO;
    if (!pager->error && !pug_write_whole(descriptor, pager->bytes, pager->count))
        pager->error = errno;
    pager->count = 0;
}

static void put(void *context, const void *bytes, size_t size)
{
    struct pager *pager = context;
    const char *at = bytes;
    while (size > 0) {
        size_t room = sizeof(pager->bytes) - pager->count, part = size < room ? size : room;
        memcpy(pager->bytes + pager->count, at, part);
        pager->count += part;
        at += part;
        size -= part;
        if (pager->count == sizeof(pager->bytes))
            empty(pager);
    }
}

struct pug_sink pager_sink(struct pager *pager)
{
    return (struct pug_sink){.put = put, .context = pager};
}

bool pager_colour(const struct pager *pager)
{
    return pager->terminal && terminal_colour(stdout, "auto");
}

bool pager_wanted(struct pager *pager)
{
    return pager->error == 0;
}

void pager_flush(struct pager *pager)
{
    empty(pager);
    if (pager->pipe)
        fflush(pager->pipe);
}

int pager_close(struct pager *pager)
{
    empty(pager);
    int error = pager->error == EPIPE ? 0 : pager->error;
    if (pager->pipe)
        pclose(pager->pipe);
    free(pager);
    if (error == 0)
        return EXIT_DONE;
    message_say("pugmark: cannot write the output: %s\n", strerror(error));
    return EXIT_INPUT;
}
