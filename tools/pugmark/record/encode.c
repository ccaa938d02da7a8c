// SPDX-License-Identifier: MIT
/**
 * @file pugmark encode: packets in words, one a line, into the RISC-V packet encapsulation or into
 * Open SoC Debug datagrams. What `pugmark list --packets` shows can be made with it, byte for byte.
 *
 *     encapsulation   packet SOURCE TYPE PAYLOAD [flow=F] [time=T]     PAYLOAD: hexadecimal bytes
 *                     idle [COUNT] [flow=F]   alignment [flow=F]   nulls COUNT   sync
 *     osd             ctm MODULE WIDTH TIME NPC PC FLAGS     stm MODULE WIDTH TIME ID VALUE
 *                     overflow MODULE MISSED                 register MODULE NUMBER VALUE
 *
 * Numbers are decimal, or hexadecimal after 0x. A # begins a comment.
 */
#include "common/command.h"
#include "common/messages.h"
#include "common/progress.h"
#include "common/sandbox.h"
#include "common/terminal.h"
#include "files/outfile.h"
#include "recorder/encapsulation.h"
#include "recorder/osd.h"
#include "recorder/script.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MOST_WIDTHS  256u
#define MOST_PAYLOAD 64u

#define WIDTH_OF      "type_bits_" /* and a source's number */
#define WIDTH_OF_SIZE (sizeof(WIDTH_OF) - 1)

static const char *word_of(const struct rec_words *words, const char *name, const char *otherwise)
{
    const char *value = rec_words_value(words, name);
    return value ? value : otherwise;
}

/* ---- encapsulation ---- */

struct wrapper {
    struct rec_encapsulation to;
    struct rec_type_width widths[MOST_WIDTHS];
    struct rec_random random;
    uint64_t shift;
};

static bool take_widths(struct wrapper *wrapper, const struct rec_words *settings)
{
    for (size_t i = 0; i < settings->count; i++) {
        const char *at = settings->at[i];
        if (strncmp(at, WIDTH_OF, WIDTH_OF_SIZE) != 0)
            continue;
        char *end;
        unsigned long source = strtoul(at + WIDTH_OF_SIZE, &end, 0);
        uint64_t bits;
        if (*end != '=' || source > UINT16_MAX || !rec_words_number(end + 1, 32, &bits) ||
            wrapper->to.width_count == MOST_WIDTHS)
            return false;
        wrapper->widths[wrapper->to.width_count++] =
            (struct rec_type_width){(uint16_t)source, (unsigned)bits};
    }
    wrapper->to.widths = wrapper->widths;
    return true;
}

static bool set_up_wrapper(struct wrapper *wrapper, const struct rec_words *settings,
                           struct rec_bytes *out)
{
    static const char *const paddings[] = {"sign", "zero", "one", "any"};
    const char *padding = word_of(settings, "padding", "sign");
    uint64_t src = 0, stamp = 0, type = 0, block = 0, framed = 0, idle = 0, seed = 0;
    bool good = rec_words_named(settings, "src_bits", 16, 0, &src) &&
                rec_words_named(settings, "timestamp_bytes", 8, 0, &stamp) &&
                rec_words_named(settings, "type_bits", 32, 0, &type) &&
                rec_words_named(settings, "block_size", UINT32_MAX, 0, &block) &&
                rec_words_named(settings, "framed", 1, 1, &framed) &&
                rec_words_named(settings, "idle_syncs", 1, 0, &idle) &&
                rec_words_named(settings, "shift", 7, 0, &wrapper->shift) &&
                rec_words_named(settings, "seed", UINT64_MAX, 1, &seed) &&
                take_widths(wrapper, settings);
    unsigned n = 0;
    while (n < 4 && strcmp(paddings[n], padding) != 0)
        n++;
    wrapper->random.state = seed;
    wrapper->to.src_bits = (unsigned)src;
    wrapper->to.timestamp_bytes = (unsigned)stamp;
    wrapper->to.type_bits = (unsigned)type;
    wrapper->to.block = (uint32_t)block;
    wrapper->to.padding = (enum rec_padding)n;
    wrapper->to.unframed = !framed;
    wrapper->to.idle_syncs = idle;
    wrapper->to.random = &wrapper->random;
    wrapper->to.out = out;
    return good && n < 4;
}

static bool take_payload(const char *text, uint8_t *bytes, unsigned *size)
{
    for (*size = 0; text[0] && text[1]; text += 2) {
        char digits[] = {text[0], text[1], 0}, *end;
        unsigned long byte = strtoul(digits, &end, 16);
        if (*end || *size == MOST_PAYLOAD)
            return false;
        bytes[(*size)++] = (uint8_t)byte;
    }
    return *text == 0 && *size > 0;
}

