// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

import '../../style/rollouts.css';
import { useState } from 'preact/hooks';
import type { Deployment, Event, JobRestart, Plan } from '../../api/schema';
import { FilterBar, filterText, words } from '../../parts/filter';
import { Grid, order, sortOf, type Column } from '../../parts/grid';
import { Head, Time } from '../../parts/page';
import { continueVerb, deploymentVerbs, promoteVerb, restartVerbs } from '../../parts/rollout_verbs';
import { Shape } from '../../parts/shape';
import { Empty, Listed } from '../../parts/states';
import { useVerbs, type Verb } from '../../parts/verb';
import { VerbButton } from '../../parts/verbs';
import { place, to } from '../../shell/place';
import { useRead } from '../../store/read';
import { useTable } from '../../store/use_table';
import { plural } from '../../words/count';
import { readyToPromote } from '../../words/waiting';
import { heldBy, rolloutOfDeployment, rolloutOfRestart, type Rollout } from '../../words/rollout';
import { OneDeployment, OneRestart } from './one';

const took = <T,>(topic: string) => (e: Event): { key: string; row: T | null } | undefined =>
  e.Topic === topic ? { key: e.Key ?? '', row: e.Deleted ? null : ((e.Payload?.[topic] as T | undefined) ?? null) } : undefined;

function verbsOf(r: Rollout): Verb[] {
  if (r.plan && r.deployment) return [readyToPromote(r.deployment) ? promoteVerb(r.deployment) : continueVerb(r.plan), ...deploymentVerbs(r.deployment).filter((v) => v.name !== 'Promote')];
  return r.deployment ? deploymentVerbs(r.deployment) : r.restart ? restartVerbs(r.restart) : [];
}
const lead = (r: Rollout) => to(['rollouts'], r.deployment ? { deployment: r.deployment.ID } : { restart: r.restart?.ID });

const columns: Column<Rollout>[] = [
  {
    key: 'job', head: 'Job', width: 'minmax(0, 1.5fr)', by: (r) => `${r.job} ${r.namespace}`,
    cell: (r) => (
      <>
        <Shape of={r.of} label={r.status} />
        <a href={lead(r)}>{r.name}</a>
      </>
    ),
  },
  { key: 'status', head: 'Status', width: '92px', wide: true, by: (r) => r.status, cell: (r) => r.status },
  { key: 'holds', head: 'What holds it', width: 'minmax(0, 1.8fr)', narrow: 'minmax(0, 1.1fr)', cell: (r) => <span class="clip" title={r.text}>{r.text}</span> },
  { key: 'done', head: 'Done', width: '86px', narrow: '72px', end: true, by: (r) => r.done, cell: (r) => r.total > 0 && `${r.done} of ${r.total}` },
  { key: 'changed', head: 'Changed', width: '152px', wide: true, by: (r) => r.index, cell: (r) => <Time of={r.changed} /> },
  {
    key: 'verb', head: 'Next', width: '104px', wide: true,
    cell: (r) => {
      const v = verbsOf(r)[0];
      return v && <VerbButton verb={{ ...v, key: undefined }} small />;
    },
  },
];

/** Rollouts lists deployments and restarts; with ?deployment= or ?restart= it shows one. */
export default function Rollouts() {
  const q = place.value.query;
  const deployment = q.get('deployment');
  const restart = q.get('restart');
  if (deployment) return <OneDeployment id={deployment} />;
  return restart ? <OneRestart id={restart} /> : <RolloutList />;
}

/** With more jobs, the page follows the events of all. */
const jobsFollowed = 50;

/** planTopics are the topics after whose events other plans of rollouts may wait: also what instances do counts. */
function planTopics(deployments: Deployment[]): string[] {
  const rolling = [...new Set(deployments.filter((d) => d.Status === 'running').map((d) => d.JobID))].sort();
  const theirs = ['Allocation', 'Evaluation'];
  return ['Plan', 'Deployment', 'Restart', ...(rolling.length > jobsFollowed ? theirs : rolling.flatMap((job) => theirs.map((t) => `${t}:${job}`)))];
}

function RolloutList() {
  const deployments = useTable<Deployment>({ path: '/v1/deployments?namespace=*&reverse=true', topics: ['Deployment'], key: (d) => d.ID ?? '', take: took<Deployment>('Deployment'), limit: 4_000 });
  const restarts = useTable<JobRestart>({ path: '/v1/restarts?namespace=*&reverse=true', topics: ['Restart'], key: (r) => r.ID ?? '', take: took<JobRestart>('Restart'), limit: 1_000 });
  void deployments.version.value;
  void restarts.version.value;
  const plans = useRead<Plan[] | null>('/v1/plans?status=WAITING&namespace=*&per_page=1000', { on: planTopics([...deployments.rows.values()]) });
  const rows = new Map<string, Rollout>();
  for (const d of deployments.rows.values()) rows.set(`d ${d.ID}`, heldBy(rolloutOfDeployment(d), plans.data ?? []));
  for (const r of restarts.rows.values()) rows.set(`r ${r.ID}`, rolloutOfRestart(r));
  const text = filterText();
  const has = words(text);
  const sort = sortOf('-changed');
  const keys = order(rows, columns, sort, text ? (r) => has(`${r.name} ${r.namespace} ${r.status} ${r.text} ${r.deployment?.ID ?? ''} ${r.restart?.ID ?? ''}`) : undefined);
  const [at, setAt] = useState<string | undefined>(undefined);
  const here = at ? rows.get(at) : undefined;
  useVerbs(here ? verbsOf(here) : []);
  const error = deployments.error.value ?? restarts.error.value;
  const loading = deployments.loading.value || restarts.loading.value;
  return (
    <>
      <Head title="Rollouts" sentence="Deployments bring a new version to a job's instances; restarts start its tasks again, batch by batch." />
      <FilterBar label="Filter rollouts" fields={[]} count={loading ? '' : plural(keys.length, 'rollout')} />
      <Listed error={error} loading={loading} size={rows.size} again={() => void deployments.read().then(() => restarts.read())}>
        <Grid
          label="Rollouts"
          columns={columns}
          keys={keys}
          row={(k) => rows.get(k)}
          sort={sort}
          href={lead}
          cursor={(r) => setAt(r && (r.deployment ? `d ${r.deployment.ID}` : `r ${r.restart?.ID}`))}
          empty={text ? <Empty>No rollout matches "{text}". Esc clears the filter.</Empty> : <Empty needs="read-job" command="reeve job run examples/web.hcl">Nothing was rolled out yet. Running a job does it:</Empty>}
        />
      </Listed>
    </>
  );
}
