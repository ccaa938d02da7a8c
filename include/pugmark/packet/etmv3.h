// SPDX-License-Identifier: MIT
#include "pugmark/advanced/packet/etmv3.h" /* where it was until 0.3 */
