// SPDX-License-Identifier: MIT
/** @file Correlation: which element of which stream comes when, and what is known of that. */
#include "pugmark/advanced/capture.h"
#include "pugmark/advanced/correlate.h"
#include "pugmark/advanced/snapshot.h"
#include "recorder/stm.h"
#include "support/perf_story.h"
#include "support/temporary.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

/* ---- streams in words ---- */

struct heard {
    char text[4096];
    size_t length, count, most; /* most > 0: after so many no more are wanted */
};

/**
 * "0.3@100+5": stream 0, index 3, 5 cycles after 100; "@>100", "@<100", "@?100": as it is known.
 */
static bool note(void *context, const struct pug_correlated *elements, size_t count)
{
    static const char *const marks[] = {"", "", ">", "<", "?"};
    struct heard *heard = context;
    for (size_t i = 0; i < count; i++) {
        const struct pug_correlated *e = &elements[i];
        size_t room = sizeof(heard->text) - heard->length;
        int length = snprintf(heard->text + heard->length, room, "%u.%u@%s%u", e->stream,
                              (unsigned)e->element.index, marks[e->when], (unsigned)e->time);
        heard->length += (size_t)length < room ? (size_t)length : 0;
        room = sizeof(heard->text) - heard->length;
        length =
            e->cycles ? snprintf(heard->text + heard->length, room, "+%u", (unsigned)e->cycles) : 0;
        heard->length += (size_t)length;
        heard->length +=
            (size_t)snprintf(heard->text + heard->length, sizeof(heard->text) - heard->length, " ");
    }
    heard->count += count;
    return heard->most == 0 || heard->count < heard->most;
}

/**
 * Elements as words, "STREAM.INDEX" and what: R a range, T100 a timestamp, C5 a cycle count, T100C5
 * and RC5 with a count in them, S100 software trace with a time, s without, G100 an ITM's global
 * and L5 its local timestamp, D5 a late one, i another packet of it; "STREAM.end": there are no
 * more. "B0=100": what comes of buffer 0 was recorded until 100.
 */
static void put_words(struct pug_correlate *correlate, const char *words)
{
    char copy[1024], *save = NULL;
    snprintf(copy, sizeof(copy), "%s", words);
    for (char *word = strtok_r(copy, " ", &save); word; word = strtok_r(NULL, " ", &save)) {
        unsigned stream, index;
        char kind[32] = "", *count;
        if (strstr(word, ".end")) {
            assert_int_equal(pug_correlate_end(correlate, (uint32_t)atoi(word)), PUG_OK);
            continue;
        }
        if (sscanf(word, "B%u=%u", &stream, &index) == 2) {
            assert_int_equal(pug_correlate_segment(correlate, stream, index), PUG_OK);
            continue;
        }
        assert_int_equal(sscanf(word, "%u.%u%31s", &stream, &index, kind), 3);
        struct pug_element e = {.type = PUG_ELEM_INSTR_RANGE, .index = index};
        e.timestamp = strtoull(kind + 1, NULL, 10);
        count = strchr(kind, 'C');
        if (count) {
            e.flags = PUG_ELEM_HAS_CC;
            e.cycle_count = (uint32_t)strtoul(count + 1, NULL, 10);
        }
        switch (kind[0]) {
        case 'T': e.type = PUG_ELEM_TIMESTAMP; break;
        case 'C': e.type = PUG_ELEM_CYCLE_COUNT; break;
        case 'S':
            e.type = PUG_ELEM_SWTRACE;
            e.flags |= PUG_ELEM_HAS_TS;
            break;
        case 's': e.type = PUG_ELEM_SWTRACE; break;
        case 'G':
            e.type = PUG_ELEM_ITMTRACE;
            e.reason = PUG_ITM_TS_GLOBAL;
            break;
        case 'i': e.type = PUG_ELEM_ITMTRACE; break;
        case 'D':
        case 'L':
            e.type = PUG_ELEM_ITMTRACE;
            e.reason = kind[0] == 'D' ? PUG_ITM_TS_PKT_DELAY : PUG_ITM_TS_SYNC;
            e.value = e.timestamp;
            break;
        default: break;
        }
        assert_int_equal(pug_correlate_put(correlate, stream, &e, 1), PUG_OK);
    }
}

