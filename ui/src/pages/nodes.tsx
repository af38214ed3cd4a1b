// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

import { useMemo, useState } from 'preact/hooks';
import type { Event, Node, NodeListStub, Topology } from '../api/schema';
import { apiFilter, FilterBar, filterText, isExpression, words } from '../parts/filter';
import { Grid, sortOf, useOrder, type Column } from '../parts/grid';
import { nameOf, nodeVerbs } from '../parts/node_verbs';
import { Bar, Head } from '../parts/page';
import { Shape } from '../parts/shape';
import { Empty, Listed } from '../parts/states';
import { useVerbs } from '../parts/verb';
import { to, toNode } from '../shell/place';
import { useRead } from '../store/read';
import { useTable } from '../store/use_table';
import { percent, plural } from '../words/count';
import { ofNode } from '../words/meaning';
import { saidOfNode } from '../words/node';

const keyOf = (n: NodeListStub) => n.ID ?? '';

/** take turns an event into a row. */
function take(e: Event): { key: string; row: NodeListStub | null } | undefined {
  if (e.Topic !== 'Node') return undefined;
  const n = e.Payload?.Node as Node | undefined;
  if (e.Deleted || e.Type === 'NodeDeregistration' || !n) return { key: e.Key ?? '', row: null };
  return { key: e.Key ?? '', row: { ...n, Version: n.Attributes?.['reeve.version'] ?? n.Attributes?.['nomad.version'] ?? '' } };
}

interface Use {
  cpu: number;
  cpuOf: number;
  memory: number;
  memoryOf: number;
  allocations: number;
}

/** usesOf is what allocations hold on each node. */
function usesOf(t: Topology | undefined): Map<string, Use> {
  const out = new Map<string, Use>();
  (t?.ID ?? []).forEach((id, i) =>
    out.set(id, { cpu: t!.CPUUsed?.[i] ?? 0, cpuOf: t!.CPU?.[i] ?? 0, memory: t!.MemoryUsed?.[i] ?? 0, memoryOf: t!.MemoryMB?.[i] ?? 0, allocations: t!.Allocations?.[i] ?? 0 }),
  );
  return out;
}

const share = (part: number, whole: number) => (whole > 0 ? part / whole : 0);

function columnsOf(uses: Map<string, Use>): Column<NodeListStub>[] {
  const use = (n: NodeListStub) => uses.get(keyOf(n));
  const bar = (part: number, whole: number, what: string) => (
    <>
      <Bar part={part} whole={whole} of={share(part, whole) > 0.9 ? 'late' : 'go'} label={`${what} ${percent(part, whole)}`} />
      <span class="num">{percent(part, whole)}</span>
    </>
  );
  return [
    {
      key: 'name', head: 'Node', width: 'minmax(0, 1.2fr)', by: (n) => n.Name ?? '',
      cell: (n) => (
        <>
          <Shape of={ofNode(n)} label={saidOfNode(n)} />
          <a href={toNode(keyOf(n))}>{n.Name}</a>
        </>
      ),
    },
    { key: 'state', head: 'State', width: 'minmax(0, 1fr)', by: saidOfNode, cell: (n) => <span class="clip">{saidOfNode(n)}</span> },
    { key: 'dc', head: 'Datacenter', width: 'minmax(80px, .7fr)', wide: true, by: (n) => n.Datacenter ?? '', cell: (n) => n.Datacenter },
    { key: 'pool', head: 'Pool', width: 'minmax(0, .7fr)', wide: true, by: (n) => n.NodePool ?? '', cell: (n) => n.NodePool },
    { key: 'class', head: 'Class', width: 'minmax(0, .7fr)', wide: true, by: (n) => n.NodeClass ?? '', cell: (n) => n.NodeClass },
    { key: 'cpu', head: 'Processor', width: '140px', wide: true, by: (n) => share(use(n)?.cpu ?? 0, use(n)?.cpuOf ?? 0), cell: (n) => use(n) && bar(use(n)!.cpu, use(n)!.cpuOf, 'processor') },
    { key: 'memory', head: 'Memory', width: '140px', wide: true, by: (n) => share(use(n)?.memory ?? 0, use(n)?.memoryOf ?? 0), cell: (n) => use(n) && bar(use(n)!.memory, use(n)!.memoryOf, 'memory') },
    { key: 'allocs', head: 'Allocs', width: '64px', end: true, by: (n) => use(n)?.allocations ?? 0, cell: (n) => use(n)?.allocations ?? '' },
    { key: 'version', head: 'Version', width: '100px', wide: true, by: (n) => n.Version ?? '', cell: (n) => <span class="clip">{n.Version}</span> },
  ];
}

const haystack = (n: NodeListStub) => `${n.Name} ${n.ID} ${n.Datacenter} ${n.NodePool} ${n.NodeClass} ${n.Version} ${saidOfNode(n)}`;

/** Nodes lists the nodes of the region. */
export default function Nodes() {
  const filter = apiFilter();
  const table = useTable<NodeListStub>({ path: `/v1/nodes${filter && `?filter=${encodeURIComponent(filter)}`}`, topics: ['Node'], key: keyOf, take, reread: filter !== '' });
  const topology = useRead<Topology>('/v1/topology', { on: ['Node'], every: 5_000 });
  const uses = useMemo(() => usesOf(topology.data), [topology.data]);
  const columns = useMemo(() => columnsOf(uses), [uses]);
  const text = filterText();
  const pass = useMemo(() => {
    if (!text || isExpression(text)) return undefined;
    const has = words(text);
    return (n: NodeListStub) => has(haystack(n));
  }, [text]);
  const sort = sortOf('name');
  const keys = useOrder(table, columns, sort, pass, text);
  const [at, setAt] = useState<NodeListStub | undefined>(undefined);
  const here = at && table.rows.get(keyOf(at));
  useVerbs(here ? nodeVerbs(nameOf(here, uses.get(keyOf(here))?.allocations)) : []);
  const error = table.error.value;
  return (
    <>
      <Head title="Nodes" sentence="A node is a machine that runs the tasks which the servers place there.">
        <a class="b" href={to(['topology'])}>
          Topology
        </a>
      </Head>
      <FilterBar
        label="Filter nodes"
        fields={['Status', 'Name', 'Datacenter', 'NodePool', 'NodeClass', 'SchedulingEligibility', 'Drain', 'Version']}
        error={error}
        count={table.loading.value ? '' : `${plural(keys.length, 'node')}${keys.length < table.rows.size ? ` of ${table.rows.size}` : ''}`}
      />
      <Listed error={error} loading={table.loading.value} size={table.rows.size} again={() => void table.read()}>
        <Grid
          label="Nodes"
          columns={columns}
          keys={keys}
          row={(k) => table.rows.get(k)}
          sort={sort}
          href={(n) => toNode(keyOf(n))}
          cursor={(n) => setAt(n)}
          empty={text ? <Empty>No node matches "{text}". Esc clears the filter.</Empty> : <Empty command="reeve agent -client">No agent has registered a node. Start one on a machine:</Empty>}
        />
      </Listed>
    </>
  );
}
