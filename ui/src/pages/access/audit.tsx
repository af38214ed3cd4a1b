// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

import type { RequestRecord, RequestRecords } from '../../api/schema';
import type { Column } from '../../parts/grid';
import { Time } from '../../parts/page';
import { Shape } from '../../parts/shape';
import { Empty } from '../../parts/states';
import { ReadGrid } from '../../parts/read_grid';
import { place, setQuery } from '../../shell/place';
import { useRead } from '../../store/read';
import { ms } from '../../words/time';

const who = (r: RequestRecord) => r.TokenName || r.Caller || 'nobody';

const columns: Column<RequestRecord>[] = [
  { key: 'time', head: 'Time', width: '152px', narrow: '70px', by: (r) => ms(r.Time), cell: (r) => <Time of={r.Time} /> },
  { key: 'who', head: 'Who', width: 'minmax(0, 1fr)', wide: true, by: who, cell: (r) => <span class="clip">{who(r)}</span> },
  {
    key: 'what', head: 'Request', width: 'minmax(0, 3fr)', by: (r) => r.Path ?? '',
    cell: (r) => (
      <>
        <Shape of={r.Refused ? 'bad' : (r.Status ?? 0) >= 400 ? 'late' : 'ok'} label={r.Refused ? 'refused' : (r.Status ?? 0) >= 400 ? 'failed' : 'allowed'} />
        <span class="clip" title={r.Reason}>
          {r.Method} {r.Path}
        </span>
      </>
    ),
  },
  { key: 'status', head: 'Status', width: '70px', end: true, by: (r) => r.Status ?? 0, cell: (r) => r.Status },
  { key: 'object', head: 'Object', width: 'minmax(0, 1fr)', wide: true, by: (r) => r.Object ?? '', cell: (r) => <span class="clip">{r.Object}</span> },
  { key: 'address', head: 'From', width: '140px', wide: true, cell: (r) => <span class="clip">{r.Address}</span> },
];

/** Audit lists who sent which requests, newest first: refused ones, writes, and reads of secrets. */
export function Audit() {
  const refused = place.value.query.get('refused') === '1';
  const read = useRead<RequestRecords>(`/v1/operator/audit?reverse&per_page=500${refused ? '&refused' : ''}`);
  const records = { ...read, data: read.data ? (read.data.Records ?? []) : undefined };
  return (
    <>
      <div class="btns">
        <button type="button" class="b" onClick={read.again}>
          Read again
        </button>
        <label class="field check">
        <span>Only refused requests</span>
        <input type="checkbox" checked={refused} onChange={(e) => setQuery('refused', e.currentTarget.checked ? '1' : undefined)} />
        </label>
      </div>
      <ReadGrid
        label="Requests"
        one="request"
        read={records}
        columns={columns}
        sort="-time"
        fields={['Method', 'Path']}
        id={(r) => r.ID ?? ''}
        text={(r) => `${who(r)} ${r.Method} ${r.Path} ${r.Object} ${r.Address} ${r.Reason}`}
        empty={<Empty command="reeve operator audit">No request is recorded yet, or this agent records none.</Empty>}
      />
    </>
  );
}
