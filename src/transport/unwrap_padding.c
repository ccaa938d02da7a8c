// SPDX-License-Identifier: MIT
/**
 * @file Padding. The encapsulation fills the last byte of a packet with bits that mean nothing. A
 * payload that does not end with a byte may end anywhere before: there are encoders that cut it to
 * the bit and fill with its sign, so that a reader need not know where it ended; and encoders that
 * make it whole bytes first, and fill with anything. The stream does not say which. The bits after
 * the last whole byte of some payloads decide.
 *
 * Of a payload `rest` bits (1 to 7) follow its last whole byte. `run` is how many bits from the
 * last one down are equal.
 *
 * - Cut to the bit, 0 to 7 copies of its sign follow the payload's shortest form, each count as
 * likely as the others: `run` is 1 to 8 with a probability of 1/8 each.
 * - Filled with anything, `run` is 1 with 1/2, 2 with 1/4 and so on, up to `rest` bits.
 *   That holds for any payloads. Where these are much the same, cut payloads end at few of the 8
 *   places: how often each was seen so far is another guess of what comes next.
 * - Filled with zeros, or with ones, they are these, whatever the sign before.
 *
 * Of payloads that are filled with anything, those that are shortened to whole bytes never have a
 * last byte that only repeats the sign of the one before. Where many have, nothing is shortened,
 * and the fields of a payload may end anywhere.
 *
 * A payload that comes again is no more evidence, and bits are dropped only where the evidence is
 * certain: by many different payloads. Else all bits are kept.
 *
 * What is added up are logarithms (to the base 2, in sixteenths) of how much better each explains
 * a packet than the second one, in which all bits are equally likely.
 */
#include "transport/unwrap.h"

#include "base/hash.h"

#define UNIT    16
#define MOST    8u    /* equal bits */
#define PENALTY (-64) /* zeros and ones are believed when they explain more than one packet */
#define CHANCE  128   /* so much better explains by chance once in 256 times */
/* Different payloads that are needed before any of their bits are dropped: of several lengths, and
   of one, which bits that mean something have, too. */
#define CERTAIN       64u
#define CERTAIN_ALIKE 128u

static unsigned bit_at(const struct pug_unwrapped *packet, unsigned at)
{
    return packet->payload[at / 8] >> at % 8 & 1;
}

/** How many bits of the first `bits` are equal, from the last one down; at most `most`. */
static unsigned run_of(const struct pug_unwrapped *packet, unsigned bits, unsigned most)
{
    unsigned run = 1, last = bits - 1;
    while (run < most && run <= last && bit_at(packet, last - run) == bit_at(packet, last))
        run++;
    return run;
}

/** The logarithm of a number above 0. */
static int logarithm(uint32_t number)
{
    const int whole = 31 - __builtin_clz(number);
    uint64_t part = (uint64_t)number << (31 - whole); /* of 1 to 2, with 31 bits after the point */
    int result = whole;
    for (int unit = UNIT; unit > 1; unit /= 2) {
        part = part * part >> 31;
        const bool over = part >> 32 != 0;
        part >>= over;
        result = 2 * result + over;
    }
    return result;
}

/** What is seen often is expected. Bits that are always the same are no payload's, but filled. */
static void learn(struct pug_unwrap_padding_guess *guess, const struct pug_unwrapped *packet,
                  unsigned rest, unsigned run)
{
    unsigned bits = 1;
    for (unsigned i = packet->bits - rest; i < packet->bits; i++)
        bits = bits << 1 | bit_at(packet, i);
    guess->varies |= guess->before[rest - 1] != 0 && guess->before[rest - 1] != bits;
    guess->before[rest - 1] = (uint8_t)bits;
    const unsigned kind = run > rest ? rest : run - 1;
    uint16_t *seen = guess->seen[rest - 1];
    uint32_t all = rest + 1;
    for (unsigned i = 0; i <= rest; i++)
        all += seen[i];
    guess->learned += logarithm(seen[kind] + 1u) - logarithm(all);
    guess->learned += UNIT * (int)(run < rest ? run : rest);
    seen[kind] += seen[kind] < UINT16_MAX;
}

/** Notes the payload, unless it was met before. A full table meets none any more. */
static bool is_new(struct pug_unwrap_padding_guess *guess, const struct pug_unwrapped *packet)
{
    uint64_t hash = pug_hash_mix(1, packet->bits);
    for (unsigned i = 0; i < packet->size; i++)
        hash = pug_hash_mix(hash, packet->payload[i]);
    hash |= 1;
    for (unsigned i = 0; i < PUG_UNWRAP_MET; i++) {
        uint64_t *slot = &guess->met[(hash + i) % PUG_UNWRAP_MET];
        if (*slot == hash)
            return false;
        if (*slot == 0) {
            *slot = hash;
            guess->distinct++;
            guess->sizes |= guess->size > 0 && guess->size != packet->bits;
            guess->size = packet->bits;
            return true;
        }
    }
    return true;
}

void pug_unwrap_padding_note(struct pug_unwrap_padding_guess *guess,
                             const struct pug_unwrapped *packet)
{
    /* log2(n) * UNIT: of the 8 places where a cut payload may end, n leave `rest` bits equal */
    static const int logarithms[] = {0, 0, 16, 25, 32, 37, 41, 45};
    const int never = -1000 * UNIT;
    unsigned rest = packet->bits % 8;
    if (packet->null || rest == 0 || packet->kind == PUG_PAYLOAD_OTHER)
        return;
    if (packet->bits < 8) {
        guess->cut = true;
        return;
    }
    guess->payloads++;
    if (!is_new(guess, packet))
        return;
    unsigned run = run_of(packet, packet->bits, MOST), first = packet->bits - rest;
    guess->whole += run_of(packet, first, MOST + 1) > MOST;
    int room = (int)rest * UNIT;
    guess->sign += run > rest ? room - 3 * UNIT + logarithms[8 - rest] : ((int)run - 3) * UNIT;
    learn(guess, packet, rest, run);
    bool equal = run >= rest, one = bit_at(packet, first);
    /* a UNIT less: a payload that is cut may well have no other sign, either */
    guess->zeros += equal && !one ? room - UNIT : never;
    guess->ones += equal && one ? room - UNIT : never;
}

enum pug_unwrap_padding pug_unwrap_padding_guessed(const struct pug_unwrap_padding_guess *guess)
{
    if (guess->cut)
        return PUG_PADDING_SIGN;
    int filled = guess->zeros > guess->ones ? guess->zeros : guess->ones;
    filled += PENALTY;
    if ((guess->sign > 0 || (guess->varies && guess->learned > CHANCE)) && guess->sign >= filled)
        return PUG_PADDING_SIGN;
    if (guess->distinct < (guess->sizes ? CERTAIN : CERTAIN_ALIKE))
        return PUG_PADDING_SIGN;
    return 8 * guess->whole > guess->distinct ? PUG_PADDING_WHOLE : PUG_PADDING_ANY;
}

bool pug_unwrap_padding_matters(const struct pug_unwrapped *packet)
{
    unsigned rest = packet->bits % 8;
    return !packet->null && rest > 0 &&
           (packet->bits < 8 || run_of(packet, packet->bits, rest + 1) <= rest);
}

bool pug_unwrap_pads(const struct pug_unwrap_config *config)
{
    bool pads = (config->src_bits + config->types.bits) % 8 != 0;
    for (size_t i = 0; i < config->source_count; i++)
        pads |= (config->src_bits + config->sources[i].types.bits) % 8 != 0;
    return pads && config->wrapping == PUG_WRAP_ENCAPSULATION;
}
