// SPDX-License-Identifier: MIT
/**
 * @file Open SoC Debug: datagrams of the debug interconnect. Settings:
 *
 *     framing      "dtd": length word and packet, most significant byte first, as on the link;
 *                  "dtd-le": the same, least significant byte first, as the host library dumps;
 *                  "message": each block that is given is one packet without its length word,
 *                  least significant byte first; "auto" (default): dtd or dtd-le, whichever of the
 *                  two has datagrams
 *     MAX_PKT_LEN  words of the longest packet (12 to 4096; default 64)
 *
 * Each module is a source by the address it sends from; register requests go to the module that is
 * asked. There is no mark to synchronise on: after an impossible length, and where a capture begins
 * inside a datagram, bytes are passed over until a datagram looks right and another such one, or
 * the end of the data, follows it.
 */
#include "pugmark/advanced/packet/osd.h"
#include "transport/builtin.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define DEFAULT_LIMIT 64u
#define LEAST_LIMIT   12u
#define MOST_LIMIT    4096u
#define CONFIRMED     4u /* datagrams after which a framing that was found out is believed */
#define FLAGS_AT      6u /* in a datagram */

enum framing { FRAMING_AUTO, FRAMING_DTD, FRAMING_DTD_LE, FRAMING_MESSAGE };

struct osd {
    struct pug_transport_sink *sink;
    enum framing framing, given;
    unsigned limit; /* words of a packet */
    bool ending;
    bool searching; /* framing was lost, at lost_index */
    bool lost;      /* it was, or a message was none, while they were believed */
    uint64_t lost_index;
    uint64_t before;    /* where the datagram right in front begins, or PUG_NO_INDEX */
    unsigned confirmed; /* datagrams since the framing was found out, up to CONFIRMED */
    uint8_t *kept;      /* bytes from the end of the last block: less than two datagrams */
    size_t kept_size, kept_room;
    uint64_t kept_index;
    uint8_t *turned;    /* one datagram in the link's byte order */
    uint8_t seen[8192]; /* a bit a source: had a packet since then */
};

/* ---- making ---- */

static void osd_free(void *transport)
{
    struct osd *osd = transport;
    if (osd) {
        free(osd->kept);
        free(osd->turned);
    }
    free(osd);
}

static bool choose_framing(const char *word, enum framing *framing)
{
    static const char *const words[] = {"auto", "dtd", "dtd-le", "message"};
    for (unsigned i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
        if (strcmp(word, words[i]) == 0) {
            *framing = (enum framing)i;
            return true;
        }
    }
    return false;
}

static enum pug_status osd_create(const struct pug_settings *settings,
                                  struct pug_transport_sink *sink, void **transport)
{
    uint64_t limit = pug_settings_number(settings, "MAX_PKT_LEN", DEFAULT_LIMIT);
    enum framing framing;
    if (limit < LEAST_LIMIT || limit > MOST_LIMIT ||
        !choose_framing(pug_settings_word(settings, "framing", "auto"), &framing))
        return pug_transport_refuse(sink, "OSD",
                                    "MAX_PKT_LEN must be 12 to 4096, framing auto, dtd, dtd-le or "
                                    "message");
    struct osd *osd = calloc(1, sizeof(*osd));
    if (!osd)
        return PUG_ERR_MEM;
    osd->sink = sink;
    osd->framing = osd->given = framing;
    osd->before = PUG_NO_INDEX;
    osd->limit = (unsigned)limit;
    osd->kept_room = 6 * (limit + 1);
    osd->kept = malloc(osd->kept_room);
    osd->turned = malloc(2 * (limit + 1));
    if (!osd->kept || !osd->turned) {
        osd_free(osd);
        return PUG_ERR_MEM;
    }
    *transport = osd;
    return PUG_OK;
}

static void osd_reset(void *transport)
{
    struct osd *osd = transport;
    osd->framing = osd->given;
    osd->ending = osd->searching = osd->lost = false;
    osd->kept_size = 0;
    osd->confirmed = 0;
    osd->before = PUG_NO_INDEX;
    memset(osd->seen, 0, sizeof(osd->seen));
}

