// SPDX-License-Identifier: MIT
/**
 * @file What bytes look like: each transport and protocol reads them, and what it can make of them
 * is its score. A protocol whose packets depend on settings is tried with the usual ones.
 */
#include "pugmark/advanced/diagnose.h"
#include "pugmark/author/description.h"
#include "pugmark/author/protocol.h"
#include "transport/coresight_guess.h"
#include "transport/osd_modules.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define LOOK_AT (256u << 10)
#define IDS     (UINT16_MAX + 1u)

/* So many sources are read; the bytes of others speak against a guess. */
#define IDS_MOST 256u

/* Guesses below are left out. */
#define SCORE_LEAST 40u

/* Of fewer bytes anything can be made … */
#define BYTES_LEAST 16u

/* … and of fewer packets, by a protocol that takes nearly all bytes. */
#define PACKETS_LEAST 8u

/** A protocol, and how its sources may have been set up. */
struct way {
    const struct pug_protocol *protocol;
    const struct pug_usual *usual;
};

/** The n-th of those that the protocols describe; false: there are no more. */
static bool way_at(size_t n, struct way *way)
{
    for (size_t i = 0; (way->protocol = pug_protocol_at(i)) != NULL; i++) {
        const struct pug_description *description = way->protocol->description;
        for (way->usual = description ? description->usual : NULL;
             way->usual && way->usual->settings; way->usual++)
            if (n-- == 0)
                return true;
    }
    return false;
}

/* ---- reading ---- */

struct tally {
    uint64_t packets, bad, syncs, kinds, sources;
    uint64_t bytes, lost; /* lost: of no use to a decoder … */
    uint64_t early;       /* … because its source has not begun yet */
};

/** Collects the elements of one source. */
struct ear {
    struct tally *tally;
    const struct pug_description *description;
    bool begun; /* there was a synchronisation point, or need not be one */
};

static void on_packet(void *context, enum pug_op op, const struct pug_packet *packet)
{
    struct ear *ear = context;
    struct tally *tally = ear->tally;
    if (op != PUG_OP_DATA)
        return;
    const enum pug_fit fit = ear->description->fit ? ear->description->fit(packet) : PUG_FIT_USUAL;
    ear->begun |= (packet->flags & PUG_PACKET_SYNC) != 0;
    tally->packets++;
    tally->bad += (packet->flags & PUG_PACKET_BAD) || fit == PUG_FIT_DOUBTFUL;
    tally->syncs += (packet->flags & PUG_PACKET_SYNC) != 0;
    tally->kinds |= UINT64_C(1) << (packet->type & 63);
    if (!ear->begun && (packet->flags & PUG_PACKET_DECODE) && fit != PUG_FIT_LEADING)
        tally->early += packet->raw_size;
}

/** What is wrong with the framing; what sources complain of are packets, and counted there. */
static void on_message(void *context, const struct pug_log_record *record)
{
    struct tally *tally = context;
    tally->bad += record->source == PUG_NO_SOURCE && record->severity == PUG_SEV_ERROR;
}

/** "NAME=VALUE …" as settings, whose names are in `buffer`. */
static size_t parse_settings(char *buffer, struct pug_setting *items, size_t room)
{
    size_t count = 0;
    char *rest = buffer;
    for (char *word; count < room && (word = strtok_r(rest, " ", &rest)) != NULL;) {
        char *value = strchr(word, '=');
        *value++ = '\0';
        items[count++] = (struct pug_setting){word, strtoull(value, NULL, 0), NULL};
    }
    return count;
}

/** Bytes of each source; of Open SoC Debug's, what modules they are, too. */
struct sources {
    uint32_t end; /* one past the last: nothing from there on is touched */
    uint64_t sizes[IDS];
    uint8_t flows[IDS];              /* a bit each: which way its packets went */
    struct pug_osd_modules *modules; /* or NULL */
};

static void count_run(void *context, const struct pug_run *run)
{
    struct sources *sources = context;
    if (run->source >= sources->end)
        sources->end = run->source + 1u;
    sources->sizes[run->source] += run->size;
    sources->flows[run->source] |= (uint8_t)(1u << (run->flow & 3));
    if (sources->modules)
        pug_osd_modules_note(sources->modules, run);
}

