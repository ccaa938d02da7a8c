// SPDX-License-Identifier: MIT
#include "done.h"

#include "common/output.h"
#include "files/infile.h"
#include "files/outfile.h"
#include "files/whole.h"
#include "schedule/peers.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define PIECE ((size_t)1 << 20)
/* Largest size of a file of results: no small input prints more. */
#define SIZE_LIMIT ((size_t)1 << 31)

static const int descriptors[2] = {STDOUT_FILENO, STDERR_FILENO};

/* ---- keeping ---- */

bool done_begin(struct done *done)
{
    *done = (struct done){.is = true, .before = {-1, -1}};
    fflush(NULL);
    for (int i = 0; i < 2; i++) {
        done->printed[i] = tmpfile();
        if (!done->printed[i])
            return false;
        done->before[i] = dup(descriptors[i]);
        (void)dup2(fileno(done->printed[i]), descriptors[i]);
    }
    return true;
}

void done_end(struct done *done, int code)
{
    fflush(NULL);
    done->code = code;
    for (int i = 0; i < 2; i++) {
        if (done->before[i] < 0)
            continue;
        (void)dup2(done->before[i], descriptors[i]);
        close(done->before[i]);
        done->before[i] = -1;
    }
}

void done_free(struct done *done)
{
    for (int i = 0; i < 2; i++)
        if (done->printed[i])
            fclose(done->printed[i]);
    *done = (struct done){0};
}

/* ---- what was printed ---- */

static uint64_t size_of(FILE *file)
{
    return file && fseeko(file, 0, SEEK_END) == 0 ? (uint64_t)ftello(file) : 0;
}

/** Each piece of what was printed to something. */
static void each_piece(FILE *file, void (*give)(void *context, const uint8_t *bytes, size_t size),
                       void *context)
{
    uint8_t *bytes = malloc(PIECE);
    size_t size;
    if (file)
        rewind(file);
    while (file && bytes && (size = fread(bytes, 1, PIECE, file)) > 0)
        give(context, bytes, size);
    free(bytes);
}

static void print_piece(void *context, const uint8_t *bytes, size_t size)
{
    if (*(const int *)context == STDOUT_FILENO)
        output_sink()->put(NULL, bytes, size);
    else
        (void)pug_write_whole(STDERR_FILENO, bytes, size); /* or the reader has gone */
}

void done_print(struct done *done)
{
    for (int i = 0; i < 2; i++) {
        int descriptor = descriptors[i];
        each_piece(done->printed[i], print_piece, &descriptor);
        output_flush();
    }
}

/* ---- among processes ---- */

struct header {
    int64_t code;
    uint64_t sizes[2];
};

static void send_piece(void *context, const uint8_t *bytes, size_t size)
{
    pug_peers_send(context, 0, PUG_PEERS_DATA, bytes, size);
}

void done_send(struct done *done, struct pug_peers *peers)
{
    const struct header header = {done->code,
                                  {size_of(done->printed[0]), size_of(done->printed[1])}};
    pug_peers_send(peers, 0, PUG_PEERS_DATA, &header, sizeof(header));
    for (int i = 0; i < 2; i++)
        each_piece(done->printed[i], send_piece, peers);
}

void done_receive(struct done *done, struct pug_peers *peers, unsigned from)
{
    struct pug_peers_message message;
    struct header header = {.code = 3};
    (void)pug_peers_receive(peers, from, PUG_PEERS_DATA, true, &message);
    if (message.size == sizeof(header))
        memcpy(&header, message.bytes, sizeof(header));
    free(message.bytes);
    *done = (struct done){.is = true, .code = (int)header.code};
    for (int i = 0; i < 2; i++) {
        done->printed[i] = tmpfile();
        for (uint64_t left = header.sizes[i]; left > 0; left -= message.size) {
            (void)pug_peers_receive(peers, from, PUG_PEERS_DATA, true, &message);
            if (done->printed[i])
                (void)fwrite(message.bytes, 1, message.size, done->printed[i]);
            free(message.bytes);
        }
    }
}

/* ---- to go on later ---- */

/** Describe an input so that it differs from other inputs, and from itself after a change. */
static bool describe(const char *input, uint64_t command, char text[512])
{
    struct stat status;
    const bool there = stat(input, &status) == 0;
    if (there)
        snprintf(text, 512, "%.400s\n%" PRIu64 " %" PRIu64 " %" PRIx64 "\n", input,
                 (uint64_t)status.st_size, (uint64_t)status.st_mtime, command);
    return there;
}

static bool path_of(const char *folder, uint32_t number, char path[4096])
{
    const int length = snprintf(path, 4096, "%s/%06" PRIu32 ".done", folder, number);
    return length > 0 && length < 4096;
}

static void save_piece(void *context, const uint8_t *bytes, size_t size)
{
    const struct pug_sink *sink = context;
    sink->put(sink->context, bytes, size);
}

void done_save(struct done *done, const char *folder, uint32_t number, const char *input,
               uint64_t command)
{
    struct header header = {done->code, {size_of(done->printed[0]), size_of(done->printed[1])}};
    char path[4096], text[512];
    struct pug_outfile *file;
    if (!path_of(folder, number, path) || !describe(input, command, text) ||
        pug_outfile_open(path, &file) != PUG_OK)
        return; /* it will be done again */
    struct pug_sink sink = pug_outfile_sink(file);
    sink.put(sink.context, text, strlen(text));
    sink.put(sink.context, &header, sizeof(header));
    for (int i = 0; i < 2; i++)
        each_piece(done->printed[i], save_piece, &sink);
    (void)pug_outfile_commit(file);
}

bool done_load(struct done *done, const char *folder, uint32_t number, const char *input,
               uint64_t command)
{
    char path[4096], text[512];
    struct header header;
    uint8_t *bytes = NULL;
    size_t size = 0;
    if (!path_of(folder, number, path) || !describe(input, command, text) ||
        pug_infile_load(path, SIZE_LIMIT, &bytes, &size) != PUG_OK)
        return false;
    const size_t begin = strlen(text);
    bool good = size >= begin + sizeof(header) && memcmp(bytes, text, begin) == 0;
    if (good) {
        memcpy(&header, bytes + begin, sizeof(header));
        good = header.sizes[0] + header.sizes[1] == size - begin - sizeof(header);
    }
    const uint8_t *at = bytes + begin + sizeof(header);
    for (int i = 0; good && i < 2; i++) {
        good = done->printed[i] &&
               fwrite(at, 1, (size_t)header.sizes[i], done->printed[i]) == header.sizes[i];
        at += header.sizes[i];
    }
    free(bytes);
    if (good)
        done_end(done, (int)header.code);
    return good;
}
