// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

import type { Topology } from '../../api/schema';
import { Bar, Card } from '../../parts/page';
import { Empty, Shown } from '../../parts/states';
import { to } from '../../shell/place';
import { useRead, type Read } from '../../store/read';
import { capacityOf } from '../../words/capacity';
import { mib, percent, plural } from '../../words/count';

/** useTopology reads the nodes as columns: when nodes change, and every 10 s because their use is a gauge. */
export const useTopology = (): Read<Topology> => useRead<Topology>('/v1/topology', { on: ['Node'], every: 10_000 });

/** Capacities shows the use of each datacenter. */
export function Capacities({ read }: { read: Read<Topology> }) {
  return (
    <Card title="Reserved capacity" sub={<a href={to(['topology'])}>Topology</a>}>
      <Shown read={read}>
        {(t) => {
          const all = capacityOf(t);
          if (all.length === 0) return <Empty command="reeve agent -client -join ADDRESS">No node has joined.</Empty>;
          return (
            <div class="scroll-x" role="region" aria-label="Capacity of each datacenter" tabIndex={0}>
              <table class="plain capacity">
                <thead>
                  <tr>
                    <th scope="col">Datacenter</th>
                    <th scope="col">Nodes</th>
                    <th scope="col">CPU</th>
                    <th scope="col">Memory</th>
                  </tr>
                </thead>
                <tbody>
                  {all.map((c) => (
                    <tr key={c.datacenter}>
                      <th scope="row">{c.datacenter}</th>
                      <td title={plural(c.allocations, 'allocation')}>{c.ready === c.nodes ? c.nodes : `${c.ready} of ${c.nodes} ready`}</td>
                      <td>
                        <Use part={c.cpuUsed} whole={c.cpu} title={`${c.cpuUsed} of ${c.cpu} MHz`} />
                      </td>
                      <td>
                        <Use part={c.memoryUsed} whole={c.memory} title={`${mib(c.memoryUsed)} of ${mib(c.memory)}`} />
                      </td>
                    </tr>
                  ))}
                </tbody>
              </table>
            </div>
          );
        }}
      </Shown>
    </Card>
  );
}

function Use({ part, whole, title }: { part: number; whole: number; title: string }) {
  return (
    <span class="use" title={title}>
      <Bar part={part} whole={whole} of={part > whole * 0.9 ? 'late' : 'go'} /> {percent(part, whole) || 'none'}
    </span>
  );
}
