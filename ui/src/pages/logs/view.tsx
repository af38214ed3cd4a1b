// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

import { useEffect, useMemo, useRef, useState } from 'preact/hooks';
import { health } from '../../link/link';
import { copy } from '../../parts/copy';
import { Failed } from '../../parts/states';
import { useKeys } from '../../shell/keys';
import { count, plural } from '../../words/count';
import { plain } from '../../words/plain';
import { LogBar, type LogQuery } from './bar';
import type { Collector, Origin } from './collect';
import type { Line } from './lines';
import { Rows } from './rows';
import { Sieve } from './sieve';

/** useSieve tests lines against the pattern of the address. */
export function useSieve(find: string, first: Line[] | undefined): { sieve: Sieve | undefined; verdicts: number } {
  const [verdicts, set] = useState(0);
  const sieve = useMemo(() => (find ? new Sieve(find, () => set((n) => n + 1)) : undefined), [find]);
  useEffect(() => {
    if (sieve && first) sieve.test(first, first[0]?.seq ?? 0);
    return () => sieve?.end();
  }, [sieve, first]);
  return { sieve, verdicts };
}

/** pass returns the lines that the pattern lets through. Lines that are not tested yet are not shown. */
export function pass(lines: Line[], sieve: Sieve | undefined, hide: boolean): Line[] {
  if (!sieve || sieve.slow) return lines;
  return lines.filter((l) => sieve.found(l) === !hide);
}

/** textOf is what is copied: one line of text for each line. */
const textOf = (lines: Line[]) => lines.map((l) => plain(l.text)).join('\n') + '\n';

/** timeOfDay returns the first line at or after a time of day; the newest day that the lines have decides. */
function timeOfDay(lines: Line[], text: string): Line | undefined {
  const [h, m, s] = text.split(':').map(Number);
  const newest = lines.findLast((l) => l.time > 0);
  if (!newest || h === undefined || Number.isNaN(h)) return undefined;
  const day = new Date(newest.time);
  day.setHours(h, m ?? 0, s ?? 0, 0);
  return lines.find((l) => l.time >= day.getTime());
}

/** Following shows the newest lines of what collect follows, and those that arrive. It collects anew when `of` changes. */
export function Following(p: { of: string; collect: () => Collector; q: LogQuery; link: (o: Origin, l: Line) => void; label: string }) {
  const [attempt, setAttempt] = useState(0);
  const collector = useMemo(p.collect, [p.of, attempt]);
  useEffect(() => () => collector.close(), [collector]);
  const error = collector.error.value;
  const live = health.value.state === 'live';
  useEffect(() => {
    if (error?.status === 0 && live) setAttempt((n) => n + 1);
  }, [error, live]);

  const version = collector.version.value;
  const tested = useMemo(() => collector.ring.lines, [collector, p.q.find]);
  const { sieve, verdicts } = useSieve(p.q.find, tested);
  useEffect(() => {
    collector.added = (lines) => sieve?.test(lines, collector.ring.lines[0]?.seq ?? 0);
  }, [collector, sieve]);
  const lines = useMemo(() => pass(collector.ring.lines, sieve, p.q.hide), [collector, version, sieve, verdicts, p.q.hide]);

  const [follow, setFollow] = useState(true);
  const [cursor, setCursor] = useState<number | undefined>(undefined);
  const [wish, setWish] = useState<{ seq: number; n: number } | undefined>(undefined);
  const [missed, setMissed] = useState('');
  const time = useRef<HTMLInputElement>(null);
  const wishes = useRef(0);
  useKeys([{ key: 'f', name: follow ? 'stop following' : 'follow', shown: true, act: () => setFollow(!follow) }]);
  const jump = () => {
    const l = timeOfDay(lines, time.current!.value);
    setMissed(l ? '' : 'No line here has this time or a later one.');
    if (!l) return;
    setFollow(false);
    setCursor(l.seq);
    setWish({ seq: l.seq, n: ++wishes.current });
  };
  const at = cursor === undefined ? undefined : lines.find((l) => l.seq === cursor);
  const missing = [...collector.missing.value.values()];
  const left = collector.left.value;
  const names = collector.names();
  const several = new Set(names).size > 1;
  const dropped = collector.ring.dropped;
  return (
    <>
      <LogBar q={p.q} slow={sieve?.slow ?? ''}>
        <label class="tick">
          <input type="checkbox" checked={follow} onChange={(e) => setFollow(e.currentTarget.checked)} /> Follow
        </label>
        <form
          class="tick"
          onSubmit={(e) => {
            e.preventDefault();
            jump();
          }}
        >
          <input ref={time} type="time" step={1} aria-label="Time" />
          <button class="b" type="submit">
            Go to time
          </button>
        </form>
        <button class="b" type="button" onClick={() => void copy(textOf(lines))}>
          Copy lines
        </button>
        {at && at.file && (
          <button class="b" type="button" onClick={() => p.link(collector.origins[at.source]!, at)}>
            Link to this line
          </button>
        )}
      </LogBar>
      {missing.length > 0 && (
        <ul class="bad" role="alert" aria-label="Output that is missing">
          {missing.slice(0, 5).map((m) => (
            <li key={m}>{plain(m)}</li>
          ))}
          {missing.length > 5 && <li>and {plural(missing.length - 5, 'other task')}</li>}
        </ul>
      )}
      {missed && <p role="status">{missed}</p>}
      {error && error.status !== 0 && <Failed error={error} again={() => setAttempt(attempt + 1)} />}
      <Rows label={p.label} lines={lines} version={version + verdicts} wrap={p.q.wrap} names={several ? names : ['']} follow={follow} setFollow={setFollow} wish={wish} cursor={cursor} setCursor={setCursor} />
      <p class="sub">
        {count(lines.length)} {lines.length === 1 ? 'line' : 'lines'}
        {lines.length < collector.ring.lines.length && ` of ${count(collector.ring.lines.length)}`}
        {left > 0 && ` of the newest instances; the output of ${plural(left, 'other')} is left out`}
        {dropped > 0 && `, after ${count(dropped)} older ones that are no longer here`}
        {collector.open.value === 0 && !error && '. The log has ended'}
        {collector.open.value === 0 && !error && lines.length === 0 && ': nothing was written'}.
      </p>
    </>
  );
}
