// SPDX-License-Identifier: MIT
#include "options.h"

#include <stdlib.h>
#include <string.h>

#define DEFAULT_FILE "trc_pkt_lister.ppl"

/* ---- first pass ---- */

static bool is(const char *word, const char *option)
{
    return strcmp(word, option) == 0;
}

static bool is_output_option(const char *word)
{
    return is(word, "-logstdout") || is(word, "-logstderr") || is(word, "-logfile");
}

/** The file is written whatever else is asked for; only its name can change. */
bool options_output(int argc, char **argv, struct output *output)
{
    bool named = false, any = false;
    output->path = DEFAULT_FILE;
    for (int i = 1; i < argc; i++) {
        output->to_stdout |= is(argv[i], "-logstdout");
        output->to_stderr |= is(argv[i], "-logstderr");
        any |= is_output_option(argv[i]);
        if (!is(argv[i], "-logfilename"))
            continue;
        if (++i == argc)
            return false;
        output->path = argv[i];
        named = true;
    }
    if (!any && !named)
        output->to_stdout = true;
    return true;
}

/* ---- second pass ---- */

/** A word of an option that is on or off. */
static const struct {
    const char *word;
    size_t offset;
} switches[] = {
    {"-ss_verbose", offsetof(struct options, verbose)},
    {"-pkt_mon", offsetof(struct options, packet_monitor)},
    {"-o_raw_packed", offsetof(struct options, raw_packed)},
    {"-o_raw_unpacked", offsetof(struct options, raw_unpacked)},
    {"-dstream_format", offsetof(struct options, dstream)},
    {"-tpiu", offsetof(struct options, tpiu)},
    {"-tpiu_hsync", offsetof(struct options, tpiu_hsync)},
    {"-stats", offsetof(struct options, stats)},
    {"-no_time_print", offsetof(struct options, no_time)},
    {"-profile", offsetof(struct options, profile)},
    {"-macc_cache_disable", offsetof(struct options, cache_off)},
    {"-src_addr_n", offsetof(struct options, decoder.split_source_address)},
    {"-aa64_opcode_chk", offsetof(struct options, decoder.check_opcode)},
    {"-direct_br_cond", offsetof(struct options, decoder.check_direct_branch)},
    {"-strict_br_cond", offsetof(struct options, decoder.check_strict_branch)},
    {"-range_cont", offsetof(struct options, decoder.check_range_continuity)},
    {"-halt_err", offsetof(struct options, decoder.halt_on_bad_packet)},
};

static bool set_switch(struct options *options, const char *word)
{
    for (size_t i = 0; i < sizeof(switches) / sizeof(switches[0]); i++) {
        if (is(word, switches[i].word)) {
            *(bool *)((char *)options + switches[i].offset) = true;
            return true;
        }
    }
    return false;
}

static bool wrong(struct output *output, const char *text)
{
    output_print(output, LISTER "Error: %s option\n", text);
    return false;
}

static bool set_id(struct output *output, struct options *options, const char *word)
{
    uint8_t id = (uint8_t)strtoul(word, NULL, 0);
    if (id == 0 || id >= 0x70) {
        output_print(output, LISTER "Error: invalid ID number 0x%x on -id option\n", id);
        return false;
    }
    options->filtered = true;
    options->ids[id] = true;
    return true;
}

/** An option with a value. */
enum value { NO_VALUE, DIRECTORY, ID, SOURCE_NAME, WAITS, PAGE_SIZE, PAGES, FILE_NAME };

static enum value value_of(const char *word)
{
    static const char *const words[] = {"",
                                        "-ss_dir",
                                        "-id",
                                        "-src_name",
                                        "-test_waits",
                                        "-macc_cache_p_size",
                                        "-macc_cache_p_num",
                                        "-logfilename"};
    for (int i = DIRECTORY; i <= FILE_NAME; i++)
        if (is(word, words[i]))
            return (enum value)i;
    return NO_VALUE;
}

