// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

// The verbs on a job.

import type { DispatchJobResponse, DeregisterJobResponse, ForcePeriodicResponse, Job, JobRestart, RegisterJobResponse } from '../../api/schema';
import { ask as send, del, put } from '../../link/link';
import type { Field, Given, Verb } from '../../parts/verb';
import { go, toJob } from '../../shell/place';
import { command, inNS } from '../../words/command';
import { plural } from '../../words/count';
import { wantedOf } from '../../words/job';
import { api, type JobRef } from './of';

const units: Record<string, number> = { ms: 1e6, s: 1e9, m: 60e9, h: 3600e9 };

/** nanoseconds reads a duration such as 1m30s; undefined if it is none. */
export function nanoseconds(text: string): number | undefined {
  const t = text.trim();
  if (t === '' || t === '0') return 0;
  if (!/^(\d+(\.\d+)?(ms|s|m|h))+$/.test(t)) return undefined;
  let sum = 0;
  for (const [, n, unit] of t.matchAll(/(\d+(?:\.\d+)?)(ms|s|m|h)/g)) sum += Number(n) * units[unit!]!;
  return Math.round(sum);
}

/** refuse is the answer to a value that no request can carry. */
const refuse = (message: string) => Promise.resolve({ ok: false, status: 400, body: undefined, index: 0, next: '', warnings: '', error: { status: 400, code: 'invalid', message, detail: [] } });

/** base64 encodes a text as UTF-8. */
const base64 = (text: string) => btoa(Array.from(new TextEncoder().encode(text), (b) => String.fromCharCode(b)).join(''));

/** revertVerb registers an older version again. */
export function revertVerb(ref: JobRef, job: Job, version: number): Verb {
  return {
    name: `Revert to ${version}`,
    capability: 'revert-job',
    namespace: ref.namespace,
    cli: () => command('job', 'revert', ...inNS(ref.namespace), ref.id, String(version)),
    ask: { consequence: `Version ${version} of job ${ref.id} is registered again, as version ${(job.Version ?? 0) + 1}. Instances of other versions are replaced by its rollout.` },
    run: () => put<RegisterJobResponse>(api(ref, '/revert'), { JobID: ref.id, JobVersion: version, EnforcePriorVersion: job.Version }),
  };
}

function restart(ref: JobRef, job: Job): Verb {
  const fields: Field[] = [
    { name: 'size', label: 'Instances at the same time', kind: 'number', value: '1', min: 1, required: true },
    { name: 'wait', label: 'Wait between batches', kind: 'text', value: '0s', hint: 'Such as 30s or 2m.' },
    { name: 'gate', label: 'A batch is done only when it is healthy', kind: 'check', value: 'true' },
  ];
  return {
    name: 'Restart…',
    capability: 'restart-job',
    namespace: ref.namespace,
    cli: (g: Given) =>
      command('job', 'restart', '-detach', '-y', ...inNS(ref.namespace), '-batch-size', g.values.size || '1', ...(g.values.wait && g.values.wait !== '0s' ? ['-batch-wait', g.values.wait] : []),
        ...(g.values.gate === 'true' ? ['-health-gate'] : []), ...(g.reason ? ['-reason', g.reason] : []), ref.id),
    ask: { consequence: `The tasks of ${plural(wantedOf(job), 'instance')} of job ${ref.id} stop and start again on their nodes, batch by batch.`, reason: 'optional', fields },
    run: (g) => {
      const wait = nanoseconds(g.values.wait ?? '');
      const size = Number(g.values.size);
      if (wait === undefined) return refuse(`"${g.values.wait}" is not a duration; use a form such as 30s or 2m.`);
      if (!Number.isSafeInteger(size) || size < 1) return refuse('The number of instances at the same time must be a whole number from 1.');
      return put<JobRestart>(api(ref, '/restart'), { BatchSize: size, BatchWait: wait, HealthGate: g.values.gate === 'true', Reason: g.reason });
    },
  };
}

function scale(ref: JobRef, job: Job): Verb {
  const groups = (job.TaskGroups ?? []).filter((g) => g !== null);
  const one = groups.length === 1 ? groups[0]! : undefined;
  return {
    name: 'Scale…',
    capability: 'scale-job',
    namespace: ref.namespace,
    cli: (g: Given) => command('job', 'scale', '-detach', ...inNS(ref.namespace), ...(g.reason ? ['-message', g.reason] : []), ref.id, one ? undefined : g.values.group || groups[0]?.Name, g.values.count || String(one?.Count ?? groups[0]?.Count ?? 0)),
    ask: {
      consequence: 'A smaller count stops the instances with the highest numbers. Other instances do not change.',
      reason: 'optional',
      fields: [
        { name: 'group', label: 'Group', kind: 'select', value: groups[0]?.Name ?? '', options: groups.map((g) => ({ value: g.Name ?? '', label: `${g.Name}, now ${g.Count}` })) },
        { name: 'count', label: 'Count', kind: 'number', value: String(groups[0]?.Count ?? 1), min: 0, required: true },
      ],
    },
    run: (g) => {
      const count = Number(g.values.count);
      if (!Number.isSafeInteger(count) || count < 0 || g.values.count === '') return refuse('The count must be a whole number from 0.');
      return put<RegisterJobResponse>(api(ref, '/scale'), { Count: count, Target: { Group: g.values.group }, Message: g.reason, JobModifyIndex: job.JobModifyIndex });
    },
  };
}

