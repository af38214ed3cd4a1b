// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

/** Times in s, and then the values of each line; null where a line has none. */
export type Values = [number[], ...(number | null)[][]];

/** An Axis has values from 0 up; the first one is on the left. */
export interface Axis {
  scale: string;
  /** The end of the axis for the largest value. */
  top(most: number): number;
  said(value: number): string;
}

export interface Line {
  scale: string;
  /** A colour of the style, such as --accent. */
  colour: string;
  dashed?: boolean;
  /** Whether a value holds until the next one. */
  stepped?: boolean;
  /** Whether the line continues over values that it does not have. */
  gaps?: boolean;
}

/** Look is how a chart shows its values. */
export interface Look {
  axes: Axis[];
  lines: Line[];
}