/** Streams of these protocols, all in so many buffers, and what comes of these words. */
static void check_in(uint32_t buffers, const char *const *protocols, size_t count,
                     const char *words, const char *wanted)
{
    struct heard heard = {.length = 0};
    struct pug_correlate *correlate;
    const struct pug_correlate_config config = {.give = note, .context = &heard};
    assert_int_equal(pug_correlate_new(&config, &correlate), PUG_OK);
    for (size_t i = 0; i < count; i++)
        assert_int_equal(
            pug_correlate_add(correlate,
                              &(struct pug_correlate_source){.buffer = (uint32_t)i % buffers,
                                                             .protocol = protocols[i]}),
            PUG_OK);
    put_words(correlate, words);
    for (uint32_t i = 0; i < count; i++)
        assert_int_equal(pug_correlate_end(correlate, i), PUG_OK);
    assert_string_equal(heard.text, wanted);
    assert_int_equal(pug_correlate_wanted(correlate), count); /* none is wanted any more */
    pug_correlate_free(correlate);
}

/** Each in a buffer of its own. */
static void check(const char *const *protocols, size_t count, const char *words, const char *wanted)
{
    check_in((uint32_t)count, protocols, count, words, wanted);
}

static const char *const two_ptms[] = {"PTM", "PTM"};
static const char *const etms[] = {"ETMV4I", "ETMV4I"};

static void test_timestamps(void **state)
{
    (void)state;
    check(two_ptms, 2, "0.1T100 0.2R 0.3T200 0.4R 1.1T150 1.2R 1.3T200 1.4R",
          "0.1@100 0.2@>100 1.1@150 1.2@>150 0.3@200 0.4@>200 1.3@200 1.4@>200 ");
    /* the same, whoever speaks first */
    check(two_ptms, 2, "1.1T150 1.2R 1.3T200 1.4R 0.1T100 0.2R 0.3T200 0.4R",
          "0.1@100 0.2@>100 1.1@150 1.2@>150 0.3@200 0.4@>200 1.3@200 1.4@>200 ");
}

/** Between equal timestamps cycles decide; a count belongs to what it closes. */
static void test_cycles(void **state)
{
    (void)state;
    check(two_ptms, 2, "0.1T100 0.2R 0.3C5 0.4R 0.5C5 0.6R 1.1T100 1.2R 1.3C3 1.4R 1.5C9 1.6R",
          "0.1@100 1.1@100 1.2@100+3 1.3@100+3 0.2@100+5 0.3@100+5 0.4@100+10 0.5@100+10 "
          "0.6@>100+10 1.4@100+12 1.5@100+12 1.6@>100+12 ");
    check(two_ptms, 2, "0.1T100 0.2RC7 0.3T200 1.1T100 1.2RC4 1.3RC4 1.4T200",
          "0.1@100 1.1@100 1.2@100+4 0.2@100+7 1.3@100+8 0.3@200 1.4@200 ");
    /* a clock has no end: what comes before the next timestamp is before it */
    check(two_ptms, 2, "0.1T100 0.2RC1000 0.3T101 1.1T100 1.2T101 1.3RC5",
          "0.1@100 1.1@100 0.2@100+1000 0.3@101 1.2@101 1.3@101+5 ");
}

/** The count in a timestamp of ETMv4 is no part of the sum; that of PTM is. */
static void test_counted_timestamps(void **state)
{
    (void)state;
    check(etms, 1, "0.1T100 0.2RC10 0.3T200C4 0.4RC10 0.5RC10",
          "0.1@100 0.2@100+10 0.3@200 0.4@200+6 0.5@200+16 ");
    check(two_ptms, 1, "0.1T100 0.2RC10 0.3R 0.4T200C4 0.5RC10 0.6RC10",
          "0.1@100 0.2@100+10 0.3@100+14 0.4@200 0.5@200+10 0.6@200+20 ");
}

/**
 * What comes before a stream's first timestamp was before it, and is given as late as it can be.
 */
