// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

import { useEffect, useState } from 'preact/hooks';
import { Shape } from '../../parts/shape';
import { nothingGiven, useVerbs } from '../../parts/verb';
import { VerbButton } from '../../parts/verbs';
import { span } from '../../words/time';
import type { JobQuestion } from './questions';

/** useNow is the present time, renewed at intervals while the page is visible. */
export function useNow(every: number): number {
  const [now, set] = useState(Date.now());
  useEffect(() => {
    const timer = setInterval(() => document.visibilityState === 'visible' && set(Date.now()), every);
    return () => clearInterval(timer);
  }, [every]);
  return now;
}

/** Ask shows a question to the operator with its answers. The key of the first question acts. */
export function Ask({ question: q, first, id }: { question: JobQuestion; first: boolean; id: string }) {
  const now = useNow(1_000);
  const verbs = q.verbs.map((v) => (first ? v : { ...v, key: undefined }));
  useVerbs(verbs);
  return (
    <section class="question" aria-labelledby={id}>
      <Shape of="you" />
      <div class="says">
        <h2 id={id}>{q.title}</h2>
        <p class="sub">
          {q.detail} {q.since > 0 && `Held for ${span(now - q.since)}. `}Same as <code>{q.verbs[0]!.cli(nothingGiven)}</code>
        </p>
      </div>
      <div class="btns">
        {verbs.map((v) => (
          <VerbButton key={v.name} verb={v} />
        ))}
      </div>
    </section>
  );
}
