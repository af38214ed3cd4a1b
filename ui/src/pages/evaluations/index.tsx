// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

import { place } from '../../shell/place';
import { EvaluationList } from './list';
import { OneEvaluation } from './one';

/** Evaluations lists evaluations; with ?evaluation= it shows one. */
export default function Evaluations() {
  const id = place.value.query.get('evaluation');
  return id ? <OneEvaluation id={id} /> : <EvaluationList />;
}
