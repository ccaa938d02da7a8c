// SPDX-License-Identifier: MIT
/**
 * @file pugmark live: keeps the newest bytes of a live input, and shows how it came to its end
 * whenever the stream stops: at a breakpoint, after a crash, when the board is reset.
 */
#include "live/live.h"
#include "common/command.h"
#include "common/messages.h"
#include "common/output.h"
#include "common/sandbox.h"
#include "files/scratch.h"
#include "files/whole.h"
#include "input/live_input.h"
#include "input/live_save.h"
#include "pugmark/author/protocol.h"
#include "record/snapshot_files.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

struct live_command {
    struct input_options input;
    const char *last;
    uint64_t pause;
    bool once;
};

static const struct option table[] = {
    {"last", "N", "show the last N instructions (default 50)", option_string,
     offsetof(struct live_command, last)},
    {"pause", "TIME", "the stream has stopped when nothing comes for so long (default 1s)",
     live_take_time, offsetof(struct live_command, pause)},
    {"once", NULL, "end when it has stopped, instead of listening again", option_flag,
     offsetof(struct live_command, once)},
};

/** The newest bytes; `dropped`: older ones that there was no room for. */
struct ring {
    uint8_t *bytes;
    size_t room, at, count;
    uint64_t dropped;
};

static void ring_put(struct ring *ring, const uint8_t *bytes, size_t size)
{
    const size_t over = ring->count + size > ring->room ? ring->count + size - ring->room : 0;
    if (size > ring->room) {
        bytes += size - ring->room;
        size = ring->room;
    }
    const size_t first = size < ring->room - ring->at ? size : ring->room - ring->at;
    memcpy(ring->bytes + ring->at, bytes, first);
    memcpy(ring->bytes, bytes + first, size - first);
    ring->at = (ring->at + size) % ring->room;
    ring->count = ring->count + size < ring->room ? ring->count + size : ring->room;
    ring->dropped += over;
}

/** The ring's newest bytes in their order, into a file that is there as long as its descriptor is.
 */
static int ring_save(const struct ring *ring, size_t most)
{
    const size_t count = ring->count < most ? ring->count : most;
    const size_t begin = (ring->at + ring->room - count) % ring->room;
    const size_t first = count < ring->room - begin ? count : ring->room - begin;
    const int file = pug_scratch_open();
    if (file >= 0 && pug_write_whole(file, ring->bytes + begin, first) &&
        pug_write_whole(file, ring->bytes, count - first) && lseek(file, 0, SEEK_SET) == 0)
        return file;
    if (file >= 0)
        close(file);
    return -1;
}

/* ---- showing the end ---- */

/** Find out what bytes are when no option says it: the words that a command needs. */
static size_t guess_words(const struct live_command *options, const uint8_t *bytes, size_t size,
                          const char **words)
{
    size_t count = 0;
    if (options->input.protocol || options->input.params)
        return 0;
    const enum pug_live_kind kind =
        pug_live_guess(bytes, size < PUG_LIVE_ENOUGH ? size : PUG_LIVE_ENOUGH, true, true);
    words[count++] = "--protocol=itm";
    if (kind == PUG_LIVE_TPIU)
        words[count++] = "--transport=coresight", words[count++] = "--set=fsyncs=1";
    if (kind == PUG_LIVE_ORBFLOW)
        words[count++] = "--transport=orbflow";
    if (kind == PUG_LIVE_ITM_OPEN)
        words[count++] = "--set=begin_at=0", words[count++] = "--set=guess_sync=1";
    return count;
}

/** Are the options of this name of `pugmark live` alone? */
static bool is_own(const char *word, bool *has_argument)
{
    static const char *const own[] = {"last", "ring", "pause", "save", "for", "until"};
    const size_t length = strcspn(word + 2, "=");
    *has_argument = word[2 + length] == 0;
    for (size_t i = 0; i < sizeof(own) / sizeof(own[0]); i++)
        if (strlen(own[i]) == length && strncmp(word + 2, own[i], length) == 0)
            return true;
    *has_argument = false;
    return strncmp(word, "--retry", 7) == 0 || strcmp(word, "--once") == 0;
}

