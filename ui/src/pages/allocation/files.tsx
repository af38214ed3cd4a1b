// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

import { useEffect, useMemo, useState } from 'preact/hooks';
import type { FileInfo } from '../../api/schema';
import { ask } from '../../link/link';
import { Grid, order, sortOf, type Column } from '../../parts/grid';
import { Time } from '../../parts/page';
import { Empty, Failed, Loading, Shown } from '../../parts/states';
import { place, setQuery, toAllocation } from '../../shell/place';
import { download } from '../../store/download';
import { useRead } from '../../store/read';
import type { Answer } from '../../worker/protocol';
import { bytes, count } from '../../words/count';
import { visible } from '../../words/plain';
import { ms } from '../../words/time';
import { hexDump, isBinary, textPage } from './pages';

const pageSize = 64 << 10;

/** clean is a path of an allocation's directory without empty parts; names stay as they are. */
const clean = (path: string) => path.split('/').filter((p) => p !== '' && p !== '.').join('/');
const api = (alloc: string, what: string, path: string, more = '') => `/v1/client/fs/${what}/${encodeURIComponent(alloc)}?path=${encodeURIComponent(path)}${more}`;

/** Files shows the directory of an allocation, and what its files contain. */
export function Files({ alloc }: { alloc: string }) {
  const path = clean(place.value.query.get('path') ?? '');
  const stat = useRead<FileInfo>(api(alloc, 'stat', path || '/'));
  return (
    <section aria-label="Files">
      <Trail alloc={alloc} path={path} />
      <Shown read={stat}>{(info) => (info.IsDir ? <Directory key={path} alloc={alloc} path={path} /> : <File key={path} alloc={alloc} path={path} info={info} again={stat.again} />)}</Shown>
    </section>
  );
}

/** Trail leads to the directories above. */
function Trail({ alloc, path }: { alloc: string; path: string }) {
  const parts = path === '' ? [] : path.split('/');
  return (
    <nav class="trail" aria-label="Path">
      <a href={toAllocation(alloc, 'files')}>{'allocation'}</a>
      {parts.map((p, i) => (
        <>
          {' / '}
          {i === parts.length - 1 ? <span aria-current="page">{visible(p)}</span> : <a href={toAllocation(alloc, 'files', { path: parts.slice(0, i + 1).join('/') })}>{visible(p)}</a>}
        </>
      ))}
    </nav>
  );
}

function Directory({ alloc, path }: { alloc: string; path: string }) {
  const read = useRead<FileInfo[]>(api(alloc, 'ls', path || '/'));
  const at = (f: FileInfo) => toAllocation(alloc, 'files', { path: path === '' ? f.Name : `${path}/${f.Name}` });
  const columns: Column<FileInfo>[] = [
    {
      key: 'name', head: 'Name', width: 'minmax(0, 3fr)', by: (f) => `${f.IsDir ? 0 : 1} ${f.Name}`,
      cell: (f) => (
        <a href={at(f)} dir="ltr">
          {visible(f.Name ?? '')}
          {f.IsDir ? '/' : ''}
        </a>
      ),
    },
    { key: 'size', head: 'Size', width: '100px', end: true, by: (f) => (f.IsDir ? -1 : (f.Size ?? 0)), cell: (f) => (f.IsDir ? '' : bytes(f.Size)) },
    { key: 'mode', head: 'Mode', width: '110px', wide: true, cell: (f) => <code>{f.FileMode}</code> },
    { key: 'changed', head: 'Changed', width: '160px', wide: true, by: (f) => ms(f.ModTime), cell: (f) => <Time of={f.ModTime} /> },
  ];
  const rows = useMemo(() => new Map((read.data ?? []).map((f) => [f.Name ?? '', f])), [read.data]);
  const sort = sortOf('name');
  const keys = useMemo(() => order(rows, columns, sort), [rows, sort]);
  return (
    <Shown read={read}>
      {() => (
        <>
          <div class="log-bar">
            <button class="b" type="button" onClick={read.again}>
              Read again
            </button>
            <span class="sub">
              {count(rows.size)} {rows.size === 1 ? 'entry' : 'entries'}
            </span>
          </div>
          <Grid label="Files" columns={columns} keys={keys} row={(k) => rows.get(k)} sort={sort} href={at} empty={<Empty>The directory is empty.</Empty>} />
        </>
      )}
    </Shown>
  );
}

function File({ alloc, path, info, again }: { alloc: string; path: string; info: FileInfo; again(): void }) {
  const size = info.Size ?? 0;
  const asked = Number(place.value.query.get('offset') ?? 0);
  const offset = Number.isSafeInteger(asked) && asked > 0 ? Math.min(asked, Math.max(0, size - 1)) : 0;
  const [part, set] = useState<{ offset: number; answer: Answer<ArrayBuffer> } | undefined>(undefined);
  useEffect(() => {
    const abort = new AbortController();
    void ask<ArrayBuffer>({ method: 'GET', path: api(alloc, 'readat', path, `&offset=${offset}&limit=${pageSize}`), want: 'bytes' }, abort.signal).then(
      (answer) => abort.signal.aborted || set({ offset, answer }),
    );
    return () => abort.abort();
  }, [alloc, path, offset, info]);
  const data = part?.answer.ok ? new Uint8Array(part.answer.body) : undefined;
  const hex = place.value.query.get('as') === 'hex' || (data !== undefined && isBinary(data) && place.value.query.get('as') !== 'text');
  const name = path.slice(path.lastIndexOf('/') + 1);
  const show = (o: number) => setQuery('offset', o > 0 ? String(o) : undefined);
  const last = Math.max(0, Math.floor((size - 1) / pageSize) * pageSize);
  const step = (label: string, to: number, on: boolean) => (
    <button class="b" type="button" aria-disabled={on ? undefined : 'true'} onClick={() => on && show(to)}>
      {label}
    </button>
  );
  return (
    <>
      <div class="log-bar">
        {size > pageSize && (
          <>
            {step('First', 0, offset > 0)}
            {step('Earlier', Math.max(0, offset - pageSize), offset > 0)}
            {step('Later', offset + pageSize, offset + pageSize < size)}
            {step('Last', last, offset < last)}
          </>
        )}
        <button class="b" type="button" onClick={() => setQuery('as', hex ? 'text' : 'hex')}>
          {hex ? 'As text' : 'As bytes'}
        </button>
        <button class="b" type="button" onClick={again}>
          Read again
        </button>
        <button class="b" type="button" onClick={() => void download(api(alloc, 'cat', path), name)}>
          Download
        </button>
        <span class="sub">
          {bytes(size)}, {info.FileMode}, changed <Time of={info.ModTime} />
          {size > pageSize && `, bytes ${count(offset)} to ${count(Math.min(size, offset + pageSize))}`}
        </span>
      </div>
      {!part && <Loading rows={6} />}
      {part && !part.answer.ok && <Failed error={part.answer.error!} again={again} />}
      {data &&
        (data.length === 0 ? (
          <Empty>The file is empty.</Empty>
        ) : (
          <pre class="file" dir="ltr" tabIndex={0} role="region" aria-label={`Content of ${visible(name)}`}>
            {hex ? hexDump(data, part!.offset) : textPage(data)}
          </pre>
        ))}
    </>
  );
}