static void complain(const struct osd *osd, enum pug_status code, uint64_t index, const char *text)
{
    pug_transport_complain(osd->sink, "OSD", code, index, text);
}

/* ---- datagrams ---- */

static unsigned word_in(enum framing framing, const uint8_t *bytes)
{
    return framing == FRAMING_DTD ? (unsigned)bytes[0] << 8 | bytes[1]
                                  : (unsigned)bytes[1] << 8 | bytes[0];
}

static unsigned word_at(const struct osd *osd, const uint8_t *bytes)
{
    return word_in(osd->framing, bytes);
}

static bool good_length(const struct osd *osd, unsigned words)
{
    return words >= PUG_OSD_PACKET_HEADER && words <= osd->limit;
}

/** Bytes of the datagram at `bytes`; 0: its length is impossible. Two bytes are there. */
static size_t datagram_size(const struct osd *osd, enum framing framing, const uint8_t *bytes)
{
    unsigned words = word_in(framing, bytes);
    return good_length(osd, words) ? 2 * ((size_t)words + 1) : 0;
}

/** Is a packet of these flags, and so many words of payload, one that there is? */
static bool good_flags(unsigned flags, unsigned payload)
{
    /* of register accesses, by TYPE_SUB: requests begin with an address; 13 is not used */
    static const uint8_t words[16] = {1, 1, 1, 1, 2, 3, 5, 9, 1, 2, 4, 8, 0, 0xff, 0, 0};
    unsigned type = PUG_OSD_TYPE(flags), sub = PUG_OSD_TYPE_SUB(flags);
    if ((flags & 0x3ff) != 0)
        return false;
    if (type == PUG_OSD_REG)
        return payload == words[sub];
    return type == PUG_OSD_EVENT && payload > 0 &&
           (sub == PUG_OSD_LAST || sub == PUG_OSD_CONT ||
            (sub == PUG_OSD_OVERFLOW && payload == 1));
}

/** Do the first eight bytes look like the begin of a datagram? */
static bool good_begin(enum framing framing, const uint8_t *bytes)
{
    return good_flags(word_in(framing, bytes + FLAGS_AT),
                      word_in(framing, bytes) - PUG_OSD_PACKET_HEADER);
}

/** Could a datagram be at `bytes`? Size of one that is all there and looks right, else 0. */
static size_t plausible(const struct osd *osd, enum framing framing, const uint8_t *bytes,
                        size_t left)
{
    size_t size = left >= 2 ? datagram_size(osd, framing, bytes) : 0;
    return size > 0 && size <= left && good_begin(framing, bytes) ? size : 0;
}

/** The source that a packet concerns: register requests the module they go to. */
static uint16_t source_of(unsigned dest, unsigned source, unsigned flags)
{
    bool request = PUG_OSD_TYPE(flags) == PUG_OSD_REG && PUG_OSD_TYPE_SUB(flags) < 8;
    return (uint16_t)(request ? dest : source);
}

/**
 * Whoever speaks next may have lost something. Where a capture is read from the middle of a
 * datagram on, nothing is lost before the framing is believed.
 */
static void lose_packets(struct osd *osd)
{
    osd->lost |= osd->confirmed == CONFIRMED || osd->framing == FRAMING_MESSAGE;
    memset(osd->seen, 0, sizeof(osd->seen));
}

static bool osd_heard(const void *transport, uint16_t source)
{
    const struct osd *osd = transport;
    return osd->seen[source / 8] >> source % 8 & 1;
}

static bool osd_lost(const void *transport)
{
    const struct osd *osd = transport;
    return osd->lost;
}

