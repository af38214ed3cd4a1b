// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

// Numbers and sizes as text.

/** count groups digits: 41,207. */
export const count = (n: number | undefined): string => (n ?? 0).toLocaleString('en-US');

/** plural is a count with its noun: 1 node, 3 nodes. */
export const plural = (n: number, one: string, many = `${one}s`): string => `${count(n)} ${n === 1 ? one : many}`;

/** bytes is a size in binary units. */
export function bytes(n: number | undefined): string {
  let v = n ?? 0;
  for (const unit of ['B', 'KiB', 'MiB', 'GiB']) {
    if (v < 1024) return `${unit === 'B' ? v : v.toFixed(v < 10 ? 1 : 0)} ${unit}`;
    v /= 1024;
  }
  return `${v.toFixed(1)} TiB`;
}

/** mib is a size that the API gives in MB. */
export const mib = (n: number | undefined): string => bytes((n ?? 0) * 1024 * 1024);

/** percent is a share without decimals, but never 0 or 100 unless it is exact. */
export function percent(part: number, whole: number): string {
  if (whole <= 0) return '';
  const p = (part / whole) * 100;
  if (p > 0 && p < 1) return '<1 %';
  if (p < 100 && p > 99) return '>99 %';
  return `${Math.round(p)} %`;
}

/** short is the beginning of an id, as the command line prints it. */
export const short = (id: string | undefined): string => (id ?? '').slice(0, 8);

/** list joins names for a sentence: a, b and c. */
export function list(names: string[], limit = 5): string {
  const shown = names.slice(0, limit);
  if (names.length > limit) return `${shown.join(', ')} and ${names.length - limit} more`;
  return shown.length < 2 ? shown.join('') : `${shown.slice(0, -1).join(', ')} and ${shown.at(-1)}`;
}