function stop(ref: JobRef, job: Job): Verb {
  return {
    name: 'Stop…',
    capability: 'deregister-job',
    namespace: ref.namespace,
    look: 'danger',
    cli: () => command('job', 'stop', '-detach', '-yes', ...inNS(ref.namespace), ref.id),
    ask: { consequence: `All ${plural(wantedOf(job), 'instance')} of job ${ref.id} stop. The servers keep the stopped job for some hours, and a revert runs it again.` },
    run: () => del<DeregisterJobResponse>(api(ref)),
  };
}

function purge(ref: JobRef): Verb {
  return {
    name: 'Purge…',
    capability: 'deregister-job',
    namespace: ref.namespace,
    look: 'danger',
    cli: () => command('job', 'stop', '-purge', '-detach', '-yes', ...inNS(ref.namespace), ref.id),
    ask: { consequence: `All instances of job ${ref.id} stop. The job and its versions are deleted, and cannot be reverted to.`, type: ref.id },
    run: () => del<DeregisterJobResponse>(api(ref, '', { purge: 'true' })),
  };
}

function dispatch(ref: JobRef, job: Job): Verb {
  const p = job.ParameterizedJob!;
  const keys = [...(p.MetaRequired ?? []), ...(p.MetaOptional ?? [])];
  const meta = (g: Given) => Object.fromEntries(keys.map((k) => [k, g.values[`meta.${k}`] ?? '']).filter(([k, v]) => v !== '' || (p.MetaRequired ?? []).includes(k!)));
  return {
    name: 'Dispatch…',
    capability: 'dispatch-job',
    namespace: ref.namespace,
    cli: (g: Given) => command('job', 'dispatch', '-detach', ...inNS(ref.namespace), ...Object.entries(meta(g)).flatMap(([k, v]) => ['-meta', `${k}=${v}`]), ref.id, g.values.payload ? '-' : undefined),
    ask: {
      consequence: `A child of job ${ref.id} starts with these values.`,
      fields: [
        ...keys.map((k): Field => ({ name: `meta.${k}`, label: `Meta ${k}`, kind: 'text', required: (p.MetaRequired ?? []).includes(k) })),
        ...(p.Payload === 'forbidden' ? [] : [{ name: 'payload', label: 'Payload', kind: 'area', required: p.Payload === 'required' } as Field]),
      ],
    },
    run: async (g) => {
      const answer = await put<DispatchJobResponse>(api(ref, '/dispatch'), { JobID: ref.id, Meta: meta(g), Payload: g.values.payload ? base64(g.values.payload) : undefined });
      if (answer.ok && answer.body?.DispatchedJobID) go(toJob(answer.body.DispatchedJobID, ref.namespace));
      return answer;
    },
  };
}

function force(ref: JobRef): Verb {
  return {
    name: 'Start now',
    capability: 'force-periodic-job',
    namespace: ref.namespace,
    cli: () => command('job', 'periodic', 'force', '-detach', ...inNS(ref.namespace), ref.id),
    run: () => send<ForcePeriodicResponse>({ method: 'PUT', path: api(ref, '/periodic/force'), body: {} }),
  };
}

/** jobVerbs returns what a person may do with a job. A job that only starts others has no instances to restart. */
export function jobVerbs(ref: JobRef, job: Job): Verb[] {
  const version = job.Version ?? 0;
  if (job.Stop) return [...(version > 0 ? [revertVerb(ref, job, version - 1)] : []), purge(ref)];
  const starts = job.Periodic && !job.ParentID ? [force(ref)] : job.ParameterizedJob && !job.Dispatched ? [dispatch(ref, job)] : undefined;
  const scalable = (job.Type === 'service' || job.Type === 'batch') && !starts;
  return [
    ...(starts ?? [restart(ref, job)]),
    ...(scalable ? [scale(ref, job)] : []),
    ...(version > 0 ? [revertVerb(ref, job, version - 1)] : []),
    stop(ref, job),
    purge(ref),
  ];
}