/** Deliver one datagram. False in *taken: the sink did not take it. */
static enum pug_response deliver(struct osd *osd, uint64_t index, const uint8_t *bytes, size_t size,
                                 bool *taken)
{
    unsigned flags = word_at(osd, bytes + 6), type = PUG_OSD_TYPE(flags);
    *taken = true;
    if (type != PUG_OSD_REG && type != PUG_OSD_EVENT) {
        osd->sink->stats->reserved += size;
        return PUG_RESP_CONT;
    }
    if (osd->framing != FRAMING_DTD) {
        for (size_t i = 0; i < size; i += 2) {
            osd->turned[i] = bytes[i + 1];
            osd->turned[i + 1] = bytes[i];
        }
        bytes = osd->turned;
    }
    struct pug_run run = {.index = index, .bytes = bytes, .size = size, .whole = true};
    run.source =
        source_of((unsigned)bytes[2] << 8 | bytes[3], (unsigned)bytes[4] << 8 | bytes[5], flags);
    run.type = (uint8_t)(flags >> 10);
    run.gap = !osd_heard(osd, run.source);
    size_t used = 0;
    enum pug_response response = osd->sink->run(osd->sink->context, &run, &used);
    *taken = used == size;
    if (*taken) /* otherwise it comes again, and with its gap */
        osd->seen[run.source / 8] |= (uint8_t)(1u << run.source % 8);
    return response;
}

/* ---- losing and finding the framing ---- */

static void lose(struct osd *osd, uint64_t index)
{
    osd->searching = true;
    osd->lost_index = index;
    lose_packets(osd);
    if (osd->given == FRAMING_AUTO && osd->confirmed < CONFIRMED)
        osd->framing = FRAMING_AUTO;
}

/**
 * The framing is lost where a length is impossible; bytes may be missing, or be others, before that
 * place. Nothing in the datagram that ends there would show it (it has no checksum), and its bytes
 * may all be good: so it was delivered, and is named here.
 */
static void found(struct osd *osd, uint64_t index)
{
    char text[192], doubt[80] = "";
    osd->searching = false;
    osd->confirmed = 0;
    osd->sink->stats->skipped += index - osd->lost_index;
    if (osd->before != PUG_NO_INDEX)
        snprintf(doubt, sizeof(doubt), "; the packet before them, at %llu, may be damaged",
                 (unsigned long long)osd->before);
    osd->before = PUG_NO_INDEX;
    snprintf(text, sizeof(text), "framing lost: impossible packet length, %llu bytes skipped%s",
             (unsigned long long)(index - osd->lost_index), doubt);
    complain(osd, PUG_ERR_PACKET_SEQUENCE, osd->lost_index, text);
}

enum look { LOOK_NO, LOOK_YES, LOOK_MORE };

/** Does the stream go on at `bytes`? MORE: that cannot be said before more bytes have come. */
static enum look look(const struct osd *osd, enum framing framing, const uint8_t *bytes,
                      size_t left)
{
    enum look open = osd->ending ? LOOK_NO : LOOK_MORE;
    if (left < 2)
        return open;
    size_t size = datagram_size(osd, framing, bytes);
    if (size == 0)
        return LOOK_NO;
    if (size > left)
        return open;
    if (!plausible(osd, framing, bytes, left))
        return LOOK_NO;
    if (size == left)
        return osd->ending ? LOOK_YES : LOOK_MORE;
    if (left - size < 2)
        return open;
    size_t next = datagram_size(osd, framing, bytes + size);
    if (next == 0)
        return LOOK_NO;
    if (next > left - size)
        return open;
    return plausible(osd, framing, bytes + size, left - size) ? LOOK_YES : LOOK_NO;
}

/** Search byte by byte, in both byte orders where none is known; how many bytes are passed. */
static size_t search(struct osd *osd, uint64_t index, const uint8_t *bytes, size_t size)
{
    static const enum framing orders[] = {FRAMING_DTD, FRAMING_DTD_LE};
    for (size_t at = 0; size - at >= 2; at++) {
        for (unsigned i = 0; i < 2; i++) {
            if (osd->framing != FRAMING_AUTO && osd->framing != orders[i])
                continue;
            enum look answer = look(osd, orders[i], bytes + at, size - at);
            if (answer == LOOK_MORE)
                return at;
            if (answer == LOOK_NO)
                continue;
            osd->framing = orders[i];
            found(osd, index + at);
            return at;
        }
    }
    return size - 1;
}