static bool put_packet(struct wrapper *wrapper, const struct rec_words *words)
{
    uint64_t source, type, time;
    uint8_t payload[MOST_PAYLOAD];
    unsigned size;
    bool timed = word_of(words, "time", NULL) != NULL;
    return words->count >= 4 && rec_words_number(words->at[1], UINT16_MAX, &source) &&
           rec_words_number(words->at[2], UINT32_MAX, &type) &&
           take_payload(words->at[3], payload, &size) &&
           rec_words_named(words, "time", UINT64_MAX, 0, &time) &&
           rec_number_fits(source, wrapper->to.src_bits) &&
           rec_number_fits(time, 8 * wrapper->to.timestamp_bytes) &&
           rec_number_fits(type, rec_type_bits(&wrapper->to, (uint16_t)source)) &&
           rec_encapsulate(&wrapper->to, (uint16_t)source, (unsigned)type, timed ? &time : NULL,
                           payload, size);
}

static bool put_wrapped(struct wrapper *wrapper, const struct rec_words *words)
{
    uint64_t flow, count = 1;
    if (!rec_words_named(words, "flow", 3, 0, &flow))
        return false;
    wrapper->to.flow = wrapper->to.null_flow = (unsigned)flow;
    if (words->count > 1 && strcmp(words->at[0], "packet") != 0 && !strchr(words->at[1], '=') &&
        !rec_words_number(words->at[1], 1u << 20, &count))
        return false;
    if (strcmp(words->at[0], "packet") == 0)
        return put_packet(wrapper, words);
    if (strcmp(words->at[0], "sync") == 0)
        rec_encapsulation_sync(&wrapper->to);
    else if (strcmp(words->at[0], "nulls") == 0)
        rec_encapsulation_nulls(&wrapper->to, (unsigned)count);
    else if (strcmp(words->at[0], "idle") == 0)
        for (; count > 0; count--)
            rec_encapsulation_null(&wrapper->to, false);
    else if (strcmp(words->at[0], "alignment") == 0)
        rec_encapsulation_null(&wrapper->to, true);
    else
        return false;
    return true;
}

/* ---- OSD ---- */

static struct rec_osd *set_up_osd(const struct rec_words *settings, struct rec_bytes *out)
{
    const char *framing = word_of(settings, "framing", "dtd");
    uint64_t longest, dest, interleave, seed;
    if (!rec_words_named(settings, "MAX_PKT_LEN", 4096, 12, &longest) || longest < 12 ||
        !rec_words_named(settings, "dest", UINT16_MAX, 0x401, &dest) ||
        !rec_words_named(settings, "interleave", 1, 0, &interleave) ||
        !rec_words_named(settings, "seed", UINT64_MAX, 1, &seed) ||
        (strcmp(framing, "dtd") != 0 && strcmp(framing, "dtd-le") != 0))
        return NULL;
    return rec_osd_new(&(struct rec_osd_options){.longest = (unsigned)longest,
                                                 .dest = (uint16_t)dest,
                                                 .dump = strcmp(framing, "dtd-le") == 0,
                                                 .interleave = interleave,
                                                 .seed = seed},
                       out);
}

/* ---- all ---- */

struct encode_options {
    struct rec_words settings;
    const char *output;
    bool osd;
};

static const char *const wrapper_names[] = {
    "src_bits", "timestamp_bytes", "type_bits",  "block_size", "framed", "shift",
    "seed",     "padding",         "idle_syncs", NULL};
static const char *const osd_names[] = {"MAX_PKT_LEN", "dest",    "interleave",
                                        "seed",        "framing", NULL};

static bool take_setting(const struct option *option, void *target, const char *argument)
{
    struct rec_words *settings = target;
    if (!strchr(argument, '='))
        return option_refuse(option, argument, "not of the form NAME=VALUE");
    if (settings->count == REC_SCRIPT_WORDS)
        return option_refuse(option, argument, "too many settings");
    settings->at[settings->count++] = argument;
    return true;
}

static bool take_format(const struct option *option, void *target, const char *argument)
{
    *(bool *)target = strcmp(argument, "osd") == 0;
    return *(bool *)target || strcmp(argument, "encapsulation") == 0 ||
           option_refuse(option, argument, "no format; there are encapsulation, osd");
}

static const struct option table[] = {
    {"format", "encapsulation|osd", "encapsulation (default) or osd", take_format,
     offsetof(struct encode_options, osd)},
    {"set", "NAME=VALUE",
     "a setting of the encapsulation or of the link; may be repeated, see pugmark(1)", take_setting,
     offsetof(struct encode_options, settings)},
    {"output", "FILE", "the trace goes there (-o), not to standard output", option_string,
     offsetof(struct encode_options, output)},
};

