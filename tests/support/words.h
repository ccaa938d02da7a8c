// SPDX-License-Identifier: MIT
/** @file Instructions in an initializer as they lie in memory, the lowest byte first, on any host.
 */
#ifndef PUG_TESTS_WORDS_H
#define PUG_TESTS_WORDS_H

#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
#define LE16(word) ((uint16_t)((uint16_t)(word) >> 8 | (uint16_t)((word) << 8)))
#define LE32(word) __builtin_bswap32(word)
#else
#define LE16(word) ((uint16_t)(word))
#define LE32(word) ((uint32_t)(word))
#endif

#endif
