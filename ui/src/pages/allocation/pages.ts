// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

// A part of a file as text or as bytes.

import { plain } from '../../words/plain';

/** isBinary reports whether bytes are not text. */
export function isBinary(data: Uint8Array): boolean {
  const start = data.subarray(0, 4_096);
  let odd = 0;
  for (const b of start) {
    if (b === 0) return true;
    if (b < 9 || (b > 13 && b < 32 && b !== 27)) odd++;
  }
  return odd > start.length / 10;
}

const lineWidth = 4_000;

/** textPage is a part of a file as harmless text. Very long lines are cut into several, which a browser draws faster. */
export function textPage(data: Uint8Array): string {
  const out: string[] = [];
  for (const line of new TextDecoder().decode(data).split('\n')) {
    const text = plain(line);
    for (let at = 0; at === 0 || at < text.length; at += lineWidth) out.push(text.slice(at, at + lineWidth));
  }
  return out.join('\n');
}

/** hexDump shows bytes with their offsets, sixteen in a line. */
export function hexDump(data: Uint8Array, offset: number): string {
  const out: string[] = [];
  for (let at = 0; at < data.length; at += 16) {
    const row = data.subarray(at, at + 16);
    const hex = [...row].map((b) => b.toString(16).padStart(2, '0')).join(' ');
    const text = [...row].map((b) => (b >= 32 && b < 127 ? String.fromCharCode(b) : '.')).join('');
    out.push(`${(offset + at).toString(16).padStart(8, '0')}  ${hex.padEnd(47)}  ${text}`);
  }
  return out.join('\n');
}