/* ---- which byte order ---- */

/** How many bytes one has to see to know that they begin with a datagram, and that they do not. */
struct trial {
    size_t whole, broken;
};

static struct trial try_order(const struct osd *osd, enum framing framing, const uint8_t *bytes,
                              size_t size)
{
    struct trial trial = {SIZE_MAX, SIZE_MAX};
    for (size_t at = 0; size - at >= 2;) {
        size_t length = datagram_size(osd, framing, bytes + at);
        if (length == 0)
            trial.broken = at + 2;
        else if (size - at >= FLAGS_AT + 2 && !good_begin(framing, bytes + at))
            trial.broken = at + FLAGS_AT + 2;
        if (trial.broken != SIZE_MAX || length > size - at)
            break;
        at += length;
        if (trial.whole == SIZE_MAX)
            trial.whole = at;
    }
    return trial;
}

/** Is it known that the stream begins in this order, before it is known that it does not? */
static bool is_order(struct trial this, struct trial other, size_t size)
{
    size_t known = this.whole > other.broken ? this.whole : other.broken;
    return known <= size && known < this.broken;
}

/**
 * Find out the byte order: one has a whole datagram, the other has none or breaks off. False: more
 * bytes have to come. What is decided depends on the bytes alone, not on how they arrive.
 */
static bool choose_order(struct osd *osd, uint64_t index, const uint8_t *bytes, size_t size)
{
    const size_t most = 4 * ((size_t)osd->limit + 1);
    const bool enough = size >= most;
    if (enough)
        size = most;
    struct trial big = try_order(osd, FRAMING_DTD, bytes, size);
    struct trial little = try_order(osd, FRAMING_DTD_LE, bytes, size);
    if (is_order(big, little, size))
        osd->framing = FRAMING_DTD;
    else if (is_order(little, big, size))
        osd->framing = FRAMING_DTD_LE;
    else if (big.broken != SIZE_MAX && little.broken != SIZE_MAX)
        lose(osd, index);
    else if (enough || osd->ending)
        osd->framing = big.broken == SIZE_MAX ? FRAMING_DTD : FRAMING_DTD_LE;
    else
        return false;
    osd->confirmed = 0;
    return true;
}

/** Take what can be taken of contiguous bytes; *done: how many are done with. */
static enum pug_response take(struct osd *osd, uint64_t index, const uint8_t *bytes, size_t size,
                              size_t *done)
{
    enum pug_response worst = PUG_RESP_CONT;
    *done = 0;
    while (size - *done >= 2 && worst < PUG_RESP_WAIT) {
        const uint8_t *at = bytes + *done;
        if (osd->framing == FRAMING_AUTO && !osd->searching &&
            !choose_order(osd, index + *done, at, size - *done))
            break;
        if (osd->searching) {
            *done += search(osd, index + *done, at, size - *done);
            if (osd->searching)
                break;
            continue;
        }
        size_t length = datagram_size(osd, osd->framing, at);
        if (length == 0) {
            lose(osd, index + *done);
            ++*done;
            continue;
        }
        if (length > size - *done)
            break;
        bool taken;
        enum pug_response response = deliver(osd, index + *done, at, length, &taken);
        worst = response > worst ? response : worst;
        if (!taken)
            break;
        osd->before = index + *done;
        *done += length;
        if (osd->confirmed < CONFIRMED)
            osd->confirmed++;
    }
    return worst;
}

/** Take what is kept of earlier blocks. */
static enum pug_response take_kept(struct osd *osd)
{
    size_t done;
    enum pug_response response = take(osd, osd->kept_index, osd->kept, osd->kept_size, &done);
    memmove(osd->kept, osd->kept + done, osd->kept_size - done);
    osd->kept_size -= done;
    osd->kept_index += done;
    return response;
}

