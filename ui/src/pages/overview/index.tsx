// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

import '../../style/overview.css';
import type { JobListStub } from '../../api/schema';
import { CopyLine } from '../../parts/copy';
import { Card, Head } from '../../parts/page';
import { readOnly, grantedIn } from '../../parts/verb';
import { to } from '../../shell/place';
import { useRead } from '../../store/read';
import { Capacities, useTopology } from './capacity';
import { Recent } from './recent';
import { Waits } from './waits';
import { Wrong } from './wrong';

/** Overview shows what waits for a person, what goes wrong, the room that is left, and the last changes. */
export default function Overview() {
  const topology = useTopology();
  const jobs = useRead<JobListStub[] | null>('/v1/jobs?namespace=*&per_page=1', { on: ['Job'] });
  const first = grantedIn('read-job')?.length !== 0 && jobs.data !== undefined && (jobs.data ?? []).length === 0;
  return (
    <>
      <Head title="Overview" sentence="What waits for you, what is wrong, and how much room is left." />
      {first && <First />}
      <div class="cols">
        <div class="stackv">
          <Waits />
          <Wrong topology={topology.data} />
        </div>
        <div class="stackv">
          <Capacities read={topology} />
          <Recent />
        </div>
      </div>
    </>
  );
}

/** First explains how to run the first job. */
function First() {
  return (
    <Card title="Run the first job" class="first">
      <div class="pad">
        <p>{grantedIn('read-job') ? 'There is no job yet that your token may see.' : 'This cluster has no job yet.'} A job is a text that says what to run, and how often. The example starts two web servers:</p>
        <p>
          <CopyLine text="reeve job run examples/web.hcl" />
        </p>
        {!readOnly.value && (
          <p>
            Or paste a job here, and see what it would do before it runs:{' '}
            <a class="b" href={to(['jobs', 'run'])}>
              Run a job
            </a>
          </p>
        )}
      </div>
    </Card>
  );
}
