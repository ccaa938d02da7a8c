// SPDX-License-Identifier: MIT
#include "pugmark/advanced/packet/etrace.h" /* where it was until 0.3 */
