// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

// The differences between two versions of a job as lines of text.

import type { FieldDiff, JobDiff, ObjectDiff } from '../api/schema';

/** A DiffLine is one line; depth counts its indentation. */
export interface DiffLine {
  depth: number;
  sign: '+' | '-' | '~' | ' ';
  text: string;
  /** What the change causes, such as "forces create". */
  note: string;
}

const signs: Record<string, DiffLine['sign']> = { Added: '+', Deleted: '-', Edited: '~' };
const sign = (type: string | undefined): DiffLine['sign'] => signs[type ?? ''] ?? ' ';
const quoted = (s: string | undefined) => JSON.stringify(s ?? '');

/** valueOf writes the values of a field: old and new if it was edited. */
function valueOf(f: FieldDiff): string {
  if (f.Type === 'Added') return quoted(f.New);
  if (f.Type === 'Deleted') return quoted(f.Old);
  return `${quoted(f.Old)} => ${quoted(f.New)}`;
}

/** diffLines lists what changes. Fields without a change are left out. */
export function diffLines(d: JobDiff): DiffLine[] {
  const out: DiffLine[] = [];
  const push = (depth: number, type: string | undefined, text: string, notes: string[] | null | undefined = []) => out.push({ depth, sign: sign(type), text, note: (notes ?? []).join(', ') });
  const fields = (list: (FieldDiff | null)[] | null | undefined, depth: number) => {
    for (const f of list ?? []) if (f && sign(f.Type) !== ' ') push(depth, f.Type, `${f.Name}: ${valueOf(f)}`, f.Annotations);
  };
  const objects = (list: (ObjectDiff | null)[] | null | undefined, depth: number) => {
    for (const o of list ?? []) {
      if (!o || sign(o.Type) === ' ') continue;
      push(depth, o.Type, o.Name ?? '');
      fields(o.Fields, depth + 1);
      objects(o.Objects, depth + 1);
    }
  };
  fields(d.Fields, 0);
  objects(d.Objects, 0);
  for (const g of d.TaskGroups ?? []) {
    if (!g) continue;
    const updates = Object.entries(g.Updates ?? {}).map(([what, n]) => `${n} ${what}`);
    if (sign(g.Type) === ' ' && updates.length === 0) continue;
    push(0, g.Type, `group ${quoted(g.Name)}`, updates);
    fields(g.Fields, 1);
    objects(g.Objects, 1);
    for (const t of g.Tasks ?? []) {
      if (!t || sign(t.Type) === ' ') continue;
      push(1, t.Type, `task ${quoted(t.Name)}`, t.Annotations);
      fields(t.Fields, 2);
      objects(t.Objects, 2);
    }
  }
  return out;
}
