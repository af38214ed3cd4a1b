// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

import { useEffect, useState } from 'preact/hooks';
import type { AllocationStats } from '../../api/schema';
import { Chart } from '../../chart/chart';
import type { Look, Values } from '../../chart/look';
import { Card } from '../../parts/page';
import { Failed } from '../../parts/states';
import { useRead } from '../../store/read';
import { bytes } from '../../words/count';

const samples = 150;

/** Processor in MHz, and memory in bytes. */
const look: Look = {
  axes: [
    { scale: 'mhz', top: (most) => Math.max(10, most * 1.1), said: (v) => `${Math.round(v)} MHz` },
    { scale: 'mem', top: (most) => Math.max(1 << 20, most * 1.2), said: bytes },
  ],
  lines: [
    { scale: 'mhz', colour: '--accent' },
    { scale: 'mem', colour: '--ok', dashed: true },
  ],
};

/** Use shows what an allocation uses now, and in the last five minutes of this page. */
export function Use({ id, cpu, memory }: { id: string; cpu: number; memory: number }) {
  const read = useRead<AllocationStats>(`/v1/client/allocation/${encodeURIComponent(id)}/stats`, { every: 2_000 });
  const [values, setValues] = useState<Values>([[], [], []]);
  const s = read.data;
  const now = s?.ResourceUsage;
  useEffect(() => setValues([[], [], []]), [id]);
  useEffect(() => {
    if (!s?.Timestamp) return;
    const sample = [s.Timestamp / 1e9, now?.CpuStats?.TotalTicks ?? 0, now?.MemoryStats?.Usage || now?.MemoryStats?.RSS || 0];
    setValues((v) => (v[0].at(-1) === sample[0] ? v : (v.map((list, i) => [...list, sample[i]!].slice(-samples)) as Values)));
  }, [s]);
  const used = now?.MemoryStats?.Usage || now?.MemoryStats?.RSS || 0;
  const tasks = Object.entries(s?.Tasks ?? {});
  return (
    <Card title="Use" sub="last 5 minutes, while this page is open">
      {read.error && !s && <Failed error={read.error} />}
      <Chart look={look} values={values} />
      <div class="scroll-x">
        <table class="plain">
          <thead>
            <tr>
              <th>Task</th>
              <th class="end">Processor</th>
              <th class="end">Memory</th>
            </tr>
          </thead>
          <tbody>
            {tasks.map(([name, t]) => (
              <tr key={name}>
                <td>{name}</td>
                <td class="end">{Math.round(t?.ResourceUsage?.CpuStats?.TotalTicks ?? 0)} MHz</td>
                <td class="end">{bytes(t?.ResourceUsage?.MemoryStats?.Usage || t?.ResourceUsage?.MemoryStats?.RSS)}</td>
              </tr>
            ))}
            <tr>
              <td>All, of what is reserved</td>
              <td class="end">
                {Math.round(now?.CpuStats?.TotalTicks ?? 0)} of {cpu} MHz
              </td>
              <td class="end">
                {bytes(used)} of {bytes(memory * 1024 * 1024)}
              </td>
            </tr>
          </tbody>
        </table>
      </div>
    </Card>
  );
}
