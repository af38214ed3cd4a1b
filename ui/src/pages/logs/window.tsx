// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

import { useEffect, useMemo, useState } from 'preact/hooks';
import type { FileInfo } from '../../api/schema';
import { ask } from '../../link/link';
import { Failed, Loading } from '../../parts/states';
import { setQuery } from '../../shell/place';
import { useRead } from '../../store/read';
import { bytes } from '../../words/count';
import type { Answer } from '../../worker/protocol';
import { LogBar, type LogQuery } from './bar';
import { Cutter, type Line } from './lines';
import { Rows } from './rows';
import { pass, useSieve } from './view';

const before = 64 << 10;
const size = 256 << 10;

/** logPath is the path of a file of output below the directory of its allocation. */
export const logPath = (file: string) => `alloc/logs/${file}`;

const of = (alloc: string, what: string, file: string, more = '') => `/v1/client/fs/${what}/${encodeURIComponent(alloc)}?path=${encodeURIComponent(logPath(file))}${more}`;

/** linesOf cuts a part of a file into lines; the first is complete only at the file's beginning. */
export function linesOf(file: string, from: number, data: Uint8Array): Line[] {
  const cutter = new Cutter();
  const found = cutter.take(file, from, data);
  const rest = cutter.rest();
  if (rest) found.push(rest);
  if (from > 0 && found.length > 1) found.shift();
  return found.map((l, i) => ({ ...l, seq: i + 1, source: 0, err: file.includes('.stderr.') }));
}

/** Around shows a part of a file around an offset: also the middle of a large one. */
export function Around({ alloc, at, q }: { alloc: string; at: { file: string; offset: number }; q: LogQuery }) {
  const stat = useRead<FileInfo>(of(alloc, 'stat', at.file));
  const from = Math.max(0, at.offset - before);
  const [part, set] = useState<{ from: number; file: string; answer: Answer<ArrayBuffer> } | undefined>(undefined);
  useEffect(() => {
    const abort = new AbortController();
    void ask<ArrayBuffer>({ method: 'GET', path: of(alloc, 'readat', at.file, `&offset=${from}&limit=${size}`), want: 'bytes' }, abort.signal).then(
      (answer) => abort.signal.aborted || set({ from, file: at.file, answer }),
    );
    return () => abort.abort();
  }, [alloc, at.file, from]);
  const all = useMemo(() => (part?.answer.ok ? linesOf(part.file, part.from, new Uint8Array(part.answer.body)) : []), [part]);
  const { sieve, verdicts } = useSieve(q.find, all);
  const lines = useMemo(() => pass(all, sieve, q.hide), [all, sieve, verdicts, q.hide]);
  const marked = useMemo(() => all.findLast((l) => l.offset <= at.offset), [all, at.offset]);
  const [cursor, setCursor] = useState<number | undefined>(undefined);
  useEffect(() => setCursor(marked?.seq), [marked]);
  const wish = useMemo(() => marked && { seq: marked.seq, n: 0 }, [marked]);
  const total = stat.data?.Size ?? 0;
  const show = (offset: number) => setQuery('at', `${at.file}:${Math.max(0, Math.min(Math.max(0, total - 1), Math.round(offset)))}`);
  const here = cursor === undefined ? undefined : all.find((l) => l.seq === cursor);
  return (
    <>
      <LogBar q={q} slow={sieve?.slow ?? ''}>
        <button class="b" type="button" onClick={() => setQuery('at', undefined)}>
          Back to the newest
        </button>
        <button class="b" type="button" aria-disabled={from === 0 ? 'true' : undefined} onClick={() => from > 0 && show(at.offset - size + before)}>
          Earlier
        </button>
        <button class="b" type="button" aria-disabled={from + size >= total ? 'true' : undefined} onClick={() => from + size < total && show(at.offset + size - before)}>
          Later
        </button>
        <label class="tick">
          Place in {at.file}, {bytes(total)}
          <input type="range" min={0} max={Math.max(1, total)} step={Math.max(1, Math.floor(total / 1_000))} value={at.offset} onChange={(e) => show(Number(e.currentTarget.value))} />
        </label>
        {here && here.offset !== at.offset && (
          <button class="b" type="button" onClick={() => show(here.offset)}>
            Link to this line
          </button>
        )}
      </LogBar>
      {stat.error && <Failed error={stat.error} />}
      {part && !part.answer.ok && <Failed error={part.answer.error!} />}
      {!part && <Loading rows={8} />}
      {part?.answer.ok && (
        <Rows label={`Lines of ${at.file}`} lines={lines} version={verdicts} wrap={q.wrap} names={['']} follow={false} setFollow={() => {}} wish={wish} cursor={cursor} setCursor={setCursor} />
      )}
      <p class="sub">
        Bytes {from.toLocaleString('en-US')} to {Math.min(total, from + size).toLocaleString('en-US')} of {total.toLocaleString('en-US')}. The file does not change here; its newest lines do.
      </p>
    </>
  );
}
