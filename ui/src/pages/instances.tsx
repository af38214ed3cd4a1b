// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

import type { ComponentChildren } from 'preact';
import { useEffect, useMemo, useState } from 'preact/hooks';
import type { Event, Instance } from '../api/schema';
import { apiFilter, FilterBar, filterText, isExpression, words } from '../parts/filter';
import { Grid, sortOf, useOrder, type Column } from '../parts/grid';
import { instanceVerbs } from '../parts/instance_verbs';
import { Head, Time } from '../parts/page';
import { Shape } from '../parts/shape';
import { Empty, Listed } from '../parts/states';
import { useVerbs } from '../parts/verb';
import { toAllocation, toJob, toNode } from '../shell/place';
import { jobGroups } from '../store/job_groups';
import type { TableSource } from '../store/source';
import { useTable } from '../store/use_table';
import { plural } from '../words/count';
import { expressionOf } from '../words/expression';
import { ofInstance } from '../words/meaning';
import { ms } from '../words/time';

/** keyOf tells instances apart. A canary that has no place yet has the name of the instance beside it. */
export const keyOf = (i: Instance) => i.Allocation || `${i.Namespace} ${i.JobID} ${i.Name}${i.Canary ? ' canary' : ''}`;

/** take turns an event into a row. Crashes repeat the state, so the event of the change suffices. */
export function takeInstance(e: Event): { key: string; row: Instance | null } | undefined {
  if (e.Topic !== 'Instance' || e.Type === 'InstanceCrashed') return undefined;
  const i = e.Payload?.Instance as Instance;
  return { key: e.Key ?? '', row: e.Deleted || e.Type === 'InstanceRemoved' ? null : i };
}

/** takeOf takes the events of a job. A job of another namespace may have the same name. */
export const takeOf = (namespace: string) => (e: Event) => ((e.Namespace || 'default') === namespace ? takeInstance(e) : undefined);

/** keepInstance keeps what events do not tell until the rows of the job are read again, so that a paused instance does not flicker. */
export const keepInstance = (before: Instance, i: Instance): Instance => ({ ...i, Zone: before.Zone, Paused: before.Paused, Plan: before.Plan, Step: before.Step });

/** said is the state of an instance in words. */
export function said(i: Instance): string {
  if (i.Paused) return 'paused';
  if (i.State === 'RUNNING') return i.Routable ? 'running, traffic' : `running, no traffic${i.Message ? `: ${i.Message}` : ''}`;
  if (i.State === 'CRASHED') return `crashed: ${i.CrashReason || i.Message || 'no reason given'}`;
  if (i.PlacementError) return `no place: ${i.PlacementError}`;
  return `${(i.State ?? '').toLowerCase()}${i.Message ? `: ${i.Message}` : ''}`;
}

const columns: Column<Instance>[] = [
  {
    key: 'instance', head: 'Instance', width: 'minmax(0, 1.3fr)', by: (i) => `${i.JobID} ${i.Group} ${String(i.Index).padStart(6, '0')}`,
    cell: (i) => (
      <>
        <Shape of={ofInstance(i)} label={said(i)} />
        {i.Allocation ? <a href={toAllocation(i.Allocation)}>{i.Name}</a> : <span>{i.Name}</span>}
        {i.Canary && <span class="sub"> canary</span>}
      </>
    ),
  },
  { key: 'job', head: 'Job', width: 'minmax(0, 1.3fr)', narrow: 'minmax(0, .9fr)', by: (i) => `${i.Namespace} ${i.JobID}`, cell: (i) => <a href={toJob(i.JobID ?? '', i.Namespace)}>{i.JobID}</a> },
  { key: 'state', head: 'State', width: 'minmax(0, 2fr)', narrow: 'minmax(0, 1.2fr)', by: said, cell: (i) => <span class="clip" title={said(i)}>{said(i)}</span> },
  { key: 'version', head: 'Version', width: '70px', end: true, wide: 'tablet', by: (i) => i.JobVersion ?? 0, cell: (i) => i.JobVersion },
  { key: 'crashes', head: 'Crashes', width: '74px', end: true, wide: true, by: (i) => i.CrashCount ?? 0, cell: (i) => i.CrashCount || '' },
  { key: 'node', head: 'Node', width: 'minmax(0, 1fr)', wide: true, by: (i) => i.NodeName ?? '', cell: (i) => i.NodeID && <a href={toNode(i.NodeID)}>{i.NodeName}</a> },
  { key: 'since', head: 'Since', width: '152px', wide: 'tablet', by: (i) => ms(i.Since), cell: (i) => <Time of={i.Since} /> },
];

const haystack = (i: Instance) => `${i.Name} ${i.JobID} ${i.Namespace} ${i.NodeName} ${i.Zone ?? ''} ${i.Allocation} ${i.Canary ? 'canary ' : ''}${said(i)}`;

/** InstanceGrid shows instances that pass the filter in the page's address. A job's page shows those of the job. */
export function InstanceGrid({ source, empty, large }: { source: TableSource<Instance>; empty: ComponentChildren; large?(more: boolean): void }) {
  const table = useTable(source);
  const text = filterText();
  const pass = useMemo(() => {
    if (!text || isExpression(text)) return undefined;
    const has = words(text);
    return (i: Instance) => has(haystack(i));
  }, [text]);
  const sort = sortOf('instance');
  const keys = useOrder(table, columns, sort, pass, text);
  // More rows than are loaded: only the servers can find words in all of them.
  const more = table.more.value;
  useEffect(() => {
    if (more) large?.(true);
  }, [more]);
  const [at, setAt] = useState<Instance | undefined>(undefined);
  const here = at && (table.rows.get(keyOf(at)) ?? at);
  useVerbs(here ? instanceVerbs(here) : []);
  const error = table.error.value;
  const count = `${plural(keys.length, 'instance')}${keys.length < table.rows.size ? ` of ${table.rows.size}` : ''}${table.more.value ? ', and more than can be shown: filter to see others' : ''}`;
  return (
    <>
      <FilterBar label="Filter instances" fields={['State', 'JobID', 'Group', 'NodeName', 'Zone', 'Domain', 'JobVersion']} error={error} count={table.loading.value ? '' : count} />
      <Listed error={error} loading={table.loading.value} size={table.rows.size} again={() => void table.read()}>
        <Grid
          label="Instances"
          columns={columns}
          keys={keys}
          row={(k) => table.rows.get(k)}
          sort={sort}
          href={(i) => (i.Allocation ? toAllocation(i.Allocation) : toJob(i.JobID ?? '', i.Namespace))}
          cursor={(i) => setAt(i)}
          empty={text ? <Empty>No instance matches "{text}". Esc clears the filter.</Empty> : empty}
        />
      </Listed>
    </>
  );
}

/** Instances lists the instances of all jobs. */
export default function Instances() {
  const [large, setLarge] = useState(false);
  const text = filterText();
  const filter = apiFilter() || (large && text ? expressionOf(text, ['Name', 'JobID', 'NodeName', 'State', 'Allocation']) : '');
  return (
    <>
      <Head title="Instances" sentence="An instance is one copy of a group's tasks. A group has as many as its count says." />
      <InstanceGrid
        large={setLarge}
        source={{ path: `/v1/instances?namespace=*${filter && `&filter=${encodeURIComponent(filter)}`}`, topics: ['Instance'], key: keyOf, take: takeInstance, keep: keepInstance, reread: filter !== '', groups: jobGroups() }}
        empty={<Empty needs="read-job" command="reeve job run examples/web.hcl">No job runs here yet. Run one:</Empty>}
      />
    </>
  );
}