static bool is_osd(const char *transport)
{
    return transport && strcmp(transport, "osd") == 0;
}

/**
 * Are sources of this transport, which has no frames, distinguished by their ids? Protocols in
 * these give each packet, whether there was a synchronisation point or not.
 */
static bool has_sources(const char *transport)
{
    static const char *const those[] = {"encapsulation", "smi", "nexus", "osd"};
    for (size_t i = 0; transport && i < sizeof(those) / sizeof(those[0]); i++)
        if (strcmp(those[i], transport) == 0)
            return true;
    return false;
}

/** Whose bytes a transport has; NULL: it cannot be tried. */
static struct sources *find_sources(const struct pug_tree_config *config, const uint8_t *bytes,
                                    size_t size)
{
    struct sources *sources = calloc(1, sizeof(*sources));
    struct pug_tree *tree;
    uint64_t at = 0;
    if (!sources || pug_tree_new(config, &tree) != PUG_OK) {
        free(sources);
        return NULL;
    }
    if (is_osd(config->transport))
        sources->modules = pug_osd_modules_new();
    pug_tree_on_runs(tree, count_run, sources);
    (void)pug_tree_feed(tree, bytes, &at, size);
    pug_tree_free(tree);
    return sources;
}

static void free_sources(struct sources *sources)
{
    if (sources)
        pug_osd_modules_free(sources->modules);
    free(sources);
}

/** Has Open SoC Debug a module of this id that traces? */
static bool traces(const struct sources *sources, uint32_t id)
{
    const enum pug_osd_module module = pug_osd_module(sources->modules, (uint16_t)id);
    return module == PUG_OSD_MODULE_CTM || module == PUG_OSD_MODULE_STM;
}

/** How a protocol's sources are read. */
struct reading {
    const struct way *way;
    struct pug_tree *tree;
    struct pug_setting items[12]; /* the set-up's; after them is room for "src_id" */
    size_t item_count;
    char names[240];
    struct ear ears[IDS_MOST];
    struct tally *tally;
};

/** False: there is no such source. */
static bool add_source(struct reading *reading, uint16_t id)
{
    const struct way *way = reading->way;
    struct pug_setting *last = &reading->items[reading->item_count];
    struct pug_source_config config = {
        .protocol = way->protocol->name,
        .settings = {.items = reading->items, .count = reading->item_count}};
    struct pug_source *source;
    *last = (struct pug_setting){"src_id", id, NULL};
    config.settings.count += has_sources(way->usual->transport);
    if (pug_tree_add_source(reading->tree, &config, &source) != PUG_OK)
        return false;
    struct ear *ear = &reading->ears[reading->tally->sources++];
    *ear = (struct ear){.tally = reading->tally,
                        .description = way->protocol->description,
                        .begun = !has_sources(way->usual->transport)};
    pug_source_monitor(source, on_packet, ear);
    return true;
}

/** All sources that there are bytes of, which can be the protocol's; those of no such are lost. */
static bool add_sources(struct reading *reading, const struct sources *sources)
{
    const unsigned module = reading->way->protocol->description->module;
    uint64_t owned = 0;
    for (uint32_t id = 0; id < sources->end; id++) {
        if (sources->sizes[id] == 0)
            continue;
        if (sources->modules && traces(sources, id))
            owned += sources->sizes[id];
        if (sources->modules && pug_osd_module(sources->modules, (uint16_t)id) != module)
            continue;
        /* The encapsulation's flow leads to a sink: a source's packets have one. Text has several.
         */
        reading->tally->bad += (sources->flows[id] & (sources->flows[id] - 1)) != 0;
        if (reading->tally->sources < IDS_MOST)
            (void)add_source(reading, (uint16_t)id);
        else
            reading->tally->lost += sources->sizes[id];
    }
    if (sources->modules)
        reading->tally->lost = reading->tally->bytes - owned;
    return reading->tally->sources > 0;
}

