// SPDX-License-Identifier: MIT
/**
 * @file The packets that most of a trace consists of, formats 0 to 2 in their standard form, read
 * in two words.
 */
#include "protocol/etrace/reader.h"

#define WORDS 16u /* bytes */

/** A payload and the sign that follows it. */
struct words {
    uint64_t low;
    int64_t high;
};

static uint64_t load(const uint8_t *bytes, unsigned size)
{
    uint64_t value = 0;
    for (unsigned i = 0; i < size; i++)
        value |= (uint64_t)bytes[i] << 8 * i;
    return value;
}

/** `size` is 1 to WORDS. */
static struct words load_words(const uint8_t *bytes, unsigned size)
{
    struct words words;
    if (size > 8) { /* two loads that overlap */
        words.low = load(bytes, 8);
        words.high = (int64_t)load(bytes + size - 8, 8) >> 8 * (WORDS - size);
        return words;
    }
    if (size >= 4)
        words.low = load(bytes, 4) | load(bytes + size - 4, 4) << 8 * (size - 4);
    else /* the middle byte may be the first or the last one */
        words.low = bytes[0] | (uint64_t)bytes[size / 2] << 8 * (size / 2) |
                    (uint64_t)bytes[size - 1] << 8 * (size - 1);
    words.low = (uint64_t)((int64_t)(words.low << 8 * (8 - size)) >> 8 * (8 - size));
    words.high = (int64_t)words.low >> 63;
    return words;
}

static void drop(struct words *words, unsigned width)
{
    if (width == 0)
        return;
    words->low = words->low >> width | (uint64_t)words->high << (64 - width);
    words->high >>= width;
}

/** `width` less than 64. */
static uint64_t take(struct words *words, unsigned width)
{
    uint64_t value = words->low & ((UINT64_C(1) << width) - 1);
    drop(words, width);
    return value;
}

/** The answer is the field's top bit. */
static bool take_map(struct words *words, unsigned branches, struct etrace_plain *plain)
{
    static const uint8_t widths[32] = {31, 1,  3,  3,  7,  7,  7,  7,  15, 15, 15,
                                       15, 15, 15, 15, 15, 31, 31, 31, 31, 31, 31,
                                       31, 31, 31, 31, 31, 31, 31, 31, 31, 31};
    uint32_t map = (uint32_t)take(words, widths[branches]);
    plain->branches = branches == 0 ? 31 : (uint8_t)branches;
    plain->branch_map = map & ((UINT32_C(1) << plain->branches) - 1);
    return map >> (widths[branches] - 1);
}

/** Without a width there is nothing that the flag could announce. */
static void take_return(const struct pug_etrace_options *options, struct words *words, bool flag,
                        struct etrace_plain *plain)
{
    unsigned stack = options->return_stack_size;
    unsigned width = options->irets ? 8 : stack + (stack > 0) + options->call_counter_size;
    plain->irreport = flag && width > 0;
    plain->ir_value = (uint16_t)take(words, width);
}

/** Each flag is sent as a difference to the bit before it, the first one to the address's sign. */
static void take_address(const struct etrace_reader *reader, struct words *words,
                         struct etrace_plain *plain)
{
    unsigned width = reader->config->iaddress_width - reader->config->iaddress_lsb;
    uint64_t address = take(words, width), sign = address >> ((width - 1) & 63);
    unsigned raw = (unsigned)take(words, 3), flags = raw ^ (raw << 1 | (unsigned)sign);
    plain->has_address = true;
    plain->difference = !reader->options.full_address;
    if (plain->difference)
        address |= -sign << width;
    plain->address = address << reader->config->iaddress_lsb;
    plain->notify = flags & 1;
    plain->updiscon = flags >> 1 & 1;
    take_return(&reader->options, words, flags >> 2 & 1, plain);
}

static bool parse_count(const struct etrace_reader *reader, struct words *words,
                        struct etrace_plain *plain)
{
    plain->type = PUG_ETRACE_COUNT;
    plain->branch_count = take(words, 32) + 31;
    unsigned format = (unsigned)take(words, 2);
    plain->mispredicted = format == 0 || format == 3;
    if (format >= 2)
        take_address(reader, words, plain);
    return reader->options.branch_prediction && format != 1;
}

static bool parse_jump_cache(const struct etrace_reader *reader, struct words *words,
                             struct etrace_plain *plain)
{
    plain->type = PUG_ETRACE_JUMP_CACHE;
    plain->cache_index = (uint16_t)take(words, reader->options.cache_size);
    unsigned branches = (unsigned)take(words, 5);
    bool before = branches > 0 && take_map(words, branches, plain);
    take_return(&reader->options, words, take(words, 1) != before, plain);
    return reader->options.jump_target_cache;
}

static bool parse_format_0(const struct etrace_reader *reader, struct words *words,
                           struct etrace_plain *plain)
{
    const struct pug_etrace_options *options = &reader->options;
    uint64_t subformat = options->f0s_width > 0
                             ? take(words, options->f0s_width)
                             : !options->branch_prediction && options->jump_target_cache;
    if (subformat > 1)
        return false;
    return subformat == 0 ? parse_count(reader, words, plain)
                          : parse_jump_cache(reader, words, plain);
}

bool etrace_has_plain_packets(const struct etrace_config *config)
{
    return config->layout == ETRACE_LAYOUT_STANDARD && !config->only_data &&
           config->iaddress_width - config->iaddress_lsb < 64;
}

bool etrace_parse_plain(const struct etrace_reader *reader, const uint8_t *payload, size_t size,
                        struct etrace_plain *plain)
{
    if (size == 0 || size > WORDS || !reader->plain || reader->unknown_mode)
        return false;
    *plain = (struct etrace_plain){0};
    struct words words = load_words(payload, (unsigned)size);
    unsigned branches;
    switch (take(&words, 2)) {
    case 0: return parse_format_0(reader, &words, plain);
    case 1:
        plain->type = PUG_ETRACE_BRANCHES;
        branches = (unsigned)take(&words, 5);
        take_map(&words, branches, plain);
        if (branches > 0)
            take_address(reader, &words, plain);
        return true;
    case 2:
        plain->type = PUG_ETRACE_ADDRESS;
        take_address(reader, &words, plain);
        return true;
    default: return false;
    }
}
