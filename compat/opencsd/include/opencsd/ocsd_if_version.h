// SPDX-License-Identifier: MIT
/** @file Version of the OpenCSD interface that these headers describe. */
#ifndef ARM_OCSD_IF_VERSION_H_INCLUDED
#define ARM_OCSD_IF_VERSION_H_INCLUDED

#include <stdint.h>

/* Define OCSD_STRICT_1_3 (as libopencsd.pc of such a build does) for the layouts and numbers of
   versions up to 1.3.3; library and client must agree. */
#ifdef OCSD_STRICT_1_3
#define OCSD_VER_MAJOR  0x1
#define OCSD_VER_MINOR  0x3
#define OCSD_VER_PATCH  0x3
#define OCSD_VER_STRING "1.3.3"
#else
#define OCSD_VER_MAJOR  0x1
#define OCSD_VER_MINOR  0x8
#define OCSD_VER_PATCH  0x0
#define OCSD_VER_STRING "1.8.0"
#endif

#define OCSD_VER_NUM ((OCSD_VER_MAJOR << 16) | (OCSD_VER_MINOR << 8) | OCSD_VER_PATCH)

#define OCSD_LIB_NAME       "OpenCSD Library"
#define OCSD_LIB_SHORT_NAME "OCSD"

#endif
