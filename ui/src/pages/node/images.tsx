// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

import type { Node, NodeImages } from '../../api/schema';
import { Card, Time } from '../../parts/page';
import { Empty, Shown } from '../../parts/states';
import { useRead } from '../../store/read';
import { bytes, list, percent, plural } from '../../words/count';

/** Images shows the images of a node's containers, and why they stay. */
export function Images({ n }: { n: Node }) {
  const read = useRead<NodeImages>(n.HTTPAddr ? `/v1/client/images?node_id=${encodeURIComponent(n.ID ?? '')}` : undefined, { every: 10_000 });
  if (!n.HTTPAddr) return <Empty>This node has no address at which it could be asked for images: simulated nodes have none.</Empty>;
  return (
    <Shown read={read}>
      {(x) => {
        const all = (x.Images ?? []).filter((i) => i !== null);
        return (
          <Card title="Images" sub={`${plural(all.length, 'image')}, ${bytes(x.SizeBytes)}; the disk is ${percent(x.DiskUsedBytes ?? 0, x.DiskTotalBytes ?? 0)} full`}>
            {all.length === 0 ? (
              <div class="pad">
                <Empty>The node has no image: no task with the driver container or docker has run here.</Empty>
              </div>
            ) : (
              <div class="scroll-x">
                <table class="plain">
                  <thead>
                    <tr>
                      <th>Image</th>
                      <th class="end">Size</th>
                      <th>Why it stays or goes</th>
                      <th>Jobs</th>
                      <th>Last used</th>
                    </tr>
                  </thead>
                  <tbody>
                    {all.map((i) => (
                      <tr key={i.Digest}>
                        <td>
                          {list(i.Names ?? [], 3)} <code class="sub">{i.Digest?.slice(0, 19)}</code>
                        </td>
                        <td class="end">{bytes(i.SizeBytes)}</td>
                        <td>
                          {i.Next ? 'next to be removed: ' : ''}
                          {i.Reason}
                        </td>
                        <td>{list((i.Users ?? []).map((u) => u?.JobID ?? ''))}</td>
                        <td>
                          <Time of={i.LastUsed} />
                        </td>
                      </tr>
                    ))}
                  </tbody>
                </table>
              </div>
            )}
          </Card>
        );
      }}
    </Shown>
  );
}
