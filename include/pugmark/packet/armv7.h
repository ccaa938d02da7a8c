// SPDX-License-Identifier: MIT
#include "pugmark/advanced/packet/armv7.h" /* where it was until 0.3 */
