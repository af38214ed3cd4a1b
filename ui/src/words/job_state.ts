// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

// The state of a job in one line: how many instances it wants and has, and how its rollout goes.

import type { Job, JobListStub, JobOverview } from '../api/schema';
import { plural } from './count';
import type { Meaning } from './meaning';

/** JobState is what a list shows of a job. */
export interface JobState {
  of: Meaning;
  word: string;
  /** Instances that the job's groups ask for; undefined if every node gets one, or if nothing is known yet. */
  wanted?: number | undefined;
  up?: number | undefined;
  /** Instances that may receive traffic; undefined if it is not known. */
  traffic?: number | undefined;
  rollout: { of: Meaning; text: string } | undefined;
}

/** stubOf makes the row of a list from the job of an event, which has no counts. */
export function stubOf(j: Job): JobListStub {
  return {
    ID: j.ID, Name: j.Name, Namespace: j.Namespace, Type: j.Type, Status: j.Status, StatusDescription: j.StatusDescription, ParentID: j.ParentID, Priority: j.Priority, Version: j.Version,
    Held: j.Held, HeldReason: j.HeldReason, Stop: j.Stop, SubmitTime: j.SubmitTime, ModifyIndex: j.ModifyIndex, NodePool: j.NodePool, Periodic: Boolean(j.Periodic), ParameterizedJob: Boolean(j.ParameterizedJob) && !j.Dispatched,
  };
}

/** rolloutOf says how far a job's newest deployment is; undefined if there is nothing to tell. */
export function rolloutOf(o: JobOverview | undefined): JobState['rollout'] {
  const d = o?.LatestDeployment;
  if (!d) return undefined;
  const v = `version ${d.JobVersion ?? 0}`;
  if (d.Status === 'paused') return { of: 'you', text: `${v}: paused` };
  if (d.RequiresPromotion && d.IsActive) return d.AllAutoPromote ? { of: 'go', text: `${v}: canaries promote themselves` } : { of: 'you', text: `${v}: canaries wait for promotion` };
  if (d.Status === 'failed') return { of: 'bad', text: `${v} failed: ${d.StatusDescription ?? ''}` };
  if (d.IsActive) {
    const healthy = (o.Allocs ?? []).filter((a) => a?.JobVersion === d.JobVersion && a?.DeploymentStatus?.Healthy).length;
    return { of: 'go', text: `${v}: ${healthy} of ${o.GroupCountSum ?? 0} healthy` };
  }
  if (d.Status === 'successful') return { of: 'ok', text: `${v} complete` };
  return { of: 'gone', text: `${v} ${d.Status ?? ''}` };
}

/** jobState is the state of a job, from its counts if they are known, else from the list's summary. */
export function jobState(j: JobListStub, o: JobOverview | undefined, crashed = 0): JobState {
  const rollout = rolloutOf(o);
  const all = o ? (o.Allocs ?? []) : undefined;
  const groups = Object.values(j.JobSummary?.Summary ?? {});
  const sum = (f: 'Running' | 'Starting' | 'Queued' | 'Failed' | 'Lost' | 'Complete') => groups.reduce((n, g) => n + (g[f] ?? 0), 0);
  const status = (s: string) => all!.filter((a) => a?.ClientStatus === s).length;
  const known = all !== undefined || groups.length > 0;
  const up = all ? status('running') : sum('Running');
  const starting = all ? status('pending') : sum('Starting');
  const failed = all ? status('failed') + status('lost') : sum('Failed') + sum('Lost');
  const complete = all ? status('complete') : sum('Complete');
  const everyNode = j.Type === 'system' || j.Type === 'sysbatch';
  const wanted = everyNode ? undefined : o ? o.GroupCountSum : known ? up + starting + sum('Queued') : undefined;
  const counts = { wanted: j.Stop ? 0 : wanted, up: known ? up : undefined, traffic: o?.Routable, rollout };

  if (j.Stop) return up > 0 ? { ...counts, of: 'go', word: `stops: ${plural(up, 'instance')} left` } : { ...counts, of: 'gone', word: 'stopped' };
  if (j.Held) return { ...counts, of: 'you', word: `waits for you${j.HeldReason ? `: ${j.HeldReason}` : ''}` };
  const parent = j.Periodic || j.ParameterizedJob;
  if (parent) return { of: 'ok', word: j.Periodic ? 'starts by its schedule' : 'starts when it is dispatched', rollout: undefined };
  if (rollout?.of === 'you') return { ...counts, of: 'you', word: 'waits for you' };
  if (j.Type === 'batch' || j.Type === 'sysbatch') {
    if (j.Status === 'dead') return failed > 0 && complete < (wanted ?? 1) ? { rollout, of: 'bad', word: 'failed' } : { rollout, of: 'gone', word: 'complete' };
    if (up > 0) return { ...counts, of: 'go', word: 'runs' };
    if (!known) return { ...counts, of: 'wait', word: j.Status ?? 'pending' };
    if (starting > 0) return { ...counts, of: 'go', word: 'starts' };
    return failed > 0 ? { ...counts, of: 'bad', word: 'failed, tries again' } : { ...counts, of: 'late', word: 'waits for room' };
  }
  if (j.Status === 'dead') return { ...counts, of: 'bad', word: 'no instance is left' };
  if (!known) return { ...counts, of: 'wait', word: j.Status ?? 'pending' };
  if (wanted === 0) return { ...counts, of: 'gone', word: 'scaled to 0' };
  if (rollout?.of === 'bad') return { ...counts, of: 'bad', word: 'rollout failed' };
  if (crashed > 0) return { ...counts, of: 'bad', word: `${plural(crashed, 'instance')} crashed` };
  const missing = (wanted ?? 0) - up;
  if (missing > 0) {
    if (starting >= missing) return { ...counts, of: 'go', word: `${plural(starting, 'instance')} not up yet` };
    return { ...counts, of: 'bad', word: `${plural(missing - starting, 'instance')} missing` };
  }
  if (everyNode && up === 0) return starting > 0 ? { ...counts, of: 'go', word: 'starts' } : { ...counts, of: failed > 0 ? 'bad' : 'wait', word: failed > 0 ? 'failed' : 'no node runs it' };
  if (rollout?.of === 'go') return { ...counts, of: 'go', word: 'rolls out' };
  const idle = up - (o?.Routable ?? up);
  return idle > 0 ? { ...counts, of: 'up', word: `${plural(idle, 'instance')} without traffic` } : { ...counts, of: 'ok', word: 'up' };
}
