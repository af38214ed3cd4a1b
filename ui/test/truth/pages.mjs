// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

// The rows that pages must show, worked out from fresh reads of the API. States in words come from ui/src/words,
// which is pure; the rows come from nothing that the pages have read.

import { tsImport } from 'tsx/esm/api';

const words = (name) => tsImport(`../../src/words/${name}.ts`, import.meta.url);
const [{ jobState }, { saidOfNode }, { outcome }, { heldBy, rolloutOfDeployment, rolloutOfRestart }, { clock, ms }] = await Promise.all(['job_state', 'node', 'evaluation', 'rollout', 'time'].map(words));
const at = (t) => (ms(t) ? clock(ms(t)) : '');

function stateOf(i) {
  if (i.Paused) return 'paused';
  if (i.State === 'RUNNING') return i.Routable ? 'running, traffic' : `running, no traffic${i.Message ? `: ${i.Message}` : ''}`;
  if (i.State === 'CRASHED') return `crashed: ${i.CrashReason || i.Message || 'no reason given'}`;
  if (i.PlacementError) return `no place: ${i.PlacementError}`;
  return `${i.State.toLowerCase()}${i.Message ? `: ${i.Message}` : ''}`;
}

const instances = (path) => async (read) => ((await read(path)) ?? []).map((i) => [i.Name, i.JobID, stateOf(i), i.JobVersion, i.CrashCount || '', i.NodeID ? i.NodeName : '', at(i.Since)]);

async function jobs(read, ask) {
  const list = (await read('/v1/jobs?meta=true&namespace=*')) ?? [];
  const overviews = list.length === 0 ? [] : ((await ask('PUT', '/v1/jobs/statuses?namespace=*', { Jobs: list.map((j) => ({ ID: j.ID, Namespace: j.Namespace })), IncludeChildren: true })) ?? []);
  const crashed = (await read('/v1/instances?namespace=*&state=CRASHED')) ?? [];
  return list.map((j) => {
    const own = (o) => o.Namespace === j.Namespace && (o.ID ?? o.JobID) === j.ID;
    const s = jobState(j, overviews.find(own), crashed.filter((i) => i.Allocation && i.Namespace === j.Namespace && i.JobID === j.ID).length);
    return [j.ID, s.word, s.up === undefined ? '' : s.wanted === undefined ? s.up : `${s.up} of ${s.wanted}`, s.traffic ?? '', s.rollout?.text ?? '', j.Namespace, j.Type, at(j.SubmitTime)];
  });
}

async function nodes(read) {
  const t = await read('/v1/topology');
  return (await read('/v1/nodes')).map((n) => [n.Name, saidOfNode(n), n.Datacenter, n.NodePool, n.NodeClass, t.Allocations[t.ID.indexOf(n.ID)] ?? '', n.Version]);
}

async function rollouts(read) {
  const plans = (await read('/v1/plans?status=WAITING&namespace=*')) ?? [];
  const all = [...((await read('/v1/deployments?namespace=*')) ?? []).map((d) => heldBy(rolloutOfDeployment(d), plans)), ...((await read('/v1/restarts?namespace=*')) ?? []).map(rolloutOfRestart)];
  return all.map((r) => [r.name, r.status, r.text, r.total > 0 ? `${r.done} of ${r.total}` : '', at(r.changed)]);
}

const evaluations = (path) => async (read) => ((await read(path)) ?? []).map((e) => [e.ID.slice(0, 8), e.JobID, e.Status, outcome(e), e.TriggeredBy, at(e.ModifyTime)]);

