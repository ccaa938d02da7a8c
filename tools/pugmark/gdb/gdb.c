// SPDX-License-Identifier: MIT
/**
 * @file pugmark gdb: lets GDB debug what ran, forwards and backwards; it serves GDB's remote
 * protocol, or starts GDB with all that it needs.
 */
#include "common/command.h"
#include "common/messages.h"
#include "common/sandbox.h"
#include "launch.h"
#include "server.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#ifndef _WIN32
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <signal.h>
#include <sys/socket.h>
#include <unistd.h>
#endif

struct gdb_options {
    struct session_options session;
    struct option_value port;
    const char *gdb;
    bool stdio, once;
};

static bool take_port(const struct option *option, void *target, const char *argument)
{
    struct option_value *port = target;
    port->given = true;
    return option_up_to(option, argument, 65535, &port->value);
}

static const struct option table[] = {
    {"port", "N", "wait for GDB at this port of 127.0.0.1 (default 2159; 0: any free one)",
     take_port, offsetof(struct gdb_options, port)},
    {"stdio", NULL, "GDB is at standard input and output: `target remote | pugmark gdb …`",
     option_flag, offsetof(struct gdb_options, stdio)},
    {"once", NULL, "end when GDB has gone, instead of waiting for another", option_flag,
     offsetof(struct gdb_options, once)},
    {"gdb", "PROGRAM", "with -- GDB ARGS: this GDB (default gdb-multiarch)", option_string,
     offsetof(struct gdb_options, gdb)},
};

#ifdef _WIN32

static int serve(const struct gdb_options *options, const char *operand)
{
    (void)options;
    (void)operand;
    message_say("pugmark: gdb needs a POSIX system: on Windows run it in WSL\n");
    return EXIT_USAGE;
}

#else

#define DEFAULT_PORT 2159

/* ---- listening ---- */

/** A socket that listens at this machine alone; -1, having said why. */
static int listen_at(unsigned port, unsigned *bound)
{
    struct sockaddr_in address = {.sin_family = AF_INET,
                                  .sin_port = htons((uint16_t)port),
                                  .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t size = sizeof(address);
    const int on = 1, file = socket(AF_INET, SOCK_STREAM, 0);
    if (file >= 0) {
        (void)fcntl(file, F_SETFD, FD_CLOEXEC);
        (void)setsockopt(file, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on));
    }
    if (file >= 0 && bind(file, (struct sockaddr *)&address, size) == 0 && listen(file, 4) == 0 &&
        getsockname(file, (struct sockaddr *)&address, &size) == 0) {
        *bound = ntohs(address.sin_port);
        return file;
    }
    message_say("pugmark: port %u of 127.0.0.1 cannot be had: %s. Choose another with --port, or "
                "--port 0\n",
                port, strerror(errno));
    if (file >= 0)
        close(file);
    return -1;
}

/** The next peer. Another that comes while one is served waits until that has gone. */
static int accept_peer(int listener)
{
    const int on = 1;
    int file;
    do
        file = accept(listener, NULL, NULL);
    while (file < 0 && (errno == EINTR || errno == ECONNABORTED));
    if (file < 0)
        return -1;
    (void)fcntl(file, F_SETFD, FD_CLOEXEC);
    (void)setsockopt(file, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
    return file;
}

static void serve_port(struct session *session, const struct gdb_options *options, int listener,
                       unsigned port)
{
    message_say("pugmark: GDB can connect now:\n");
    message_say("    gdb-multiarch -ex 'set osabi none' -ex 'set sysroot /' -ex 'target remote "
                "127.0.0.1:%u'\n",
                port);
    fflush(stderr);
    for (bool more = true; more;) {
        const int file = accept_peer(listener);
        if (file < 0)
            break;
        struct gdb_link *link = calloc(1, sizeof(*link));
        if (link) {
            link->in = link->out = file;
            gdb_serve(session, link);
        }
        free(link);
        close(file);
        more = !options->once;
    }
}

static int serve_stdio(struct session *session)
{
    struct gdb_link *link = calloc(1, sizeof(*link));
    if (!link)
        return EXIT_FATAL;
    signal(SIGINT, SIG_IGN); /* it is GDB's */
    link->in = STDIN_FILENO;
    link->out = STDOUT_FILENO;
    gdb_serve(session, link);
    free(link);
    return EXIT_DONE;
}

static int serve(const struct gdb_options *options, const char *operand)
{
    struct session session;
    unsigned port = options->port.given ? (unsigned)options->port.value : DEFAULT_PORT;
    /* Before the input is opened: from then on no port can be had (sandbox.h). */
    const int listener = options->stdio ? -1 : listen_at(port, &port);
    int code = EXIT_DONE;
    if (!options->stdio && listener < 0)
        return EXIT_USAGE;
    if (session_open(&session, &options->session, operand)) {
        if (options->stdio)
            code = serve_stdio(&session);
        else
            serve_port(&session, options, listener, port);
        const int closed = session_close(&session);
        code = code == EXIT_DONE ? closed : code;
    } else {
        code = session.code;
    }
    if (listener >= 0)
        close(listener);
    return code;
}

#endif

static int run(const struct command *self, int argc, char **argv)
{
    struct gdb_options options = {.gdb = "gdb-multiarch"};
    const struct option_set sets[] = {OPTION_SET(table, &options),
                                      CAPTURE_OPTIONS(&options.session.capture),
                                      INPUT_OPTIONS(&options.session.input)};
    int words = 1;
    while (words < argc && strcmp(argv[words], "--") != 0)
        words++;
    char **copy = calloc((size_t)words + 1, sizeof(*copy)); /* parsing reorders words */
    if (!copy)
        return EXIT_FATAL;
    for (int i = 0; i < words; i++)
        copy[i] = argv[i];
    int code = command_start(self, words, copy, sets, 3, 1);
    if (code < 0 && words < argc && (options.stdio || options.port.given)) {
        message_say("pugmark: -- starts GDB itself, so --port and --stdio have no meaning with "
                    "it. Leave one of them out\n");
        code = EXIT_USAGE;
    }
    if (code < 0 && words < argc)
        code = gdb_launch(options.gdb, copy[1], words, argv);
    if (code < 0)
        code = serve(&options, copy[1]);
    free(copy);
    return code;
}

const struct command command_gdb = {
    .name = "gdb",
    .operands = "INPUT [-- GDB ARGS]",
    .summary = "debug what ran in GDB, forwards and backwards",
    .run = run,
    .task = TASK_DEBUG,
    .purpose = "Lets GDB debug what ran: step, continue and finish in both directions, with "
               "breakpoints and backtraces. It serves GDB's remote protocol, or starts GDB.",
    .examples =
        {
            {"pugmark gdb examples/crash -- -batch -ex \"pugmark goto exception\" -ex bt",
             "the call stack at the fault"},
            {"pugmark gdb board --elf firmware.elf -- -ex \"pugmark goto end\"",
             "stays in GDB, at the end of a capture of your own"},
            {"pugmark gdb --port 2160 board --elf firmware.elf",
             "a server, for a GDB or an editor of your own"},
        },
};
