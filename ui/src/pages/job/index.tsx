// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

import '../../style/job.css';
import { useState } from 'preact/hooks';
import type { ACLToken, Instance, Job, Plan } from '../../api/schema';
import { login } from '../../link/link';
import { Head, Tabs, Time } from '../../parts/page';
import { Shape } from '../../parts/shape';
import { Empty, Failed, Loading } from '../../parts/states';
import { useVerbs } from '../../parts/verb';
import { VerbButton } from '../../parts/verbs';
import { useKeys } from '../../shell/keys';
import { go, inNamespace, place, to, toJob } from '../../shell/place';
import { useRead } from '../../store/read';
import { useTable } from '../../store/use_table';
import { count, short } from '../../words/count';
import { jobSentence, wantedOf } from '../../words/job';
import { ofInstance, worst, type Meaning } from '../../words/meaning';
import { keepInstance, keyOf, takeOf } from '../instances';
import { jobGroups } from '../../store/job_groups';
import { JobLogs } from '../logs/index';
import { useNow } from './ask';
import { Definition } from './definition';
import { Explain } from './explain';
import { History } from './history';
import { JobInstances } from './instances';
import { jobVerbs } from './job_verbs';
import { Now } from './now';
import { api, topicsOf, type JobRef } from './of';
import { isActive } from './plan_verbs';
import { Versions } from './versions';

/** More instances than this are kept true by their events alone: a list is too large to be read again after each. */
const rereadLimit = 1_000;

const tabs = ['now', 'instances', 'logs', 'versions', 'history', 'explain', 'definition'];

/** JobPage shows one job: what it does now, and its other views as tabs. */
export default function JobPage({ path }: { path: string[] }) {
  const of = { id: path[0] ?? '', namespace: place.value.query.get('namespace') ?? 'default' };
  if (of.id === '') return <Empty>The address names no job.</Empty>;
  return <OneJob key={`${of.namespace} ${of.id}`} of={of} tab={path[1] ?? 'now'} />;
}

function OneJob({ of, tab }: { of: JobRef; tab: string }) {
  const read = useRead<Job>(api(of), { on: [`Job:${of.id}`] });
  const job = read.data;
  const crumbs = [
    { name: of.namespace, href: to(['jobs'], inNamespace(of.namespace)) },
    { name: 'Jobs', href: to(['jobs'], inNamespace(of.namespace)) },
  ];
  if (!job) {
    return (
      <>
        <Head title={of.id} crumbs={crumbs} />
        {read.error ? <Failed error={read.error} again={read.again} /> : <Loading rows={8} />}
        {read.error?.status === 404 && <Empty command={`reeve job status -namespace ${of.namespace}`}>The namespace {of.namespace} has no such job, or it was purged. This lists its jobs:</Empty>}
      </>
    );
  }
  return <Known of={of} job={job} index={read.index} gone={read.error?.status === 404} error={read.error && read.error.status !== 404 && read.error.status !== 0 ? <Failed error={read.error} again={read.again} /> : undefined} tab={tab} />;
}

