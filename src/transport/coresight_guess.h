// SPDX-License-Identifier: MIT
/** @file Finds the layout of CoreSight frames in a capture when no setting gives it. */
#ifndef PUG_TRANSPORT_CORESIGHT_GUESS_H
#define PUG_TRANSPORT_CORESIGHT_GUESS_H

#include "pugmark/advanced/settings.h"

/** size of a sample that is enough to decide */
#define PUG_CORESIGHT_SAMPLE (UINT32_C(1) << 20)

/** The setting of the transport "coresight" that the first bytes of a capture ask for. */
const char *pug_coresight_guess(const uint8_t *bytes, size_t size);

/** Are these bytes enough to know that they are not aligned? */
bool pug_coresight_shows(const uint8_t *bytes, size_t size);

/** Are FSYNCs among them, that are no padding? */
bool pug_coresight_fsyncs(const uint8_t *bytes, size_t size);

/** Do the settings say how they lie? */
bool pug_coresight_is_told(const struct pug_settings *settings);

#endif
