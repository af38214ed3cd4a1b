// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

import type { ComponentChildren } from 'preact';

/** A Column of a grid. */
export interface Column<T> {
  key: string;
  head: string;
  /** Width as a CSS grid track, such as 90px or minmax(0, 2fr). */
  width: string;
  /** Width on narrow screens, if it is another. */
  narrow?: string;
  cell(row: T): ComponentChildren;
  /** What the column sorts by; a column without it does not sort. */
  by?(row: T): string | number;
  /** Text for the end of the cell, such as numbers. */
  end?: boolean;
  /** Left out on narrow screens, or also on those of a tablet. */
  wide?: boolean | 'tablet';
}
