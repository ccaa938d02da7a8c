// SPDX-License-Identifier: MIT
/**
 * @file STM and ITM to elements, beside the reference doing the same with an empty callback.
 *
 *     software_bench [PACKETS] [ROUNDS] [CAPTURE]
 *
 * The trace is made here: random data packets with markers and timestamps among channel changes,
 * and stimulus writes, DWT packets and timestamps. CAPTURE is a file of CoreSight frames with an
 * STM at id 0x20: stm_only's, where none is given; it is decoded over and over, since it is short.
 * Each round decodes once with the reference (Debian: libopencsd-dev) and several times with
 * pugmark, the best of each counts. Debian's 1.3.3 has no ITM decoder: there is nothing to compare
 * that with.
 */
#include "bench.h"
#include "pugmark/pugmark.h"
#include "recorder/frames.h"
#include "recorder/itm.h"
#include "recorder/stm.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#ifdef PUG_WITH_OPENCSD
#include <opencsd/c_api/opencsd_c_api.h>
#endif

#define PASSES  5          /* of pugmark for one of the reference */
#define ENOUGH  (2u << 20) /* bytes of trace, for one measurement */
#define CAPTURE PUG_SOURCE_DIR "/../shared/captures/stm_only/cstraceitm.bin"
#define TCSR    0x00200007
#define ID      (TCSR >> 16 & 0x7f)

static unsigned long long elements;

