// SPDX-License-Identifier: MIT
/** @file The command line, as the reference's lister takes it. */
#ifndef LISTER_OPTIONS_H
#define LISTER_OPTIONS_H

#include "output.h"
#include "pugmark/author/protocol.h"

#define LISTER "Trace Packet Lister : "

/* Exit codes. */
enum { EXIT_BAD_LOGGER = 254, EXIT_BAD_OPTION = 255 };

struct options {
    const char *directory;
    const char *source_name; /* -src_name; NULL: the first buffer */
    bool verbose, multi_session;
    bool decode, packets; /* elements, packets */
    bool packet_monitor;  /* packets with their bytes */
    bool raw_packed, raw_unpacked, dstream, tpiu, tpiu_hsync;
    bool stats, no_time, profile;
    bool cache_off;
    long cache_page_size, cache_pages; /* -1: not given */
    unsigned waits;
    bool filtered; /* by -id */
    bool ids[128];
    struct pug_decode_options decoder;
};

/** First pass: where the output goes. False: -logfilename without a name. */
bool options_output(int argc, char **argv, struct output *output);

/** Second pass, with messages in the listing. False: stop with EXIT_BAD_OPTION. */
bool options_read(int argc, char **argv, struct output *output, struct options *options);

#endif
