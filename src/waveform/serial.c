// SPDX-License-Identifier: MIT
/**
 * @file Edges to bytes: UART (8N1, the line idle high), and the Manchester code of a Serial Wire
 * Output (the line idle low; a start bit, which is 1, then 1 to 8 bytes, lowest bits first; a 1 is
 * high before it is low). A first reading measures pulses, from which the rate follows.
 */
#include "waveform/internal.h"

#include <math.h>
#include <stdlib.h>

#define PULSES 65536u /* that are measured */

struct pulses {
    double *lengths; /* those that are no idle line: see settle() */
    bool *levels;
    size_t count;
    uint64_t last, longest[2]; /* by level */
    bool begun, level;
};

static bool measure(void *context, uint64_t time, bool level)
{
    struct pulses *pulses = context;
    const uint64_t length = time - pulses->last;
    /* The first pulse began before the capture. */
    if (pulses->begun && pulses->last > 0 && pulses->count < PULSES) {
        pulses->lengths[pulses->count] = (double)length;
        pulses->levels[pulses->count++] = !level;
    }
    if (pulses->begun && length > pulses->longest[!level])
        pulses->longest[!level] = length;
    pulses->begun = true;
    pulses->last = time;
    pulses->level = level;
    return true;
}

/* ---- the rate ---- */

static int by_length(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/** The nearest whole number, without the library of mathematics. */
static double nearest_whole(double value)
{
    return value < 9e15 ? (double)(uint64_t)(value + 0.5) : value;
}

/** Pulses as multiples of a unit: the unit that fits them best, near this one. */
static double refine(const struct pulses *pulses, double unit, double most)
{
    for (unsigned round = 0; round < 8; round++) {
        double length = 0, units = 0;
        for (size_t i = 0; i < pulses->count; i++) {
            const double n = nearest_whole(pulses->lengths[i] / unit);
            if (n < 1 || n > most)
                continue;
            length += pulses->lengths[i];
            units += n;
        }
        if (!(units > 0))
            return unit;
        unit = length / units;
    }
    return unit;
}

/**
 * How badly the pulses are multiples of a unit: how far off on average, and those that are none.
 */
static double misfit(const struct pulses *pulses, double unit, double most)
{
    double bad = 0, all = 0;
    for (size_t i = 0; i < pulses->count; i++) {
        const double n = pulses->lengths[i] / unit, nearest = nearest_whole(n);
        if (pulses->levels[i] && n > most)
            continue; /* the line was idle */
        all++;
        bad += nearest < 1 || nearest > most ? 1 : fabs(n - nearest);
    }
    return all > 0 ? bad / all : 1;
}

/** A length that few pulses are shorter than: these are glitches. 0: no pulses, or no memory. */
static double shortest_of(const struct pulses *pulses)
{
    double *sorted = malloc((pulses->count + 1) * sizeof(*sorted));
    if (!sorted || pulses->count == 0) {
        free(sorted);
        return 0;
    }
    for (size_t i = 0; i < pulses->count; i++)
        sorted[i] = pulses->lengths[i];
    qsort(sorted, pulses->count, sizeof(*sorted), by_length);
    const double shortest = sorted[pulses->count / 50];
    free(sorted);
    return shortest;
}

/** Ticks of the shortest pulse that the code has; 0: not known. */
static double find_unit(const struct pulses *pulses, double most)
{
    /* The shortest pulse may be several units, or, of few samples, a part of a sample too short. */
    static const double parts[] = {1, 0.87, 0.77, 2, 3, 4};
    const double shortest = shortest_of(pulses);
    double best = 0, least = 2;
    for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]) && shortest > 0; i++) {
        const double unit = refine(pulses, shortest / parts[i], most);
        const double bad = misfit(pulses, unit, most);
        if (bad + (parts[i] > 1 ? 0.02 : 0) < least) {
            least = bad;
            best = unit;
        }
    }
    return best;
}

/* ---- UART ---- */

struct decoder {
    struct pug_line *line;
    pug_line_fn *give;
    void *context;
    double unit;  /* ticks of a bit; Manchester: of half of one */
    double mark;  /* UART: where the start bit began; Manchester: the middle of the last bit */
    unsigned bit; /* UART: the next one to look at; 0: none is awaited */
    unsigned byte, bits;
    bool level, begun, stopped;
    enum { IDLE, START, DATA } state;
};

static void put(struct decoder *d, unsigned byte)
{
    const uint8_t value = (uint8_t)byte;
    d->line->bytes++;
    d->stopped |= !d->give(d->context, &value, 1);
}

