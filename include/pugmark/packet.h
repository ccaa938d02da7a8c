// SPDX-License-Identifier: MIT
#include "pugmark/advanced/packet.h" /* where it was until 0.3 */