static void test_before(void **state)
{
    (void)state;
    check(two_ptms, 2, "0.1R 0.2T100 0.3R 1.1R 1.2R 1.3T50 1.4R 1.5T100",
          "1.1@<50 1.2@<50 1.3@50 1.4@>50 0.1@<100 0.2@100 0.3@>100 1.5@100 ");
    /* of a stream that lags another of its buffer, which has come farther by then */
    check_in(1, two_ptms, 2, "0.1T100 0.2T200 0.3T300 1.4R 0.5R 1.6T150 1.7R",
             "0.1@100 1.4@<150 1.6@150 1.7@>150 0.2@200 0.3@300 0.5@>300 ");
}

static void test_without_timestamps(void **state)
{
    (void)state;
    check(two_ptms, 2, "0.1R 0.2C5 1.1T100 1.2R", "0.1@?0 0.2@?0 1.1@100 1.2@>100 ");
    check(two_ptms, 2, "0.1R 0.2R 1.1R", "0.1@?0 0.2@?0 1.1@?0 ");
}

/** The time when a buffer was read out dates streams that have no timestamps. */
static void test_segments(void **state)
{
    (void)state;
    check(two_ptms, 2, "B0=100 B1=150 0.1R 0.2C3 1.1R B0=200 0.3R B1=300 1.2R",
          "0.1@<100 0.2@<100 1.1@<150 0.3@<200 1.2@<300 ");
    /* of one that has them they tell nothing new */
    check(two_ptms, 2, "B0=100 B1=90 0.1R 1.1T50 1.2R 1.3T150 B0=160 0.2R",
          "1.1@50 1.2@>50 0.1@<100 1.3@150 0.2@<160 ");
    check(two_ptms, 1, "B0=100 0.1R 0.2T50 0.3R B0=0 0.4R 0.5T90",
          "0.1@<50 0.2@50 0.3@>50 0.4@>50 0.5@90 ");
    /* from here on no time is known */
    check(two_ptms, 2, "B0=100 0.1R B0=0 0.2R 1.1T150", "0.1@<100 0.2@?100 1.1@150 ");
}

static void test_software_trace(void **state)
{
    static const char *const protocols[] = {"STM", "ITM"};
    (void)state;
    check(protocols, 2, "0.1S100 0.2s 0.3S120 1.1s 1.2G110 1.3s 1.4L7 1.5s 1.6L2 1.7G130",
          "0.1@100 0.2@>100 1.1@<110 1.2@110 0.3@120 1.3@<130 1.4@<130 1.5@<130 1.6@<130 1.7@130 ");
}

/** An ITM is dated by what follows; its local timestamps count a clock of its own. */
static void test_itm(void **state)
{
    static const char *const itms[] = {"ITM", "ITM"}, *const beside[] = {"PTM", "ITM"};
    (void)state;
    check(itms, 1, "0.1i 0.2L100 0.3i 0.4L250 0.5i", "0.1@100 0.2@100 0.3@250 0.4@250 0.5@>250 ");
    /* late ones are before their timestamp; what is no packet of it, too */
    check(itms, 1, "0.1R 0.2i 0.3L100 0.4i 0.5D120 0.6i",
          "0.1@<100 0.2@100 0.3@100 0.4@<120 0.5@120 0.6@>120 ");
    /* several side by side, also in one buffer, where one is far ahead of the other */
    check(itms, 2, "0.1i 0.2L100 1.1i 1.2L50 0.3i 0.4L200 1.3i 1.4L150",
          "1.1@50 1.2@50 0.1@100 0.2@100 1.3@150 1.4@150 0.3@200 0.4@200 ");
    check_in(
        1, itms, 2, "0.1i 0.2L100 0.70000i 0.70001L900 1.70002i 1.70003L50 1.170000i 1.170001L60",
        "1.70002@50 1.70003@50 1.170000@60 1.170001@60 0.1@100 0.2@100 0.70000@900 0.70001@900 ");
    /* sums start again where they are less */
    check(itms, 1, "0.1L100 0.2L30", "0.1@100 0.2@130 ");
    /* beside timestamps of the clock of all they give no times: before there is one, none is known
     */
    check(beside, 2, "0.1T100 0.2T200 1.1i 1.2L150 1.3i 1.4L20",
          "1.1@?0 1.2@?0 1.3@?0 1.4@?0 0.1@100 0.2@200 ");
    check(beside, 2, "0.1T100 0.2T200 1.1i 1.2L7 1.3G150 1.4i",
          "0.1@100 1.1@<150 1.2@<150 1.3@150 1.4@>150 0.2@200 ");
}

