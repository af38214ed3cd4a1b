// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

import { useMemo, useState } from 'preact/hooks';
import type { Evaluation, Event } from '../../api/schema';
import { apiFilter, FilterBar, filterText, isExpression, words } from '../../parts/filter';
import { Grid, sortOf, useOrder, type Column } from '../../parts/grid';
import { Head, Time } from '../../parts/page';
import { Shape } from '../../parts/shape';
import { Empty, Listed } from '../../parts/states';
import { useVerbs } from '../../parts/verb';
import { place, setQuery, to, toJob } from '../../shell/place';
import { useTable } from '../../store/use_table';
import { plural, short } from '../../words/count';
import { outcome } from '../../words/evaluation';
import { ofEvaluation } from '../../words/meaning';
import { unblockVerb } from './verbs';

const take = (e: Event): { key: string; row: Evaluation | null } | undefined =>
  e.Topic === 'Evaluation' ? { key: e.Key ?? '', row: e.Deleted ? null : ((e.Payload?.Evaluation as Evaluation | undefined) ?? null) } : undefined;

const lead = (e: Evaluation) => to(['evaluations'], { evaluation: e.ID });

const columns: Column<Evaluation>[] = [
  {
    key: 'id', head: 'Evaluation', width: '112px', by: (e) => e.ID ?? '',
    cell: (e) => (
      <>
        <Shape of={ofEvaluation(e.Status)} label={e.Status ?? ''} />
        <a class="id" href={lead(e)}>
          {short(e.ID)}
        </a>
      </>
    ),
  },
  { key: 'job', head: 'Job', width: 'minmax(0, 1.3fr)', by: (e) => `${e.JobID} ${e.Namespace}`, cell: (e) => <a href={toJob(e.JobID ?? '', e.Namespace)}>{e.JobID}</a> },
  { key: 'status', head: 'Status', width: '84px', wide: true, by: (e) => e.Status ?? '', cell: (e) => e.Status },
  { key: 'outcome', head: 'Outcome', width: 'minmax(0, 1.8fr)', cell: (e) => <span class="clip" title={outcome(e)}>{outcome(e)}</span> },
  { key: 'trigger', head: 'Because of', width: 'minmax(0, 1.1fr)', wide: true, by: (e) => e.TriggeredBy ?? '', cell: (e) => <span class="clip">{e.TriggeredBy}</span> },
  { key: 'changed', head: 'Changed', width: '152px', wide: true, by: (e) => e.ModifyIndex ?? 0, cell: (e) => <Time of={e.ModifyTime} /> },
];

const statuses = ['blocked', 'pending', 'failed', 'complete', 'canceled'];

/** EvaluationList shows the newest evaluations of all jobs. */
export function EvaluationList() {
  const filter = apiFilter();
  const status = statuses.includes(place.value.query.get('status') ?? '') ? place.value.query.get('status')! : '';
  const table = useTable<Evaluation>({
    path: `/v1/evaluations?namespace=*&reverse=true${filter && `&filter=${encodeURIComponent(filter)}`}${status && `&status=${status}`}`,
    topics: ['Evaluation'], key: (e) => e.ID ?? '', take: (e) => takeStatus(e, status), reread: filter !== '', limit: 5_000,
  });
  const text = filterText();
  const pass = useMemo(() => {
    if (!text || isExpression(text)) return undefined;
    const has = words(text);
    return (e: Evaluation) => has(`${e.ID} ${e.JobID} ${e.Namespace} ${e.Status} ${e.TriggeredBy} ${e.DeploymentID} ${e.NodeID} ${outcome(e)}`);
  }, [text]);
  const sort = sortOf('-changed');
  const keys = useOrder(table, columns, sort, pass, text);
  const [at, setAt] = useState<Evaluation | undefined>(undefined);
  const here = at && table.rows.get(at.ID ?? '');
  useVerbs(here?.Status === 'blocked' ? [unblockVerb(here)] : []);
  const error = table.error.value;
  return (
    <>
      <Head title="Evaluations" sentence="An evaluation compares a job with its instances, and records why each has a place or not.">
        <label class="inline">
          Status{' '}
          <select value={status} onChange={(e) => setQuery('status', e.currentTarget.value || undefined)}>
            <option value="">all</option>
            {statuses.map((s) => (
              <option key={s} value={s}>
                {s}
              </option>
            ))}
          </select>
        </label>
      </Head>
      <FilterBar label="Filter evaluations" fields={['Status', 'JobID', 'TriggeredBy', 'Type', 'Namespace', 'DeploymentID', 'NodeID']} error={error} count={table.loading.value ? '' : `${plural(keys.length, 'evaluation')}${table.more.value ? ', and older ones' : ''}`} />
      <Listed error={error} loading={table.loading.value} size={table.rows.size} again={() => void table.read()}>
        <Grid
          label="Evaluations"
          columns={columns}
          keys={keys}
          row={(k) => table.rows.get(k)}
          sort={sort}
          href={lead}
          cursor={(e) => setAt(e)}
          empty={text || status ? <Empty>No evaluation matches. Esc clears the filter.</Empty> : <Empty needs="read-job" command="reeve job run examples/web.hcl">No job has been evaluated yet. Running one does it:</Empty>}
        />
      </Listed>
    </>
  );
}

/** takeStatus drops rows that no longer have the status of the list. */
function takeStatus(e: Event, status: string): { key: string; row: Evaluation | null } | undefined {
  const t = take(e);
  return t?.row && status && t.row.Status !== status ? { key: t.key, row: null } : t;
}
