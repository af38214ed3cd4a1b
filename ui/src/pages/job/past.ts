// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

// The past of a job: a replay of what the servers keep, and then the events that the page receives.

import type { Allocation, Event, EventBatch } from '../../api/schema';
import { seen, stream } from '../../link/link';
import { watch } from '../../store/watch';
import { ms } from '../../words/time';
import { addLine, lineOf, type Line, type Past } from './happened';
import type { JobRef } from './of';

/** Allocations come along for their times: an event has none, and within an index the allocation precedes its instance. */
const topics = ['Job', 'Plan', 'Deployment', 'Restart', 'Evaluation', 'Allocation', 'Instance'];
/** The servers replay what they keep at once, from their first answer on: a slow network or a busy server delays that. */
const replayFor = 2_500;

/**
 * followPast tells the past of a job, again after each change, until the result is called. It begins with the last
 * changes of the cluster, of which there are depth, before an index that the page has read.
 */
export function followPast(job: JobRef, read: number, depth: number, tell: (past: Past) => void): () => void {
  let replay = new Replay(job, Math.max(read, seen.peek()), depth, tell);
  let joined = false;
  const again = (to: number) => {
    replay.end();
    replay = new Replay(job, to, depth, tell);
  };
  const end = watch({
    topics: topics.map((t) => `${t}:${job.id}`),
    every: true,
    events: (events) => replay.receive(events),
    // The page's stream has these topics after this index: what happened until then comes from the replay.
    ready: (after) => {
      if (joined) return;
      joined = true;
      if (!replay.reach(after)) again(after);
    },
    // After a restore, what was shown did not happen.
    reset: () => {
      joined = false;
      tell({ lines: [], depth: 0, missed: false });
      again(0);
    },
  });
  return () => {
    replay.end();
    end();
  };
}

/** A Replay reads the events before now, and takes those that the page receives once it has read all up to an index. */
class Replay {
  #namespace: string;
  #tell: () => void;
  #to: number;
  #at = 0;
  #live = false;
  #early: Event[] = [];
  #lines: Line[] = [];
  #said = new Map<string, string>();
  #time = { index: 0, at: 0 };
  #missed = false;
  #rest = '';
  #timer: ReturnType<typeof setTimeout> | undefined;
  #stop: () => void;

  constructor({ id, namespace }: JobRef, to: number, depth: number, tell: (past: Past) => void) {
    const from = Math.max(1, to - depth);
    this.#namespace = namespace;
    this.#to = to;
    this.#tell = () => tell({ lines: this.#lines, depth: from > 1 ? depth : 0, missed: this.#missed });
    const query = new URLSearchParams({ namespace, index: String(from), progress: '' });
    topics.forEach((t) => query.append('topic', `${t}:${id}`));
    this.#stop = stream(`/v1/event/stream?${query}`, { text: (chunk) => this.#text(chunk), end: () => this.#goLive() });
  }

  /** reach has the replay read up to an index; false if it ended before it came there. */
  reach(index: number): boolean {
    this.#to = Math.max(this.#to, index);
    return !this.#live || index <= this.#at;
  }

  /** receive takes events of the page's stream. */
  receive(events: Event[]): void {
    if (!this.#live) {
      this.#early.push(...events);
      return;
    }
    this.#take(events.filter((e) => (e.Index ?? 0) > this.#at), Date.now());
    this.#at = Math.max(this.#at, events.at(-1)?.Index ?? 0); // the events of an index come at once
    this.#tell();
  }

  end(): void {
    this.#live = true;
    this.#tell = () => {};
    clearTimeout(this.#timer);
    this.#stop();
  }

  #text(chunk: string): void {
    if (this.#live) return;
    this.#timer ??= setTimeout(() => this.#goLive(), replayFor);
    const parts = (this.#rest + chunk).split('\n');
    this.#rest = parts.pop() ?? '';
    for (const part of parts) {
      const batch = part.trim() === '' ? {} : (JSON.parse(part) as EventBatch);
      this.#at = Math.max(this.#at, batch.Index ?? 0); // a heartbeat has one, too
      this.#missed ||= batch.Missed !== undefined;
      this.#take((batch.Events ?? []).filter((e) => e !== null), 0);
    }
    this.#tell();
    if (this.#at >= this.#to) this.#goLive();
  }

  #goLive(): void {
    if (this.#live) return;
    this.#live = true;
    clearTimeout(this.#timer);
    this.#stop();
    this.receive(this.#early.splice(0));
  }

  #take(events: Event[], now: number): void {
    for (const e of events) {
      if ((e.Namespace ?? 'default') !== this.#namespace) continue;
      const index = e.Index ?? 0;
      if (e.Topic === 'Allocation') this.#time = { index, at: ms((e.Payload?.Allocation as Allocation | undefined)?.ModifyTime) };
      const line = lineOf(e);
      if (!line) continue;
      const at = line.at || (this.#time.index === index && this.#time.at) || now;
      this.#lines = addLine(this.#lines, { ...line, at, key: `${e.Topic}:${e.Key} ${e.Index} ${e.Type}` }, this.#said);
    }
  }
}
