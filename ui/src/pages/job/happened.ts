// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

// What happened to a job, as lines: each is one event that a person cares about.

import type { Decision, Deployment, Evaluation, Event, Instance, Job, JobRestart } from '../../api/schema';
import { count } from '../../words/count';
import { ofDeployment, ofRestart, type Meaning } from '../../words/meaning';
import { ms } from '../../words/time';
import { nameOf } from './questions';

/** A Line is something that happened. */
export interface Line {
  key: string;
  /** Time in ms. */
  at: number;
  of: Meaning;
  text: string;
  allocation?: string;
}

/** A Past is what a page knows: its lines, the newest first, and how far back they go. */
export interface Past {
  lines: Line[];
  /** Of how many changes of the cluster it began with the newest; 0: with all. */
  depth: number;
  /** Whether the servers kept no more what was before. */
  missed: boolean;
}

/** lineOf turns an event into a line; undefined if nobody asks for it. */
export function lineOf(e: Event): Omit<Line, 'key'> | undefined {
  const payload = e.Payload?.[e.Topic ?? ''];
  if (!payload) return undefined;
  switch (e.Topic) {
    case 'Job': {
      const j = payload as Job;
      if (e.Type === 'JobRegistered') return { at: ms(j.SubmitTime), of: 'go', text: `version ${j.Version} registered` };
      if (e.Type === 'JobDeregistered') return { at: 0, of: 'gone', text: e.Deleted ? 'the job was deleted' : 'the job was stopped' };
      return undefined;
    }
    case 'Plan': {
      const d = payload as Decision;
      if (e.Deleted || e.Type !== 'PlanDecided') return undefined;
      const part = [d.Plan, d.Phase, d.Step].filter(Boolean).join(' ');
      return { at: ms(d.Time), of: 'you', text: `${nameOf(d.By)}: ${d.Verb} ${part || `${d.Group}-${d.Index ?? 0}`}${d.Reason ? `: ${d.Reason}` : ''}` };
    }
    case 'Deployment': {
      const d = payload as Deployment;
      if (e.Deleted || d.Status === 'pending') return undefined;
      return { at: ms(d.ModifyTime), of: ofDeployment(d.Status), text: d.Status === 'running' ? `rollout of version ${d.JobVersion} runs` : `rollout of version ${d.JobVersion}: ${d.StatusDescription || d.Status}` };
    }
    case 'Restart': {
      const r = payload as JobRestart;
      if (e.Deleted) return undefined;
      return { at: ms(r.UpdatedAt), of: ofRestart(r.Status), text: `restart ${r.Status}${r.StatusDescription ? `: ${r.StatusDescription}` : ''}` };
    }
    case 'Evaluation': {
      const v = payload as Evaluation;
      if (e.Deleted || v.Status !== 'blocked') return undefined;
      const groups = Object.keys(v.FailedTGAllocs ?? {});
      return groups.length > 0 ? { at: ms(v.ModifyTime), of: 'late', text: `no node can take ${groups.join(', ')}` } : undefined;
    }
    case 'Instance':
      return instanceLine(e, payload as Instance);
  }
  return undefined;
}

function instanceLine(e: Event, i: Instance): Omit<Line, 'key'> | undefined {
  const line = (of: Meaning, text: string, at = 0) => ({ at, of, text: `${i.Name} ${text}`, allocation: i.Allocation });
  switch (e.Type) {
    case 'InstanceCreated':
      return line('go', `is placed on ${i.NodeName}`);
    case 'InstanceRemoved':
      return line('gone', `of version ${i.JobVersion} has ended`);
    case 'InstanceCrashed':
      return line('bad', `crashed: ${i.CrashReason || i.Message || 'no reason given'}`);
  }
  if (i.Paused) return line('gone', 'is paused');
  if (i.State !== 'RUNNING') return undefined;
  const port = (i.Ports ?? []).find((x) => x?.HostPort);
  if (i.Routable) return line('ok', `gets traffic${port ? ` at ${i.Address}:${port.HostPort}` : ''}`);
  return i.Message ? line('up', `runs without traffic: ${i.Message}`) : undefined;
}

export const linesKept = 60;

const objectsKept = 5_000;

/** objectOf is the object whose event a line is: its topic and key. */
export const objectOf = (line: Line): string => line.key.split(' ')[0]!;

/**
 * addLine puts a line in front, unless it repeats what the same object said before: said has the last text of each, also
 * of lines that are no longer kept. A line without a time takes that of the line before.
 */
export function addLine(lines: Line[], line: Line, said: Map<string, string>): Line[] {
  const object = objectOf(line);
  if (said.get(object) === line.text) return lines;
  said.delete(object); // the map is in the order of the last lines
  said.set(object, line.text);
  if (said.size > objectsKept) said.delete(said.keys().next().value!);
  const at = Math.max(line.at, lines[0]?.at ?? 0);
  return [{ ...line, at }, ...lines].slice(0, linesKept);
}

/** limitOf says how far back the lines go, unless it is to the first event of the cluster. */
export function limitOf({ lines, depth, missed }: Past): string {
  if (lines.length >= linesKept) return '';
  if (missed) return 'The servers keep no older events.';
  return depth > 0 ? `This page began with the last ${count(depth)} changes of the cluster.` : '';
}
