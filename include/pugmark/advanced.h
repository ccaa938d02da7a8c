// SPDX-License-Identifier: MIT
/**
 * @file All that programs with trace from elsewhere need besides pugmark.h: trees, images, indexes,
 * counts, schedulers, packets. Stable in a minor version.
 */
#ifndef PUGMARK_ADVANCED_H
#define PUGMARK_ADVANCED_H

#include "pugmark/advanced/capture.h"
#include "pugmark/advanced/consumer.h"
#include "pugmark/advanced/correlate.h"
#include "pugmark/advanced/counts.h"
#include "pugmark/advanced/diagnose.h"
#include "pugmark/advanced/encapsulation.h"
#include "pugmark/advanced/findings.h"
#include "pugmark/advanced/history.h"
#include "pugmark/advanced/image.h"
#include "pugmark/advanced/index.h"
#include "pugmark/advanced/isa.h"
#include "pugmark/advanced/jobs.h"
#include "pugmark/advanced/packet.h"
#include "pugmark/advanced/params.h"
#include "pugmark/advanced/peers.h"
#include "pugmark/advanced/quirks.h"
#include "pugmark/advanced/settings.h"
#include "pugmark/advanced/snapshot.h"
#include "pugmark/advanced/state.h"
#include "pugmark/advanced/transport.h"
#include "pugmark/advanced/tree.h"
#include "pugmark/pugmark.h"

#endif
