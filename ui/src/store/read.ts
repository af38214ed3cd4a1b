// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

import { effect } from '@preact/signals';
import { useCallback, useEffect, useRef, useState } from 'preact/hooks';
import { get, health, login, wait } from '../link/link';
import { mayPass, type Answer, type Failure, type GaveWay, type Login } from '../worker/protocol';
import { watch, whenReleased } from './watch';

/** The result of a read: the newest answer, and why the last attempt failed. Old data stays while a new read runs. */
export interface Read<T> {
  data: T | undefined;
  error: Failure | undefined;
  /** Whether the first answer is still awaited. */
  loading: boolean;
  index: number;
  /** When the read of the answer began, as performance.now() counts: the answer has all changes of before. */
  began: number;
  /** Token of the next page of a list. */
  next: string;
  again(): void;
}

/** How a read stays true after its first answer. */
export interface ReadOptions {
  /** Topics whose events cause another read, at most two per second. */
  on?: string[];
  /** Wait for changes with a blocking query: for objects that have no topic. */
  block?: boolean;
  /** Read again every this many ms while the page is visible: for gauges only. */
  every?: number;
  /** Keep the last answer when the path changes, as for another sort order of one list. */
  keep?: boolean;
}

const pause = 500;
const blockFor = '50s';

interface State<T> {
  path: string | undefined;
  answer?: Answer<T>;
  began?: number;
  error?: Failure;
}

/** useRead reads a path of the API, and reads it again when it changes. An undefined path reads nothing. */
export function useRead<T>(path: string | undefined, o: ReadOptions = {}): Read<T> {
  const [state, set] = useState<State<T>>({ path });
  const trigger = useRef<() => void>(() => {});
  const topics = (o.on ?? []).join(' ');
  useEffect(() => {
    if (path === undefined) {
      set({ path });
      return;
    }
    const reader = new Reader<T>(path, o, (answer, began) =>
      set((s) => (answer.ok ? { path, answer, began } : { path, ...(s.path === path || o.keep ? { answer: s.answer, began: s.began } : {}), error: answer.error })),
    );
    trigger.current = () => reader.again();
    return reader.start(topics ? topics.split(' ') : []);
  }, [path, topics, o.block, o.every]);
  const current = state.path === path || o.keep ? state : { path };
  const again = useCallback(() => trigger.current(), []);
  return {
    data: current.answer?.body,
    error: current.error,
    loading: path !== undefined && !current.answer && !current.error,
    index: current.answer?.index ?? 0,
    began: current.began ?? 0,
    next: current.answer?.next ?? '',
    again,
  };
}

/** A Reader repeats one read: after events, at intervals, or as blocking queries. */
class Reader<T> {
  #path: string;
  #o: ReadOptions;
  #take: (a: Answer<T>, began: number) => void;
  #index = 0;
  #running = false;
  #dirty = false;
  #failed = false;
  #last = 0;
  #timer: ReturnType<typeof setTimeout> | undefined;
  #abort = new AbortController();

  constructor(path: string, o: ReadOptions, take: (a: Answer<T>, began: number) => void) {
    this.#path = path;
    this.#o = o;
    this.#take = take;
  }

  start(topics: string[]): () => void {
    const ends: (() => void)[] = [];
    if (topics.length > 0) {
      ends.push(
        watch({
          topics,
          events: (_, index) => index > this.#index && this.again(),
          ready: (after) => this.#index > 0 && after > this.#index && this.again(),
          reset: () => this.again(),
        }),
      );
    }
    // A failed read is repeated when the servers answer again, or when another login may read more.
    let seen: Login | undefined;
    ends.push(
      effect(() => {
        const now = login.value;
        const live = health.value.state === 'live';
        if (now.state !== 'open' && now.state !== 'session') return;
        if (now === seen && !(this.#failed && live)) return;
        seen = now;
        queueMicrotask(() => this.again());
      }),
    );
    if (this.#o.every) {
      const timer = setInterval(() => document.visibilityState === 'visible' && this.again(), this.#o.every);
      ends.push(() => clearInterval(timer));
    }
    return () => {
      ends.forEach((end) => end());
      clearTimeout(this.#timer);
      this.#abort.abort();
    };
  }

  again(): void {
    if (this.#abort.signal.aborted) return;
    if (this.#running) {
      this.#dirty = true;
      return;
    }
    if (this.#timer !== undefined) return;
    const rest = Math.max(0, this.#last + pause - Date.now());
    this.#timer = setTimeout(() => {
      this.#timer = undefined;
      void this.#read();
    }, this.#last === 0 ? 0 : rest);
  }

  async #read(): Promise<void> {
    this.#running = true;
    this.#dirty = false;
    this.#last = Date.now();
    const blocking = this.#o.block && this.#index > 0 && !this.#failed;
    if (blocking && document.visibilityState === 'hidden') {
      // A page that nobody sees leaves its connection to others.
      this.#running = false;
      document.addEventListener('visibilitychange', () => this.again(), { once: true, signal: this.#abort.signal });
      return;
    }
    const path = blocking ? `${this.#path}${this.#path.includes('?') ? '&' : '?'}index=${this.#index}&wait=${blockFor}` : this.#path;
    const began = performance.now();
    const answer = await (blocking ? wait : get)<T>(path, this.#abort.signal);
    this.#running = false;
    if (this.#abort.signal.aborted) return;
    if (answer.error?.code === ('gave-way' satisfies GaveWay)) return this.again();
    this.#failed = mayPass(answer.status);
    if (answer.ok) this.#index = answer.index;
    whenReleased(() => !this.#abort.signal.aborted && this.#take(answer, began));
    if (this.#dirty || (this.#o.block && answer.ok)) this.again();
    else if ((this.#o.block && answer.status !== 403 && answer.status !== 404) || (this.#failed && health.peek().state === 'live')) {
      // While the stream is open, nothing else says that the servers answer again.
      this.#timer = setTimeout(() => {
        this.#timer = undefined;
        void this.#read();
      }, 2_000);
    }
  }
}
