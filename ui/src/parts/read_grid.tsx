// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

import type { ComponentChildren } from 'preact';
import { useMemo } from 'preact/hooks';
import type { Read } from '../store/read';
import { plural } from '../words/count';
import { FilterBar, filterText, isExpression, words } from './filter';
import { Grid, order, sortOf, type Column } from './grid';
import { Empty, Failed, Loading } from './states';

/** ReadGrid shows a list that one read returns: filtered by words, sorted by a column. */
export function ReadGrid<T extends object>(p: {
  label: string;
  /** Noun of a row, such as variable. */
  one: string;
  /** Noun of several rows, if it is not the noun with an s. */
  many?: string;
  read: Read<(T | null)[] | null>;
  columns: Column<T>[];
  sort: string;
  fields: string[];
  id(row: T): string;
  /** What the words of the filter are searched in. */
  text(row: T): string;
  href?(row: T): string;
  cursor?(row: NoInfer<T> | undefined): void;
  chosen?: ReadonlySet<string>;
  choose?(keys: Set<string>): void;
  empty: ComponentChildren;
}) {
  const text = filterText();
  const rows = useMemo(() => new Map((p.read.data ?? []).filter((r) => r !== null).map((r) => [p.id(r), r])), [p.read.data]);
  const sort = sortOf(p.sort);
  const keys = useMemo(() => {
    const has = text && !isExpression(text) ? words(text) : undefined;
    return order(rows, p.columns, sort, has && ((r) => has(p.text(r))));
  }, [rows, p.columns, sort, text]);
  if (p.read.data === undefined) return p.read.error ? <Failed error={p.read.error} again={p.read.again} /> : <Loading rows={6} />;
  return (
    <>
      <FilterBar label={`Filter ${p.label.toLowerCase()}`} fields={p.fields} error={p.read.error} count={`${plural(keys.length, p.one, p.many)}${keys.length < rows.size ? ` of ${rows.size}` : ''}`} />
      {p.read.error && p.read.error.status > 0 && p.read.error.status !== 400 && <Failed error={p.read.error} again={p.read.again} />}
      <Grid
        label={p.label}
        columns={p.columns}
        keys={keys}
        row={(k) => rows.get(k)}
        sort={sort}
        href={p.href}
        chosen={p.chosen}
        choose={p.choose}
        cursor={p.cursor}
        empty={text ? <Empty>Nothing matches "{text}". Esc clears the filter.</Empty> : p.empty}
      />
    </>
  );
}
