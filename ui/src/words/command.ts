// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

// Command lines that do what a button does.

/** quote makes a text one word of a POSIX shell. */
export const quote = (s: string): string => (/^[\w@%+=:,./-]+$/.test(s) ? s : `'${s.replaceAll("'", `'\\''`)}'`);

/** command joins the words of a command line; undefined words are left out. */
export function command(...words: (string | undefined)[]): string {
  return ['reeve', ...words.filter((w) => w !== undefined && w !== '').map((w) => quote(w!))].join(' ');
}

/** inNS is the flag that selects a namespace; the default one needs none. */
export const inNS = (namespace: string | undefined): (string | undefined)[] =>
  namespace && namespace !== 'default' ? ['-namespace', namespace] : [];
