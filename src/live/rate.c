// SPDX-License-Identifier: MIT
/**
 * @file At what rate would the bytes of a serial line make sense?
 *
 * A line that is read at a wrong rate gives bytes of a kind that depends on the quotient of the two
 * rates. For each usual rate we let a receiver of the present rate read texts of an ITM that were
 * sent at the usual one, and compare which bytes come how often. Those that fit best win, if they
 * win clearly.
 */
#include "live/live.h"

#include <string.h>

static const uint32_t usual[] = {115200,  230400,  460800,  500000,  576000,  921600,  1000000,
                                 1152000, 1500000, 2000000, 2250000, 2500000, 3000000, 3500000,
                                 4000000, 4500000, 6000000, 8000000, 9000000, 12000000};
#define RATES (sizeof(usual) / sizeof(usual[0]))

/* Prose, numbers, capitals: what firmware prints. */
static const char *const texts[] = {
    ("The quick brown fox jumps over the lazy dog. It was the best of times, it was the worst of "
     "times, it was the age of wisdom. Task started; waiting for the next event from the sensor, "
     "then going to sleep again.\n"),
    ("[00012.345] INFO main: sensor ready, value = 1047, count = 7, error = 0\nadc 512 512 513 514 "
     "515 516; 23.5 C, 98 %, t=1234 ms, x:-17 y:230 z:981\n"),
    "ERROR: TIMEOUT AT 0x08001234 (RETRY 3/5) STATE=0x1F R0=DEADBEEF PC=0800A5C4 LR=FFFFFFF9 OK\n"};
#define TEXTS (sizeof(texts) / sizeof(texts[0]))

#define SENT       1500u /* characters of a text */
#define SYMBOLS    512u  /* bytes; the upper half of them came with a framing error */
#define DAMAGED    256u
#define LEAST      32u  /* bytes that say something */
#define MARGIN     0.15 /* of the logarithm of a byte's probability */
#define EARLY      0.25 /* added to each count, so that what was never seen is not impossible */
#define NEAR_FIRST 97u  /* a receiver understands a rate within 3 % */
#define NEAR_LAST  103u

/* How a driver hands on a byte with a framing error. */
enum form { AS_IT_CAME, AS_ZERO, MARKED, FORMS };

struct histogram {
    unsigned counts[SYMBOLS];
    unsigned total;
};

/* ---- sending and receiving ---- */

#define LINE_BITS ((size_t)SENT * 2 * 10 + 4096)

/** A line's level, bit by bit of the sender. */
struct line {
    uint8_t bits[LINE_BITS];
    size_t count;
};

static void send_byte(struct line *line, uint8_t byte)
{
    if (line->count + 10 > LINE_BITS)
        return;
    line->bits[line->count++] = 0;
    for (unsigned i = 0; i < 8; i++)
        line->bits[line->count++] = byte >> i & 1;
    line->bits[line->count++] = 1;
}

/** A text in packets of `size` characters, with a synchronisation now and then. */
static void send_text(struct line *line, const char *text, unsigned size)
{
    static const uint8_t sync[] = {0, 0, 0, 0, 0, 0x80};
    const size_t length = strlen(text);
    *line = (struct line){.count = 1};
    line->bits[0] = 1;
    for (unsigned sent = 0; sent < SENT; sent++) {
        for (unsigned i = 0; sent % 512 == 0 && i < sizeof(sync); i++)
            send_byte(line, sync[i]);
        if (sent % size == 0)
            send_byte(line, size == 1 ? 1 : 3);
        send_byte(line, (uint8_t)text[sent % length]);
    }
}

/** Where a sample of a frame's bit lies, in halves of the sender's bits from its begin on. */
static size_t sample_at(unsigned bit, uint32_t sent, uint32_t received)
{
    return (size_t)((uint64_t)(2 * bit + 1) * sent / received / 2);
}

/** What a receiver at another rate makes of it. */
static void receive(const struct line *line, uint32_t sent, uint32_t received,
                    struct histogram *histogram)
{
    const size_t whole = sample_at(9, sent, received);
    memset(histogram, 0, sizeof(*histogram));
    for (size_t at = 1; at + whole < line->count;) {
        if (line->bits[at] || !line->bits[at - 1]) {
            at++;
            continue;
        }
        unsigned byte = 0;
        for (unsigned i = 0; i < 8; i++)
            byte |= (unsigned)line->bits[at + sample_at(i + 1, sent, received)] << i;
        const bool good = line->bits[at + whole];
        histogram->counts[good ? byte : byte | DAMAGED]++;
        histogram->total++;
        at += whole + 1;
    }
}

/* ---- comparing ---- */

#define NEVER (-1e9)

