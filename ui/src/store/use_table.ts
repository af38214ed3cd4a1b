// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

import { useEffect, useMemo } from 'preact/hooks';
import type { TableSource } from './source';
import { Table } from './table';

/** useTable keeps a table while the component is shown. */
export function useTable<T>(source: TableSource<T>): Table<T> {
  const table = useMemo(() => new Table(source), [source.path, source.topics.join(' ')]);
  useEffect(() => table.start(), [table]);
  return table;
}
