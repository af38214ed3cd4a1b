// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

import type { Event } from '../api/schema';
import type { Groups } from './refine';

/** Where the rows of a table come from. */
export interface TableSource<T> {
  /** Path of the list, with its filter but without paging. */
  path: string;
  topics: string[];
  key(row: T): string;
  /** The row of an event, undefined if the event does not concern the table, or null if the row is gone. */
  take(e: Event): { key: string; row: T | null } | undefined;
  /** Rows that are read at most; further ones are not shown. */
  limit?: number;
  pageSize?: number;
  /** Read the list again after events, because only the servers know which rows pass its filter. */
  reread?: boolean;
  /** Rows that show more than their events tell are read again, group by group. */
  groups?: Groups<T>;
  /** The row of an event with what only the list knows of the row before it. */
  keep?(before: T, row: T): T;
}
