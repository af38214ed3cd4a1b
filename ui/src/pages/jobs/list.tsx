// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

import '../../style/jobs.css';
import { useEffect, useMemo, useState } from 'preact/hooks';
import type { Event, Job, JobListStub } from '../../api/schema';
import { apiFilter, FilterBar, filterText, isExpression, words } from '../../parts/filter';
import { Grid, sortOf, useOrder, type Column } from '../../parts/grid';
import { Head, Time } from '../../parts/page';
import { Shape } from '../../parts/shape';
import { Empty, Listed } from '../../parts/states';
import { readOnly, refusal, useVerbs } from '../../parts/verb';
import { VerbButton } from '../../parts/verbs';
import { useKeys } from '../../shell/keys';
import { go, place, setQuery, to, toJob } from '../../shell/place';
import { useTable } from '../../store/use_table';
import { plural } from '../../words/count';
import { jobState, stubOf, type JobState } from '../../words/job_state';
import { Counts, keyOfJob } from './counts';
import { childrenOf, openOf, parentKey, unfold } from './tree';
import { stopVerb } from './verbs';

function takeJob(e: Event): { key: string; row: JobListStub | null } | undefined {
  if (e.Topic !== 'Job') return undefined;
  const job = e.Payload?.Job as Job | undefined;
  const key = keyOfJob({ ID: e.Key, Namespace: e.Namespace || job?.Namespace });
  return { key, row: e.Deleted || !job ? null : stubOf(job) };
}

const urgency: Record<string, number> = { you: 0, bad: 1, late: 2, go: 3, up: 4, wait: 5, ok: 6, gone: 7 };

/** JobList shows the jobs of all namespaces. */
export function JobList() {
  const filter = apiFilter();
  const namespace = place.value.query.get('namespace') ?? '*';
  const table = useTable<JobListStub>({
    path: `/v1/jobs?meta=true&namespace=${encodeURIComponent(namespace)}${filter && `&filter=${encodeURIComponent(filter)}`}`,
    topics: ['Job'], key: keyOfJob, take: (e) => (namespace === '*' || e.Namespace === namespace ? takeJob(e) : undefined), reread: filter !== '', limit: 20_000,
  });
  const counts = useMemo(() => new Counts(), []);
  useEffect(() => counts.start(), [counts]);
  const version = counts.version.value;
  const state = (j: JobListStub): JobState => {
    const o = counts.known.get(keyOfJob(j));
    return jobState(j, o?.ID ? o : undefined, counts.crashed(keyOfJob(j)));
  };

  const text = filterText();
  const flat = text !== '';
  const openText = place.value.query.get('open');
  const open = useMemo(() => openOf(openText), [openText]);
  const pass = useMemo(() => {
    if (!flat) return (j: JobListStub) => !parentKey(j) || !table.rows.has(parentKey(j));
    if (isExpression(text)) return undefined;
    const has = words(text);
    return (j: JobListStub) => has(`${j.ID} ${j.Name} ${j.Namespace} ${j.Type} ${j.Status} ${state(j).word}`);
  }, [text, table]);

  const fold = (k: string) => {
    const next = new Set(open);
    if (!next.delete(k)) next.add(k);
    setQuery('open', [...next].join(' '));
  };
  const [children, setChildren] = useState<ReadonlyMap<string, string[]>>(new Map());
  const columns = useMemo<Column<JobListStub>[]>(() => jobColumns(state, flat, open, children, fold), [version, flat, openText, children]);
  const sort = sortOf('name');
  const top = useOrder(table, columns, sort, pass, /state|up|traffic/.test(sort) ? `${version} ${text}` : text);
  // The grouping is as new as the order, which is limited to four times a second for large tables.
  useEffect(() => setChildren(flat ? new Map() : childrenOf(table.rows)), [top, flat]);
  const keys = useMemo(() => unfold(top, children, flat ? new Set() : open), [top, children, open, flat]);

  const [chosen, choose] = useState<Set<string>>(new Set());
  const [at, setAt] = useState<JobListStub | undefined>(undefined);
  const selection = [...chosen].map((k) => table.rows.get(k)).filter((j) => j !== undefined);
  const here = at && table.rows.get(keyOfJob(at));
  const stop = selection.length > 0 ? stopVerb(selection) : here ? stopVerb([here]) : undefined;
  useVerbs(stop ? [stop] : []);
  useKeys([
    { key: 'n', name: 'run a job', shown: true, act: () => go(to(['jobs', 'run'])) },
    { key: 'f', name: 'fold or unfold', act: () => here && children.has(keyOfJob(here)) && fold(keyOfJob(here)) },
  ]);
  const error = table.error.value;
  const count = `${plural(keys.length, 'job')}${flat && keys.length < table.rows.size ? ` of ${table.rows.size}` : ''}${table.more.value ? ', and more than can be shown: filter to see others' : ''}`;
  const why = refusal('submit-job', namespace === '*' ? 'default' : namespace);
  return (
    <>
      <Head title="Jobs" sentence="A job says what should run: groups of tasks, how many of each, and where.">
        {stop && selection.length > 0 && <VerbButton verb={stop} />}
        {!readOnly.value && (
          <a class="b" href={to(['jobs', 'run'])} title={why || 'reeve job run FILE'}>
            Run a job <kbd aria-hidden="true">n</kbd>
          </a>
        )}
      </Head>
      <FilterBar label="Filter jobs" fields={['Status', 'Type', 'Name', 'Namespace', 'ID', 'NodePool']} error={error} count={table.loading.value ? '' : count} />
      <Listed error={error} loading={table.loading.value} size={table.rows.size} again={() => void table.read()}>
        <Grid
          label="Jobs"
          columns={columns}
          keys={keys}
          row={(k) => table.rows.get(k)}
          sort={sort}
          href={(j) => toJob(j.ID ?? '', j.Namespace)}
          cursor={(j) => setAt(j)}
          shown={(k) => counts.show(k)}
          chosen={readOnly.value ? undefined : chosen}
          choose={readOnly.value ? undefined : choose}
          empty={text ? <Empty>No job matches "{text}". Esc clears the filter.</Empty> : <Empty needs="read-job" command="reeve job run examples/web.hcl">No job is registered yet. Run one here, or from a shell:</Empty>}
        />
      </Listed>
    </>
  );
}