static void test_backwards(void **state)
{
    struct heard heard = {.length = 0};
    struct pug_correlate *correlate;
    struct pug_correlate_stream stream;
    (void)state;
    assert_int_equal(
        pug_correlate_new(&(struct pug_correlate_config){.give = note, .context = &heard},
                          &correlate),
        PUG_OK);
    pug_correlate_add(correlate, &(struct pug_correlate_source){.buffer = 0, .source = 0x10});
    put_words(correlate, "0.0R 0.1T100 0.2R 0.3T90 0.4R 0.5C2 0.6T110 0.end");
    assert_string_equal(heard.text,
                        "0.0@<100 0.1@100 0.2@>100 0.3@100 0.4@100+2 0.5@100+2 0.6@110 ");
    assert_true(pug_correlate_stream(correlate, 0, &stream));
    assert_int_equal(stream.source, 0x10);
    assert_int_equal(stream.backwards, 1);
    assert_int_equal(stream.timestamps, 3);
    assert_int_equal(stream.counts, 1);
    assert_int_equal(stream.elements, 7);
    assert_int_equal(stream.first, 100);
    assert_int_equal(stream.last, 110);
    assert_int_equal(stream.when[PUG_WHEN_AT], 3);
    assert_int_equal(stream.when[PUG_WHEN_CYCLES], 2);
    assert_int_equal(stream.when[PUG_WHEN_AFTER], 1);
    assert_int_equal(stream.when[PUG_WHEN_BEFORE], 1);
    assert_false(pug_correlate_stream(correlate, 1, &stream));
    pug_correlate_free(correlate);
}

/** Elements wait for a stream that may still say something earlier, but not for ever. */
static void test_waiting(void **state)
{
    struct heard heard = {.length = 0};
    struct pug_correlate *correlate;
    (void)state;
    const struct pug_correlate_config config = {.give = note, .context = &heard, .limit = 8};
    assert_int_equal(pug_correlate_new(&config, &correlate), PUG_OK);
    pug_correlate_add(correlate, &(struct pug_correlate_source){.buffer = 0});
    pug_correlate_add(correlate, &(struct pug_correlate_source){.buffer = 1});
    put_words(correlate, "0.1T100 0.2R 0.3T110");
    assert_int_equal(heard.count, 0);
    assert_int_equal(pug_correlate_wanted(correlate), 1);
    put_words(correlate, "1.1T105");
    assert_int_equal(heard.count, 3);
    assert_int_equal(pug_correlate_wanted(correlate), 1);
    put_words(correlate, "1.2T120");
    assert_string_equal(heard.text, "0.1@100 0.2@>100 1.1@105 0.3@110 ");
    assert_int_equal(pug_correlate_wanted(correlate), 0);
    put_words(correlate, "1.3T130 1.4T140 1.5T150 1.6T160 1.7T170 1.8T180 1.9T190");
    assert_int_equal(heard.count, 4);
    put_words(correlate, "1.10T200"); /* nine wait */
    assert_int_equal(heard.count, 9);
    assert_int_equal(pug_correlate_late(correlate), 0);
    put_words(correlate, "0.4T155 0.5T210 0.end 1.end");
    assert_int_equal(pug_correlate_late(correlate), 1);
    assert_string_equal(heard.text,
                        "0.1@100 0.2@>100 1.1@105 0.3@110 1.2@120 1.3@130 1.4@140 1.5@150 1.6@160 "
                        "0.4@155 1.7@170 1.8@180 1.9@190 1.10@200 0.5@210 ");
    pug_correlate_free(correlate);
}

