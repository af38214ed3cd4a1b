// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

import type { Shift } from '../../api/schema';
import { Card, Facts, Time, when } from '../../parts/page';
import { Shape } from '../../parts/shape';
import { useVerbs } from '../../parts/verb';
import { VerbButton } from '../../parts/verbs';
import { useRead } from '../../store/read';
import { count } from '../../words/count';
import { span } from '../../words/time';
import { nameOf } from './said';
import { ShareChart } from './share_chart';
import { isRunning, shiftVerbs } from './verbs';

/** ShiftCard shows a shift between two stacks: its share, what holds it, and what the routers count. */
export function ShiftCard({ of: listed }: { of: Shift }) {
  const path = `/v1/shift/${encodeURIComponent(listed.ID ?? '')}?namespace=${encodeURIComponent(listed.Namespace ?? 'default')}`;
  const running = isRunning(listed);
  // The routers' figures are a gauge: they are no change of the state.
  const read = useRead<Shift>(path, { on: [`Shift:${listed.ID}`], ...(running ? { every: 5_000 } : {}) });
  const h = read.data ?? listed;
  const verbs = running ? shiftVerbs(h) : [];
  useVerbs(verbs);
  const share = Math.round((h.Share ?? 0) * 100);
  const next = h.Spec?.Steps?.[h.Step ?? 0];
  return (
    <Card
      title={
        <span class="status">
          <Shape of={h.Held ? 'you' : running ? 'go' : 'ok'} label={h.Held ? 'held' : (h.Status ?? '')} /> Shift of {h.Unit}
        </span>
      }
      sub={h.Held ? 'held: waits for you' : h.Status}
    >
      <div class="traffic" role="img" aria-label={`${h.From} gets ${100 - share} percent, ${h.To} gets ${share} percent`}>
        <div class="t1" style={{ flexGrow: 100 - share }}>
          {100 - share >= 12 && `${nameOf(h, h.From)} ${100 - share} %`}
        </div>
        <div class="t2" style={{ flexGrow: share }}>
          {share >= 12 && `${nameOf(h, h.To)} ${share} %`}
        </div>
      </div>
      <ShareChart of={h} running={running} />
      <Facts
        of={[
          ['From', h.From],
          ['Shares', `${nameOf(h, h.From)} ${100 - share} %, ${nameOf(h, h.To)} ${share} %`],
          ['To', h.To],
          ['Reason', h.Reason],
          ['Policy', h.Spec?.Policy],
          ['Next step', next],
          ['Begun', h.StartedAt && <><Time of={h.StartedAt} /> {h.By && `by ${h.By}`}</>],
          ['Ended', when(h.EndedAt)],
          ['Failed checks', Object.entries(h.Failures ?? {}).map(([k, v]) => `${k} ${v}`).join(', ')],
        ]}
      />
      {h.Traffic && (
        <div class="scroll-x">
          <table class="plain">
            <thead>
              <tr>
                <th scope="col">Stack</th>
                <th scope="col" class="end">Requests</th>
                <th scope="col" class="end">Per second</th>
                <th scope="col" class="end">Errors</th>
                <th scope="col" class="end">p99</th>
              </tr>
            </thead>
            <tbody>
              {([[h.From, h.Traffic.From], [h.To, h.Traffic.To]] as const).map(([name, f]) => (
                <tr key={name}>
                  <th scope="row">{nameOf(h, name)}</th>
                  <td class="end">{count(f?.Requests)}</td>
                  <td class="end">{(f?.Rate ?? 0).toFixed(1)}</td>
                  <td class="end">{count(f?.Errors)}</td>
                  <td class="end">{f?.P99 ? span(f.P99 / 1e6) : ''}</td>
                </tr>
              ))}
            </tbody>
          </table>
        </div>
      )}
      {verbs.length > 0 && (
        <div class="pad btns">
          {verbs.map((v) => (
            <VerbButton key={v.name} verb={v} />
          ))}
        </div>
      )}
    </Card>
  );
}
