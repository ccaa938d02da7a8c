// SPDX-License-Identifier: MIT
#include "pugmark/advanced/packet/etmv4.h" /* where it was until 0.3 */
