// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

import type { Event, Instance } from '../api/schema';
import type { Groups } from './refine';

/** jobOf is the job that an event concerns, as a key. */
const jobOf = (e: Event) => group(e.Namespace || 'default', e.Topic === 'Job' ? (e.Key ?? '') : ((e.Payload?.[e.Topic ?? ''] as { JobID?: string } | undefined)?.JobID ?? e.FilterKeys?.[0] ?? ''));

const group = (namespace: string, job: string) => `${namespace} ${job}`;

/** jobGroups reads the instances of a job again after its events: see refine.ts. */
export const jobGroups = (job?: string, more: Record<string, string> = {}): Groups<Instance> => ({
  topics: ['Instance', 'Allocation', 'Evaluation', 'Job', 'Deployment', 'Plan'].map((t) => (job === undefined ? t : `${t}:${job}`)),
  of: jobOf,
  ofRow: (i) => group(i.Namespace ?? 'default', i.JobID ?? ''),
  path: (g) => `/v1/instances?${new URLSearchParams({ namespace: g.slice(0, g.indexOf(' ')), job: g.slice(g.indexOf(' ') + 1), ...more })}`,
});
