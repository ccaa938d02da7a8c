// SPDX-License-Identifier: MIT
#include "export/gzip.h"

#ifdef PUG_WITH_ZLIB

#include <limits.h>
#include <zlib.h>

#define GZIP 16 /* added to the window's bits: with gzip's header, whose time is 0 */

enum pug_status pug_export_gzip(struct pug_sink *sink, const void *bytes, size_t size)
{
    z_stream stream = {0};
    unsigned char out[16384];
    int answer = Z_OK;
    if (deflateInit2(&stream, Z_DEFAULT_COMPRESSION, Z_DEFLATED, GZIP + MAX_WBITS, 8,
                     Z_DEFAULT_STRATEGY) != Z_OK)
        return PUG_ERR_MEM;
    stream.next_in = (void *)(uintptr_t)bytes;
    while (answer != Z_STREAM_END && answer >= 0) {
        const size_t piece = size < UINT_MAX / 2 ? size : UINT_MAX / 2;
        if (stream.avail_in == 0) {
            stream.avail_in = (unsigned)piece;
            size -= piece;
        }
        stream.next_out = out;
        stream.avail_out = sizeof(out);
        answer = deflate(&stream, size > 0 ? Z_NO_FLUSH : Z_FINISH);
        pug_sink_put(sink, out, sizeof(out) - stream.avail_out);
    }
    deflateEnd(&stream);
    return answer == Z_STREAM_END ? PUG_OK : PUG_ERR_MEM;
}

#else

enum pug_status pug_export_gzip(struct pug_sink *sink, const void *bytes, size_t size)
{
    pug_sink_put(sink, bytes, size);
    return PUG_OK;
}

#endif
