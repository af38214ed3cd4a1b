// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

// The pages: their addresses, their place in the navigation, and the chunk of code that shows each.

import type { ComponentType } from 'preact';

export interface Page {
  /** First segment of the address; empty for the overview. */
  name: string;
  title: string;
  /** Second key of "g x". */
  key?: string;
  /** Whether the navigation lists it. */
  listed: boolean;
  load(): Promise<{ default: ComponentType<{ path: string[] }> }>;
}

export const pages: Page[] = [
  { name: '', title: 'Overview', key: 'o', listed: true, load: () => import('../pages/overview') },
  { name: 'jobs', title: 'Jobs', key: 'j', listed: true, load: () => import('../pages/jobs') },
  { name: 'job', title: 'Job', listed: false, load: () => import('../pages/job/index') },
  { name: 'instances', title: 'Instances', key: 'i', listed: true, load: () => import('../pages/instances') },
  { name: 'allocation', title: 'Allocation', listed: false, load: () => import('../pages/allocation') },
  { name: 'nodes', title: 'Nodes', key: 'n', listed: true, load: () => import('../pages/nodes') },
  { name: 'node', title: 'Node', listed: false, load: () => import('../pages/node') },
  { name: 'topology', title: 'Topology', key: 't', listed: true, load: () => import('../pages/topology') },
  { name: 'rollouts', title: 'Rollouts', key: 'r', listed: true, load: () => import('../pages/rollouts') },
  { name: 'stacks', title: 'Stacks', key: 's', listed: true, load: () => import('../pages/stacks/index') },
  { name: 'services', title: 'Services', key: 'u', listed: true, load: () => import('../pages/services') },
  { name: 'events', title: 'Events', key: 'e', listed: true, load: () => import('../pages/events') },
  { name: 'evaluations', title: 'Evaluations', key: 'v', listed: true, load: () => import('../pages/evaluations') },
  { name: 'variables', title: 'Variables', key: 'b', listed: true, load: () => import('../pages/variables/index') },
  { name: 'volumes', title: 'Volumes', key: 'm', listed: true, load: () => import('../pages/volumes') },
  { name: 'namespaces', title: 'Namespaces', key: 'p', listed: true, load: () => import('../pages/namespaces') },
  { name: 'access', title: 'Access', key: 'a', listed: true, load: () => import('../pages/access/index') },
  { name: 'cluster', title: 'Cluster', key: 'c', listed: true, load: () => import('../pages/cluster') },
  { name: 'settings', title: 'Settings', key: ',', listed: true, load: () => import('../pages/settings') },
];

export const pageOf = (path: string[]): Page | undefined => pages.find((p) => p.name === (path[0] ?? ''));
