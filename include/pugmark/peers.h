// SPDX-License-Identifier: MIT
#include "pugmark/advanced/peers.h" /* where it was until 0.3 */
