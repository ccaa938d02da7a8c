// SPDX-License-Identifier: MIT
#include "pugmark/advanced/packet/stm.h" /* where it was until 0.3 */
