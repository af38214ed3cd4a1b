// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

import { Empty } from '../../parts/states';
import { apiFilter } from '../../parts/filter';
import { command, inNS } from '../../words/command';
import { InstanceGrid, keepInstance, keyOf, takeOf } from '../instances';
import { jobGroups } from '../../store/job_groups';
import type { JobRef } from './of';

/** JobInstances lists the instances of one job. */
export function JobInstances({ of }: { of: JobRef }) {
  const filter = apiFilter();
  const query = new URLSearchParams({ namespace: of.namespace, job: of.id });
  if (filter) query.set('filter', filter);
  return (
    <InstanceGrid
      source={{
        path: `/v1/instances?${query}`,
        topics: [`Instance:${of.id}`],
        key: keyOf,
        take: takeOf(of.namespace),
        reread: filter !== '',
        keep: keepInstance,
        groups: jobGroups(of.id),
      }}
      empty={<Empty command={command('job', 'scale', ...inNS(of.namespace), of.id, '1')}>This job has no instance now. A group gets one with a count:</Empty>}
    />
  );
}