/** Are all settings among these? Says which is not. */
static bool all_known(const struct rec_words *settings, const char *const *names)
{
    for (size_t i = 0; i < settings->count; i++) {
        const size_t length = strcspn(settings->at[i], "=");
        const char *const *name = names;
        while (*name && (strlen(*name) != length || strncmp(*name, settings->at[i], length) != 0))
            name++;
        if (*name ||
            (names == wrapper_names && strncmp(settings->at[i], WIDTH_OF, WIDTH_OF_SIZE) == 0))
            continue;
        message_say("pugmark: no setting '%.*s'; there are", (int)length, settings->at[i]);
        for (name = names; *name; name++)
            message_say(" %s", *name);
        message_say("%s\n", names == wrapper_names ? " type_bits_N" : "");
        return false;
    }
    return true;
}

/** Each line of the input; false: one is wrong. */
static bool put_lines(FILE *file, struct progress *progress, struct wrapper *wrapper,
                      struct rec_osd *osd)
{
    char line[1024];
    for (unsigned n = 1; fgets(line, sizeof(line), file); n++) {
        struct rec_words words;
        progress_show_file(progress, file);
        if (!strchr(line, '\n') && !feof(file)) {
            message_say("pugmark: line %u is too long\n", n);
            return false;
        }
        bool good = rec_words_split(line, &words);
        if (good && (words.count == 0 ||
                     (osd ? rec_script_osd_event(osd, &words) : put_wrapped(wrapper, &words))))
            continue;
        message_say("pugmark: line %u: no such packet, or what it has does not fit\n", n);
        return false;
    }
    return true;
}

static int encode(const struct encode_options *options, FILE *file)
{
    struct wrapper wrapper = {.shift = 0};
    struct rec_bytes out = {0};
    struct rec_osd *osd = options->osd ? set_up_osd(&options->settings, &out) : NULL;
    if (options->osd ? !osd : !set_up_wrapper(&wrapper, &options->settings, &out)) {
        message_say("pugmark: a value of --set is out of range\n");
        return EXIT_USAGE;
    }
    struct progress progress = progress_begin_file(file, false);
    bool good = put_lines(file, &progress, &wrapper, osd);
    progress_end(&progress);
    if (good && osd)
        rec_osd_finish(osd);
    if (good && !osd)
        rec_shift_bits(&out, (unsigned)wrapper.shift);
    const char *output = options->output ? options->output : "-";
    if (good && (out.failed || pug_outfile_save_any(output, out.data, out.size) != PUG_OK)) {
        message_say("pugmark: %s: %s\n", output, strerror(out.failed ? ENOMEM : errno));
        good = false;
    }
    rec_osd_free(osd);
    rec_bytes_free(&out);
    return good ? EXIT_DONE : EXIT_INPUT;
}

static int encode_run(const struct command *self, int argc, char **argv)
{
    struct encode_options options = {.output = NULL};
    const struct option_set sets[] = {OPTION_SET(table, &options)};
    int end = command_start(self, argc, argv, sets, 1, 1);
    if (end >= 0)
        return end;
    if (!terminal_may_have(options.output, "binary data"))
        return EXIT_USAGE;
    if (!all_known(&options.settings, options.osd ? osd_names : wrapper_names))
        return EXIT_USAGE;
    (void)sandbox_start(NULL);
    FILE *file = strcmp(argv[1], "-") == 0 ? stdin : fopen(argv[1], "r");
    if (!file) {
        message_say("pugmark: %s: %s\n", argv[1], strerror(errno));
        return EXIT_INPUT;
    }
    int code = encode(&options, file);
    if (file != stdin)
        fclose(file);
    return code;
}

const struct command command_encode = {
    .name = "encode",
    .operands = "LINES",
    .summary = "make encapsulated RISC-V packets, or Open SoC Debug datagrams, of lines of text",
    .run = encode_run,
    .task = TASK_MAKE,
    .purpose = "Makes the bytes of RISC-V trace packets in their encapsulation, or of Open SoC "
               "Debug datagrams, from lines of text. It is for tests of decoders and links.",
    .examples =
        {
            {"echo 'packet 0 0 7308' | pugmark encode -o packets.bin -",
             "a RISC-V packet with two bytes of payload"},
            {"echo 'packet 5 0 7308' | pugmark encode --set src_bits=8 -o packets.bin -",
             "the same, from source 5"},
            {"echo 'stm 1 32 5 2 7' | pugmark encode --format osd -o datagrams.bin -",
             "a datagram of an Open SoC Debug system trace module"},
        },
};