static void read_bytes(struct reading *reading, const uint8_t *bytes, size_t size)
{
    const struct pug_source *source;
    struct tally *tally = reading->tally;
    uint64_t at = 0;
    (void)pug_tree_feed(reading->tree, bytes, &at, size);
    for (size_t n = 0; (source = pug_tree_source_at(reading->tree, n)) != NULL; n++)
        tally->lost += pug_source_stats(source)->unsynced;
    if (!is_osd(reading->way->usual->transport))
        tally->lost += pug_tree_transport_stats(reading->tree)->skipped;
}

/** Read bytes as packets of a protocol. False: it cannot be tried. */
static bool read_as(const struct way *way, const char *transport, const uint8_t *bytes, size_t size,
                    struct tally *tally)
{
    enum { ROOM = sizeof(((struct reading *)NULL)->items) / sizeof(struct pug_setting) - 1 };
    struct reading *reading = calloc(1, sizeof(*reading));
    struct pug_tree_config config = {.transport = transport};
    struct sources *sources = NULL;
    *tally = (struct tally){.bytes = size};
    if (!reading)
        return false;
    reading->way = way;
    reading->tally = tally;
    snprintf(reading->names, sizeof(reading->names), "%s", way->usual->settings);
    reading->item_count = parse_settings(reading->names, reading->items, ROOM);
    config.settings = (struct pug_settings){.items = reading->items, .count = reading->item_count};
    if (has_sources(way->usual->transport))
        sources = find_sources(&config, bytes, size);
    config.log = pug_log_new(PUG_SEV_ERROR);
    pug_log_set_sink(config.log, on_message, tally);
    bool good = config.log && pug_tree_new(&config, &reading->tree) == PUG_OK;
    if (good) {
        good = sources ? add_sources(reading, sources) : add_source(reading, 0);
        if (good)
            read_bytes(reading, bytes, size);
        pug_tree_free(reading->tree);
    }
    pug_log_free(config.log);
    free_sources(sources);
    free(reading);
    return good;
}

/* ---- scores ---- */

static unsigned kinds_of(const struct tally *tally)
{
    return (unsigned)__builtin_popcountll(tally->kinds);
}

/**
 * Enough of it, for bytes that are no trace not to look like this? Fewer synchronisation points
 * will do where there is no byte that does not fit.
 */
static bool is_enough(const struct way *way, const struct tally *tally)
{
    const bool fits = tally->lost == 0 && tally->bad == 0 && tally->syncs > 0;
    /* A module of Open SoC Debug was known by its events, which may be all that it sent. */
    const unsigned kinds = is_osd(way->usual->transport) ? 1 : 2;
    if (way->protocol->description->takes_all &&
        (tally->bad > 0 || tally->syncs == 0 || tally->packets < PACKETS_LEAST))
        return false;
    return tally->bytes >= BYTES_LEAST && tally->packets > 0 && kinds_of(tally) >= kinds &&
           (fits || tally->syncs >= way->usual->syncs);
}

/**
 * Bytes that fit, of which those that are too early count half, less bad packets, of which each one
 * speaks against ten good ones.
 */
static unsigned score_of(const struct way *way, const struct tally *tally)
{
    const uint64_t lost = tally->lost + tally->early / 2;
    if (!is_enough(way, tally) || lost >= tally->bytes)
        return 0;
    uint64_t against = tally->bad * 10 < tally->packets ? tally->bad * 10 : tally->packets;
    return (unsigned)(100 * (tally->bytes - lost) / tally->bytes * (tally->packets - against) /
                      tally->packets);
}

static bool is_better(const struct pug_guess *a, const struct pug_guess *b)
{
    return a->score != b->score ? a->score > b->score : strlen(a->settings) < strlen(b->settings);
}

/** A protocol with more packets than another: where there are none of those it is not mentioned. */
static bool is_implied(const struct pug_guess *guesses, size_t count, const struct pug_guess *guess,
                       const char *extended)
{
    for (size_t i = 0; extended && i < count; i++)
        if (strcmp(guesses[i].protocol, extended) == 0 &&
            strcmp(guesses[i].transport, guess->transport) == 0 && guesses[i].score >= guess->score)
            return true;
    return false;
}