/** Returns the message for an option that is the last word; NULL: none. */
static const char *missing(enum value value)
{
    switch (value) {
    case DIRECTORY: return "Missing directory string on -ss_dir";
    case ID: return "No ID number on -id";
    case SOURCE_NAME: return "Missing source name string on -src_name";
    case WAITS: return "wait count value on -test_waits";
    default: return NULL;
    }
}

static bool set_value(struct output *output, struct options *options, enum value value,
                      const char *word)
{
    long number = strtol(word, NULL, 0);
    switch (value) {
    case DIRECTORY: options->directory = word; break;
    case ID: return set_id(output, options, word);
    case SOURCE_NAME:
        options->source_name = word;
        options->multi_session = false;
        break;
    case WAITS: options->waits = number > 0 ? (unsigned)number : 0; break;
    case PAGE_SIZE: options->cache_page_size = (uint16_t)number; break;
    case PAGES: options->cache_pages = (uint32_t)number; break;
    default: break;
    }
    return true;
}

static void help(struct output *output)
{
    output_print(output, "%s",
                 LISTER "options\n"
                        "  -ss_dir DIR           snapshot directory (default ./)\n"
                        "  -ss_verbose           say what is read of the snapshot\n"
                        "  -id N                 this trace id only; can be repeated\n"
                        "  -src_name NAME        this trace buffer instead of the first\n"
                        "  -multi_session        all trace buffers, one after the other\n"
                        "  -decode               packets and generic elements\n"
                        "  -decode_only          generic elements\n"
                        "  -pkt_mon              packets with their bytes\n"
                        "  -o_raw_packed         raw frames\n"
                        "  -o_raw_unpacked       raw data of each source\n"
                        "  -dstream_format       512-byte blocks with 8 bytes of footer\n"
                        "  -tpiu, -tpiu_hsync    frames with full syncs, and with half syncs\n"
                        "  -stats                packet reader and demultiplexer statistics\n"
                        "  -no_time_print        no elapsed time at the end\n"
                        "  -src_addr_n           ETE: split source address ranges at N atoms\n"
                        "  -aa64_opcode_chk      check A64 opcodes\n"
                        "  -direct_br_cond       check N atoms on unconditional direct branches\n"
                        "  -strict_br_cond       check N atoms on all unconditional branches\n"
                        "  -range_cont           check that instruction ranges join\n"
                        "  -halt_err             stop at a bad packet\n"
                        "  -macc_cache_disable, -macc_cache_p_size N, -macc_cache_p_num N\n"
                        "                        memory cache of the reference; no effect\n"
                        "  -test_waits N         answer WAIT to the first N elements\n"
                        "  -profile              count elements, print none\n"
                        "  -logstdout, -logstderr, -logfile, -logfilename FILE\n"
                        "                        where the listing goes; " DEFAULT_FILE
                        " is written in any case\n");
}

static bool is_help(const char *word)
{
    return is(word, "-help") || is(word, "--help") || is(word, "-h");
}

static void set_mode(struct options *options, const char *word)
{
    options->decode = true;
    if (is(word, "-decode_only"))
        options->packets = false;
}

bool options_read(int argc, char **argv, struct output *output, struct options *options)
{
    *options = (struct options){
        .directory = "./", .packets = true, .cache_page_size = -1, .cache_pages = -1};
    for (int i = 1; i < argc; i++) {
        const char *word = argv[i];
        enum value value = value_of(word);
        if (value != NO_VALUE && i + 1 == argc && missing(value))
            return wrong(output, missing(value));
        if (value != NO_VALUE) {
            if (++i < argc && !set_value(output, options, value, argv[i]))
                return false;
        } else if (is_help(word)) {
            help(output);
            return false;
        } else if (is(word, "-decode") || is(word, "-decode_only")) {
            set_mode(options, word);
        } else if (is(word, "-multi_session")) {
            options->multi_session = !options->source_name;
        } else if (!set_switch(options, word) && !is_output_option(word)) {
            output_print(output, LISTER "Warning: Ignored unknown option %s.\n", word);
        }
    }
    return true;
}