/** The natural logarithm of a positive number, without libm: good to 5 digits. */
static double logarithm(double number)
{
    double sum = 0;
    while (number < 1) {
        number *= 2;
        sum -= 0.69314718056;
    }
    while (number >= 2) {
        number /= 2;
        sum += 0.69314718056;
    }
    const double y = (number - 1) / (number + 1), square = y * y;
    return sum + 2 * y * (1 + square / 3 + square * square / 5 + square * square * square / 7);
}

/** The same as a driver hands it on. */
static void shape(const struct histogram *all, enum form form, struct histogram *shaped)
{
    *shaped = *all;
    for (unsigned byte = DAMAGED; form != MARKED && byte < SYMBOLS; byte++) {
        shaped->counts[form == AS_ZERO ? 0 : byte - DAMAGED] += all->counts[byte];
        shaped->counts[byte] = 0;
    }
}

/** The share of zeros, which say less than other bytes: never all or nothing. */
static double zeros_of(const struct histogram *histogram)
{
    const double share = histogram->total ? (double)histogram->counts[0] / histogram->total : 0;
    return share < 0.05 ? 0.05 : share > 0.95 ? 0.95 : share;
}

/** How well bytes fit: the logarithm of their probability, of a byte in the mean. */
static double fit(const struct histogram *seen, const struct histogram *model)
{
    const double zeros = zeros_of(model);
    const double share = seen->total ? (double)seen->counts[0] / seen->total : 0;
    const double others = model->total - model->counts[0] + EARLY * SYMBOLS;
    double sum = 0;
    for (unsigned byte = 1; byte < SYMBOLS; byte++)
        if (seen->counts[byte])
            sum += seen->counts[byte] * logarithm((model->counts[byte] + EARLY) / others);
    return sum / (seen->total - seen->counts[0]) + share * logarithm(zeros) +
           (1 - share) * logarithm(1 - zeros);
}

static double best_fit(const struct histogram seen[FORMS], uint32_t sent, uint32_t received)
{
    static const unsigned sizes[] = {1, 4};
    struct line line;
    struct histogram all, model;
    double best = NEVER;
    for (size_t n = 0; n < TEXTS * 2; n++) {
        send_text(&line, texts[n / 2], sizes[n % 2]);
        receive(&line, sent, received, &all);
        for (unsigned form = 0; form < FORMS; form++) {
            shape(&all, (enum form)form, &model);
            const double value =
                seen[form].total - seen[form].counts[0] < LEAST ? NEVER : fit(&seen[form], &model);
            best = value > best ? value : best;
        }
    }
    return best;
}

/* ---- what came ---- */

/** Bytes with PARMRK: ff 00 X had a framing error, and ff ff is ff. False: they are not so. */
static bool count_marked(const uint8_t *bytes, size_t size, struct histogram *histogram)
{
    unsigned marks = 0;
    memset(histogram, 0, sizeof(*histogram));
    for (size_t i = 0; i < size; i++) {
        unsigned byte = bytes[i];
        if (byte == 0xff && i + 2 >= size)
            break;
        if (byte == 0xff && bytes[i + 1] == 0) {
            byte = DAMAGED | bytes[i + 2];
            i += 2;
            marks++;
        } else if (byte == 0xff && bytes[++i] != 0xff) {
            return false;
        }
        histogram->counts[byte]++;
        histogram->total++;
    }
    return marks > 0;
}

static void count_all(const uint8_t *bytes, size_t size, struct histogram seen[FORMS])
{
    memset(seen, 0, FORMS * sizeof(seen[0]));
    if (count_marked(bytes, size, &seen[MARKED]))
        return;
    memset(&seen[MARKED], 0, sizeof(seen[MARKED]));
    for (size_t i = 0; i < size; i++)
        seen[AS_ZERO].counts[bytes[i]]++;
    seen[AS_ZERO].total = (unsigned)size;
    seen[AS_IT_CAME] = seen[AS_ZERO];
}

static bool is_near(uint32_t a, uint32_t b)
{
    return (uint64_t)a * 100 > (uint64_t)b * NEAR_FIRST &&
           (uint64_t)a * 100 < (uint64_t)b * NEAR_LAST;
}

uint32_t pug_live_rate(const uint8_t *bytes, size_t size, uint32_t rate)
{
    struct histogram seen[FORMS];
    if (size < LEAST || rate == 0)
        return 0;
    count_all(bytes, size < PUG_LIVE_RATE_SAMPLE ? size : PUG_LIVE_RATE_SAMPLE, seen);
    double best = best_fit(seen, rate, rate), second = NEVER;
    uint32_t found = rate;
    for (size_t n = 0; n < RATES; n++) {
        if (is_near(usual[n], rate) || usual[n] < rate / 2 || usual[n] / 2 > rate)
            continue;
        const double value = best_fit(seen, usual[n], rate);
        if (value > best) {
            second = best;
            best = value;
            found = usual[n];
        } else if (value > second) {
            second = value;
        }
    }
    return best == NEVER || best - second < MARGIN || found == rate ? 0 : found;
}
