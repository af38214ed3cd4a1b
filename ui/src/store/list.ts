// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

// Lists of the API, which come in pages.

import { get } from '../link/link';
import type { Answer } from '../worker/protocol';
import type { TableSource } from './source';

/** A List has the rows of all pages, and the index of the first one: later pages may have later changes. */
export interface List<T> {
  rows: Map<string, T>;
  index: number;
  /** Whether the list has more rows than the limit. */
  more: boolean;
  /** The answer that ended the read, if it failed. */
  failed?: Answer<T[] | null>;
}

/** readPage reads one page of a list. */
export function readPage<T>({ pageSize = 1_000 }: TableSource<T>, path: string, next: string, signal: AbortSignal): Promise<Answer<T[] | null>> {
  return get<T[] | null>(`${path}${path.includes('?') ? '&' : '?'}per_page=${pageSize}${next && `&next_token=${encodeURIComponent(next)}`}`, signal);
}

/** readList reads the list of a table; undefined if nobody wants it any more. part has the rows before the last page. */
export async function readList<T>(source: TableSource<T>, signal: AbortSignal, part: (rows: Map<string, T>) => void): Promise<List<T> | undefined> {
  const { path, key, limit = 10_000 } = source;
  const list: List<T> = { rows: new Map(), index: 0, more: false };
  let next = '';
  do {
    const answer = await readPage(source, path, next, signal);
    if (signal.aborted) return undefined;
    if (!answer.ok) return { ...list, failed: answer };
    list.index ||= answer.index;
    for (const row of answer.body ?? []) list.rows.set(key(row), row);
    next = answer.next;
    if (next && list.rows.size >= limit) {
      list.more = true;
      next = '';
    }
    if (next) part(list.rows);
  } while (next);
  return list;
}
