// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

import '../../style/events.css';
import { useMemo, useState } from 'preact/hooks';
import { words } from '../../parts/filter';
import { Grid, type Column } from '../../parts/grid';
import { Head, Time } from '../../parts/page';
import { Shape } from '../../parts/shape';
import { Empty, Loading } from '../../parts/states';
import { useKeys } from '../../shell/keys';
import { leadOf } from '../../shell/lead';
import { place, setQuery, to } from '../../shell/place';
import { useRing, type Kept } from '../../store/events';
import { frozen } from '../../store/watch';
import { count, plural } from '../../words/count';
import { sayEvent, timesOf } from '../../words/event';
import { Detail } from './detail';
import { Bar } from './bar';

const limit = 5_000;
/** Indexes of the past that are read when the page opens. */
const past = 500;
const everything = ['*'];

const columns = (times: ReadonlyMap<number, number>): Column<Kept>[] => [
  { key: 'index', head: 'Index', width: '76px', end: true, cell: (k) => <span class="num">{k.event.Index}</span> },
  { key: 'time', head: 'Time', width: '152px', wide: true, cell: (k) => <Time of={(times.get(k.event.Index ?? 0) ?? 0) * 1e6} /> },
  { key: 'topic', head: 'Topic', width: '92px', wide: true, cell: (k) => k.event.Topic },
  {
    key: 'object', head: 'Object', width: 'minmax(0, 1fr)',
    cell: (k) => {
      const s = sayEvent(k.event);
      const lead = leadOf(k.event);
      return (
        <>
          <Shape of={s.of} />
          {lead && !k.event.Deleted ? <a href={lead}>{s.name}</a> : <span class="clip">{s.name}</span>}
        </>
      );
    },
  },
  { key: 'what', head: 'What', width: 'minmax(0, 2.4fr)', cell: (k) => <What kept={k} /> },
];

function What({ kept }: { kept: Kept }) {
  const { text } = sayEvent(kept.event);
  return (
    <button class="what" type="button" title={text} onClick={() => setQuery('event', kept.key)}>
      {text}
    </button>
  );
}

/** Events shows every change that the servers agreed on, as it happens. */
export default function Events() {
  const query = place.value.query;
  const wanted = Number(query.get('index'));
  const from = Number.isSafeInteger(wanted) && wanted > 0 ? wanted : undefined;
  const ring = useRing(everything, limit, past, from);
  const version = ring.version.value;
  const topic = query.get('topic') ?? '';
  const text = query.get('filter') ?? '';
  const [at, setAt] = useState<Kept | undefined>(undefined);
  const { keys, byKey, topics, cols } = useMemo(() => {
    const has = words(text);
    const found: string[] = [];
    const index = new Map<string, Kept>();
    const seen = new Set<string>();
    // The newest is first.
    for (let i = ring.list.length - 1; i >= 0; i--) {
      const k = ring.list[i]!;
      const e = k.event;
      seen.add(e.Topic ?? '');
      index.set(k.key, k);
      if (topic && e.Topic !== topic) continue;
      if (text) {
        const s = sayEvent(e);
        if (!has(`${e.Index} ${e.Topic} ${e.Type} ${e.Key} ${e.Namespace} ${(e.FilterKeys ?? []).join(' ')} ${s.name} ${s.text}`)) continue;
      }
      found.push(k.key);
    }
    return { keys: found, byKey: index, topics: [...seen].sort(), cols: columns(timesOf(ring.list)) };
  }, [version, topic, text, ring]);
  const open = query.get('event') ?? '';
  const shown = byKey.get(open);
  useKeys([
    { key: 'o', name: 'show the event', shown: true, act: () => at && setQuery('event', at.key) },
    ...(shown ? [{ key: 'Escape', name: 'close the event', act: () => setQuery('event', undefined) }] : []),
  ]);
  return (
    <>
      <Head title="Events" sentence={`Every change that the servers agreed on, newest first: the last ${count(limit)} at most.${from ? ` From index ${count(from)}.` : ''}`}>
        <button class="b" type="button" aria-pressed={frozen.value} onClick={() => (frozen.value = !frozen.value)}>
          {frozen.value ? 'Go on' : 'Freeze'} <kbd aria-hidden="true">Space</kbd>
        </button>
      </Head>
      <Bar topics={topics} topic={topic} from={from} count={`${plural(keys.length, 'event')}${keys.length < ring.list.length ? ` of ${count(ring.list.length)}` : ''}${ring.complete.value ? '' : ', reading older ones'}`} />
      {ring.missing.value && <p class="note-line">{ring.missing.value}</p>}
      {shown && <Detail kept={shown} />}
      {open && !shown && <p class="note-line">The event {open} is not among those on this page. <a href={to(['events'], { index: open.split('.')[0], event: open })}>Read from its index</a></p>}
      <Grid
        label="Events"
        columns={cols}
        keys={keys}
        row={(k) => byKey.get(k)}
        cursor={(k) => setAt(k)}
        empty={text || topic ? <Empty>No event on this page matches. Esc clears the filter.</Empty> : ring.complete.value ? <Empty command="reeve event stream">Nothing has changed yet. The command line follows events, too:</Empty> : <Loading rows={8} />}
      />
    </>
  );
}