function jobColumns(state: (j: JobListStub) => JobState, flat: boolean, open: ReadonlySet<string>, children: ReadonlyMap<string, string[]>, fold: (k: string) => void): Column<JobListStub>[] {
  return [
    {
      key: 'name', head: 'Job', width: 'minmax(0, 1.7fr)', by: (j) => `${j.ID} ${j.Namespace}`,
      cell: (j) => {
        const s = state(j);
        const k = keyOfJob(j);
        const inside = children.get(k)?.length ?? 0;
        return (
          <>
            {!flat && parentKey(j) && <span class="inner" />}
            <Shape of={s.of} label={s.word} />
            <a class={j.Stop ? 'struck' : undefined} href={toJob(j.ID ?? '', j.Namespace)}>
              {j.ID}
            </a>
            {!flat && (inside > 0 || open.has(k)) && (
              <button class="fold" type="button" aria-expanded={open.has(k)} aria-label={`${plural(inside, 'run')} of ${j.ID}`} onClick={() => fold(k)}>
                {open.has(k) ? '▾' : '▸'} {inside}
                <span class="wide"> {inside === 1 ? 'run' : 'runs'}</span>
              </button>
            )}
          </>
        );
      },
    },
    { key: 'state', head: 'State', width: 'minmax(0, 1.5fr)', narrow: 'minmax(0, .9fr)', by: (j) => urgency[state(j).of]!, cell: (j) => <span class="clip" title={state(j).word}>{state(j).word}</span> },
    {
      key: 'up', head: 'Up', width: '72px', end: true, by: (j) => state(j).up ?? -1,
      cell: (j) => {
        const { up, wanted } = state(j);
        return up === undefined ? '' : wanted === undefined ? up : `${up} of ${wanted}`;
      },
    },
    { key: 'traffic', head: 'Traffic', width: '72px', end: true, wide: true, by: (j) => state(j).traffic ?? -1, cell: (j) => state(j).traffic ?? '' },
    {
      key: 'rollout', head: 'Rollout', width: 'minmax(0, 1.3fr)', wide: true,
      cell: (j) => {
        const r = state(j).rollout;
        return r && (
          <>
            <Shape of={r.of} />
            <span class="clip" title={r.text}>{r.text}</span>
          </>
        );
      },
    },
    { key: 'namespace', head: 'Namespace', width: '88px', wide: true, by: (j) => j.Namespace ?? '', cell: (j) => <span class="clip">{j.Namespace}</span> },
    { key: 'type', head: 'Type', width: '64px', wide: true, by: (j) => j.Type ?? '', cell: (j) => j.Type },
    { key: 'changed', head: 'Submitted', width: '152px', wide: true, by: (j) => j.SubmitTime ?? 0, cell: (j) => <Time of={j.SubmitTime} /> },
  ];
}