static void remove_guess(struct pug_guess *guesses, size_t *count, size_t at)
{
    memmove(&guesses[at], &guesses[at + 1], (--*count - at) * sizeof(*guesses));
}

static void insert_guess(struct pug_guess *guesses, size_t *count, size_t at,
                         const struct pug_guess *guess)
{
    if (at == PUG_GUESSES)
        return;
    *count -= *count == PUG_GUESSES;
    memmove(&guesses[at + 1], &guesses[at], (*count - at) * sizeof(*guess));
    guesses[at] = *guess;
    ++*count;
}

/**
 * Into the list in the order of the scores; of each transport and protocol the best. Bytes may not
 * show how wide ids are: each width that does as well is listed, the last one that is tried first,
 * since narrower ones make the same of ids that are small.
 */
static void add_guess(struct pug_guess *guesses, size_t *count, const struct pug_guess *guess)
{
    size_t at = 0;
    for (size_t i = 0; i < *count;) {
        if (strcmp(guesses[i].transport, guess->transport) != 0 ||
            strcmp(guesses[i].protocol, guess->protocol) != 0) {
            i++;
            continue;
        }
        if (guesses[i].score == guess->score && has_sources(guess->transport)) {
            insert_guess(guesses, count, i, guess);
            return;
        }
        if (!is_better(guess, &guesses[i]))
            return;
        remove_guess(guesses, count, i);
    }
    while (at < *count && !is_better(guess, &guesses[at]))
        at++;
    insert_guess(guesses, count, at, guess);
}

/** The place of the bytes. */
struct origin {
    const char *transport, *told; /* told: what a user has to say about it, or "" */
    char whose[32];
    unsigned most; /* the best score */
};

static void try_way(const struct way *way, const struct origin *origin, const uint8_t *bytes,
                    size_t size, struct pug_guess *guesses, size_t *count)
{
    struct tally tally;
    char ids[48] = "";
    struct pug_guess guess = {.protocol = way->protocol->name};
    if (!read_as(way, way->usual->transport ? way->usual->transport : "plain", bytes, size, &tally))
        return;
    guess.transport = origin->transport;
    guess.score = score_of(way, &tally) * origin->most / 100;
    snprintf(guess.settings, sizeof(guess.settings), "%s%s%s", origin->told,
             *origin->told && *way->usual->told ? " --set " : "", way->usual->told);
    if (tally.sources > 1)
        snprintf(ids, sizeof(ids), " from %" PRIu64 " sources", tally.sources);
    snprintf(guess.reason, sizeof(guess.reason),
             "%s%" PRIu64 " packets of %u kinds%s, %" PRIu64 " synchronisation points, %" PRIu64
             " bad, %" PRIu64 " of %zu bytes unused",
             origin->whose, tally.packets, kinds_of(&tally), ids, tally.syncs, tally.bad,
             tally.lost + tally.early, size);
    if (guess.score >= SCORE_LEAST &&
        !is_implied(guesses, *count, &guess, way->protocol->description->extends))
        add_guess(guesses, count, &guess);
}

/* ---- CoreSight frames ---- */

struct streams {
    uint64_t sizes[0x80]; /**< ids have seven bits */
    uint8_t *bytes;       /**< of one id */
    size_t size, room;
    uint16_t wanted;
};

static void on_run(void *context, const struct pug_run *run)
{
    struct streams *streams = context;
    streams->sizes[run->source & 0x7f] += run->size;
    if (!streams->bytes || run->source != streams->wanted)
        return;
    size_t size = run->size;
    if (size > streams->room - streams->size)
        size = streams->room - streams->size;
    memcpy(streams->bytes + streams->size, run->bytes, size);
    streams->size += size;
}

/** How frames lie: a setting of the transport, and whether a DSTREAM's footers are between them. */
struct layout {
    const char *flag;
    bool dstream;
};

