// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

// Charts of values over time. They are a chunk of their own, which loads with the first chart. A chart does not animate:
// it is drawn again when its values change.

import uPlot from 'uplot';
import 'uplot/dist/uPlot.min.css';
import { clock } from '../words/time';
import type { Look, Values } from './look';

/** A Draw is a chart that is shown. */
export interface Draw {
  update(values: Values): void;
  end(): void;
}

const colour = (name: string) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();

/** chart draws values into an element, and draws them again for another size or theme. */
export function chart(into: HTMLElement, look: Look, first: Values): Draw {
  let newest = first;
  let plot: uPlot | undefined;
  const size = () => ({ width: Math.max(200, into.clientWidth - 12), height: 170 });
  const make = () => {
    plot?.destroy();
    const axis = { stroke: colour('--muted'), grid: { stroke: colour('--line'), width: 1 }, ticks: { show: false }, font: '11px system-ui' };
    plot = new uPlot(
      {
        ...size(),
        legend: { show: false },
        cursor: { show: false },
        scales: { x: { time: true }, ...Object.fromEntries(look.axes.map((a) => [a.scale, { range: (_u: uPlot, _a: number, b: number) => [0, a.top(b ?? 0)] as [number, number] }])) },
        axes: [
          { ...axis, values: (_u, ts) => ts.map((t) => clock(t * 1000).slice(-8)), space: 80 },
          ...look.axes.map((a, i) => ({ ...axis, scale: a.scale, size: 66, ...(i > 0 && { side: 1 as const, grid: { show: false } }), values: (_u: uPlot, vs: number[]) => vs.map(a.said) })),
        ],
        series: [
          {},
          ...look.lines.map((l) => ({ scale: l.scale, stroke: colour(l.colour), width: 1.5, spanGaps: l.gaps ?? false, ...(l.dashed && { dash: [5, 3] }), ...(l.stepped && { paths: uPlot.paths.stepped!({ align: 1 }) }), points: { show: false } })),
        ],
      },
      newest as uPlot.AlignedData,
      into,
    );
  };
  make();
  const sized = new ResizeObserver(() => plot?.setSize(size()));
  sized.observe(into);
  const theme = new MutationObserver(make);
  theme.observe(document.documentElement, { attributes: true, attributeFilter: ['data-theme'] });
  const scheme = matchMedia('(prefers-color-scheme: dark)');
  scheme.addEventListener('change', make);
  return {
    update(values) {
      newest = values;
      plot?.setData(newest as uPlot.AlignedData);
    },
    end() {
      sized.disconnect();
      theme.disconnect();
      scheme.removeEventListener('change', make);
      plot?.destroy();
    },
  };
}
