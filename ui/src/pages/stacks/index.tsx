// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

import { useState } from 'preact/hooks';
import type { Shift, StackGraph, StackStatus } from '../../api/schema';
import type { Column } from '../../parts/grid';
import { Card, Head, Tabs, Time } from '../../parts/page';
import { ReadGrid } from '../../parts/read_grid';
import { Shape } from '../../parts/shape';
import { Empty, Shown } from '../../parts/states';
import { useVerbs } from '../../parts/verb';
import { VerbButton } from '../../parts/verbs';
import { place, to } from '../../shell/place';
import { useRead } from '../../store/read';
import { ofStack } from '../../words/meaning';
import { ms } from '../../words/time';
import '../../style/stacks.css';
import { Graph, toStack } from './graph';
import { One } from './one';
import { said, statusOf, versionOf, versionOrder } from './said';
import { ShiftCard } from './shift';
import { isRunning, shiftTo, stackVerbs } from './verbs';

const columns: Column<StackStatus>[] = [
  {
    key: 'stack', head: 'Stack', width: 'minmax(0, 1.4fr)', by: (s) => `${s.Unit} ${versionOrder(s)}`,
    cell: (s) => (
      <>
        <Shape of={ofStack(statusOf(s))} label={statusOf(s)} />
        <a href={toStack(s)}>
          {s.Unit} {versionOf(s)}
        </a>
      </>
    ),
  },
  { key: 'namespace', head: 'Namespace', width: '120px', wide: true, by: (s) => s.Namespace ?? '', cell: (s) => s.Namespace },
  { key: 'state', head: 'State', width: 'minmax(0, 1.6fr)', by: said, cell: (s) => <span class="clip">{said(s)}</span> },
  { key: 'why', head: 'Why it stays', width: 'minmax(0, 1.8fr)', wide: true, cell: (s) => <span class="clip" title={s.Why || s.Standing}>{s.Why || s.Standing}</span> },
  { key: 'expires', head: 'Ends', width: '152px', wide: true, by: (s) => ms(s.Expires), cell: (s) => <Time of={s.Expires} /> },
];

const topics = ['Stack', 'Shift', 'Unit'];

/** Stacks shows the versions of units, who calls them, how long they stay, and the shifts between them. */
export default function Stacks() {
  const { query } = place.value;
  const name = query.get('stack');
  if (name) return <One key={name} name={name} namespace={query.get('namespace') ?? 'default'} />;
  const view = query.get('view') === 'list' ? 'list' : 'graph';
  return (
    <>
      <Head title="Stacks" sentence="A stack is one deployed version of a unit. Reeve removes stacks that nobody uses any more." />
      <Shifts />
      <Tabs
        label="View"
        current={view}
        tabs={[
          { key: 'graph', name: 'Graph', href: to(['stacks']) },
          { key: 'list', name: 'List', href: to(['stacks'], { view: 'list' }) },
        ]}
      />
      {view === 'graph' ? <GraphView /> : <ListView />}
    </>
  );
}

function GraphView() {
  const read = useRead<StackGraph>('/v1/stacks/graph?namespace=*', { on: [...topics, 'Service'] });
  return <Shown read={read}>{(g) => <Graph of={g} />}</Shown>;
}

function ListView() {
  const read = useRead<StackStatus[]>('/v1/stacks?namespace=*', { on: topics });
  const [at, setAt] = useState<StackStatus | undefined>(undefined);
  const here = at && (read.data ?? []).find((s) => s?.Name === at.Name && s?.Namespace === at.Namespace);
  const verbs = here ? [...stackVerbs(here), shiftTo(here)] : [];
  useVerbs(verbs);
  return (
    <>
      {here && (
        <div class="btns">
          {verbs.map((v) => (
            <VerbButton key={v.name} verb={v} small />
          ))}
        </div>
      )}
      <ReadGrid
        label="Stacks"
        one="stack"
        read={read}
        columns={columns}
        sort="stack"
        fields={['Unit', 'Status', 'Namespace']}
        id={(s) => `${s.Namespace} ${s.Name}`}
        text={(s) => `${s.Name} ${s.Unit} ${versionOf(s)} ${s.Namespace} ${said(s)} ${s.Why}`}
        href={toStack}
        cursor={setAt}
        empty={<Empty command="reeve stack deploy examples/stacks/shop.hcl">No stack is deployed. Deploy one:</Empty>}
      />
    </>
  );
}

/** Shifts shows the traffic that moves now. */
function Shifts() {
  const read = useRead<Shift[]>('/v1/shifts?namespace=*&per_page=50', { on: ['Shift'] });
  const running = (read.data ?? []).filter((h): h is Shift => h !== null && isRunning(h));
  if (running.length === 0) return null;
  return (
    <div class="stackv shifts">
      {running.slice(0, 5).map((h) => (
        <ShiftCard key={h.ID} of={h} />
      ))}
      {running.length > 5 && (
        <Card title="More shifts">
          <p class="pad">{running.length - 5} more shifts run: their stacks are in the list.</p>
        </Card>
      )}
    </div>
  );
}
