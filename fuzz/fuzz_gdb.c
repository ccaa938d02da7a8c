// SPDX-License-Identifier: MIT
/**
 * @file Any bytes from a client of `pugmark gdb`: each packet is answered, and the server is there
 * until the client leaves. It serves one history, that of examples/crash.
 */
#include "driver.h"
#include "files.h"
#include "gdb/server.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

/* Ends what is under way, whatever it is, and leaves. */
static const char leaving[] = "##$k#6b$k#6b";

static void need(bool good)
{
    if (!good)
        abort();
}

static struct session *session(void)
{
    static struct session opened;
    static bool open;
    const struct session_options options = {.input = {.quiet = true, .no_sandbox = true}};
    if (!open)
        need(session_open(&opened, &options, PUG_SOURCE_DIR "/examples/crash"));
    open = true;
    return &opened;
}

static void send_all(int file, const void *bytes, size_t size)
{
    need(size == 0 || write(file, bytes, size) == (ssize_t)size);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static int nowhere = -1;
    int ends[2];
    struct gdb_link *link = calloc(1, sizeof(*link));
    if (nowhere < 0)
        nowhere = open("/dev/null", O_WRONLY | O_CLOEXEC);
    need(link && nowhere >= 0 && socketpair(AF_UNIX, SOCK_STREAM, 0, ends) == 0);
    send_all(ends[0], data, size);
    send_all(ends[0], leaving, sizeof(leaving) - 1);
    link->in = ends[1];
    link->out = nowhere;
    session_go(session(), 0);
    gdb_serve(session(), link);
    need(!link->closed);
    free(link);
    close(ends[0]);
    close(ends[1]);
    return 0;
}

/* ---- dialogues to begin with ---- */

static const char *const packets[] = {"qSupported:swbreak+;multiprocess+",
                                      "?",
                                      "g",
                                      "p20",
                                      "Hgp1.1",
                                      "Hc-1",
                                      "Tp1.1",
                                      "qC",
                                      "vCont?",
                                      "vCont;s:p1.1;c:p1.-1",
                                      "vCont;c:p1.-1",
                                      "vCont;r210264,210270:p1.1",
                                      "bs",
                                      "bc",
                                      "m210264,20",
                                      "mfffffffff0000000,200",
                                      "Z0,210398,4",
                                      "z0,210398,4",
                                      "Z2,1000,4",
                                      "s",
                                      "c",
                                      "qXfer:features:read:target.xml:0,fff",
                                      "qXfer:threads:read::0,fff",
                                      "qXfer:exec-file:read:1:0,fff",
                                      "qXfer:libraries:read::0,fff",
                                      "qOffsets",
                                      "qAttached:1",
                                      "qfThreadInfo",
                                      "qThreadExtraInfo,p1.1",
                                      "QStartNoAckMode",
                                      "D"};
static const char *const commands[] = {"goto exception",
                                       "goto #700",
                                       "goto time 8769189",
                                       "goto 100",
                                       "where",
                                       "find address 0x210398",
                                       "find exception before",
                                       "history 30",
                                       "losses",
                                       "calls",
                                       "compare",
                                       "back-line",
                                       "back-over",
                                       "status",
                                       "time",
                                       "help"};
#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

static size_t put_packet(uint8_t *data, size_t room, struct rec_random *random)
{
    char words[200];
    const char *command = commands[rec_random_below(random, COUNT(commands))];
    snprintf(words, sizeof(words), "%s", packets[rec_random_below(random, COUNT(packets))]);
    if (rec_random_below(random, 3) == 0) {
        size_t at = (size_t)snprintf(words, sizeof(words), "qRcmd,");
        for (; *command; command++)
            at += (size_t)snprintf(words + at, sizeof(words) - at, "%02x", (unsigned)*command);
    }
    const int count = snprintf((char *)data, room, "$%s#00", words);
    return count > 0 && (size_t)count < room ? (size_t)count : 0;
}

size_t fuzz_begin(uint8_t *data, size_t room, struct rec_random *random)
{
    size_t size = 0;
    for (uint32_t n = 1 + rec_random_below(random, 12); n > 0; n--)
        size += put_packet(data + size, room - size, random);
    fuzz_mend(data, size);
    return size;
}

/** Gives each packet its checksum. */
void fuzz_mend(uint8_t *data, size_t size)
{
    static const char hex[] = "0123456789abcdef";
    unsigned sum = 0;
    for (size_t at = 0; at + 2 < size; at++) {
        if (data[at] == '$') {
            sum = 0;
        } else if (data[at] == '#') {
            data[at + 1] = (uint8_t)hex[sum >> 4 & 15];
            data[at + 2] = (uint8_t)hex[sum & 15];
        } else {
            sum += data[at];
        }
    }
}
