// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

// The places of cells: datacenters, their zones, and the classes in these. Typed arrays keep ten thousand cells cheap.

import type { TextColumn, Topology } from '../../api/schema';
import { plural } from '../../words/count';

export const states = ['ready', 'ineligible', 'draining', 'silent', 'down', 'disconnected', 'initializing'] as const;

/** The columns of nodes as the canvas draws them. */
export interface Cells {
  n: number;
  ids: string[];
  names: string[];
  /** Index into states. */
  state: Uint8Array;
  memory: Float32Array;
  cpu: Float32Array;
  allocations: Int32Array;
  /** Number of allocations of the chosen job; undefined without one. */
  job: Int32Array | undefined;
  dc: string[];
  zone: string[];
  klass: string[];
  pool: string[];
}

const textsOf = (c: TextColumn | undefined, n: number): string[] => Array.from({ length: n }, (_, i) => c?.Values?.[c.Codes?.[i] ?? -1] ?? '');
const shares = (part: number[] | null | undefined, whole: number[] | null | undefined, n: number) =>
  Float32Array.from({ length: n }, (_, i) => ((whole?.[i] ?? 0) > 0 ? Math.min(1, (part?.[i] ?? 0) / whole![i]!) : 0));

/** cellsOf turns the answer of the API into typed arrays. */
export function cellsOf(t: Topology): Cells {
  const ids = t.ID ?? [];
  const n = ids.length;
  const status = textsOf(t.Status, n);
  const eligible = textsOf(t.Eligibility, n);
  const state = Uint8Array.from({ length: n }, (_, i) => {
    const s = states.indexOf(status[i] as (typeof states)[number]);
    if (status[i] !== 'ready' && s > 0) return s;
    if (t.Draining?.[i]) return 2;
    if (t.Silent?.[i]) return 3;
    return eligible[i] === 'ineligible' ? 1 : 0;
  });
  return {
    n,
    ids,
    names: t.Name ?? [],
    state,
    memory: shares(t.MemoryUsed, t.MemoryMB, n),
    cpu: shares(t.CPUUsed, t.CPU, n),
    allocations: Int32Array.from({ length: n }, (_, i) => t.Allocations?.[i] ?? 0),
    job: t.JobCount ? Int32Array.from({ length: n }, (_, i) => t.JobCount![i] ?? 0) : undefined,
    dc: textsOf(t.Datacenter, n),
    zone: textsOf(t.Zone, n),
    klass: textsOf(t.NodeClass, n),
    pool: textsOf(t.NodePool, n),
  };
}

export interface Label {
  text: string;
  x: number;
  y: number;
  /** 0: datacenter, 1: zone, 2: class. */
  level: number;
}

export interface Layout {
  x: Float32Array;
  y: Float32Array;
  size: number;
  labels: Label[];
  height: number;
  /** Cells in the order of their places. */
  order: Int32Array;
}

const sizeFor = (n: number) => (n <= 60 ? 44 : n <= 300 ? 28 : n <= 3_000 ? 16 : 10);
const gap = 3;
const left = 8;

/** layout places cells for a width. */
export function layout(c: Cells, width: number): Layout {
  const size = sizeFor(c.n);
  const step = size + gap;
  const perRow = Math.max(1, Math.floor((width - 2 * left + gap) / step));
  const order = Int32Array.from({ length: c.n }, (_, i) => i);
  const key = Array.from({ length: c.n }, (_, i) => `${c.dc[i]}\u0000${c.zone[i]}\u0000${c.klass[i]}\u0000${c.names[i] ?? ''}`);
  order.sort((a, b) => (key[a]! < key[b]! ? -1 : key[a]! > key[b]! ? 1 : 0));
  const x = new Float32Array(c.n);
  const y = new Float32Array(c.n);
  const labels: Label[] = [];
  let at = 6;
  let column = 0;
  let before = -1;
  const count = (same: (i: number) => boolean, from: number) => {
    let n = 0;
    while (from + n < order.length && same(order[from + n]!)) n++;
    return plural(n, 'node');
  };
  for (let k = 0; k < order.length; k++) {
    const i = order[k]!;
    const newDC = before < 0 || c.dc[i] !== c.dc[before];
    const newZone = newDC || c.zone[i] !== c.zone[before];
    const newClass = newZone || c.klass[i] !== c.klass[before];
    if (newClass) {
      if (k > 0) at += step + 4;
      column = 0;
      const push = (text: string, level: number, height: number) => {
        labels.push({ text, x: left, y: at + height - 6, level });
        at += height;
      };
      if (newDC) push(`${c.dc[i] || 'no datacenter'}: ${count((j) => c.dc[j] === c.dc[i], k)}`, 0, 26);
      if (newZone && c.zone[i] !== c.dc[i]) push(`zone ${c.zone[i] || 'none'}: ${count((j) => c.dc[j] === c.dc[i] && c.zone[j] === c.zone[i], k)}`, 1, 22);
      if (c.klass[i]) push(`class ${c.klass[i]}`, 2, 20);
    } else if (column === perRow) {
      column = 0;
      at += step;
    }
    x[i] = left + column * step;
    y[i] = at;
    column++;
    before = i;
  }
  return { x, y, size, labels, order, height: at + step + 6 };
}

/** cellAt is the cell at a point; -1 if none is there. */
export function cellAt(l: Layout, px: number, py: number): number {
  for (let i = 0; i < l.x.length; i++) if (px >= l.x[i]! && px < l.x[i]! + l.size && py >= l.y[i]! && py < l.y[i]! + l.size) return i;
  return -1;
}

/** cellsIn are the cells that touch a rectangle. */
export function cellsIn(l: Layout, x0: number, y0: number, x1: number, y1: number): number[] {
  const [a, b] = x0 < x1 ? [x0, x1] : [x1, x0];
  const [c, d] = y0 < y1 ? [y0, y1] : [y1, y0];
  const out: number[] = [];
  for (let i = 0; i < l.x.length; i++) if (l.x[i]! + l.size >= a && l.x[i]! <= b && l.y[i]! + l.size >= c && l.y[i]! <= d) out.push(i);
  return out;
}
