// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

// A difference of two versions of a job, as lines.

import type { FieldDiff, GroupDiff, JobDiff, ObjectDiff, TaskDiff } from '../../api/schema';

/** A DiffLine is one changed value, or the name of a part that has changes. */
export interface DiffLine {
  depth: number;
  kind: 'part' | 'added' | 'deleted' | 'edited';
  name: string;
  from?: string;
  to?: string;
}

const kindOf = (type: string | undefined): DiffLine['kind'] | undefined => (type === 'Added' ? 'added' : type === 'Deleted' ? 'deleted' : type === 'Edited' ? 'edited' : undefined);

function fields(all: (FieldDiff | null)[] | null | undefined, depth: number, out: DiffLine[]): void {
  for (const f of all ?? []) {
    const kind = kindOf(f?.Type);
    if (f && kind) out.push({ depth, kind, name: f.Name ?? '', from: kind === 'added' ? undefined : f.Old, to: kind === 'deleted' ? undefined : f.New });
  }
}

function objects(all: (ObjectDiff | null)[] | null | undefined, depth: number, out: DiffLine[]): void {
  for (const o of all ?? []) {
    if (!o || !kindOf(o.Type)) continue;
    out.push({ depth, kind: 'part', name: o.Name ?? '' });
    fields(o.Fields, depth + 1, out);
    objects(o.Objects, depth + 1, out);
  }
}

function part(word: string, of: GroupDiff | TaskDiff | null, depth: number, out: DiffLine[]): boolean {
  const kind = kindOf(of?.Type);
  if (!of || !kind) return false;
  out.push({ depth, kind: kind === 'edited' ? 'part' : kind, name: `${word} ${of.Name}` });
  fields(of.Fields, depth + 1, out);
  objects(of.Objects, depth + 1, out);
  return true;
}

/** diffLines lists the changes of a version. */
export function diffLines(d: JobDiff): DiffLine[] {
  const out: DiffLine[] = [];
  fields(d.Fields, 0, out);
  objects(d.Objects, 0, out);
  for (const g of d.TaskGroups ?? []) {
    if (!part('group', g, 0, out)) continue;
    for (const t of g?.Tasks ?? []) part('task', t, 1, out);
  }
  return out;
}
