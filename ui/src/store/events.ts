// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

// A ring of the newest events, with those of before the page was opened.

import { signal } from '@preact/signals';
import { useEffect, useMemo } from 'preact/hooks';
import type { Event, EventBatch } from '../api/schema';
import { health, stream } from '../link/link';
import { frozen, watch } from './watch';

/** A Kept event has a key for the list, and the time at which the page received it; 0 for one of the past. */
export interface Kept {
  key: string;
  event: Event;
  received: number;
}

/** Ring keeps the newest events in the order of the servers. */
export class Ring {
  /** Oldest first. */
  list: Kept[] = [];
  #past: Kept[] = [];
  #live: Kept[] = [];
  readonly version = signal(0);
  /** Whether the past has been read: before, an empty ring does not mean that nothing has changed. */
  readonly complete = signal(false);
  /** The events that the servers keep no more, as a sentence. */
  readonly missing = signal('');
  readonly #limit: number;
  #parts = new Map<number, number>();

  constructor(limit: number) {
    this.#limit = limit;
  }

  /** clear forgets all events, before the past is read again. */
  clear(): void {
    this.#past = [];
    this.#live = [];
    this.#parts.clear();
    this.list = [];
    this.complete.value = false;
    this.missing.value = '';
  }

  /** add appends events; those of the past are before all that were received live. */
  add(events: Event[], received: number, past = false): void {
    const kept = events.map((event) => {
      const index = event.Index ?? 0;
      const part = (this.#parts.get(index) ?? 0) + 1;
      this.#parts.set(index, part);
      return { key: `${index}.${part}`, event, received };
    });
    if (past) this.#past.push(...kept);
    else this.#live.push(...kept);
    const over = this.#past.length + this.#live.length - this.#limit;
    if (over > 0) {
      this.#live.splice(0, over - this.#past.splice(0, over).length);
    }
    this.list = [...this.#past, ...this.#live];
    if (this.#parts.size > this.#limit * 2) this.#parts = new Map(this.list.map((k) => [k.event.Index ?? 0, this.#parts.get(k.event.Index ?? 0) ?? 0]));
    if (!frozen.peek()) this.version.value++;
  }
}

/** readPast reads the events from one index to another, and stops. */
function readPast(topics: string[], from: number, to: number, take: (events: Event[]) => void, missing: (text: string) => void, finished: () => void): () => void {
  const q = new URLSearchParams(topics.map((t) => ['topic', t]));
  q.set('namespace', '*');
  q.set('progress', '');
  q.set('index', String(from));
  let rest = '';
  let done = false;
  const finish = () => {
    if (done) return;
    done = true;
    stop();
    finished();
  };
  const stop = stream(`/v1/event/stream?${q}`, {
    text(chunk) {
      if (done) return;
      const found: Event[] = [];
      const lines = (rest + chunk).split('\n');
      rest = lines.pop()!;
      for (const line of lines) {
        if (!line.trim()) continue;
        const b = JSON.parse(line) as EventBatch;
        if (b.Missed) missing(`The servers keep no more events from ${b.Missed.From} to ${b.Missed.To}.`);
        // Also a heartbeat has an index: the first one ends a past without further events.
        const index = b.Index ?? 0;
        if (index <= to) for (const e of b.Events ?? []) if (e) found.push(e);
        if (index >= to) finish();
      }
      if (found.length > 0) take(found);
    },
    end(error) {
      if (error) missing(error.message);
      finish();
    },
  });
  return finish;
}

/** useRing follows events of topics. from is the index to begin with; without it a few events of the past are read. */
export function useRing(topics: string[], limit: number, past: number, from?: number): Ring {
  const ring = useMemo(() => new Ring(limit), [topics.join(' '), limit, from]);
  useEffect(() => {
    let after = -1;
    let early: Event[] = []; // received before it is known which of them the past has
    let stopPast = () => {};
    const begin = (index: number) => {
      if (after >= 0) return;
      clearInterval(timer);
      after = index;
      ring.add(early.filter((e) => (e.Index ?? 0) > after), Date.now());
      early = [];
      const first = from ?? Math.max(1, after - past);
      if (first <= after) stopPast = readPast(topics, first, after, (events) => ring.add(events, 0, true), (text) => (ring.missing.value = text), () => (ring.complete.value = true));
      else ring.complete.value = true;
    };
    // If the stream has these topics already, nobody says so; its events continue after the index of now.
    const wait = () => setInterval(() => health.peek().state === 'live' && health.peek().index > 0 && begin(health.peek().index), 400);
    let timer = wait();
    const end = watch({
      topics,
      every: true,
      events: (events) => {
        if (after < 0) early.push(...events);
        else ring.add(events.filter((e) => (e.Index ?? 0) > after), Date.now());
      },
      ready: begin,
      // After a restore, what was shown did not happen; otherwise the servers have the events that were missed, as far as they keep them.
      reset: () => {
        clearInterval(timer);
        stopPast();
        stopPast = () => {};
        ring.clear();
        early = [];
        after = -1;
        timer = wait();
      },
    });
    const release = frozen.subscribe((f) => {
      if (!f) ring.version.value = ring.version.peek() + 1;
    });
    return () => {
      end();
      release();
      clearInterval(timer);
      stopPast();
    };
  }, [ring]);
  return ring;
}
