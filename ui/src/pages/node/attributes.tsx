// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

import type { Node } from '../../api/schema';
import { FilterBar, filterText, words } from '../../parts/filter';
import { Card } from '../../parts/page';
import { Empty } from '../../parts/states';
import { plural } from '../../words/count';

/** Attributes shows what constraints can ask of a node. */
export function Attributes({ n }: { n: Node }) {
  const text = filterText();
  const has = words(text);
  const all: [string, string][] = [
    ...Object.entries(n.Attributes ?? {}).map(([k, v]): [string, string] => [`attr.${k}`, v]),
    ...Object.entries(n.Meta ?? {}).map(([k, v]): [string, string] => [`meta.${k}`, v]),
  ].sort((a, b) => (a[0] < b[0] ? -1 : 1));
  const shown = all.filter(([k, v]) => has(`${k} ${v}`));
  return (
    <>
      <FilterBar label="Filter attributes" fields={['Name']} count={`${plural(shown.length, 'attribute')}`} />
      <Card title="Attributes" sub="constraints use them by these names">
        {shown.length === 0 ? (
          <Empty>No attribute matches.</Empty>
        ) : (
          <div class="scroll-x">
            <table class="plain">
              <thead>
                <tr>
                  <th>Name</th>
                  <th>Value</th>
                </tr>
              </thead>
              <tbody>
                {shown.map(([k, v]) => (
                  <tr key={k}>
                    <td>
                      <code>{k}</code>
                    </td>
                    <td>
                      <code>{v}</code>
                    </td>
                  </tr>
                ))}
              </tbody>
            </table>
          </div>
        )}
      </Card>
    </>
  );
}
