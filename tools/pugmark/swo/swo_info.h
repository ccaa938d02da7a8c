// SPDX-License-Identifier: MIT
/** @file What an ITM's trace holds, and what speaks against its clock or program: for `info`. */
#ifndef PUGMARK_TOOL_SWO_INFO_H
#define PUGMARK_TOOL_SWO_INFO_H

#include "input/input.h"

/** Print it of each ITM source of the capture. False: no memory. */
bool swo_info_print(struct input *input);

#endif
