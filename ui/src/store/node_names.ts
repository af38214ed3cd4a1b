// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

import { useEffect, useMemo } from 'preact/hooks';
import type { Topology } from '../api/schema';
import { useRead } from './read';

/** The names of nodes by their ids; a node that is gone, or that the login may not see, has none. */
export type NodeNames = ReadonlyMap<string, string>;

/** useNodeNames reads the names of nodes when a page first shows one of them, and again for one that is unknown. */
export function useNodeNames(ids: string[]): NodeNames {
  const read = useRead<Topology>(ids.length > 0 ? '/v1/topology' : undefined);
  const names = useMemo<NodeNames>(() => new Map((read.data?.ID ?? []).map((id, i) => [id, read.data?.Name?.[i] ?? ''])), [read.data]);
  const unknown = read.data ? [...new Set(ids)].filter((id) => !names.has(id)).sort().join(' ') : '';
  useEffect(() => {
    if (unknown) read.again();
  }, [unknown]);
  return names;
}