function Known({ of, job, index, gone, error, tab }: { of: JobRef; job: Job; index: number; gone: boolean; error: preact.ComponentChildren; tab: string }) {
  const on = topicsOf(of.id);
  const plans = useRead<Plan[] | null>(api(of, '/plans'), { on });
  const table = useTable<Instance>({
    path: `/v1/instances?${new URLSearchParams({ namespace: of.namespace, job: of.id })}`,
    topics: wantedOf(job) > rereadLimit ? [`Instance:${of.id}`] : ['Instance', 'Evaluation', 'Job', 'Plan'].map((t) => `${t}:${of.id}`),
    key: keyOf,
    take: takeOf(of.namespace),
    reread: wantedOf(job) <= rereadLimit,
    keep: keepInstance,
    groups: jobGroups(of.id),
  });
  table.version.value;
  const instances = [...table.rows.values()].sort((a, b) => ((a.Group ?? '') < (b.Group ?? '') ? -1 : (a.Group ?? '') > (b.Group ?? '') ? 1 : (a.Index ?? 0) - (b.Index ?? 0)));
  const by = useName(job.NomadTokenID ?? undefined);
  const now = useNow(10_000);
  const verbs = gone ? [] : jobVerbs(of, job);
  useVerbs(verbs);
  const at = tabs.includes(tab) ? tab : 'now';
  const move = (n: number) => {
    const next = tabs[(tabs.indexOf(at) + n + tabs.length) % tabs.length]!;
    go(toJob(of.id, of.namespace, next === 'now' ? undefined : next));
  };
  useKeys([
    { key: ']', name: 'next tab', act: () => move(1) },
    { key: '[', name: 'previous tab', act: () => move(-1) },
    { key: 'l', name: 'logs', shown: true, act: () => go(toJob(of.id, of.namespace, 'logs')) },
    { key: 'e', name: 'explain', shown: true, act: () => go(toJob(of.id, of.namespace, 'explain')) },
  ]);
  const [goneAt] = useGoneAt(gone);
  const meaning = markOf(job, plans.data ?? [], instances);
  return (
    <>
      <Head
        title={of.id}
        crumbs={[
          { name: of.namespace, href: to(['jobs'], inNamespace(of.namespace)) },
          { name: 'Jobs', href: to(['jobs'], inNamespace(of.namespace)) },
          ...(job.ParentID ? [{ name: job.ParentID, href: toJob(job.ParentID, of.namespace) }] : []),
        ]}
        mark={<Shape of={gone ? 'gone' : meaning} label={gone ? 'gone' : ''} />}
        sentence={
          gone ? (
            <>
              <s>{jobSentence({ job, plans: plans.data ?? [], instances, by, now })}</s> This job was purged at <Time of={goneAt * 1e6} />
              {job.Stop && by ? `; ${by} stopped it` : ''}.
            </>
          ) : (
            jobSentence({ job, plans: plans.data ?? [], instances, by, now })
          )
        }
      >
        {verbs.map((v) => (
          <VerbButton key={v.name} verb={v} />
        ))}
      </Head>
      {error}
      <Tabs
        label="Job"
        current={at}
        tabs={[
          { key: 'now', name: 'Now', href: toJob(of.id, of.namespace) },
          { key: 'instances', name: `Instances ${count(table.rows.size)}`, href: toJob(of.id, of.namespace, 'instances') },
          { key: 'logs', name: 'Logs', href: toJob(of.id, of.namespace, 'logs') },
          { key: 'versions', name: `Versions ${count((job.Version ?? 0) + 1)}`, href: toJob(of.id, of.namespace, 'versions') },
          { key: 'history', name: 'History', href: toJob(of.id, of.namespace, 'history') },
          { key: 'explain', name: 'Explain', href: toJob(of.id, of.namespace, 'explain') },
          { key: 'definition', name: 'Definition', href: toJob(of.id, of.namespace, 'definition') },
        ]}
      />
      <div class={gone ? 'was' : ''}>
        {at === 'now' && <Now of={of} job={job} index={index} plans={plans} instances={instances} />}
        {at === 'instances' && <JobInstances of={of} />}
        {at === 'logs' && <JobLogs job={of.id} namespace={of.namespace} group={place.value.query.get('group') ?? undefined} />}
        {at === 'versions' && <Versions of={of} job={job} />}
        {at === 'history' && <History of={of} />}
        {at === 'explain' && <Explain of={of} />}
        {at === 'definition' && <Definition of={of} job={job} />}
      </div>
    </>
  );
}

/** useGoneAt remembers when the page learned that the job is gone. */
function useGoneAt(gone: boolean): [number] {
  const [at, set] = useState(0);
  if (gone && at === 0) set(Date.now());
  return [at];
}

/** useName is the name of the token that registered a version; its id if this login may not read tokens. */
function useName(accessor: string | undefined): string | undefined {
  const may = login.value.rights?.Management && login.value.state === 'session';
  const read = useRead<ACLToken>(accessor && may ? `/v1/acl/token/${encodeURIComponent(accessor)}` : undefined);
  return accessor ? read.data?.Name || `token ${short(accessor)}` : undefined;
}

/** markOf is the meaning of the job: a question to a person comes first, then what is wrong. */
export function markOf(job: Job, plans: Plan[], instances: Instance[]): Meaning {
  if (job.Stop || job.Status === 'dead') return 'gone';
  const active = plans.filter(isActive);
  if (active.some((p) => p.Status === 'WAITING' || p.Interrupted)) return 'you';
  const all = instances.map(ofInstance);
  if (active.some((p) => p.Status === 'ERROR')) all.push('bad');
  if (active.some((p) => p.Status === 'DELAYED')) all.push('late');
  if (active.length > 0) all.push('go');
  return all.length > 0 ? worst(all) : 'wait';
}
