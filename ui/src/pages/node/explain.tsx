// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

import { useEffect, useState } from 'preact/hooks';
import type { NodeExplanation } from '../../api/schema';
import { Card } from '../../parts/page';
import { Shape } from '../../parts/shape';
import { Shown } from '../../parts/states';
import { place, setQuery } from '../../shell/place';
import { useRead } from '../../store/read';
import { plural } from '../../words/count';

/** Explain says whether a node could run another instance of a job, and if not, why. */
export function Explain({ id }: { id: string }) {
  const job = place.value.query.get('job') ?? '';
  const namespace = place.value.query.get('namespace') ?? 'default';
  const [draft, set] = useState(job);
  useEffect(() => set(job), [job]);
  const read = useRead<NodeExplanation[] | null>(job ? `/v1/node/${encodeURIComponent(id)}/explain?job=${encodeURIComponent(job)}&namespace=${encodeURIComponent(namespace)}` : undefined, {
    on: [`Node:${id}`, `Job:${job}`],
  });
  return (
    <>
      <form
        class="filter"
        onSubmit={(e) => {
          e.preventDefault();
          setQuery('job', draft.trim());
        }}
      >
        <label class="field">
          <span>Job</span>
          <input value={draft} spellcheck={false} onInput={(e) => set(e.currentTarget.value)} />
        </label>
        <button class="b" type="submit">
          Explain
        </button>
      </form>
      {!job ? (
        <p class="empty">Name a job: the servers say whether the node could run another instance of each of its groups.</p>
      ) : (
        <Shown read={read}>
          {(all) => (
            <div class="stackv">
              {(all ?? []).map((x) => (
                <Card key={x.Group} title={`Group ${x.Group}`} sub={`${plural(x.Instances ?? 0, 'instance')} here now`}>
                  <ul class="rows">
                    {x.Fits && (
                      <li>
                        <Shape of="ok" label="fits" />
                        <span>The node can run another instance.</span>
                        <span />
                      </li>
                    )}
                    {(x.Obstacles ?? []).map((o, i) => (
                      <li key={i}>
                        <Shape of="bad" label="obstacle" />
                        <span>
                          {o.Reason || o.Dimension}
                          {o.Needed ? `: needs ${o.Needed}, ${o.Free ?? 0} free` : ''}
                        </span>
                        <span class="sub">{o.Filter}</span>
                      </li>
                    ))}
                  </ul>
                </Card>
              ))}
            </div>
          )}
        </Shown>
      )}
    </>
  );
}
