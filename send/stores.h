/* SPDX-License-Identifier: Apache-2.0 */
/* stores.h - the stores that there are. */
#ifndef PJ_STORES_H
#define PJ_STORES_H

#include "send/store.h"

extern const struct store_ops store_dir, store_eve, store_couch, store_clickhouse, store_ndjson, store_pyroscope;

#endif
