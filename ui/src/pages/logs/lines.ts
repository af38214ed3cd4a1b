// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

// Lines of logs: cutting a stream into lines, and the ring that keeps the newest.

/** A Line of a task's output. */
export interface Line {
  /** Counts up over all sources; the identity of the line on the page. */
  seq: number;
  /** Index into the sources of the view. */
  source: number;
  err: boolean;
  /** File below alloc/logs, and the offset of the line in it in bytes; with them a link finds the line again. */
  file: string;
  offset: number;
  /** The beginning of the line, at most lineLimit characters. */
  text: string;
  /** Bytes that were left out. */
  cut: number;
  /** Time in ms at which the line was captured, or that the line names; 0 if it names none. */
  time: number;
}

/** The part of a line that is kept: a task can write lines without an end. */
export const lineLimit = 16 << 10;
export const ringLines = 50_000;
const ringChars = 64 << 20;

/** A Cutter cuts the bytes of a file into lines. It holds only the beginning of a line that has not ended. */
export class Cutter {
  #held = new Uint8Array(lineLimit);
  #n = 0;
  #length = 0;
  #start = 0;
  #file = '';
  // Whether the line began before the first bytes.
  #torn = false;
  #decoder = new TextDecoder();

  /** take adds bytes that begin at an offset of a file, and returns the lines that they end. */
  take(file: string, offset: number, data: Uint8Array): Omit<Line, 'seq' | 'source' | 'err'>[] {
    const out: Omit<Line, 'seq' | 'source' | 'err'>[] = [];
    if (file !== this.#file || offset !== this.#start + this.#length) {
      if (this.#length > 0 && file !== this.#file) out.push(this.#line());
      this.#torn = this.#file === '' && offset > 0;
      this.#file = file;
      this.#start = offset;
      this.#n = this.#length = 0;
    }
    let at = 0;
    while (at < data.length) {
      let end = data.indexOf(10, at);
      const ended = end >= 0;
      if (!ended) end = data.length;
      const keep = Math.min(end - at, lineLimit - this.#n);
      this.#held.set(data.subarray(at, at + keep), this.#n);
      this.#n += keep;
      this.#length += end - at;
      at = end + (ended ? 1 : 0);
      if (!ended) break;
      out.push(this.#line());
      this.#start += this.#length + 1;
      this.#n = this.#length = 0;
    }
    return out;
  }

  /** rest returns the line that has not ended, for the end of a stream. */
  rest(): Omit<Line, 'seq' | 'source' | 'err'> | undefined {
    if (this.#length === 0) return undefined;
    const line = this.#line();
    this.#start += this.#length;
    this.#n = this.#length = 0;
    return line;
  }

  #line(): Omit<Line, 'seq' | 'source' | 'err'> {
    const text = (this.#torn ? '… ' : '') + this.#decoder.decode(this.#held.subarray(0, this.#n));
    this.#torn = false;
    return { file: this.#file, offset: this.#start, text, cut: this.#length - this.#n, time: timeIn(text) };
  }
}

const stamped = /(\d{4}-\d\d-\d\d)[T ](\d\d:\d\d:\d\d)(?:[.,](\d{1,9}))?\s?(Z|[+-]\d\d:?\d\d)?/;

/** timeIn is the time that the beginning of a line names, in ms; 0 if it names none. */
export function timeIn(text: string): number {
  const m = stamped.exec(text.slice(0, 200));
  if (!m) return 0;
  const zone = m[4] ?? 'Z';
  const t = Date.parse(`${m[1]}T${m[2]}.${(m[3] ?? '0').slice(0, 3).padEnd(3, '0')}${zone.length === 5 ? `${zone.slice(0, 3)}:${zone.slice(3)}` : zone}`);
  return Number.isFinite(t) ? t : 0;
}

/** A Ring keeps the newest lines, and counts those that it dropped. */
export class Ring {
  lines: Line[] = [];
  dropped = 0;
  #chars = 0;
  #lines: number;

  constructor(lines = ringLines) {
    this.#lines = lines;
  }

  /** add appends lines. Old lines are dropped in slices, so that it stays cheap. */
  add(lines: Line[]): void {
    for (const l of lines) {
      this.lines.push(l);
      this.#chars += l.text.length;
    }
    let drop = 0;
    let chars = this.#chars;
    while (drop < this.lines.length && (this.lines.length - drop > this.#lines || chars > ringChars)) {
      chars -= this.lines[drop]!.text.length;
      drop++;
    }
    if (drop === 0) return;
    this.#chars = chars;
    this.lines = this.lines.slice(drop);
    this.dropped += drop;
  }

  clear(): void {
    this.lines = [];
    this.dropped = this.#chars = 0;
  }
}

/** fromBase64 decodes the data of a frame. */
export function fromBase64(s: string): Uint8Array {
  const binary = atob(s);
  const out = new Uint8Array(binary.length);
  for (let i = 0; i < binary.length; i++) out[i] = binary.charCodeAt(i);
  return out;
}
