// SPDX-License-Identifier: MIT
#include "pugmark/advanced/packet/itm.h" /* where it was until 0.3 */