/** A stream that is silent in its buffer holds the others up no longer than its FIFO could. */
static void test_silent(void **state)
{
    struct heard heard = {.length = 0};
    struct pug_correlate *correlate;
    (void)state;
    assert_int_equal(
        pug_correlate_new(&(struct pug_correlate_config){.give = note, .context = &heard},
                          &correlate),
        PUG_OK);
    pug_correlate_add(correlate, &(struct pug_correlate_source){.source = 1});
    pug_correlate_add(correlate, &(struct pug_correlate_source){.source = 2});
    pug_correlate_add(correlate, &(struct pug_correlate_source){.source = 3});
    put_words(correlate, "0.0T100 2.5R 0.10R 0.60000T200");
    assert_int_equal(heard.count, 0);
    put_words(correlate, "0.66000T300");
    assert_string_equal(heard.text, "0.0@100 "); /* nothing older can come any more */
    put_words(correlate, "0.130000T400 0.140000T500 1.140001T450");
    put_words(correlate, "0.end 1.end 2.end");
    assert_string_equal(heard.text, "0.0@100 2.5@?100 0.10@>100 0.60000@200 0.66000@300 "
                                    "0.130000@400 1.140001@450 0.140000@500 ");
    assert_int_equal(pug_correlate_late(correlate), 0);
    pug_correlate_free(correlate);
}

static bool note_payload(void *context, const struct pug_correlated *elements, size_t count)
{
    char *text = context;
    for (size_t i = 0; i < count; i++)
        if (elements[i].element.flags & PUG_ELEM_PAYLOAD)
            strncat(text, elements[i].element.payload, elements[i].element.count);
    return true;
}

#define MANY 300u /* streams, five in a buffer */

/** What was given of many streams: each its own in order, and times never go back. */
struct crowd {
    uint64_t last, given, indices[MANY];
};

static bool note_crowd(void *context, const struct pug_correlated *elements, size_t count)
{
    struct crowd *crowd = context;
    for (size_t i = 0; i < count; i++) {
        const struct pug_correlated *e = &elements[i];
        assert_true(e->stream < MANY && e->element.index > crowd->indices[e->stream]);
        assert_true(e->time >= crowd->last && e->when == PUG_WHEN_AT);
        assert_int_equal(e->time, e->element.timestamp);
        crowd->indices[e->stream] = e->element.index;
        crowd->last = e->time;
    }
    crowd->given += count;
    return true;
}

/**
 * Many streams that report something now and then: no stream waits for one that nothing is expected
 * from.
 */
static void test_many(void **state)
{
    struct crowd crowd = {.last = 0};
    struct pug_correlate *correlate;
    uint64_t random = 7, put = 0, times[MANY] = {0}, index[MANY / 5] = {0};
    (void)state;
    assert_int_equal(
        pug_correlate_new(&(struct pug_correlate_config){.give = note_crowd, .context = &crowd},
                          &correlate),
        PUG_OK);
    for (uint32_t n = 0; n < MANY; n++)
        assert_int_equal(
            pug_correlate_add(correlate, &(struct pug_correlate_source){.buffer = n % (MANY / 5)}),
            PUG_OK);
    for (unsigned i = 0; i < 20 * MANY; i++) {
        const uint32_t n = pug_correlate_wanted(correlate);
        assert_true(n < MANY);
        struct pug_element e[3];
        size_t count = 0;
        for (; count < 1 + i % 3; count++) {
            random = random * UINT64_C(6364136223846793005) + 1442695040888963407u;
            times[n] += random >> 58;
            e[count] = (struct pug_element){.type = PUG_ELEM_SWTRACE,
                                            .flags = PUG_ELEM_HAS_TS,
                                            .timestamp = times[n],
                                            .index = ++index[n % (MANY / 5)]};
        }
        assert_int_equal(pug_correlate_put(correlate, n, e, count), PUG_OK);
        put += count;
        assert_true(put - crowd.given <= 3 * MANY); /* the others are ahead of it, each by a put */
    }
    for (uint32_t n = 0; n < MANY; n++)
        assert_int_equal(pug_correlate_end(correlate, (n * 7) % MANY), PUG_OK);
    assert_int_equal(pug_correlate_wanted(correlate), MANY);
    assert_int_equal(crowd.given, put);
    assert_int_equal(pug_correlate_late(correlate), 0);
    pug_correlate_free(correlate);
}

