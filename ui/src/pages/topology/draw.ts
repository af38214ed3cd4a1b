// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

import type { Cells, Layout } from './layout';

export type Fill = 'memory' | 'cpu' | 'allocs';

/** The colours of the theme. */
export interface Colours {
  bg: string; line: string; accent: string; text: string; muted: string; bad: string; late: string; go: string; wait: string;
}

export function colours(): Colours {
  const s = getComputedStyle(document.documentElement);
  const of = (name: string) => s.getPropertyValue(name).trim();
  return { bg: of('--raise'), line: of('--line'), accent: of('--accent'), text: of('--text'), muted: of('--muted'), bad: of('--bad'), late: of('--late'), go: of('--go'), wait: of('--wait') };
}

const levels = 12;

/** prepare sizes a canvas for the screen. */
export function prepare(canvas: HTMLCanvasElement, width: number, height: number): CanvasRenderingContext2D {
  const ratio = Math.min(2, devicePixelRatio || 1);
  const w = Math.round(width * ratio);
  const h = Math.round(height * ratio);
  if (canvas.width !== w || canvas.height !== h) {
    canvas.width = w;
    canvas.height = h;
    canvas.style.width = `${width}px`;
    canvas.style.height = `${height}px`;
  }
  const g = canvas.getContext('2d')!;
  g.setTransform(ratio, 0, 0, ratio, 0, 0);
  return g;
}

/** fillOf is how full a cell is, from 0 to 1. */
export function fillOf(c: Cells, fill: Fill, most: number, i: number): number {
  if (fill === 'memory') return c.memory[i]!;
  if (fill === 'cpu') return c.cpu[i]!;
  return most > 0 ? c.allocations[i]! / most : 0;
}

/** draw draws all cells: cells of one shade are one path, so that ten thousand take a few milliseconds. */
export function draw(g: CanvasRenderingContext2D, c: Cells, l: Layout, fill: Fill, width: number, k: Colours): void {
  g.globalAlpha = 1;
  g.fillStyle = k.bg;
  g.fillRect(0, 0, width, l.height);
  let most = 0;
  for (let i = 0; i < c.n; i++) most = Math.max(most, c.allocations[i]!);
  const buckets: number[][] = Array.from({ length: levels * 2 }, () => []);
  const marked: number[] = [];
  for (let i = 0; i < c.n; i++) {
    const dim = c.job && c.job[i] === 0 ? levels : 0;
    const share = fillOf(c, fill, most, i);
    buckets[dim + Math.min(levels - 1, share > 0 ? 1 + Math.floor(share * (levels - 1.01)) : 0)]!.push(i);
    if (c.state[i] !== 0) marked.push(i);
  }
  buckets.forEach((cells, b) => {
    if (cells.length === 0) return;
    const level = b % levels;
    const dim = b >= levels ? 0.18 : 1;
    g.globalAlpha = dim;
    g.fillStyle = k.line;
    g.beginPath();
    for (const i of cells) g.rect(l.x[i]!, l.y[i]!, l.size, l.size);
    g.fill();
    if (level === 0) return;
    g.globalAlpha = dim * (0.15 + (0.85 * level) / (levels - 1));
    g.fillStyle = k.accent;
    g.fill();
  });
  const byState = [k.line, k.wait, k.go, k.late, k.bad, k.late, k.wait];
  for (const i of marked) {
    const [x, y, s] = [l.x[i]!, l.y[i]!, l.size];
    g.globalAlpha = c.job && c.job[i] === 0 ? 0.3 : 1;
    g.strokeStyle = byState[c.state[i]!]!;
    g.lineWidth = s > 12 ? 2 : 1.5;
    g.strokeRect(x + 0.5, y + 0.5, s - 1, s - 1);
    // A sign besides the colour: a cross for down, a stroke for draining, a bar for ineligible.
    g.beginPath();
    if (c.state[i] === 4) {
      g.moveTo(x + 2, y + 2);
      g.lineTo(x + s - 2, y + s - 2);
      g.moveTo(x + s - 2, y + 2);
      g.lineTo(x + 2, y + s - 2);
    } else if (c.state[i] === 2) {
      g.moveTo(x + 2, y + s - 2);
      g.lineTo(x + s - 2, y + 2);
    } else {
      g.moveTo(x + 2, y + s / 2);
      g.lineTo(x + s - 2, y + s / 2);
    }
    g.stroke();
  }
  g.globalAlpha = 1;
  for (const label of l.labels) {
    g.font = label.level === 0 ? '600 14px system-ui, sans-serif' : '12.5px system-ui, sans-serif';
    g.fillStyle = label.level === 0 ? k.text : k.muted;
    g.fillText(label.text.slice(0, 120), label.x, label.y);
  }
}
