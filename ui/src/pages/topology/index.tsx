// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

import '../../style/topology.css';
import { useEffect, useMemo, useState } from 'preact/hooks';
import type { Topology } from '../../api/schema';
import { Grid, order, sortOf, type Column } from '../../parts/grid';
import { drainVerb } from '../../parts/node_verbs';
import { Head } from '../../parts/page';
import { Shape } from '../../parts/shape';
import { Empty, Shown } from '../../parts/states';
import { useVerbs } from '../../parts/verb';
import { VerbButton } from '../../parts/verbs';
import { place, setQuery, toNode } from '../../shell/place';
import { useRead } from '../../store/read';
import { percent, plural } from '../../words/count';
import type { Meaning } from '../../words/meaning';
import { Cluster } from './canvas';
import { chosenOf, textOf } from './choice';
import type { Fill } from './draw';
import { cellsOf, states, type Cells } from './layout';

const meanings: Meaning[] = ['ok', 'up', 'go', 'late', 'bad', 'late', 'wait'];

const share = (x: number) => percent(x, 1) || '0 %';

/** sayCell is a node in one sentence. */
function sayCell(c: Cells, i: number): string {
  const where = [c.dc[i], c.zone[i] !== c.dc[i] && c.zone[i] && `zone ${c.zone[i]}`, c.klass[i] && `class ${c.klass[i]}`].filter(Boolean).join(', ');
  const job = c.job ? `, ${c.job[i]} of the job` : '';
  return `${c.names[i]}: ${states[c.state[i]!]}; memory ${share(c.memory[i]!)}, processor ${share(c.cpu[i]!)}, ${plural(c.allocations[i]!, 'allocation')}${job}; ${where}`;
}

/** countStates counts the nodes in each state. */
function countStates(c: Cells): { s: string; n: number; k: number }[] {
  const counts = new Int32Array(states.length);
  for (let i = 0; i < c.n; i++) counts[c.state[i]!]!++;
  return states.map((s, k) => ({ s, n: counts[k]!, k })).filter((x) => x.n > 0);
}

/** TopologyPage shows all nodes at once. */
export default function TopologyPage() {
  const job = place.value.query.get('job') ?? '';
  const namespace = place.value.query.get('namespace');
  const query = job ? `?job=${encodeURIComponent(job)}${namespace ? `&namespace=${encodeURIComponent(namespace)}` : ''}` : '';
  const read = useRead<Topology>(`/v1/topology${query}`, { on: ['Node'], every: 5_000, keep: true });
  return (
    <>
      <Head title="Topology" sentence="Each cell is a node. The fuller it is, the stronger its colour; an outline marks a state that needs a look." />
      <Shown read={read}>{(t) => <Loaded t={t} job={job} />}</Shown>
    </>
  );
}