static void test_payloads(void **state)
{
    char text[64] = "", bytes[4] = "abc";
    struct pug_correlate *correlate;
    (void)state;
    assert_int_equal(
        pug_correlate_new(&(struct pug_correlate_config){.give = note_payload, .context = text},
                          &correlate),
        PUG_OK);
    pug_correlate_add(correlate, &(struct pug_correlate_source){.buffer = 0});
    pug_correlate_add(correlate, &(struct pug_correlate_source){.buffer = 1});
    struct pug_element e = {.type = PUG_ELEM_SWTRACE,
                            .flags = PUG_ELEM_HAS_TS | PUG_ELEM_PAYLOAD,
                            .count = 3,
                            .timestamp = 7,
                            .payload = bytes};
    assert_int_equal(pug_correlate_put(correlate, 0, &e, 1), PUG_OK);
    snprintf(bytes, sizeof(bytes), "def");
    e.timestamp = 6;
    assert_int_equal(pug_correlate_put(correlate, 1, &e, 1), PUG_OK);
    snprintf(bytes, sizeof(bytes), "xyz");
    pug_correlate_end(correlate, 0);
    pug_correlate_end(correlate, 1);
    assert_string_equal(text, "defabc");
    pug_correlate_put(correlate, 0, &e, 1); /* refused: the stream is over */
    pug_correlate_free(correlate);
}

static void test_misuse(void **state)
{
    struct heard heard = {.most = 1};
    struct pug_correlate *correlate = (void *)&heard;
    struct pug_element e = {.type = PUG_ELEM_TIMESTAMP};
    (void)state;
    assert_int_equal(pug_correlate_new(NULL, &correlate), PUG_ERR_INVALID_PARAM_VAL);
    assert_null(correlate);
    assert_int_equal(pug_correlate_new(&(struct pug_correlate_config){.give = NULL}, &correlate),
                     PUG_ERR_INVALID_PARAM_VAL);
    assert_int_equal(
        pug_correlate_new(&(struct pug_correlate_config){.give = note, .context = &heard},
                          &correlate),
        PUG_OK);
    assert_int_equal(pug_correlate_put(correlate, 0, &e, 1), PUG_ERR_INVALID_PARAM_VAL);
    assert_int_equal(pug_correlate_end(correlate, 0), PUG_ERR_INVALID_PARAM_VAL);
    pug_correlate_add(correlate, &(struct pug_correlate_source){.buffer = 0});
    assert_false(pug_correlate_stopped(correlate));
    put_words(correlate, "0.1T1 0.2T2 0.3T3 0.end");
    assert_true(pug_correlate_stopped(correlate)); /* who takes them wants no more */
    assert_int_equal(heard.count, 1);
    pug_correlate_free(correlate);
    pug_correlate_free(NULL);
}

/* ---- a capture ---- */

/** An STM's trace: a master, and a byte of data at each of these times. */
static void write_stm(const char *path, const uint64_t *times, size_t count)
{
    struct rec_bytes bytes = {0};
    struct rec_stm stm = {.bytes = &bytes};
    uint64_t before = 0;
    rec_stm_put(&stm, &(struct pug_stm_packet){.type = PUG_STM_ASYNC});
    rec_stm_put(&stm, &(struct pug_stm_packet){.type = PUG_STM_VERSION, .payload = 3});
    rec_stm_put(&stm, &(struct pug_stm_packet){.type = PUG_STM_M8, .master = 1});
    for (size_t i = 0; i < count; i++) {
        struct pug_stm_packet packet = {.type = PUG_STM_D8,
                                        .payload = i,
                                        .has_ts = true,
                                        .ts_type = PUG_STM_TS_NATURAL,
                                        .timestamp = times[i]};
        packet.ts_bits = rec_stm_ts_bits(before, times[i], PUG_STM_TS_NATURAL);
        rec_stm_put(&stm, &packet);
        before = times[i];
    }
    rec_stm_end(&stm);
    FILE *file = fopen(path, "wb");
    assert_non_null(file);
    fwrite(bytes.data, 1, bytes.size, file);
    fclose(file);
    rec_bytes_free(&bytes);
}

