// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

// Times and durations as text. Times are absolute: "14:03:51" does not age while the page is open.

import { signal } from '@preact/signals';

/** utc selects the time zone of all times. */
export const utc = signal(localStorageGet('reeve.zone') === 'utc');

function localStorageGet(key: string): string | null {
  return typeof localStorage === 'undefined' ? null : localStorage.getItem(key);
}

export function setUTC(on: boolean): void {
  localStorage.setItem('reeve.zone', on ? 'utc' : 'local');
  utc.value = on;
}

/** ms converts a time of the API: nanoseconds since 1970, or RFC 3339. It returns 0 if the time is not set. */
export function ms(t: number | string | undefined | null): number {
  if (t === undefined || t === null || t === '') return 0;
  if (typeof t === 'number') return t / 1e6;
  if (t.startsWith('0001-')) return 0;
  const v = Date.parse(t);
  return Number.isFinite(v) ? v : 0;
}

const two = (n: number) => String(n).padStart(2, '0');

interface Parts {
  y: number; mo: number; d: number; h: number; mi: number; s: number; f: number;
}

function parts(t: number): Parts {
  const x = new Date(t);
  return utc.value
    ? { y: x.getUTCFullYear(), mo: x.getUTCMonth() + 1, d: x.getUTCDate(), h: x.getUTCHours(), mi: x.getUTCMinutes(), s: x.getUTCSeconds(), f: x.getUTCMilliseconds() }
    : { y: x.getFullYear(), mo: x.getMonth() + 1, d: x.getDate(), h: x.getHours(), mi: x.getMinutes(), s: x.getSeconds(), f: x.getMilliseconds() };
}

const date = (p: Parts) => `${p.y}-${two(p.mo)}-${two(p.d)}`;

/** today changes when a day begins, so that what shows times without their date is drawn again. */
const today = signal('');

/** turnDay must be called now and then while a page is open. */
export function turnDay(): void {
  today.value = date(parts(Date.now()));
}

function present(): number {
  void today.value;
  return Date.now();
}

/** clock is the time of day, with the date unless it is that of now. */
export function clock(t: number, now = present()): string {
  if (t <= 0) return '';
  const p = parts(t);
  const time = `${two(p.h)}:${two(p.mi)}:${two(p.s)}`;
  return date(p) === date(parts(now)) ? time : `${date(p)} ${time}`;
}

/** stamp is a complete time, for titles. */
export function stamp(t: number): string {
  if (t <= 0) return '';
  const p = parts(t);
  return `${date(p)} ${two(p.h)}:${two(p.mi)}:${two(p.s)}.${String(p.f).padStart(3, '0')}${utc.value ? ' UTC' : ''}`;
}

/** span is a duration in its two largest units, such as "3 min 12 s". */
export function span(d: number): string {
  if (d < 0) d = 0;
  if (d < 1_000) return `${Math.round(d)} ms`;
  if (d < 10_000) return `${(d / 1000).toFixed(1)} s`;
  const units: [string, number][] = [['d', 86_400_000], ['h', 3_600_000], ['min', 60_000], ['s', 1_000]];
  const at = units.findIndex(([, size]) => d >= size);
  const [name, size] = units[at]!;
  const first = Math.floor(d / size);
  const next = units[at + 1];
  const second = next ? Math.floor((d - first * size) / next[1]) : 0;
  return second > 0 && next ? `${first} ${name} ${second} ${next[0]}` : `${first} ${name}`;
}
