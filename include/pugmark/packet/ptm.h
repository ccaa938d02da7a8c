// SPDX-License-Identifier: MIT
#include "pugmark/advanced/packet/ptm.h" /* where it was until 0.3 */