/** Split frames by their ids; how many bytes are of ids that can be. */
static uint64_t split(const uint8_t *bytes, size_t size, const struct layout *layout,
                      struct streams *streams)
{
    struct pug_setting items[] = {{layout->flag, 1, NULL}, {"dstream", layout->dstream, NULL}};
    struct pug_tree_config config = {.transport = "coresight",
                                     .settings = {.items = items, .count = 2}};
    struct pug_tree *tree;
    uint64_t at = 0;
    if (pug_tree_new(&config, &tree) != PUG_OK)
        return 0;
    pug_tree_on_runs(tree, on_run, streams);
    (void)pug_tree_feed(tree, bytes, &at, size);
    uint64_t good = pug_tree_transport_stats(tree)->no_decoder;
    pug_tree_free(tree);
    return good;
}

/** The ids with the most bytes; how many bytes these are. Id 0 is padding. */
static uint64_t find_main(const struct streams *streams, uint16_t *ids, size_t count)
{
    uint64_t sum = 0;
    for (size_t i = 0; i < count; i++) {
        ids[i] = 0;
        for (uint32_t id = 1; id < 0x70; id++) {
            bool taken = false;
            for (size_t k = 0; k < i; k++)
                taken |= ids[k] == id;
            if (!taken && streams->sizes[id] > (ids[i] ? streams->sizes[ids[i]] : 0))
                ids[i] = (uint16_t)id;
        }
        sum += ids[i] ? streams->sizes[ids[i]] : 0;
    }
    return sum;
}

#define MAIN_IDS 8u

/** Where a few ids have nearly all bytes the frames are believed, as far as they do. */
static void try_frames(const uint8_t *bytes, size_t size, const struct layout *layout,
                       struct pug_guess *guesses, size_t *count)
{
    struct streams *streams = calloc(1, sizeof(*streams));
    uint16_t ids[MAIN_IDS];
    struct origin origin = {.transport = "coresight", .told = layout->dstream ? "dstream=1" : ""};
    struct way way;
    uint64_t good = streams ? split(bytes, size, layout, streams) : 0;
    uint64_t of_main = streams ? find_main(streams, ids, MAIN_IDS) : 0;
    uint64_t all = good;
    for (uint32_t id = 0x70; streams && id < 0x80; id++)
        all += streams->sizes[id];
    origin.most = all > 0 ? (unsigned)(100 * of_main / all) : 0;
    for (size_t i = 0; origin.most >= 90 && i < MAIN_IDS && ids[i]; i++) {
        memset(streams->sizes, 0, sizeof(streams->sizes));
        streams->wanted = ids[i];
        streams->size = 0;
        streams->room = size;
        streams->bytes = malloc(size);
        if (!streams->bytes)
            break;
        split(bytes, size, layout, streams);
        snprintf(origin.whose, sizeof(origin.whose), "of id 0x%02x: ", ids[i]);
        for (size_t n = 0; streams->size >= 16 && way_at(n, &way); n++)
            if (!way.usual->transport)
                try_way(&way, &origin, streams->bytes, streams->size, guesses, count);
        free(streams->bytes);
        streams->bytes = NULL;
    }
    free(streams);
}

size_t pug_guess_format(const uint8_t *bytes, size_t size, struct pug_guess guesses[PUG_GUESSES])
{
    struct way way;
    size_t count = 0;
    if (size > LOOK_AT)
        size = LOOK_AT;
    for (size_t n = 0; way_at(n, &way); n++) {
        const struct origin origin = {.transport =
                                          way.usual->transport ? way.usual->transport : "plain",
                                      .told = "",
                                      .most = 100};
        try_way(&way, &origin, bytes, size, guesses, &count);
    }
    try_frames(bytes, size, &(struct layout){"mem_align", false}, guesses, &count);
    try_frames(bytes, size, &(struct layout){"fsyncs", false}, guesses, &count);
    if (strcmp(pug_coresight_guess(bytes, size), "fsyncs") == 0)
        try_frames(bytes, size, &(struct layout){"fsyncs", true}, guesses, &count);
    return count;
}
