// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

import type { Shift, StackStatus } from '../../api/schema';
import { clock, ms } from '../../words/time';

/** versionOf is the version of a stack, as its file says it. */
export const versionOf = (s: StackStatus): string => s.Spec?.Version || s.Version || '';

/** versionOrder sorts as versions do: 1.10.0 is after 1.9.0. */
export const versionOrder = (s: StackStatus): string => (s.Version ?? '').replace(/\d+/g, (n) => n.padStart(10, '0'));

/** statusOf is the status as users see it: a ready stack of a deprecated version is deprecated. */
export const statusOf = (s: StackStatus): string => s.Shown || s.Status || '';

/** said is the state of a stack in words: its status, its share of the traffic, and how long it stays. */
export function said(s: StackStatus): string {
  return linesOf(s).join(', ');
}

/** linesOf is the state of a stack in two lines: its status with its traffic, and how long it stays. */
export function linesOf(s: StackStatus): string[] {
  const parts = [statusOf(s)];
  const stays: string[] = [];
  if (s.Share) parts.push(`${Math.round(s.Share * 100)} % of traffic`);
  if (s.Hold) stays.push(`held${s.Hold.By ? ` by ${s.Hold.By}` : ''}`);
  else if (ms(s.Expires)) stays.push(s.Status === 'garbage' ? `removed at ${clock(ms(s.Expires))}` : `until ${clock(ms(s.Expires))}`);
  return [parts.join(', '), ...stays];
}

/** nameOf is the unit and the version of a stack: inventory 1.2.0 of inventory--1-2-0--v2g5mf0e. */
export function nameOf(h: Shift, stack: string | undefined): string {
  const version = /^--(.+)--[^-]+$/.exec((stack ?? '').slice(h.Unit?.length ?? 0))?.[1];
  return version ? `${h.Unit} ${version.replace('-', '.').replace('-', '.')}` : (stack ?? '');
}
