// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

// What this tab watches: the topics of its pages, and who receives which events.

import { effect, signal } from '@preact/signals';
import type { Event } from '../api/schema';
import { listeners, watchTopics } from '../link/link';

/** A Watcher receives the changes of its topics. */
export interface Watcher {
  /** Topics, such as Job or Instance:web. */
  topics: string[];
  /** Whether it needs every event in order, and not only the newest of each object. */
  every?: boolean;
  events(events: Event[], index: number): void;
  /** The stream is complete after this index: an older list must be read again. */
  ready?(after: number): void;
  /** Changes were missed: read everything again. */
  reset(): void;
}

/** frozen stops the page from changing until it is released. */
export const frozen = signal(false);

const watchers = new Set<Watcher>();
let announced = '';
let scheduled = false;

/** watch adds a watcher; the result removes it. */
export function watch(w: Watcher): () => void {
  watchers.add(w);
  schedule();
  return () => {
    watchers.delete(w);
    schedule();
  };
}

/** schedule announces the topics once per task, so that a change of page is one change of the stream. */
function schedule(): void {
  if (scheduled) return;
  scheduled = true;
  setTimeout(() => {
    scheduled = false;
    const topics = new Set<string>();
    let every = false;
    for (const w of watchers) {
      w.topics.forEach((t) => topics.add(t));
      every ||= w.every ?? false;
    }
    const list = [...topics].sort();
    const key = `${every} ${list.join(' ')}`;
    if (key === announced) return;
    announced = key;
    watchTopics(list, every);
  });
}

/** matches reports whether an event belongs to a topic selection. */
export function matches(topic: string, e: Event): boolean {
  const at = topic.indexOf(':');
  if (at < 0) return topic === '*' || topic === e.Topic;
  const key = topic.slice(at + 1);
  return topic.slice(0, at) === e.Topic && (key === e.Key || (e.FilterKeys?.includes(key) ?? false));
}

listeners.add({
  events(events, index, every) {
    for (const w of watchers) {
      const from = w.every ? (every ?? []) : events;
      const own = from.filter((e) => w.topics.some((t) => matches(t, e)));
      if (own.length > 0) w.events(own, index);
    }
  },
  watching(topics, after) {
    const open = new Set(topics);
    for (const w of watchers) if (w.topics.every((t) => open.has(t))) w.ready?.(after);
  },
  reset() {
    watchers.forEach((w) => w.reset());
  },
});

/** whenReleased runs f now, or when the page is no longer frozen. The result cancels it. */
export function whenReleased(f: () => void): () => void {
  if (!frozen.peek()) {
    f();
    return () => {};
  }
  const stop = effect(() => {
    if (frozen.value) return;
    queueMicrotask(() => {
      stop();
      f();
    });
  });
  return stop;
}
