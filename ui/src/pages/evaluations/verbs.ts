// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

import type { Evaluation, EvaluationUnblockResponse } from '../../api/schema';
import { put } from '../../link/link';
import type { Verb } from '../../parts/verb';
import { command, inNS } from '../../words/command';
import { short } from '../../words/count';

/** unblockVerb retries a blocked evaluation now. */
export function unblockVerb(e: Evaluation): Verb {
  return {
    name: 'Unblock',
    capability: 'evaluate-job',
    namespace: e.Namespace,
    cli: () => command('eval', 'unblock', ...inNS(e.Namespace), short(e.ID)),
    run: () => put<EvaluationUnblockResponse>(`/v1/evaluation/${encodeURIComponent(e.ID ?? '')}/unblock?namespace=${encodeURIComponent(e.Namespace || 'default')}`),
  };
}
