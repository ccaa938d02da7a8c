// SPDX-License-Identifier: MIT
/** @file Images, settings and inputs for the fuzz targets. */
#include "inputs.h"

#include "driver.h"

#include <string.h>

#define CODE_BYTES 65536u

static uint32_t invent(void *context, uint64_t address, const struct pug_reader_space *space,
                       uint32_t wanted, uint8_t *buffer)
{
    (void)context;
    uint32_t given = wanted > 64 && (address >> 12 & 3) == 3 ? 10 : wanted;
    if ((address >> 16 & 7) == 7)
        return 0;
    for (uint32_t i = 0; i < given; i++)
        buffer[i] = (uint8_t)((address + i) * 2654435761u >> 13 ^ space->space);
    return given;
}

struct pug_image *fuzz_image(bool invented)
{
    static uint8_t code[CODE_BYTES];
    struct rec_random random = {.state = 42};
    static const uint32_t words[] = {0xd503201f, 0x14000010, 0x54000081, 0x94000020, 0xd65f03c0,
                                     0xd61f0020, 0xd5033fdf, 0xb4ffff01, 0x47704770, 0xe7fed0fe};
    for (uint32_t i = 0; i < CODE_BYTES; i += 4) {
        uint32_t word = words[rec_random_below(&random, sizeof(words) / sizeof(words[0]))];
        memcpy(code + i, &word, 4);
    }
    const struct pug_place anywhere = {.space = PUG_SPACE_ANY};
    struct pug_image *image = pug_image_new();
    if (image)
        pug_image_add_buffer(image, &anywhere, 0, code, CODE_BYTES);
    if (image && invented)
        pug_image_add_callback(image, &anywhere, CODE_BYTES, UINT64_MAX, invent, NULL);
    return image;
}

static size_t count_known(const void *(*at)(size_t))
{
    size_t n = 1; /* there is one */
    while (at(n))
        n++;
    return n;
}

static const void *protocol_at(size_t n)
{
    return pug_protocol_at(n);
}

static const void *transport_at(size_t n)
{
    return pug_transport_at(n);
}

const struct pug_protocol *fuzz_protocol(const uint8_t *data)
{
    return pug_protocol_at(data[0] % count_known(protocol_at));
}

const struct pug_transport *fuzz_transport(const uint8_t *data)
{
    return pug_transport_at(data[1] % count_known(transport_at));
}

size_t fuzz_settings(const uint8_t *data, struct pug_setting settings[FUZZ_SETTINGS])
{
    const uint8_t bits = data[FUZZ_HEADER - 1];
    const struct pug_setting all[] = {
        {"TRCIDR0", 0x28000ea1u | (bits & 1 ? 0x18000u : 0) | (bits & 2 ? 0 : 0x40000000u), NULL},
        {"TRCIDR1", 0x4100f462, NULL},
        {"TRCIDR2", 0x80001088, NULL},
        {"TRCIDR8", bits & 4 ? 64 : 0, NULL},
        {"TRCCONFIGR", 0x1001u | (bits & 8 ? 0x10u : 0), NULL},
        {"TRCTRACEIDR", 0x10, NULL},
        {"TRCDEVARCH", 0x47735a13, NULL},
        {"ETMCR", bits & 16 ? 0x1000u : 0x10001860u, NULL},
        {"ETMIDR", 0x411cf312, NULL},
        {"ETMCCER", 0x34c01ac2, NULL},
        {"ETMTRACEIDR", 0x10, NULL},
        {"STMTCSR", 0x100005, NULL},
        {"ITMTCR", 0x100005, NULL},
        {"arch", bits & 32 ? 0x864u : 0x700u, NULL},
        {"profile", bits & 64 ? 1u : 3u, NULL},
        {"src_id", bits & 128 ? 0 : 0x10, NULL},
        {"xlen", bits & 1 ? 32 : 64, NULL},
        {"iaddress_width_p", bits & 1 ? 32 : 64, NULL},
        {"bpred_size_p", bits & 2 ? 4 : 0, NULL},
        {"cache_size_p", bits & 4 ? 4 : 0, NULL},
        {"return_stack_size_p", bits & 8 ? 3 : 0, NULL},
        {"f0s_width_p", (bits & 6) == 6, NULL},
        {"implicit_return", bits & 8 ? 3 : 0, NULL},
        {"sequential_jump", bits & 16 ? 1 : 0, NULL},
        {"zcmp_zcmt", bits & 32 ? 1 : 0, NULL},
        {"fsyncs", bits & 1, NULL},
        {"walk_limit", 1u << 14, NULL}, /* work per packet: enough here, and the run is bounded */
        {"branch_limit", 1u << 14, NULL},
    };
    memcpy(settings, all, sizeof(all));
    return sizeof(all) / sizeof(all[0]);
}

/** Bytes that look like trace now and then: zeros for synchronisation, runs, and noise. */
size_t fuzz_begin(uint8_t *data, size_t room, struct rec_random *random)
{
    size_t size = FUZZ_HEADER + rec_random_below(random, (uint32_t)(room - FUZZ_HEADER));
    for (size_t i = 0; i < size; i++)
        data[i] = (uint8_t)rec_random(random);
    for (unsigned n = rec_random_below(random, 12); n > 0; n--) {
        static const uint8_t syncs[][16] = {
            {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0x80, 0x01, 0x01, 0x00, 0x04}, /* ETMv4 */
            {0, 0, 0, 0, 0, 0x80, 0x08, 0x00, 0x10, 0x00, 0x00, 0x21},       /* PTM, ETMv3 */
            {0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x0f, 0x2f}, /* STM */
            {0xff, 0xff, 0xff, 0x7f},                                                 /* TPIU */
            {0x73, 0, 0, 0, 0, 0, 4}, /* E-Trace start */
            {0x24, 0x00, 0x03, 0xff}, /* N-Trace */
        };
        size_t which = rec_random_below(random, sizeof(syncs) / sizeof(syncs[0]));
        size_t at = FUZZ_HEADER + rec_random_below(random, (uint32_t)(size > 32 ? size - 32 : 1));
        if (at + 16 <= size)
            memcpy(data + at, syncs[which], 16);
    }
    return size;
}