function Loaded({ t, job }: { t: Topology; job: string }) {
  const cells = useMemo(() => cellsOf(t), [t]);
  const q = place.value.query;
  const asked = q.get('fill');
  const fill: Fill = asked === 'cpu' || asked === 'allocs' ? asked : 'memory';
  const table = q.get('view') === 'table';
  const [at, setAt] = useState(-1);
  const text = q.get('nodes') ?? '';
  const [large, setLarge] = useState<ReadonlySet<string> | undefined>(undefined); // a choice that no address can keep
  const chosen = useMemo(() => large ?? chosenOf(text, cells.ids), [large, text, cells]);
  const choose = (ids: ReadonlySet<string>) => {
    const kept = textOf(ids, cells.ids);
    setLarge(kept === undefined ? ids : undefined);
    setQuery('nodes', kept);
  };
  const [draft, setDraft] = useState(job);
  useEffect(() => setDraft(job), [job]);
  const index = useMemo(() => new Map(cells.ids.map((id, i) => [id, i])), [cells]);
  const nodes = useMemo(
    () =>
      [...chosen]
        .filter((id) => index.has(id))
        .map((id) => {
          const i = index.get(id)!;
          return { id, name: cells.names[i] ?? id, draining: cells.state[i] === 2, eligible: cells.state[i] === 0, down: cells.state[i] === 4, allocations: cells.allocations[i] };
        }),
    [chosen, index],
  );
  const verbs = nodes.length > 0 ? [drainVerb(nodes)] : [];
  useVerbs(verbs);
  const odd = useMemo(() => countStates(cells), [cells]);
  const ofJob = useMemo(() => cells.job && { allocations: cells.job.reduce((n, x) => n + x, 0), nodes: cells.job.reduce((n, x) => n + (x > 0 ? 1 : 0), 0) }, [cells]);
  if (cells.n === 0) return <Empty command="reeve agent -client">No agent has registered a node. Start one on a machine:</Empty>;
  return (
    <>
      <div class="filter">
        <label class="tick">
          Fill
          <select value={fill} onChange={(e) => setQuery('fill', e.currentTarget.value === 'memory' ? undefined : e.currentTarget.value)}>
            <option value="memory">memory</option>
            <option value="cpu">processor</option>
            <option value="allocs">allocations</option>
          </select>
        </label>
        <form
          class="tick"
          onSubmit={(e) => {
            e.preventDefault();
            setQuery('job', draft.trim());
          }}
        >
          <label class="tick">
            Only job
            <input class="job" value={draft} spellcheck={false} onInput={(e) => setDraft(e.currentTarget.value)} />
          </label>
          <button class="b" type="submit">
            Show
          </button>
        </form>
        <button class="b" type="button" aria-pressed={table} onClick={() => setQuery('view', table ? undefined : 'table')}>
          {table ? 'As cells' : 'As table'}
        </button>
        <ul class="legend" aria-label="States">
          {odd.map((x) => (
            <li key={x.s} class="status">
              <Shape of={meanings[x.k]!} /> {x.n.toLocaleString('en-US')} {x.s}
            </li>
          ))}
        </ul>
      </div>
      {ofJob && (
        <p class="sub">
          {plural(ofJob.allocations, 'allocation')} of {job} on {plural(ofJob.nodes, 'node')}. The others are dimmed.
        </p>
      )}
      {nodes.length > 0 && (
        <div class="btns chosen-nodes" role="group" aria-label="Chosen nodes">
          <b>{plural(nodes.length, 'node')} chosen</b>
          {large && <span class="sub">too many for the address of this page</span>}
          {verbs.map((v) => (
            <VerbButton key={v.name} verb={v} />
          ))}
          <button class="b" type="button" onClick={() => choose(new Set())}>
            Choose none
          </button>
        </div>
      )}
      {table ? (
        <NodeTable cells={cells} index={index} chosen={chosen} choose={choose} label="Nodes" />
      ) : (
        <>
          <p id="topology-here" class="sub here-line">
            {at >= 0 && at < cells.n ? sayCell(cells, at) : 'Point at a cell, or move with the arrows. Draw a rectangle to choose nodes.'}
          </p>
          <Cluster cells={cells} fill={fill} chosen={chosen} choose={choose} at={at} setAt={setAt} />
          {nodes.length > 0 && (
            <div class="chosen-list">
              <NodeTable cells={cells} index={index} only={chosen} chosen={chosen} choose={choose} label="Chosen nodes" />
            </div>
          )}
        </>
      )}
    </>
  );
}

/** NodeTable is the twin of the canvas: the same nodes as rows. */
function NodeTable(p: { cells: Cells; index: Map<string, number>; only?: ReadonlySet<string>; chosen: ReadonlySet<string>; choose(ids: Set<string>): void; label: string }) {
  const { cells: c, index } = p;
  const columns = useMemo<Column<number>[]>(
    () => [
      {
        key: 'name', head: 'Node', width: 'minmax(0, 1.2fr)', by: (i) => c.names[i] ?? '',
        cell: (i) => (
          <>
            <Shape of={meanings[c.state[i]!]!} label={states[c.state[i]!]!} />
            <a href={toNode(c.ids[i]!)}>{c.names[i]}</a>
          </>
        ),
      },
      { key: 'state', head: 'State', width: '90px', by: (i) => states[c.state[i]!]!, cell: (i) => states[c.state[i]!] },
      { key: 'dc', head: 'Datacenter', width: 'minmax(80px, .7fr)', wide: true, by: (i) => c.dc[i]!, cell: (i) => c.dc[i] },
      { key: 'zone', head: 'Zone', width: 'minmax(0, .7fr)', wide: true, by: (i) => c.zone[i]!, cell: (i) => c.zone[i] },
      { key: 'class', head: 'Class', width: 'minmax(0, .7fr)', wide: true, by: (i) => c.klass[i]!, cell: (i) => c.klass[i] },
      { key: 'memory', head: 'Memory', width: '80px', end: true, by: (i) => c.memory[i]!, cell: (i) => share(c.memory[i]!) },
      { key: 'cpu', head: 'Processor', width: '86px', end: true, wide: true, by: (i) => c.cpu[i]!, cell: (i) => share(c.cpu[i]!) },
      { key: 'allocs', head: 'Allocs', width: '64px', end: true, by: (i) => c.allocations[i]!, cell: (i) => c.allocations[i] },
      ...(c.job ? [{ key: 'job', head: 'Of the job', width: '80px', end: true, by: (i: number) => c.job![i]!, cell: (i: number) => c.job![i] }] : []),
    ],
    [c],
  );
  const sort = sortOf('name');
  const rows = useMemo(() => (p.only ? new Map([...index].filter(([id]) => p.only!.has(id))) : index), [index, p.only]);
  const keys = useMemo(() => order(rows, columns, sort), [rows, columns, sort]);
  return <Grid label={p.label} columns={columns} keys={keys} row={(k) => rows.get(k)} sort={sort} href={(i) => toNode(c.ids[i]!)} chosen={p.chosen} choose={p.choose} />;
}
