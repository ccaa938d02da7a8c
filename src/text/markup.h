// SPDX-License-Identifier: MIT
/** @file Text in HTML, where no text may become markup. */
#ifndef PUG_TEXT_MARKUP_H
#define PUG_TEXT_MARKUP_H

#include "text/sink.h"

/** Writes text so that HTML shows it as it is; bytes that are no UTF-8 and controls become "?". */
void pug_markup_text_n(struct pug_sink *sink, const char *text, size_t length);
void pug_markup_text(struct pug_sink *sink, const char *text);

#endif
