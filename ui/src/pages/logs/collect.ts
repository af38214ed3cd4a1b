// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

// Streams of logs that run into one ring.

import { signal, type Signal } from '@preact/signals';
import type { JobLogFrame, StreamFrame } from '../../api/schema';
import { stream } from '../../link/link';
import type { Failure } from '../../worker/protocol';
import { Cutter, fromBase64, Ring, type Line } from './lines';

/** An Origin is the output of one task of one kind. */
export interface Origin {
  alloc: string;
  task: string;
  err: boolean;
  /** What the gutter shows: the instance. */
  name: string;
}

const backlog = 512 << 10;
const pause = 100;

/** A Collector follows logs. Lines that arrive together are ordered by the times that they name. */
export abstract class Collector {
  readonly ring = new Ring();
  readonly version: Signal<number> = signal(0);
  readonly error: Signal<Failure | undefined> = signal(undefined);
  /** Streams that go on. */
  readonly open: Signal<number> = signal(0);
  /** Why the output of some tasks is missing, by task. */
  readonly missing: Signal<Map<string, string>> = signal(new Map());
  /** Instances whose output is not sent, because there are too many. */
  readonly left: Signal<number> = signal(0);
  /** The sources of lines. */
  readonly origins: Origin[] = [];
  /** Called with lines that were added. */
  added: (lines: Line[]) => void = () => {};
  #pending: Line[] = [];
  #timer: ReturnType<typeof setTimeout> | undefined;
  #seq = 0;
  #ends: (() => void)[] = [];

  /** source adds a source of lines, and returns its number. */
  protected source(o: Origin): number {
    return this.origins.push(o) - 1;
  }

  /** names returns what the gutter shows for each source. */
  names(): string[] {
    return this.origins.map((o) => o.name);
  }

  /** follow reads a stream with one frame a line. */
  protected follow<Frame>(path: string, take: (frame: Frame) => void, ended: () => void): void {
    let text = '';
    this.open.value++;
    this.#ends.push(
      stream(path, {
        text: (chunk) => {
          text += chunk;
          const frames = text.split('\n');
          text = frames.pop()!;
          for (const f of frames) if (f.trim()) take(JSON.parse(f) as Frame);
        },
        end: (error) => {
          ended();
          this.open.value--;
          if (error) this.error.value = error;
        },
      }, true),
    );
  }

  protected take(source: number, lines: Omit<Line, 'seq' | 'source' | 'err'>[]): void {
    for (const l of lines) this.#pending.push({ ...l, seq: 0, source, err: this.origins[source]!.err });
    if (this.#pending.length > 0) this.#timer ??= setTimeout(() => this.#flush(), pause);
  }

  #flush(): void {
    this.#timer = undefined;
    const lines = this.#pending;
    this.#pending = [];
    if (lines.every((l) => l.time > 0)) lines.sort((a, b) => a.time - b.time);
    for (const l of lines) l.seq = ++this.#seq;
    this.ring.add(lines);
    this.added(lines);
    this.version.value++;
  }

  /** close ends all streams. */
  close(): void {
    clearTimeout(this.#timer);
    this.#ends.forEach((end) => end());
    this.#ends = [];
  }
}

/** cut takes the data of a frame, which names the offset after its data. */
const cut = (cutter: Cutter, f: { File?: string; Offset?: number; Data?: string }) => {
  const data = fromBase64(f.Data!);
  return cutter.take(f.File ?? '', (f.Offset ?? data.length) - data.length, data);
};

/** A TaskCollector follows the output of a task of an allocation, of one or both kinds. */
export class TaskCollector extends Collector {
  constructor(alloc: string, task: string, kinds: readonly ('stdout' | 'stderr')[]) {
    super();
    for (const kind of kinds) {
      const source = this.source({ alloc, task, err: kind === 'stderr', name: '' });
      const cutter = new Cutter();
      this.follow<StreamFrame>(
        `/v1/client/fs/logs/${encodeURIComponent(alloc)}?task=${encodeURIComponent(task)}&type=${kind}&follow=true&origin=end&offset=${backlog}`,
        (f) => f.Data && this.take(source, cut(cutter, f)),
        () => {
          const rest = cutter.rest();
          if (rest) this.take(source, [rest]);
        },
      );
    }
  }
}

/** A JobCollector follows the output of all instances of a job that run, in one stream. */
export class JobCollector extends Collector {
  constructor(job: string, namespace: string, choice: { group: string; task: string; type: string }) {
    super();
    const of = new Map<string, { source: number; cutter: Cutter }>();
    const query = new URLSearchParams({ namespace, ...choice, follow: 'true', origin: 'end', offset: String(backlog >> 3) });
    this.follow<JobLogFrame>(
      `/v1/job/${encodeURIComponent(job)}/logs?${query}`,
      (f) => {
        if (f.LeftOut) this.left.value = f.LeftOut;
        if (!f.Allocation) return;
        const key = `${f.Allocation} ${f.Task} ${f.Type}`;
        if (f.Event === 'failed' || this.missing.value.has(key)) {
          const missing = new Map(this.missing.value);
          if (f.Event === 'failed') missing.set(key, `${f.Instance} ${f.Task}: ${f.Error}`);
          else missing.delete(key);
          this.missing.value = missing;
        }
        if (!f.Data) return;
        let from = of.get(key);
        if (!from) {
          from = { source: this.source({ alloc: f.Allocation, task: f.Task ?? '', err: f.Type === 'stderr', name: f.Instance ?? '' }), cutter: new Cutter() };
          of.set(key, from);
        }
        this.take(from.source, cut(from.cutter, f));
      },
      () => {
        for (const { source, cutter } of of.values()) {
          const rest = cutter.rest();
          if (rest) this.take(source, [rest]);
        }
      },
    );
  }
}