/* So many of the newest bytes are listed, of which few lines are shown. */
#define LISTED_MOST ((size_t)256 << 10)

static const struct pug_protocol *protocol_of(const struct live_command *options)
{
    const struct pug_protocol *protocol = NULL;
    const char *name = options->input.protocol;
    for (size_t n = 0; name && (protocol = pug_protocol_at(n)) != NULL; n++)
        if (strncasecmp(protocol->name, name, strlen(name)) == 0)
            break;
    return protocol;
}

static bool has_text(const struct pug_protocol *protocol)
{
    return protocol && protocol->description && protocol->description->dwt;
}

/** Does a protocol have neither program flow nor an ITM's text? Its elements are listed. */
static bool is_listed(const struct pug_protocol *protocol)
{
    return protocol && !protocol->program_flow && !has_text(protocol);
}

/** The last lines of a file, as far as they are in its last bytes. */
static void put_last_lines(int file, uint64_t count)
{
    static char text[1 << 16];
    const off_t size = lseek(file, 0, SEEK_END);
    const off_t from = size > (off_t)sizeof(text) ? size - (off_t)sizeof(text) : 0;
    const ssize_t got =
        lseek(file, from, SEEK_SET) == from ? read(file, text, sizeof(text)) : (ssize_t)-1;
    const size_t end = got > 0 ? (size_t)got : 0;
    size_t at = end;
    for (; at > 0 && count > 0; count--)
        for (at--; at > 0 && text[at - 1] != '\n';)
            at--;
    output_text("%.*s", (int)(end - at), text + at);
}

/** `pugmark list` of the newest bytes, of which the last lines are shown. */
static int list_end(const struct live_command *options, int argc, char **argv)
{
    const int lines = pug_scratch_open(), output = dup(STDOUT_FILENO);
    uint64_t count = 50;
    int code = EXIT_FATAL;
    if (options->last)
        (void)parse_number(options->last, &count);
    output_flush();
    if (lines >= 0 && output >= 0 && dup2(lines, STDOUT_FILENO) >= 0) {
        code = command_list.run(&command_list, argc, argv);
        output_flush();
        (void)dup2(output, STDOUT_FILENO);
        put_last_lines(lines, count);
    }
    if (lines >= 0)
        close(lines);
    if (output >= 0)
        close(output);
    return code;
}

/** The command that shows the end, with the user's options but those of this command. */
static int show_end(const struct live_command *options, const struct ring *ring, char *const *given,
                    size_t given_count)
{
    char input[32];
    const char *guessed[4];
    const bool listed = is_listed(protocol_of(options));
    const int file = ring_save(ring, listed ? LISTED_MOST : SIZE_MAX);
    /* Behind what was dropped the begin is no begin: the guess is of what is in the ring. */
    const size_t guesses = guess_words(options, ring->bytes, ring->count, guessed);
    const bool itm = guesses > 0 || has_text(protocol_of(options));
    char **argv = calloc(given_count + guesses + 8, sizeof(*argv));
    size_t count = 0;
    if (file < 0 || !argv) {
        message_say("pugmark: the newest bytes cannot be kept in %s\n", pug_scratch_folder());
        free(argv);
        return EXIT_FATAL;
    }
    argv[count++] = (char *)(uintptr_t)(itm ? "itm" : listed ? "list" : "trace");
    if (listed) {
        argv[count++] = (char *)(uintptr_t) "--jobs=1";
    } else if (!itm) {
        argv[count++] = (char *)(uintptr_t) "--no-pager";
        argv[count++] = (char *)(uintptr_t) "--last";
        argv[count++] = (char *)(uintptr_t)(options->last ? options->last : "50");
    }
    for (size_t i = 0; i < given_count; i++) {
        bool skip;
        if (strncmp(given[i], "--", 2) == 0 && is_own(given[i], &skip))
            i += skip;
        else
            argv[count++] = given[i];
    }
    for (size_t i = 0; i < guesses; i++)
        argv[count++] = (char *)(uintptr_t)guessed[i];
    snprintf(input, sizeof(input), "/dev/fd/%d", file);
    argv[count++] = input;
    const struct command *command = itm ? &command_itm : &command_trace;
    const int code =
        listed ? list_end(options, (int)count, argv) : command->run(command, (int)count, argv);
    output_flush();
    free(argv);
    close(file);
    return code;
}