static size_t keep(struct osd *osd, uint64_t index, const uint8_t *bytes, size_t size)
{
    size_t room = osd->kept_room - osd->kept_size;
    size_t part = size < room ? size : room;
    if (osd->kept_size == 0)
        osd->kept_index = index;
    memcpy(osd->kept + osd->kept_size, bytes, part);
    osd->kept_size += part;
    return part;
}

/** A block that is one packet without its length word. */
static enum pug_response take_message(struct osd *osd, uint64_t index, const uint8_t *bytes,
                                      size_t size, size_t *used)
{
    bool taken = true;
    *used = size;
    if (size % 2 != 0 || !good_length(osd, (unsigned)(size / 2 < MOST_LIMIT ? size / 2 : 0))) {
        complain(osd, PUG_ERR_PACKET_SEQUENCE, index, "a message that is no packet");
        lose_packets(osd);
        return PUG_RESP_CONT;
    }
    osd->kept[0] = (uint8_t)(size / 2);
    osd->kept[1] = (uint8_t)(size / 2 >> 8);
    memcpy(osd->kept + 2, bytes, size);
    enum pug_response response = deliver(osd, index, osd->kept, size + 2, &taken);
    if (!taken)
        *used = 0;
    return response;
}

static enum pug_response osd_data(void *transport, uint64_t index, const uint8_t *bytes,
                                  size_t size, size_t *used)
{
    struct osd *osd = transport;
    enum pug_response worst = PUG_RESP_CONT;
    *used = 0;
    if (osd->framing == FRAMING_MESSAGE)
        return take_message(osd, index, bytes, size, used);
    while (*used < size && worst < PUG_RESP_WAIT) {
        size_t done = 0, left = size - *used;
        enum pug_response response;
        if (osd->kept_size > 0) {
            done = keep(osd, index + *used, bytes + *used, left);
            response = take_kept(osd);
        } else {
            response = take(osd, index + *used, bytes + *used, left, &done);
            if (response < PUG_RESP_WAIT)
                done += keep(osd, index + *used + done, bytes + *used + done, left - done);
        }
        *used += done;
        worst = response > worst ? response : worst;
    }
    return worst;
}

static enum pug_response finish(struct osd *osd)
{
    enum pug_response response = take_kept(osd);
    if (response >= PUG_RESP_WAIT)
        return response;
    if (osd->searching) {
        found(osd, osd->kept_index + osd->kept_size);
    } else if (osd->kept_size > 0) {
        complain(osd, PUG_ERR_TRUNCATED, osd->kept_index, "the data end inside a datagram");
        osd->sink->stats->dropped += osd->kept_size;
    }
    osd->kept_size = 0;
    return response;
}

static enum pug_response osd_flush(void *transport)
{
    struct osd *osd = transport;
    return osd->ending ? finish(osd) : take_kept(osd);
}

static enum pug_response osd_end(void *transport)
{
    struct osd *osd = transport;
    osd->ending = true;
    return finish(osd);
}

static void osd_state(const void *transport, struct pug_state *state)
{
    const struct osd *osd = transport;
    pug_state_number(state, osd->framing);
    pug_state_number(state, osd->searching);
    pug_state_number(state, osd->searching ? osd->lost_index : 0);
    pug_state_number(state, osd->before);
    pug_state_number(state, osd->confirmed);
    pug_state_number(state, osd->kept_size);
    if (osd->kept_size > 0) {
        pug_state_number(state, osd->kept_index);
        pug_state_put(state, osd->kept, osd->kept_size);
    }
}

const struct pug_transport pug_transport_osd = {
    .name = "osd",
    .title = "Open SoC Debug packets",
    .state = osd_state,
    .heard = osd_heard,
    .lost = osd_lost,
    .create = osd_create,
    .free = osd_free,
    .data = osd_data,
    .flush = osd_flush,
    .end = osd_end,
    .reset = osd_reset,
};
