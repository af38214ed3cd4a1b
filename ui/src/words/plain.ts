// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

// Text of tasks as harmless text: no escape sequence, control character or bidi override acts on the page.

// Sequences of terminals: CSI, OSC and other strings, and two-character escapes; also cut ones at the end.
const escapes = /\u001b(?:\[[0-?]*[ -/]*[@-~]?|[\]PX^_][^\u0007\u001b]*(?:\u0007|\u001b\\|$)|[ -/]*[0-~]?)|\u009b[0-?]*[ -/]*[@-~]?/g;
const controls = /[\u0000-\u0008\u000a-\u001f\u007f-\u009f]/g;
// Characters that turn the direction of text, or are not seen.
const unseen = /[\u00ad\u061c\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb]/g;

const hex = (c: string) => c.charCodeAt(0).toString(16).toUpperCase().padStart(4, '0');

/** withoutEscapes removes the sequences with which programs colour a terminal. */
export const withoutEscapes = (s: string): string => (s.includes('\u001b') || s.includes('\u009b') ? s.replace(escapes, '') : s);

/** visible shows control characters as their pictures, and characters that change or hide text by their code. */
export function visible(s: string): string {
  return s
    .replace(/\t/g, '    ')
    .replace(controls, (c) => {
      const n = c.charCodeAt(0);
      return n < 0x20 ? String.fromCharCode(0x2400 + n) : n === 0x7f ? '\u2421' : `⟨${hex(c)}⟩`;
    })
    .replace(unseen, (c) => `⟨${hex(c)}⟩`);
}

/** plain is one line of a task's output as text that a page can show. */
export const plain = (s: string): string => visible(withoutEscapes(s.endsWith('\r') ? s.slice(0, -1) : s));

/** isWide reports whether a monospace font draws a character two columns wide. */
const isWide = (n: number) => n >= 0x1100 && (n <= 0x115f || (n >= 0x2e80 && n <= 0xa4cf) || (n >= 0xac00 && n <= 0xd7a3) || (n >= 0xf900 && n <= 0xfaff) || (n >= 0xfe30 && n <= 0xfe6f) || (n >= 0xff00 && n <= 0xff60) || n >= 0x1f300);

/** columnsOf is the width of a line in columns of a monospace font. */
export function columnsOf(s: string): number {
  if (!/[^\u0020-\u10ff]/.test(s)) return s.length;
  let n = 0;
  for (const c of s) n += isWide(c.codePointAt(0)!) ? 2 : 1;
  return n;
}