/* ---- --save FOLDER/ ---- */

/** The options as they would be given to read a saved file. False: it cannot be read. */
static bool take_guesses(const struct live_command *given, const char *path,
                         struct input_options *options)
{
    uint8_t bytes[PUG_LIVE_ENOUGH];
    const char *words[4];
    FILE *file = fopen(path, "rb");
    const size_t size = file ? fread(bytes, 1, sizeof(bytes), file) : 0;
    const size_t count = size > 0 ? guess_words(given, bytes, size, words) : 0;
    bool good = size > 0;
    if (file)
        fclose(file);
    for (size_t i = 0; i < count; i++) {
        const char *value = strchr(words[i], '=') + 1;
        if (strncmp(words[i], "--set", 5) == 0)
            good &= option_list_add(&options->settings, value);
        else if (strncmp(words[i], "--protocol", 10) == 0)
            options->protocol = value;
        else
            options->transport = value;
    }
    return good;
}

/** What was saved, with what is needed to open it again. */
static void describe_saved(const struct live_command *given, struct pug_live *live)
{
    const char *folder = given->input.live.save;
    const struct pug_live_connection *connection;
    struct input_options options = given->input;
    struct input input;
    char name[64], path[4096];
    size_t n = 0;
    pug_live_close(live);
    while ((connection = pug_live_connection_at(live, n)) != NULL && connection->bytes == 0)
        n++;
    if (!connection)
        return;
    pug_live_connection_file(n, name, sizeof(name));
    snprintf(path, sizeof(path), "%s%s", folder, name);
    options.live = (struct live_options){0};
    if (!take_guesses(given, path, &options) || !input_open(&input, &options, path))
        return;
    if (snapshot_copy_programs(&input, folder))
        live_save_describe(&input, folder, live);
    input_close(&input);
}

/* ---- reading ---- */

struct following {
    const struct live_command *options;
    struct pug_live *live;
    struct ring ring;
    char *const *given; /* words without the operand */
    size_t given_count;
    const char *operand;
    bool shown; /* the end of what is in the ring was shown */
    int code;
};

static void say(void *context, const char *text)
{
    const struct following *following = context;
    message_say("pugmark: %s: %s\n", following->operand, text);
}

static void stop_here(struct following *following, const char *why)
{
    struct ring *ring = &following->ring;
    if (following->shown || ring->count == 0)
        return;
    message_say("pugmark: %s: ", following->operand);
    if (ring->dropped)
        message_say("%s; of what came the newest %zu bytes are kept, %llu before them are not\n",
                    why, ring->count, (unsigned long long)ring->dropped);
    else
        message_say("%s after %zu bytes\n", why, ring->count);
    following->code = show_end(following->options, ring, following->given, following->given_count);
    following->shown = true;
}

