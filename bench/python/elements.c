// SPDX-License-Identifier: MIT
/**
 * @file The yardstick of bench/python/bench.py: pug_capture_elements() with a consumer that counts.
 *
 *     elements_bench CAPTURE ROUNDS
 *
 * Prints, for the best round, the nanoseconds of CPU time an element, and how many there are.
 */
#include "pugmark/pugmark.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

static bool count(void *context, const struct pug_origin *origin,
                  const struct pug_element *elements, size_t n)
{
    (void)origin;
    (void)elements;
    *(uint64_t *)context += n;
    return true;
}

static double cpu_seconds(void)
{
    struct timespec now;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

int main(int argc, char **argv)
{
    struct pug_capture *capture;
    const int rounds = argc > 2 ? atoi(argv[2]) : 1;
    uint64_t elements = 0;
    double best = 1e9;
    const struct pug_capture_options options = {
        .decode = {.data_elements = true, .join_payloads = true}};
    if (argc < 2 || pug_capture_open(argv[1], &options, &capture) != PUG_OK) {
        fprintf(stderr, "usage: elements_bench CAPTURE [ROUNDS]\n");
        return 2;
    }
    for (int i = 0; i < rounds; i++) {
        const double begin = cpu_seconds();
        elements = 0;
        if (pug_capture_elements(capture, count, &elements) != PUG_OK)
            fprintf(stderr, "elements_bench: decoding stopped\n");
        const double took = cpu_seconds() - begin;
        best = took < best ? took : best;
    }
    pug_capture_free(capture);
    printf("%.2f %" PRIu64 "\n", elements > 0 ? best * 1e9 / (double)elements : 0, elements);
    return 0;
}
