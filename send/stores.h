/* SPDX-License-Identifier: Apache-2.0 */
/*
 * stores.h - list of the store modules.
 *
 * Each module exports one constant of type struct store_ops. To add a module, declare it here and add it to store_list
 * in store.c.
 */
#ifndef PJ_STORES_H
#define PJ_STORES_H

#include "send/store.h"

/* the modules of the schemes dir:, eve:, couch:, clickhouse:, ndjson: and pyroscope: */
extern const struct store_ops store_dir, store_eve, store_couch, store_clickhouse, store_ndjson, store_pyroscope;

#endif
