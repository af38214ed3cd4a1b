// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

/** linesOf yields the lines of a response as they arrive. A line longer than limit characters is cut. */
export async function* linesOf(body: ReadableStream<Uint8Array>, limit = 64 << 20): AsyncGenerator<string> {
  const reader = body.getReader();
  const decoder = new TextDecoder();
  let rest = '';
  try {
    for (;;) {
      const { done, value } = await reader.read();
      rest += done ? decoder.decode() : decoder.decode(value, { stream: true });
      let start = 0;
      for (let end = rest.indexOf('\n'); end >= 0; end = rest.indexOf('\n', start)) {
        if (end > start) yield rest.slice(start, end);
        start = end + 1;
      }
      rest = rest.slice(start);
      if (rest.length > limit) throw new Error('a line of the stream is too long');
      if (done) {
        if (rest) yield rest;
        return;
      }
    }
  } finally {
    reader.cancel().catch(() => {});
  }
}
