// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

// The order of the rows of a grid.

import { useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks';
import { place } from '../shell/place';
import type { Table } from '../store/table';
import type { Column } from './column';

// Rows are replaced when they change, so that what a row sorts by is worked out once: of ten thousand rows, few change between two orders.
const known = new WeakMap<object, WeakMap<object, string | number>>();

function sortValues<T>(by: (row: T) => string | number): (row: T) => string | number {
  let values = known.get(by);
  if (!values) known.set(by, (values = new WeakMap()));
  return (row) => {
    if (typeof row !== 'object' || row === null) return by(row);
    const had = values.get(row);
    if (had !== undefined) return had;
    const v = by(row);
    values.set(row, v);
    return v;
  };
}

/** order returns the keys of rows that pass the filter, sorted by a column: "name" or "-name". */
export function order<T>(rows: ReadonlyMap<string, T>, columns: Column<T>[], sort: string, pass?: (row: T) => boolean): string[] {
  const down = sort.startsWith('-');
  const column = columns.find((c) => c.key === (down ? sort.slice(1) : sort) && c.by);
  const list: { k: string; v: string | number }[] = [];
  const valueOf = column && sortValues(column.by!);
  for (const [k, row] of rows) if (!pass || pass(row)) list.push({ k, v: valueOf ? valueOf(row) : '' });
  if (column) {
    list.sort((a, b) => {
      const c = a.v < b.v ? -1 : a.v > b.v ? 1 : a.k < b.k ? -1 : a.k > b.k ? 1 : 0;
      return down ? -c : c;
    });
  }
  return list.map((x) => x.k);
}

/** useOrder orders the rows of a table. A large table is ordered four times a second at most; cells are newer. */
export function useOrder<T>(table: Table<T>, columns: Column<T>[], sort: string, pass?: (row: T) => boolean, passKey = ''): string[] {
  const [keys, set] = useState<string[]>([]);
  const version = table.version.value;
  const last = useRef(0);
  const timer = useRef<ReturnType<typeof setTimeout>>(undefined);
  const now = () => {
    last.current = Date.now();
    timer.current = undefined;
    set(order(table.rows, columns, sort, pass));
  };
  const newest = useRef(now);
  newest.current = now;
  useLayoutEffect(() => {
    clearTimeout(timer.current);
    timer.current = undefined;
    now();
  }, [table, sort, passKey, table.loading.value]);
  useEffect(() => {
    const wait = table.rows.size > 1_000 ? last.current + 250 - Date.now() : 0;
    if (wait <= 0) now();
    else timer.current ??= setTimeout(() => newest.current(), wait);
  }, [version]);
  useEffect(() => () => clearTimeout(timer.current), []);
  return keys;
}

/** sortOf is the order in the page's address. */
export const sortOf = (fallback: string) => place.value.query.get('sort') ?? fallback;
