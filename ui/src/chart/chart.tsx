// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

import '../style/chart.css';
import { useEffect, useRef, useState } from 'preact/hooks';
import { code } from '../link/code';
import type { Draw } from './lines';
import type { Look, Values } from './look';

/** Chart draws values over time. People who cannot see it have the table beside it. */
export function Chart({ look, values }: { look: Look; values: Values }) {
  const box = useRef<HTMLDivElement>(null);
  const newest = useRef(values);
  newest.current = values;
  const [draw, setDraw] = useState<Draw | undefined>(undefined);
  useEffect(() => draw?.update(values), [draw, values]);
  useEffect(() => {
    let mine = true;
    let d: Draw | undefined;
    void code(() => import('./lines'), () => mine).then((m) => {
      if (!m || !mine || !box.current) return;
      d = m.chart(box.current, look, newest.current);
      setDraw(d);
    });
    return () => {
      mine = false;
      d?.end();
    };
  }, [look]);
  return <div class="chart" ref={box} aria-hidden="true" />;
}
