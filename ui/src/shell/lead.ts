// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

import type { Event } from '../api/schema';
import { to, toAllocation, toJob, toNode } from './place';

/** leadOf is the address of the page of an event's object; undefined if it has none. */
export function leadOf(e: Event): string | undefined {
  const key = e.Key ?? '';
  const ns = e.Namespace || undefined;
  switch (e.Topic) {
    case 'Job':
      return toJob(key, ns);
    case 'Allocation':
    case 'Instance':
      return toAllocation(key);
    case 'Node':
      return toNode(key);
    case 'Evaluation':
      return to(['evaluations'], { evaluation: key });
    case 'Deployment':
      return to(['rollouts'], { deployment: key });
    case 'Restart':
      return to(['rollouts'], { restart: key });
    case 'Plan':
      return e.FilterKeys?.[0] ? toJob(e.FilterKeys[0], ns) : undefined;
    case 'Stack':
    case 'Unit':
    case 'Shift':
      return to(['stacks']);
    case 'Service':
      return e.FilterKeys?.[0] ? to(['services'], { filter: e.FilterKeys[0] }) : undefined;
  }
  return undefined;
}