/** pages are the lists: their address, the cells that are compared by their heads, and the rows that are true. */
export const pages = [
  { path: 'jobs', heads: ['Job', 'State', 'Up', 'Traffic', 'Rollout', 'Namespace', 'Type', 'Submitted'], rows: jobs },
  { path: 'instances', heads: ['Instance', 'Job', 'State', 'Version', 'Crashes', 'Node', 'Since'], rows: instances('/v1/instances?namespace=*') },
  { path: `instances?filter=${encodeURIComponent('State == "RUNNING"')}`, heads: ['Instance', 'Job', 'State', 'Version', 'Crashes', 'Node', 'Since'], rows: instances(`/v1/instances?namespace=*&filter=${encodeURIComponent('State == "RUNNING"')}`) },
  { path: 'job/steady/instances', heads: ['Instance', 'Job', 'State', 'Version', 'Crashes', 'Node', 'Since'], rows: instances('/v1/instances?namespace=default&job=steady') },
  { path: 'nodes', heads: ['Node', 'State', 'Datacenter', 'Pool', 'Class', 'Allocs', 'Version'], rows: nodes },
  { path: 'rollouts', heads: ['Job', 'Status', 'What holds it', 'Done', 'Changed'], rows: rollouts },
  { path: 'evaluations?status=blocked', heads: ['Evaluation', 'Job', 'Status', 'Outcome', 'Because of', 'Changed'], rows: evaluations('/v1/evaluations?namespace=*&status=blocked') },
  { path: 'namespaces', heads: ['Name', 'Quota', 'Description'], rows: async (read) => (await read('/v1/namespaces')).map((n) => [n.Name, n.Quota ?? '', n.Description ?? '']) },
  { path: 'variables', heads: ['Path', 'Namespace', 'Created', 'Changed'], rows: async (read) => ((await read('/v1/vars?namespace=*')) ?? []).map((v) => [v.Path, v.Namespace, at(v.CreateTime), at(v.ModifyTime)]) },
  { path: 'services', heads: ['Service', 'Namespace', 'Tags'], rows: async (read) => ((await read('/v1/services?namespace=*')) ?? []).flatMap((n) => n.Services.map((s) => [s.ServiceName, n.Namespace, (s.Tags ?? []).join(', ')])) },
];

/** twins are pages of many reads: a second tab, which reads everything freshly, must show the same text. */
export const twins = ['', 'job/steady', 'job/steady/versions', 'job/steady/history', 'topology', 'evaluations'];

/** shownRows reads the rows of the grid of a page, cell by cell. A shape is no text; the name is that of the link. */
export const shownRows = (page, heads) =>
  page.evaluate((heads) => {
    const grid = document.querySelector('[role=grid]');
    if (!grid) return [];
    const text = (c) => c.textContent.replace(/[↑↓]/g, '').trim();
    const own = [...grid.querySelectorAll('[role=columnheader]')].map(text);
    const of = heads.map((h) => own.indexOf(h));
    if (of.includes(-1)) throw new Error(`no column ${heads[of.indexOf(-1)]} among ${own}`);
    const count = Number(grid.getAttribute('aria-rowcount')) - 1;
    const rows = [...grid.querySelectorAll('.grid-row')];
    if (rows.length !== count) throw new Error(`${rows.length} of ${count} rows are in the document`);
    return rows.map((r) =>
      of.map((i) => {
        const cell = r.children[i];
        const link = cell.querySelector('a');
        return link && i === 0 ? link.textContent.trim() : i === 0 ? (cell.querySelector('span:not([class])') ?? cell).textContent.trim() : cell.textContent.trim();
      }),
    );
  }, heads);

/** linesOf makes rows comparable: their order is not of interest. */
export const linesOf = (rows) => rows.map((r) => r.map((c) => String(c ?? '')).join(' | ')).sort();

/**
 * sameText compares a page that was open with one that was loaded now: { text, happened, limited }. If the list of what
 * happened is limited, the fresh page does not know the oldest lines; and it has the first line that it knows of an
 * object also if that repeats what the open page heard before.
 */
export function sameText(shown, fresh) {
  if (shown.text !== fresh.text) return false;
  const is = (a, b) => a?.object === b.object && a.text === b.text;
  let at = 0;
  for (const [i, line] of fresh.happened.entries()) {
    if (is(shown.happened[at], line)) {
      at++;
      continue;
    }
    const same = (l) => l.object === line.object;
    if (!fresh.limited || fresh.happened.slice(i + 1).some(same)) return false;
    const before = shown.happened.slice(at).find(same);
    if (before ? before.text !== line.text : !shown.limited) return false;
  }
  return fresh.limited || at === shown.happened.length;
}
