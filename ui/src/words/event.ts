// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

// Events of the stream as sentences.

import type { Allocation, Decision, Deployment, Domain, Evaluation, Event, Instance, Job, JobRestart, Node, Shift, StackStatus } from '../api/schema';
import { short } from './count';
import { ofAllocation, ofDeployment, ofEvaluation, ofInstance, ofNode, ofRestart, ofStack, type Meaning } from './meaning';
import { ms } from './time';

/** Said is an event as a person reads it. */
export interface Said {
  of: Meaning;
  /** The name of the object. */
  name: string;
  text: string;
}

/** typeWords turns a type into words: JobStatusUpdated of the topic Job into "status updated". */
export function typeWords(topic: string, type: string): string {
  const rest = type.startsWith(topic) && type.length > topic.length ? type.slice(topic.length) : type;
  return rest.replaceAll(/([a-z])([A-Z])/g, '$1 $2').toLowerCase();
}

/** objectOf is the object of an event; it is absent if the servers left it out. */
export function objectOf<T>(e: Event): T | undefined {
  const p = e.Payload ?? {};
  return (p[e.Topic ?? ''] ?? Object.values(p)[0]) as T | undefined;
}

const and = (...parts: (string | number | undefined | false)[]) => parts.filter((p) => p !== undefined && p !== false && p !== '').join(', ');

/** sayEvent describes an event in one line. */
export function sayEvent(e: Event): Said {
  const topic = e.Topic ?? '';
  const what = typeWords(topic, e.Type ?? '');
  const key = e.Key ?? '';
  const gone = e.Deleted ?? false;
  const said = (of: Meaning, name: string | undefined, text: string): Said => ({ of: gone ? 'gone' : of, name: name || key, text: gone ? and(what, 'deleted') : text });
  const o = objectOf<unknown>(e);
  if (!o || typeof o !== 'object') return said('wait', /^[0-9a-f]{8}-/.test(key) ? short(key) : key, what);
  switch (topic) {
    case 'Job': {
      const j = o as Job;
      return said(j.Stop ? 'gone' : 'ok', j.ID, and(what, j.Stop ? 'stopped' : j.Status, `version ${j.Version ?? 0}`));
    }
    case 'Evaluation': {
      const v = o as Evaluation;
      return said(ofEvaluation(v.Status), v.JobID, and(v.Status, v.TriggeredBy, v.StatusDescription));
    }
    case 'Allocation': {
      const a = o as Allocation;
      return said(ofAllocation(a), a.Name, and(a.ClientStatus, a.DesiredStatus !== 'run' && `to ${a.DesiredStatus}`, a.ClientDescription?.toLowerCase() !== a.ClientStatus && (a.ClientDescription || a.DesiredDescription), a.NodeName && `on ${a.NodeName}`));
    }
    case 'Deployment': {
      const d = o as Deployment;
      return said(ofDeployment(d.Status), d.JobID, and(`version ${d.JobVersion ?? 0}`, d.Status, d.StatusDescription));
    }
    case 'Node': {
      const n = o as Node;
      return said(ofNode(n), n.Name, and(what === 'event' ? n.Events?.at(-1)?.Message : what, n.Status, n.Drain && 'drains', n.SchedulingEligibility === 'ineligible' && 'takes no new instances'));
    }
    case 'Plan': {
      const d = o as Decision;
      return said('you', d.JobID, and(`${d.Verb ?? what} ${d.Plan ?? ''}`.trim(), d.Phase && `phase ${d.Phase}`, d.Step && `step ${d.Step}`, d.By && `by ${d.By}`, d.Reason));
    }
    case 'Restart': {
      const r = o as JobRestart;
      return said(ofRestart(r.Status), r.JobID, and(r.Status, r.StatusDescription, r.By && `by ${r.By}`, r.Reason));
    }
    case 'Stack': {
      const s = o as StackStatus & { Name?: string; Status?: string };
      return said(ofStack(s.Status?.toLowerCase()), s.Name ?? key, and(what !== 'state' && what, s.Status));
    }
    case 'Shift': {
      const h = o as Shift;
      const over = h.Status === 'running' ? `${Math.round((h.Share ?? 0) * 100)} % of the traffic` : h.Status;
      return said(h.Held ? 'you' : h.Status === 'running' ? 'go' : 'ok', h.Unit, and(what, over, h.Held && 'held', h.Reason));
    }
    case 'Domain':
      return said((o as Domain).Stale || e.Type === 'DomainStale' ? 'late' : 'ok', (o as Domain).Name, what);
    case 'Instance': {
      const i = o as Instance;
      const state = i.State === 'RUNNING' ? (i.Routable ? 'running, traffic' : 'running, no traffic') : (i.State ?? '').toLowerCase();
      return said(e.Type === 'InstanceCrashed' ? 'bad' : ofInstance(i), i.Name, and(i.JobID, what !== 'changed' && what !== state && what, state, i.State !== 'RUNNING' && i.CrashReason, i.PlacementError || i.Message));
    }
  }
  return said('wait', (o as { Name?: string }).Name || (/^[0-9a-f]{8}-/.test(key) ? short(key) : key), what);
}

/** eventTime is the time in ms at which the object changed; 0 if the object does not tell. */
export function eventTime(e: Event): number {
  const o = objectOf<Record<string, unknown>>(e);
  if (!o || typeof o !== 'object') return 0;
  for (const name of ['ModifyTime', 'UpdatedAt', 'Time', 'StatusUpdatedAt', 'AdvancedAt', 'SubmitTime']) {
    const v = o[name];
    if (typeof v === 'number' || typeof v === 'string') {
      // The status of a node is in seconds, other times are in nanoseconds.
      const t = typeof v === 'number' && v < 1e12 ? v * 1000 : ms(v);
      if (t > 0) return t;
    }
  }
  return 0;
}

/**
 * timesOf is the time of each index, of events in their order. Some objects tell no time, and some that of an earlier
 * change: an event is not before those that precede it. received is when the page received it, 0 if long ago.
 */
export function timesOf(events: { event: Event; received: number }[]): Map<number, number> {
  const out = new Map<number, number>();
  let last = 0;
  for (const { event, received } of events) {
    last = Math.max(last, eventTime(event) || received);
    out.set(event.Index ?? 0, last);
  }
  return out;
}

/** inRuns joins events in a row that say the same of one object; the newest stands for them. */
export function inRuns<T extends { event: Event }>(list: T[]): (T & { said: Said; times: number })[] {
  const out: (T & { said: Said; times: number })[] = [];
  for (const k of list) {
    const said = sayEvent(k.event);
    const last = out.at(-1);
    const same = last && last.event.Topic === k.event.Topic && last.event.Key === k.event.Key && last.event.Type === k.event.Type && last.said.of === said.of;
    if (same) out[out.length - 1] = { ...k, said, times: last.times + 1 };
    else out.push({ ...k, said, times: 1 });
  }
  return out;
}
