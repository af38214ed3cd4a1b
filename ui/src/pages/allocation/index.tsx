// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

import '../../style/allocation.css';
import { useEffect, useRef } from 'preact/hooks';
import type { Allocation, Task } from '../../api/schema';
import { Head, Tabs } from '../../parts/page';
import { Shape } from '../../parts/shape';
import { Empty, Failed, Shown } from '../../parts/states';
import { useVerbs } from '../../parts/verb';
import { VerbButton } from '../../parts/verbs';
import { useKeys } from '../../shell/keys';
import { go, to, toAllocation, toJob } from '../../shell/place';
import { useRead, type Read } from '../../store/read';
import { short } from '../../words/count';
import { ofAllocation, wordOf } from '../../words/meaning';
import { LogView } from '../logs';
import { Exec } from './exec';
import { Files } from './files';
import { Now } from './now';
import { allocationVerbs } from './verbs';
import { saidOf } from './words';

const tabs = [
  { key: '', name: 'Now' },
  { key: 'logs', name: 'Logs' },
  { key: 'files', name: 'Files' },
  { key: 'exec', name: 'Exec' },
];

/** AllocationPage shows one allocation. The beginning of an id leads to the whole. */
export default function AllocationPage({ path }: { path: string[] }) {
  const [id = '', tab = ''] = path;
  const whole = id.length === 36;
  const read = useRead<Allocation>(id ? `/v1/allocation/${encodeURIComponent(id)}` : undefined, whole ? { on: [`Allocation:${id}`] } : {});
  const found = read.data?.ID;
  useEffect(() => {
    if (found && !whole) go(toAllocation(found, tab) + location.search, true);
  }, [found]);
  if (!id) {
    return (
      <>
        <Head title="Allocation" />
        <Empty command="reeve alloc status">The address names no allocation. The instances lead to theirs; this command lists them:</Empty>
      </>
    );
  }
  if (!read.data) return <Absent id={id} read={read} />;
  return <Shown read={{ ...read, error: read.error?.status === 404 ? undefined : read.error }}>{(a) => <One a={a} tab={tab} gone={read.error?.status === 404} />}</Shown>;
}

function Absent({ id, read }: { id: string; read: Read<Allocation> }) {
  return (
    <>
      <Head title={`Allocation ${short(id)}`} crumbs={[{ name: 'Instances', href: to(['instances']) }]} />
      {read.error?.status === 404 ? (
        <>
          <Failed error={read.error} />
          <Empty command="reeve alloc status">The servers delete allocations a while after their end. Those that they know:</Empty>
        </>
      ) : (
        <Shown read={read}>{() => null}</Shown>
      )}
    </>
  );
}

function One({ a, tab, gone }: { a: Allocation; tab: string; gone: boolean }) {
  const id = a.ID ?? '';
  const verbs = gone ? [] : allocationVerbs(a);
  useVerbs(verbs);
  const at = Math.max(0, tabs.findIndex((t) => t.key === tab));
  const href = (key: string) => toAllocation(id, key || undefined);
  const move = (by: number) => go(href(tabs[(at + by + tabs.length) % tabs.length]!.key));
  useKeys([
    { key: 'l', name: 'logs', shown: true, act: () => go(href('logs')) },
    { key: 'x', name: 'exec', shown: true, act: () => go(href('exec')) },
    { key: '[', name: 'tab before', act: () => move(-1) },
    { key: ']', name: 'next tab', act: () => move(1) },
  ]);
  const group = a.Job?.TaskGroups?.find((g) => g?.Name === a.TaskGroup);
  const runs = (name: string) => a.TaskStates?.[name]?.State === 'running';
  // What people look for comes first: tasks that run, then main tasks.
  const rank = (t: Task) => (runs(t.Name ?? '') ? 0 : t.Lifecycle ? 2 : 1);
  const tasks = (group?.Tasks ?? []).flatMap((t) => (t?.Name ? [t] : [])).sort((x, y) => rank(x) - rank(y)).map((t) => t.Name!);
  // Once exec was shown it stays, so that its session goes on behind other tabs.
  const exec = useRef(false);
  exec.current ||= tab === 'exec';
  const index = /\[(\d+)\]$/.exec(a.Name ?? '')?.[1];
  const name = index === undefined ? (a.Name ?? id) : `${a.TaskGroup}-${index}`;
  const meaning = ofAllocation(a);
  return (
    <div class={gone ? 'gone-object' : ''}>
      <Head
        title={`${name} ${short(id)}`}
        crumbs={[
          { name: 'Instances', href: to(['instances']) },
          { name: a.JobID ?? '', href: toJob(a.JobID ?? '', a.Namespace) },
        ]}
        mark={<Shape of={meaning} label={a.ClientStatus || wordOf[meaning]} />}
        sentence={gone ? 'The servers have deleted this allocation after its end. The page shows what they knew last.' : saidOf(a)}
      >
        {verbs.map((v) => (
          <VerbButton key={v.name} verb={v} />
        ))}
      </Head>
      <Tabs label="Views of the allocation" current={tab} tabs={tabs.map((t) => ({ ...t, href: href(t.key) }))} />
      {tab === '' && <Now a={a} />}
      {tab === 'logs' && <LogView key={id} alloc={id} tasks={tasks} />}
      {tab === 'files' && <Files alloc={id} />}
      {exec.current && (
        <div hidden={tab !== 'exec'}>
          <Exec key={id} alloc={id} namespace={a.Namespace} tasks={tasks} runs={runs} />
        </div>
      )}
      {!tabs.some((t) => t.key === tab) && <Empty>The allocation has no view of this name.</Empty>}
    </div>
  );
}
