// SPDX-License-Identifier: MIT
#include "recorder/lines.h"

#include "recorder/encapsulation.h"
#include "recorder/osd.h"

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

struct rec_lines {
    struct wrapper wrapper;
    struct rec_osd *osd; /* or NULL */
    struct rec_bytes *out;
};

static const char *const wrapper_names[] = {
    "src_bits", "timestamp_bytes", "type_bits",  "block_size", "framed", "shift",
    "seed",     "padding",         "idle_syncs", NULL};
static const char *const osd_names[] = {"MAX_PKT_LEN", "dest",    "interleave",
                                        "seed",        "framing", NULL};

const char *const *rec_lines_names(bool osd)
{
    return osd ? osd_names : wrapper_names;
}

static bool is_known(bool osd, const char *setting)
{
    const size_t length = strcspn(setting, "=");
    for (const char *const *name = rec_lines_names(osd); *name; name++)
        if (strlen(*name) == length && strncmp(*name, setting, length) == 0)
            return true;
    return !osd && strncmp(setting, WIDTH_OF, WIDTH_OF_SIZE) == 0;
}

size_t rec_lines_unknown(bool osd, const struct rec_words *settings)
{
    size_t n = 0;
    while (n < settings->count && is_known(osd, settings->at[n]))
        n++;
    return n;
}

struct rec_lines *rec_lines_new(bool osd, const struct rec_words *settings, struct rec_bytes *out)
{
    struct rec_lines *lines = calloc(1, sizeof(*lines));
    if (!lines)
        return NULL;
    lines->out = out;
    if (osd)
        lines->osd = set_up_osd(settings, out);
    if (osd ? lines->osd != NULL : set_up_wrapper(&lines->wrapper, settings, out))
        return lines;
    free(lines);
    return NULL;
}

void rec_lines_free(struct rec_lines *lines)
{
    if (!lines)
        return;
    rec_osd_free(lines->osd);
    free(lines);
}

bool rec_lines_put(struct rec_lines *lines, char *line)
{
    struct rec_words words;
    if (!rec_words_split(line, &words))
        return false;
    if (words.count == 0)
        return true;
    return lines->osd ? rec_script_osd_event(lines->osd, &words)
                      : put_wrapped(&lines->wrapper, &words);
}

void rec_lines_end(struct rec_lines *lines)
{
    if (lines->osd)
        rec_osd_finish(lines->osd);
    else
        rec_shift_bits(lines->out, (unsigned)lines->wrapper.shift);
}
