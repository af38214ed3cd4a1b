// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

// The rows of a plan's tree, as a flat list that a window can be cut from.

import type { Phase, Plan, Step } from '../../api/schema';
import { clock, ms } from '../../words/time';

/** A TreeRow is a phase, or a step of an open phase. */
export interface TreeRow {
  key: string;
  level: 1 | 2;
  phase: Phase;
  step?: Step;
  open?: boolean;
  /** Position among its siblings, from 1, and their number. */
  pos: number;
  size: number;
}

/** Trees with more steps have rows of one height, and only those in view are in the document. */
export const virtualFrom = 200;

/** opens reports whether a phase shows its steps until a person decides otherwise. */
export function opens(p: Phase, plan: Plan): boolean {
  if (p.Status === 'COMPLETE' || p.Status === 'PENDING') return (plan.Phases ?? []).length === 1 && (p.Steps ?? []).length <= 20;
  return true;
}

/** rowsOf flattens a plan. Choices say which phases a person opened or closed. */
export function rowsOf(plan: Plan, choices: ReadonlyMap<string, boolean>): TreeRow[] {
  const rows: TreeRow[] = [];
  const phases = (plan.Phases ?? []).filter((p) => p !== null);
  phases.forEach((phase, i) => {
    const key = phase.ID ?? String(i);
    const open = choices.get(key) ?? opens(phase, plan);
    rows.push({ key, level: 1, phase, open, pos: i + 1, size: phases.length });
    if (!open) return;
    const steps = (phase.Steps ?? []).filter((s) => s !== null);
    steps.forEach((step, n) => rows.push({ key: step.ID ?? `${key} ${n}`, level: 2, phase, step, pos: n + 1, size: steps.length }));
  });
  return rows;
}

/** labelOf is the name of a row. */
export const labelOf = (r: TreeRow): string => r.step?.Name ?? r.phase.Name ?? '';

/** saidOf is why a row is in its state: its errors, or its message, and the next attempt. */
export function saidOf(r: TreeRow, node?: string): string {
  const of = r.step ?? r.phase;
  const errors = of.Errors ?? [];
  const said = errors.length > 0 ? errors.join('; ') : (of.Message ?? '');
  if (!r.step) return said ? `${r.phase.Strategy}, ${said.replace(/^canary: /, '')}` : (r.phase.Strategy ?? '');
  const until = ms(r.step.Until);
  if (r.step.Forced) return `forced${r.step.Forced.By ? ` by ${r.step.Forced.By}` : ''}${r.step.Forced.Reason ? `: ${r.step.Forced.Reason}` : ''}`;
  return `${said || (r.step.Status === 'COMPLETE' && node ? `on ${node}` : '')}${until ? `, next attempt ${clock(until)}` : ''}`;
}

/** find returns the next row after an index whose name begins with a text, or -1. */
export function find(rows: TreeRow[], text: string, from: number): number {
  const t = text.toLowerCase();
  for (let n = 0; n < rows.length; n++) {
    const i = (from + n) % rows.length;
    if (labelOf(rows[i]!).toLowerCase().startsWith(t)) return i;
  }
  return -1;
}
