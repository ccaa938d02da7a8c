// SPDX-License-Identifier: MIT
/**
 * @file Parameter files: what a RISC-V trace encoder and its transport are like, a line each.
 *
 *     xlen = 64                       # a comment
 *     iaddress_width_p = 64
 *     support_format = ref
 *     container = encap
 *     payload_params = other.params   # more of them; the path is relative to this file's
 *     source 5 = hart5.params         # several sources: each one's own file
 *
 * Every line becomes a setting of that name, for the transport as for the protocol: each takes what
 * it knows. A first setting wins over a later one of the same name.
 */
#ifndef PUGMARK_PARAMS_H
#define PUGMARK_PARAMS_H

#include "pugmark/advanced/settings.h"
#include "pugmark/log.h"

#ifdef __cplusplus
extern "C" {
#endif

#define PUG_PARAMS_FILE_LIMIT  (1u << 20) /**< bytes of one file */
#define PUG_PARAMS_TOTAL_LIMIT (4u << 20) /**< bytes of a file and all that it names */
#define PUG_PARAMS_FILES       4096u      /**< files that are read, each as often as it is named */
#define PUG_PARAMS_SETTINGS    (1u << 18) /**< of all, those for all sources each time */
#define PUG_PARAMS_EACH        4096u      /**< settings of one source, or of all */

struct pug_params;

/**
 * Read a file, and those that it names; regular files only. Errors go to the log, with file and
 * line in the text. PUG_ERR_FILE: one cannot be read; PUG_ERR_INVALID_PARAM_VAL: a line is not of
 * the form key = value, a source's id is none, or files name each other; PUG_ERR_LIMIT: more than
 * the limits above.
 */
enum pug_status pug_params_load(const char *path, struct pug_log *log, struct pug_params **params);
/** NULL is left alone. */
void pug_params_free(struct pug_params *params);

/**
 * The n-th key that parameter files have of their own, besides settings of transports and protocols
 * ("container", "encoder_options" …); NULL after the last one.
 */
const char *pug_params_key(size_t n);

/** The transport that `container` names: "encapsulation" (also where it is not given), "smi"… */
const char *pug_params_transport(const struct pug_params *params);

/**
 * Everything but what is in the sources' own files. Of that it has what a transport has to know:
 * "type_bits_5" where the file of source 5 has type_bits (instruction_type and data_type, too), and
 * the widths of source ids and timestamps where only the sources' files have them.
 */
const struct pug_settings *pug_params_settings(const struct pug_params *params);

/** How many sources the file lists; 0: one, which pug_params_settings() describes. */
size_t pug_params_sources(const struct pug_params *params);

/** The settings of the n-th source listed, those of the whole file and "srcid" included. */
const struct pug_settings *pug_params_source(const struct pug_params *params, size_t n);

/** The path of the n-th source's own file. */
const char *pug_params_source_path(const struct pug_params *params, size_t n);

#ifdef __cplusplus
}
#endif
#endif
