// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

import type { JobListStub } from '../../api/schema';
import { keyOfJob } from './counts';

/** parentKey is the key of the periodic or parameterized job that a job belongs to; empty if it has none. */
export const parentKey = (j: JobListStub) => (j.ParentID ? keyOfJob({ ID: j.ParentID, Namespace: j.Namespace }) : '');

/** childrenOf groups jobs by their parent, newest first. */
export function childrenOf(rows: ReadonlyMap<string, JobListStub>): Map<string, string[]> {
  const out = new Map<string, string[]>();
  for (const [k, j] of rows) {
    const p = parentKey(j);
    if (!p || !rows.has(p)) continue;
    const list = out.get(p);
    if (list) list.push(k);
    else out.set(p, [k]);
  }
  for (const list of out.values()) list.sort((a, b) => (rows.get(b)!.SubmitTime ?? 0) - (rows.get(a)!.SubmitTime ?? 0));
  return out;
}

/** unfold inserts the children of open jobs below them. */
export function unfold(keys: string[], children: ReadonlyMap<string, string[]>, open: ReadonlySet<string>): string[] {
  if (open.size === 0) return keys;
  const out: string[] = [];
  for (const k of keys) {
    out.push(k);
    if (open.has(k)) out.push(...(children.get(k) ?? []));
  }
  return out;
}

/** openOf reads the unfolded jobs from the address: their keys, whose two words have a space between. */
export function openOf(text: string | null): Set<string> {
  const parts = (text ?? '').split(' ').filter(Boolean);
  const out = new Set<string>();
  for (let i = 0; i + 1 < parts.length; i += 2) out.add(`${parts[i]} ${parts[i + 1]}`);
  return out;
}
