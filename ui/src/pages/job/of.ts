// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

// Addresses and topics of one job.

/** A JobRef names a job. */
export interface JobRef {
  id: string;
  namespace: string;
}

/** api is a path of the API below a job, with its namespace. */
export function api({ id, namespace }: JobRef, below = '', query: Record<string, string> = {}): string {
  const q = new URLSearchParams({ namespace, ...query });
  return `/v1/job/${encodeURIComponent(id)}${below}?${q}`;
}

/** topicsOf are the topics of everything that concerns a job. */
export const topicsOf = (id: string): string[] => ['Job', 'Plan', 'Deployment', 'Restart', 'Evaluation', 'Instance', 'Allocation'].map((t) => `${t}:${id}`);
