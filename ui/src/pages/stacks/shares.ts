// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

// The shares of a shift over time. The servers keep no history of a shift: its events, as far as they are kept, and
// what this page has read make one.

import type { Look, Values } from '../../chart/look';
import type { Shift, StackFigures } from '../../api/schema';
import { ms } from '../../words/time';

/** What a shift was at a time, in ms. */
export interface Moment {
  at: number;
  share: number;
  /** The ratios of failed requests that routers counted in the seconds before. */
  errors?: { from: number | null; to: number | null };
}

const ratio = (f: StackFigures | undefined) => (f?.Requests ? (f.Errors ?? 0) / f.Requests : null);

/** momentOf is a shift as it was stored, or was read at a time, with the figures of the routers. */
export function momentOf(h: Shift, read?: number): Moment {
  const at = read ?? (ms(h.EndedAt) || ms(h.AdvancedAt) || ms(h.StartedAt));
  return { at, share: h.Share ?? 0, ...(read !== undefined && h.Traffic && { errors: { from: ratio(h.Traffic.From), to: ratio(h.Traffic.To) } }) };
}

/** valuesOf are the lines of the chart: both shares, and both ratios of errors, in percent. */
export function valuesOf(moments: Moment[]): Values {
  const all = moments.filter((m) => m.at > 0).sort((a, b) => a.at - b.at);
  const percent = (x: number | null | undefined) => (x === null || x === undefined ? null : x * 100);
  return [all.map((m) => m.at / 1000), all.map((m) => 100 - m.share * 100), all.map((m) => m.share * 100), all.map((m) => percent(m.errors?.from)), all.map((m) => percent(m.errors?.to))];
}

const said = (v: number) => `${Math.round(v * 10) / 10} %`;

/** look has the shares on the left, and the errors, dashed, on the right. */
export const look: Look = {
  axes: [
    { scale: 'share', top: () => 100, said },
    { scale: 'errors', top: (most) => Math.max(1, most * 1.2), said },
  ],
  lines: [
    { scale: 'share', colour: '--wait', stepped: true },
    { scale: 'share', colour: '--go', stepped: true },
    { scale: 'errors', colour: '--wait', dashed: true, gaps: true },
    { scale: 'errors', colour: '--go', dashed: true, gaps: true },
  ],
};