static void write_text(const char *folder, const char *name, const char *text)
{
    char path[256];
    snprintf(path, sizeof(path), "%s/%s", folder, name);
    FILE *file = fopen(path, "wb");
    assert_non_null(file);
    fputs(text, file);
    fclose(file);
}

/** Two buffers of a source each, and one that wrote into both. */
static void make_snapshot(const char *folder)
{
    static const uint64_t first[] = {10, 30, 50}, second[] = {20, 25, 60};
    char path[256];
    write_text(folder, "snapshot.ini",
               "[snapshot]\nversion=1.0\n[device_list]\na=1\nb=2\n[trace]\nmetadata=t\n");
    write_text(folder, "1", "[device]\nname=S1\ntype=STM1.0\n[regs]\nSTMTCSR=0x00100000\n");
    write_text(folder, "2", "[device]\nname=S2\ntype=STM1.0\n[regs]\nSTMTCSR=0x00200000\n");
    write_text(folder, "t",
               "[trace_buffers]\nbuffers=x,y,z\n"
               "[x]\nname=X\nfile=x.bin\nformat=source_data\n"
               "[y]\nname=Y\nfile=y.bin\nformat=source_data\n"
               "[z]\nname=Z\nfile=y.bin\nformat=source_data\n"
               "[source_buffers]\nS1=X\nS2=Y,Z\n");
    snprintf(path, sizeof(path), "%s/x.bin", folder);
    write_stm(path, first, 3);
    snprintf(path, sizeof(path), "%s/y.bin", folder);
    write_stm(path, second, 3);
}

/** "1/10:0 ": buffer, trace id, time and value of software trace. */
static bool note_software(void *context, const struct pug_correlated *elements, size_t count)
{
    char *text = context;
    for (size_t i = 0; i < count; i++) {
        const struct pug_element *e = &elements[i].element;
        if (e->type == PUG_ELEM_SWTRACE)
            sprintf(text + strlen(text), "%u/%x:%u@%u ", elements[i].stream, e->source,
                    (unsigned)e->value, (unsigned)elements[i].time);
    }
    return true;
}

static void test_capture(void **state)
{
    char folder[48], text[512] = "", command[64];
    struct pug_capture *capture = NULL;
    struct pug_correlate *correlate;
    struct pug_correlate_stream stream;
    const struct pug_correlate_config config = {.give = note_software, .context = text};
    (void)state;
    assert_true(temporary_folder(folder, sizeof(folder), "correlate"));
    make_snapshot(folder);
    assert_int_equal(pug_capture_open(folder, &(struct pug_capture_options){0}, &capture), PUG_OK);
    assert_int_equal(pug_correlate_new(&config, &correlate), PUG_OK);
    assert_int_equal(pug_correlate_capture(correlate, capture, NULL), PUG_OK);
    assert_string_equal(text, "0/10:0@10 1/20:0@20 1/20:1@25 0/10:1@30 0/10:2@50 1/20:2@60 ");
    assert_true(pug_correlate_stream(correlate, 1, &stream));
    assert_int_equal(stream.buffer, 1);
    assert_int_equal(stream.source, 0x20);
    assert_int_equal(stream.timestamps, 3);
    assert_false(pug_correlate_stream(correlate, 2, &stream)); /* it is in Y already */
    assert_int_equal(pug_correlate_late(correlate), 0);
    pug_correlate_free(correlate);
    /* one of the sources */
    text[0] = 0;
    const uint16_t only[] = {0x20};
    assert_int_equal(pug_correlate_new(&config, &correlate), PUG_OK);
    assert_int_equal(
        pug_correlate_capture(correlate, capture,
                              &(struct pug_correlate_choice){.sources = only, .source_count = 1}),
        PUG_OK);
    assert_string_equal(text, "0/20:0@20 0/20:1@25 0/20:2@60 ");
    pug_correlate_free(correlate);
    pug_capture_free(capture);
    snprintf(command, sizeof(command), "rm -r %s", folder);
    assert_int_equal(system(command), 0);
}

