// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

import { JobList } from './list';
import { RunJob } from './run';

/** Jobs lists all jobs; at /jobs/run a job is planned and registered. */
export default function Jobs({ path }: { path: string[] }) {
  return path[0] === 'run' ? <RunJob /> : <JobList />;
}
