// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

import type { Topology } from '../api/schema';

/** Capacity is what the ready nodes of a datacenter have and hold. */
export interface Capacity {
  datacenter: string;
  nodes: number;
  ready: number;
  cpu: number;
  cpuUsed: number;
  memory: number;
  memoryUsed: number;
  allocations: number;
}

/** capacityOf adds up the nodes of each datacenter, by name. Nodes that are not ready add nothing but their number. */
export function capacityOf(t: Topology): Capacity[] {
  const out = new Map<string, Capacity>();
  const values = t.Datacenter?.Values ?? [];
  const statuses = t.Status?.Values ?? [];
  (t.ID ?? []).forEach((_, i) => {
    const datacenter = values[t.Datacenter?.Codes?.[i] ?? -1] ?? '';
    let c = out.get(datacenter);
    if (!c) out.set(datacenter, (c = { datacenter, nodes: 0, ready: 0, cpu: 0, cpuUsed: 0, memory: 0, memoryUsed: 0, allocations: 0 }));
    c.nodes++;
    if (statuses[t.Status?.Codes?.[i] ?? -1] !== 'ready') return;
    c.ready++;
    c.cpu += t.CPU?.[i] ?? 0;
    c.cpuUsed += t.CPUUsed?.[i] ?? 0;
    c.memory += t.MemoryMB?.[i] ?? 0;
    c.memoryUsed += t.MemoryUsed?.[i] ?? 0;
    c.allocations += t.Allocations?.[i] ?? 0;
  });
  return [...out.values()].sort((a, b) => (a.datacenter < b.datacenter ? -1 : 1));
}

/** Troubled is a node that does not work as it should. */
export interface Troubled {
  id: string;
  name: string;
  why: 'down' | 'disconnected' | 'silent';
}

/** troubledNodes lists nodes that are down, disconnected or silent. */
export function troubledNodes(t: Topology): Troubled[] {
  const out: Troubled[] = [];
  (t.ID ?? []).forEach((id, i) => {
    const status = t.Status?.Values?.[t.Status.Codes?.[i] ?? -1] ?? '';
    const why = status === 'down' || status === 'disconnected' ? status : t.Silent?.[i] ? 'silent' : undefined;
    if (why) out.push({ id, name: t.Name?.[i] || id.slice(0, 8), why });
  });
  return out;
}
