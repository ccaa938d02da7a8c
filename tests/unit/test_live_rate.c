// SPDX-License-Identifier: MIT
/** @file The rate of a serial line is found from the bytes that come at a wrong one. */
#include "live/live.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
/* cmocka.h wants the three above first */
#include <cmocka.h>

static const uint32_t rates[] = {115200,  230400,  460800,  500000,  576000,  921600,  1000000,
                                 1152000, 1500000, 2000000, 2250000, 2500000, 3000000, 3500000,
                                 4000000, 4500000, 6000000, 8000000, 9000000, 12000000};
#define RATES (sizeof(rates) / sizeof(rates[0]))

enum form { AS_IT_CAME, AS_ZERO, MARKED, FORMS };

/* ---- a sender, and a receiver that takes samples in time ---- */

#define BYTES 40000u

struct sent {
    uint8_t bytes[BYTES];
    size_t count;
};

static void put(struct sent *sent, uint8_t byte)
{
    if (sent->count < BYTES)
        sent->bytes[sent->count++] = byte;
}

static void put_text(struct sent *sent, const char *text, unsigned size)
{
    for (size_t i = 0; text[i]; i++) {
        if (sent->count % 600 == 0)
            for (unsigned n = 0; n < 6; n++)
                put(sent, n < 5 ? 0 : 0x80);
        if (i % size == 0)
            put(sent, size == 1 ? 1 : size == 2 ? 2 : 3);
        put(sent, (uint8_t)text[i]);
    }
}

static void fill(struct sent *sent, unsigned kind, unsigned size)
{
    char line[128];
    sent->count = 0;
    for (unsigned i = 0; sent->count + 300 < BYTES; i++) {
        if (kind == 0)
            snprintf(line, sizeof(line),
                     "[%08u] INFO sensor %u: temperature=%u.%02u humidity=%u\r\n", i * 137, i % 4,
                     20 + i % 7, i * 13 % 100, 40 + i % 20);
        else if (kind == 1)
            snprintf(line, sizeof(line),
                     "However little known the feelings or views of such a man may be, on his "
                     "first entering.\n");
        else
            snprintf(line, sizeof(line), "TASK %X RUNNING STACK=%04X HEAP=%04X\n", i % 16,
                     i * 37 % 65536, i * 91 % 65536);
        put_text(sent, line, size);
    }
}

/** The level at a time, in units of the sender's bit; a byte has 10 bits, and the line rests high.
 */
static bool level(const struct sent *sent, double time)
{
    const size_t bit = (size_t)time;
    if (bit / 10 >= sent->count || bit % 10 == 9)
        return true;
    return bit % 10 > 0 && (sent->bytes[bit / 10] >> (bit % 10 - 1) & 1);
}

/** Bytes of a receiver as a driver gives them. */
static size_t receive(const struct sent *sent, double quotient, enum form form, uint8_t *bytes,
                      size_t most)
{
    size_t count = 0;
    double time = 0.01;
    while (count + 3 <= most && time + 12 * quotient < (double)sent->count * 10) {
        while (level(sent, time))
            time = (double)(size_t)time + 1.0;
        unsigned byte = 0;
        for (unsigned i = 0; i < 8; i++)
            byte |= (unsigned)level(sent, time + (i + 1.5) * quotient) << i;
        const bool good = level(sent, time + 9.5 * quotient);
        if (!good && form == MARKED) {
            bytes[count++] = 0xff;
            bytes[count++] = 0;
        }
        if (good && form == MARKED && byte == 0xff)
            bytes[count++] = 0xff;
        bytes[count++] = (uint8_t)(!good && form == AS_ZERO ? 0 : byte);
        time += 9.5 * quotient;
        while (!level(sent, time)) /* until the line rests */
            time = (double)(size_t)time + 1.0;
    }
    return count;
}

/* ---- */

static bool says_nothing(const uint8_t *bytes, size_t count)
{
    size_t others = 0;
    for (size_t i = 0; i < count; i++)
        others += bytes[i] != 0;
    return others < 32;
}

static void test_usual_rates(void **state)
{
    unsigned tried[FORMS] = {0}, right[FORMS] = {0}, wrong[FORMS] = {0};
    struct sent *sent = malloc(sizeof(*sent));
    uint8_t bytes[PUG_LIVE_RATE_SAMPLE];
    (void)state;
    for (unsigned n = 0; n < RATES * RATES * FORMS; n++) {
        const uint32_t is = rates[n % RATES], read = rates[n / RATES % RATES];
        const unsigned form = n / RATES / RATES, kind = (n + n / RATES * 5 + form) % 6;
        const double quotient = (double)is / read;
        if (quotient < 0.5 || quotient > 2 || (quotient > 0.95 && quotient < 1.05 && is != read))
            continue;
        fill(sent, kind / 2, kind % 2 ? 4 : 1);
        const size_t count = receive(sent, quotient, (enum form)form, bytes, sizeof(bytes));
        const uint32_t found = pug_live_rate(bytes, count, read);
        /* Where each byte has a framing error, and is 0, nothing is left to be seen. */
        const uint32_t wanted = is == read || says_nothing(bytes, count) ? 0 : is;
        tried[form]++;
        right[form] += found == wanted;
        wrong[form] += found != wanted && found != 0;
    }
    free(sent);
    for (unsigned form = 0; form < FORMS; form++) {
        print_message("form %u: %u of %u right, %u wrong\n", form, right[form], tried[form],
                      wrong[form]);
        assert_true(right[form] * 100 >= tried[form] * 97);
        assert_true(wrong[form] * 100 <= tried[form] * 2);
    }
}

static void test_no_text(void **state)
{
    uint8_t bytes[PUG_LIVE_RATE_SAMPLE];
    (void)state;
    memset(bytes, 0, sizeof(bytes));
    assert_int_equal(pug_live_rate(bytes, sizeof(bytes), 1000000), 0);
    assert_int_equal(pug_live_rate(bytes, 10, 1000000), 0);
    assert_int_equal(pug_live_rate(bytes, sizeof(bytes), 0), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_usual_rates),
                                       cmocka_unit_test(test_no_text)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
