// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

// Chosen nodes in the address, so that a link shows the same. Each is the beginning of its id, as long as is needed to
// tell all nodes apart.

/** The longest text that an address keeps: some 900 nodes. */
const longest = 8_000;
const shortest = 8;

/** textOf is a choice as text; undefined if it is too long for an address. */
export function textOf(chosen: ReadonlySet<string>, all: readonly string[]): string | undefined {
  const sorted = [...all].sort();
  let length = shortest;
  for (let i = 1; i < sorted.length; i++) {
    const [a, b] = [sorted[i - 1]!, sorted[i]!];
    while (length < a.length && a.slice(0, length) === b.slice(0, length)) length++;
  }
  const text = [...chosen].map((id) => id.slice(0, length)).join(' ');
  return text.length > longest ? undefined : text;
}

/** chosenOf are the nodes of a text. A beginning that several nodes have chooses none of them. */
export function chosenOf(text: string, all: readonly string[]): Set<string> {
  const beginnings = new Set(text.split(' ').filter(Boolean));
  const found = new Map<string, string[]>();
  for (const length of new Set([...beginnings].map((b) => b.length))) {
    for (const id of all) {
      const b = id.slice(0, length);
      if (beginnings.has(b)) found.set(b, [...(found.get(b) ?? []), id]);
    }
  }
  return new Set([...found.values()].filter((ids) => ids.length === 1).map(([id]) => id!));
}
