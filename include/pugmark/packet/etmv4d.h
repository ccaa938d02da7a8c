// SPDX-License-Identifier: MIT
#include "pugmark/advanced/packet/etmv4d.h" /* where it was until 0.3 */