/** Look at all bits whose middle is before `time`: the line had one level until then. */
static void look_until(struct decoder *d, double time)
{
    while (d->state == DATA && d->mark + (d->bit + 0.5) * d->unit < time) {
        if (d->bit == 0 && d->level) {
            d->state = IDLE; /* a glitch */
        } else if (d->bit == 9) {
            d->state = IDLE;
            if (d->level)
                put(d, d->byte);
            else
                d->line->bad++;
        } else if (d->bit > 0) {
            d->byte |= (unsigned)d->level << (d->bit - 1);
        }
        d->bit++;
    }
}

static bool take_uart(void *context, uint64_t time, bool level)
{
    struct decoder *d = context;
    if (d->begun)
        look_until(d, (double)time);
    if (d->begun && d->state == IDLE && d->level && !level) {
        d->state = DATA;
        d->mark = (double)time;
        d->bit = d->byte = 0;
    }
    d->begun = true;
    d->level = level;
    return !d->stopped;
}

/* ---- Manchester ---- */

static void end_packet(struct decoder *d)
{
    d->line->bad += d->state == DATA && d->bits % 8 != 0;
    d->state = IDLE;
}

static void take_bit(struct decoder *d, bool one)
{
    d->byte |= (unsigned)one << d->bits % 8;
    if (++d->bits % 8 != 0)
        return;
    put(d, d->byte);
    d->byte = 0;
}

static bool take_manchester(void *context, uint64_t time, bool level)
{
    struct decoder *d = context;
    const double units = ((double)time - d->mark) / d->unit;
    if (d->state == DATA && units >= 2.5)
        end_packet(d);
    if (d->state == DATA && units > 1.5) {
        take_bit(d, !level);
        d->mark = (double)time;
    } else if (d->state == START) {
        d->state = units < 1.5 && units > 0.5 ? DATA : IDLE;
        d->mark = (double)time;
        d->byte = d->bits = 0;
    } else if (d->state == IDLE && d->begun && level) {
        d->state = START;
        d->mark = (double)time;
    }
    d->begun = true;
    return !d->stopped;
}

/* ---- both ---- */

/** Settings that are not given are found out. */
static bool settle(struct pug_waveform *waveform, struct pug_line *line,
                   const struct pulses *pulses, double *unit)
{
    if (line->coding == PUG_LINE_ANY)
        line->coding =
            pulses->longest[0] > pulses->longest[1] ? PUG_LINE_MANCHESTER : PUG_LINE_UART;
    const bool manchester = line->coding == PUG_LINE_MANCHESTER;
    const double units = manchester ? 2 : 1; /* of a bit */
    const double found = find_unit(pulses, manchester ? 2 : 9);
    line->found = found > 0 ? waveform->hertz / (found * units) : 0;
    if (!(line->rate > 0))
        line->rate = line->found;
    if (!(line->rate > 0))
        return pug_wave_fail(waveform,
                             "the line never changes: nothing was sent, or it is another line");
    *unit = waveform->hertz / (line->rate * units);
    return *unit >= 1.5 ||
           pug_wave_fail(waveform,
                         "a pulse of %.0f bits in a second has %.1f samples: too few to read it",
                         line->rate, *unit);
}

static bool read_pulses(struct pug_waveform *waveform, struct pulses *pulses)
{
    pulses->lengths = malloc(PULSES * sizeof(*pulses->lengths));
    pulses->levels = malloc(PULSES * sizeof(*pulses->levels));
    if (!pulses->lengths || !pulses->levels)
        return pug_wave_fail(waveform, "out of memory");
    if (!pug_waveform_read(waveform, measure, pulses))
        return false;
    const uint64_t rest = waveform->end > pulses->last ? waveform->end - pulses->last : 0;
    if (rest > pulses->longest[pulses->level])
        pulses->longest[pulses->level] = rest;
    return true;
}

bool pug_line_bytes(struct pug_waveform *waveform, struct pug_line *line, pug_line_fn *give,
                    void *context)
{
    struct pulses pulses = {0};
    struct decoder decoder = {.line = line, .give = give, .context = context};
    line->bytes = line->bad = 0;
    waveform->reads = 2;
    bool good = read_pulses(waveform, &pulses) && settle(waveform, line, &pulses, &decoder.unit);
    free(pulses.lengths);
    free(pulses.levels);
    if (!good)
        return false;
    const bool manchester = line->coding == PUG_LINE_MANCHESTER;
    waveform->read_before = 1;
    good = pug_waveform_read(waveform, manchester ? take_manchester : take_uart, &decoder);
    if (good && manchester)
        end_packet(&decoder);
    else if (good) /* the bytes after a capture are unchanged; a byte that is cut does not count */
        look_until(&decoder, (double)waveform->end);
    return good;
}