/** Seconds of this process: other work of the machine does not count. */
static double seconds(void)
{
    struct timespec now;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

/* ---- traces ---- */

static struct rec_bytes make_stm(unsigned packets)
{
    struct rec_bytes bytes = {0};
    struct rec_stm stm = {.bytes = &bytes};
    struct rec_random random = {1};
    uint64_t time = 0;
    rec_stm_put(&stm, &(struct pug_stm_packet){.type = PUG_STM_ASYNC});
    rec_stm_put(&stm, &(struct pug_stm_packet){.type = PUG_STM_VERSION, .payload = 3});
    rec_stm_put(&stm, &(struct pug_stm_packet){.type = PUG_STM_M8, .master = 0x41});
    while (packets-- > 0) {
        struct pug_stm_packet p = {.type = PUG_STM_D32, .payload = rec_random(&random)};
        switch (rec_random_below(&random, 8)) {
        case 0:
            p.type = PUG_STM_C8;
            p.channel = (uint8_t)p.payload;
            break;
        case 1: p.type = PUG_STM_D8; break;
        case 2: p.type = PUG_STM_D64; break;
        case 3:
            p.type = PUG_STM_FLAG;
            p.has_ts = true;
            break;
        case 4: p.marker = true; break;
        case 5: p.marker = p.has_ts = true; break;
        default: break;
        }
        if (p.has_ts) {
            uint64_t next = time + rec_random_below(&random, 1000);
            p.timestamp = next;
            p.ts_bits = rec_stm_ts_bits(time, next, PUG_STM_TS_NATURAL);
            time = next;
        }
        rec_stm_put(&stm, &p);
    }
    rec_stm_end(&stm);
    return bytes;
}

static struct rec_bytes make_itm(unsigned packets)
{
    struct rec_bytes bytes = {0};
    struct rec_random random = {1};
    rec_itm_async(&bytes);
    while (packets-- > 0) {
        uint32_t value = (uint32_t)rec_random(&random);
        switch (rec_random_below(&random, 6)) {
        case 0:
        case 1: rec_itm_local_ts(&bytes, 0, value & 0x3fff); break;
        case 2: rec_itm_swit(&bytes, value & 0x1f, value >> 8, 1); break;
        case 3: rec_itm_swit(&bytes, value & 0x1f, value, 4); break;
        case 4: rec_itm_dwt(&bytes, 1, (value & 0x1ff) | 0x1000, 2); break;
        default: rec_itm_dwt(&bytes, 17, value, 4); break;
        }
    }
    return bytes;
}

static struct rec_bytes make_frames(const struct rec_bytes *trace)
{
    struct rec_bytes bytes = {0};
    struct rec_frames frames = {.out = &bytes};
    rec_frames_put(&frames, ID, trace->data, trace->size);
    rec_frames_finish(&frames);
    return bytes;
}

/* ---- what is measured ---- */

struct subject {
    const char *name, *protocol, *transport;
    bool join;
    struct rec_bytes trace;
    double best, reference; /**< seconds */
    unsigned long long count;
};

/** How often it is decoded for one measurement. */
static unsigned repeats(const struct subject *subject)
{
    unsigned times = ENOUGH / (unsigned)subject->trace.size;
    return times > 0 ? times : 1;
}

/* ---- pugmark ---- */

static enum pug_response on_elements(void *context, const struct pug_element *batch, size_t count,
                                     size_t *taken)
{
    (void)context;
    (void)batch;
    (void)taken;
    elements += count;
    return PUG_RESP_CONT;
}

static struct pug_tree *make_tree(const struct subject *subject)
{
    struct pug_tree *tree;
    const struct pug_setting setting = {.name = "src_id", .value = ID};
    struct pug_source_config config = {.protocol = subject->protocol,
                                       .settings = {.items = &setting, .count = 1},
                                       .decode = true,
                                       .options.join_payloads = subject->join};
    struct pug_tree_config of_tree = {.transport = subject->transport};
    if (pug_tree_new(&of_tree, &tree) != PUG_OK ||
        pug_tree_add_source(tree, &config, NULL) != PUG_OK)
        exit(2);
    pug_tree_on_elements(tree, on_elements, NULL);
    return tree;
}

static void pass(struct pug_tree *tree, const struct rec_bytes *trace)
{
    size_t used;
    if (pug_tree_data(tree, 0, trace->data, trace->size, &used) >= PUG_RESP_WAIT ||
        pug_tree_end(tree) >= PUG_RESP_WAIT)
        exit(2);
    pug_tree_reset(tree);
}

/* ---- the reference ---- */

#ifdef PUG_WITH_OPENCSD
static ocsd_datapath_resp_t on_reference(const void *context, const ocsd_trc_index_t index,
                                         const uint8_t id, const ocsd_generic_trace_elem *element)
{
    (void)context;
    (void)index;
    (void)id;
    (void)element;
    return OCSD_RESP_CONT;
}

static void reference_pass(dcd_tree_handle_t tree, const struct rec_bytes *trace)
{
    uint32_t used, done = 0, size = (uint32_t)trace->size;
    while (done < size) {
        if (ocsd_dt_process_data(tree, OCSD_OP_DATA, done, size - done, trace->data + done,
                                 &used) != OCSD_RESP_CONT)
            exit(2);
        done += used;
    }
    ocsd_dt_process_data(tree, OCSD_OP_EOT, 0, 0, NULL, NULL);
    ocsd_dt_process_data(tree, OCSD_OP_RESET, 0, 0, NULL, NULL);
}

static double reference_time(const struct subject *subject)
{
    dcd_tree_handle_t tree = ocsd_create_dcd_tree(
        subject->transport ? OCSD_TRC_SRC_FRAME_FORMATTED : OCSD_TRC_SRC_SINGLE,
        subject->transport ? OCSD_DFRMTR_FRAME_MEM_ALIGN : 0);
    ocsd_stm_cfg config = {.reg_tcsr = TCSR};
    unsigned char id;
    ocsd_dt_create_decoder(tree, OCSD_BUILTIN_DCD_STM, OCSD_CREATE_FLG_FULL_DECODER, &config, &id);
    ocsd_dt_set_gen_elem_outfn(tree, on_reference, NULL);
    double start = seconds();
    for (unsigned n = repeats(subject); n > 0; n--)
        reference_pass(tree, &subject->trace);
    double taken = (seconds() - start) / repeats(subject);
    ocsd_destroy_dcd_tree(tree);
    return taken;
}
#endif

/* ---- measuring ---- */

static void keep_best(double *best, double taken)
{
    if (*best == 0 || taken < *best)
        *best = taken;
}

static void measure(struct subject *subject)
{
    struct pug_tree *tree = make_tree(subject);
    unsigned times = repeats(subject);
    for (int n = 0; n < PASSES; n++) {
        double start = seconds();
        elements = 0;
        for (unsigned i = 0; i < times; i++)
            pass(tree, &subject->trace);
        keep_best(&subject->best, (seconds() - start) / times);
        subject->count = elements / times;
    }
    pug_tree_free(tree);
#ifdef PUG_WITH_OPENCSD
    if (strcmp(subject->protocol, "ITM") != 0)
        keep_best(&subject->reference, reference_time(subject));
#endif
}

static void report(const struct subject *subject)
{
    printf("%-20s %9llu elements, %6.2f ns an element, %6.1f MB/s", subject->name, subject->count,
           subject->best * 1e9 / (double)subject->count,
           (double)subject->trace.size / subject->best / 1e6);
#ifdef PUG_WITH_OPENCSD
    if (subject->reference > 0)
        printf("; the reference %6.1f MB/s: %.1f times as fast",
               (double)subject->trace.size / subject->reference / 1e6,
               subject->reference / subject->best);
    else
        printf("; no such decoder in the reference's installed version");
#endif
    printf("\n");
}

static struct rec_bytes read_capture(const char *path)
{
    struct rec_bytes bytes = {0};
    uint8_t piece[4096];
    FILE *file = fopen(path, "rb");
    if (!file) {
        perror(path);
        return bytes;
    }
    for (size_t size; (size = fread(piece, 1, sizeof(piece), file)) > 0;)
        rec_put_n(&bytes, piece, size);
    fclose(file);
    return bytes;
}

int main(int argc, char **argv)
{
    const struct bench_arguments arguments =
        bench_begin(argc, argv, "[PACKETS] [ROUNDS] [CAPTURE]");
    unsigned packets = (unsigned)bench_number(&arguments, 1, 1000000);
    int rounds = (int)bench_number(&arguments, 2, 5);
    const char *path = bench_text(&arguments, 3, CAPTURE);
    struct rec_bytes stm = make_stm(packets), stm_frames = make_frames(&stm);
    struct rec_bytes itm = make_itm(packets), itm_frames = make_frames(&itm);
    struct rec_bytes capture = read_capture(path);
    struct subject subjects[] = {
        {.name = "STM", .protocol = "STM", .trace = stm},
        {.name = "STM in frames", .protocol = "STM", .transport = "coresight", .trace = stm_frames},
        {.name = "STM, joined", .protocol = "STM", .trace = stm, .join = true},
        {.name = "ITM", .protocol = "ITM", .trace = itm},
        {.name = "ITM in frames", .protocol = "ITM", .transport = "coresight", .trace = itm_frames},
        {.name = "capture", .protocol = "STM", .transport = "coresight", .trace = capture},
        {.name = "capture, joined",
         .protocol = "STM",
         .transport = "coresight",
         .trace = capture,
         .join = true},
    };
    size_t count = sizeof(subjects) / sizeof(subjects[0]) - (capture.size ? 0 : 2);
    for (int round = 0; round < rounds; round++)
        for (size_t i = 0; i < count; i++)
            measure(&subjects[i]);
    for (size_t i = 0; i < count; i++)
        report(&subjects[i]);
    rec_bytes_free(&stm);
    rec_bytes_free(&stm_frames);
    rec_bytes_free(&itm);
    rec_bytes_free(&itm_frames);
    rec_bytes_free(&capture);
    return 0;
}
