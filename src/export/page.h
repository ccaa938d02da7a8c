// SPDX-License-Identifier: MIT
/** @file The report's page, made part of the library from report/ when it is built. */
#ifndef PUG_EXPORT_PAGE_H
#define PUG_EXPORT_PAGE_H

#include "export/export.h"

/** The place for HTML and data. */
#define PUG_PAGE_MARK "<!--DATA-->"

extern const char pug_page_text[];

export_fn pug_export_report;

#endif
