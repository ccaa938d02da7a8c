// SPDX-License-Identifier: MIT
/** @file Pugmark's whole public interface. */
#ifndef PUGMARK_PUGMARK_H
#define PUGMARK_PUGMARK_H

#include "pugmark/calls.h"
#include "pugmark/capture.h"
#include "pugmark/correlate.h"
#include "pugmark/counts.h"
#include "pugmark/cursor.h"
#include "pugmark/diagnose.h"
#include "pugmark/disasm.h"
#include "pugmark/dwt.h"
#include "pugmark/element.h"
#include "pugmark/encapsulation.h"
#include "pugmark/export.h"
#include "pugmark/image.h"
#include "pugmark/index.h"
#include "pugmark/isa.h"
#include "pugmark/jobs.h"
#include "pugmark/log.h"
#include "pugmark/names.h"
#include "pugmark/packet.h"
#include "pugmark/params.h"
#include "pugmark/profile.h"
#include "pugmark/profiler.h"
#include "pugmark/quirks.h"
#include "pugmark/settings.h"
#include "pugmark/snapshot.h"
#include "pugmark/state.h"
#include "pugmark/status.h"
#include "pugmark/transport.h"
#include "pugmark/tree.h"
#include "pugmark/walk.h"

#define PUG_VERSION_MAJOR 0
#define PUG_VERSION_MINOR 2
#define PUG_VERSION_PATCH 0
#define PUG_VERSION       "0.2.0"

#ifdef __cplusplus
extern "C" {
#endif

/** Version of the library that runs, as opposed to the header's: "0.2.0". */
const char *pug_version(void);

/** What it was built with, separated by blanks: "elf dwarf threads". */
const char *pug_features(void);

#ifdef __cplusplus
}
#endif
#endif