static void follow(struct following *following)
{
    uint8_t bytes[1 << 14];
    const struct live_command *options = following->options;
    for (bool more = true; more;) {
        const int timeout =
            following->shown || following->ring.count == 0 ? -1 : (int)options->pause;
        const int64_t got = pug_live_read(following->live, bytes, sizeof(bytes), timeout);
        if (got == PUG_LIVE_PAUSE) {
            stop_here(following, "the stream has stopped");
            more = !options->once;
        } else if (got == PUG_LIVE_GAP) {
            stop_here(following, "the peer went away");
            following->ring.count = following->ring.at = 0;
            following->ring.dropped = 0;
            more = !options->once;
        } else if (got > 0) {
            following->shown = false;
            ring_put(&following->ring, bytes, (size_t)got);
        } else {
            stop_here(following, "the stream is over");
            more = false;
        }
    }
}

static bool open_live(struct following *following)
{
    const struct live_command *options = following->options;
    struct pug_capture_stream stream;
    struct pug_live_place place;
    const char *why;
    bool is_stream;
    if (!live_begin(&options->input.live, following->operand, &stream, &is_stream))
        return false;
    if (!is_stream || !pug_live_place(following->operand, &place, &why)) {
        message_say("pugmark: %s: %s\n", following->operand,
                    is_stream ? why : "no live input; `pugmark trace` shows a file");
        following->code = EXIT_USAGE;
        return false;
    }
    const struct pug_live_options wanted = {.retry = options->input.live.retry,
                                            .retry_ms = stream.retry_ms,
                                            .duration_ms = stream.duration_ms,
                                            .save = stream.save,
                                            .ring = stream.ring,
                                            .stop = stream.has_stop ? stream.stop : -1,
                                            .say = say,
                                            .context = following};
    if (!sandbox_start(&options->input))
        return false;
    if (pug_live_open(&place, &wanted, &following->live) == PUG_OK)
        return true;
    message_say("pugmark: %s: %s\n", following->operand,
                following->live ? pug_live_why(following->live) : "out of memory");
    return false;
}

static int live_run(const struct command *self, int argc, char **argv)
{
    struct live_command options = {.input.live.ring = PUG_LIVE_ROOM, .pause = 1000};
    const struct option_set sets[] = {OPTION_SET(table, &options), INPUT_OPTIONS(&options.input)};
    char **given = calloc((size_t)argc + 1, sizeof(*given));
    if (!given)
        return EXIT_FATAL;
    memcpy(given, argv + 1, (size_t)(argc - 1) * sizeof(*given));
    const int end = command_start(self, argc, argv, sets, 2, 1);
    if (end >= 0) {
        free(given);
        return end;
    }
    struct following following = {
        .options = &options, .given = given, .operand = argv[1], .code = EXIT_INPUT};
    for (int i = 0; i < argc - 1; i++) /* the operand stood among the options */
        if (strcmp(given[i], argv[1]) != 0)
            given[following.given_count++] = given[i];
    following.ring.room = options.input.live.ring ? (size_t)options.input.live.ring : 1;
    following.ring.bytes = malloc(following.ring.room);
    if (!following.ring.bytes)
        message_say("pugmark: out of memory\n");
    else if (open_live(&following)) {
        follow(&following);
        if (pug_live_came(following.live) == 0)
            message_say("pugmark: %s: no byte came: is trace enabled at the peer?\n",
                        following.operand);
    }
    if (following.live)
        describe_saved(&options, following.live);
    pug_live_free(following.live);
    free(following.ring.bytes);
    free(given);
    return following.code;
}

const struct command command_live = {
    .name = "live",
    .operands = "INPUT",
    .summary = "keep the newest trace of a live input; show its end when it stops",
    .run = live_run,
    .task = TASK_LIVE,
    .purpose = "Keeps the newest trace of a live input and shows how it came to its end when the "
               "target stops: the last instructions, or the text of an ITM.",
    .examples =
        {
            {"pugmark live --last 100 openocd --elf firmware.elf",
             "the last 100 instructions whenever the target halts"},
            {"pugmark live --once tcp:localhost:2332 --protocol itm", "waits for one stop"},
            {"pugmark live --ring 16777216 orbuculum --elf firmware.elf", "keeps 16 MB"},
        },
};