/** What came of perf.data: times never go back, and are those of segments where there are none. */
struct dated {
    const struct pug_capture *capture;
    uint64_t last, before, unknown, timestamps, instructions;
};

static bool is_segment_end(const struct pug_capture *capture, uint64_t time)
{
    uint64_t taken;
    for (size_t n = 0; pug_capture_segment_at(capture, n); n++)
        if (pug_capture_segment_taken(capture, n, &taken) && taken == time)
            return true;
    return false;
}

static bool note_dated(void *context, const struct pug_correlated *elements, size_t count)
{
    struct dated *dated = context;
    for (size_t i = 0; i < count; i++) {
        const struct pug_correlated *e = &elements[i];
        assert_true(e->time >= dated->last);
        dated->last = e->time;
        dated->unknown += e->when == PUG_WHEN_UNKNOWN;
        dated->timestamps += e->when == PUG_WHEN_AT;
        if (e->element.type == PUG_ELEM_INSTR_RANGE)
            dated->instructions += e->element.number;
        if (e->when == PUG_WHEN_BEFORE)
            dated->before += is_segment_end(dated->capture, e->time);
    }
    return true;
}

static void check_perf(bool per_thread, uint64_t seed, unsigned slices)
{
    const struct perf_story_config config = {
        .seed = seed, .slices = slices, .cpus = 3, .per_thread = per_thread};
    struct perf_story story;
    perf_story_make(&story, &config);
    const struct pug_capture_options options = {.roots.symfs = story.folder};
    struct pug_capture *capture;
    assert_int_equal(pug_capture_open(perf_story_write(&story), &options, &capture), PUG_OK);
    struct dated dated = {.capture = capture};
    struct pug_correlate *correlate;
    struct pug_correlate_stream stream;
    assert_int_equal(
        pug_correlate_new(&(struct pug_correlate_config){.give = note_dated, .context = &dated},
                          &correlate),
        PUG_OK);
    assert_int_equal(pug_correlate_capture(correlate, capture, NULL), PUG_OK);
    assert_int_equal(pug_correlate_late(correlate), 0);
    assert_int_equal(dated.unknown, 0);
    assert_int_equal(dated.timestamps > 0, !per_thread);
    assert_true(!per_thread || dated.before > 100);
    uint64_t ran = 0; /* each buffer's segments, and no other's */
    for (size_t n = 0; n < story.path_count; n++)
        ran += story.paths[n].count;
    assert_int_equal(dated.instructions, ran);
    size_t streams = 0;
    for (; pug_correlate_stream(correlate, streams, &stream); streams++) {
        const struct pug_capture_segment *segment;
        uint64_t taken = 0;
        for (size_t n = 0; (segment = pug_capture_segment_at(capture, n)) != NULL; n++)
            if (segment->buffer == stream.buffer)
                assert_true(pug_capture_segment_taken(capture, n, &taken));
        assert_true(stream.last <= taken);
    }
    assert_true(streams > 1 && (slices < 200 || streams > 16));
    pug_correlate_free(correlate);
    pug_capture_free(capture);
    perf_story_free(&story);
}

/** perf.data: buffers of threads without timestamps, and of processors with them. */
static void test_perf(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= 6; seed++)
        check_perf(seed % 2, 7 * seed, 40);
    check_perf(true, 4, 200); /* so many buffers that not all are decoded at a time */
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_timestamps),
        cmocka_unit_test(test_cycles),
        cmocka_unit_test(test_counted_timestamps),
        cmocka_unit_test(test_before),
        cmocka_unit_test(test_without_timestamps),
        cmocka_unit_test(test_segments),
        cmocka_unit_test(test_software_trace),
        cmocka_unit_test(test_itm),
        cmocka_unit_test(test_backwards),
        cmocka_unit_test(test_waiting),
        cmocka_unit_test(test_silent),
        cmocka_unit_test(test_many),
        cmocka_unit_test(test_payloads),
        cmocka_unit_test(test_misuse),
        cmocka_unit_test(test_capture),
        cmocka_unit_test(test_perf),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
