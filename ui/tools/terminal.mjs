// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

// Draws the output of commands as an animated SVG: one screen after the other, in a loop. Readers that do not animate,
// and people who want no motion, see the screen that is marked as still.

const columns = 100;
const cell = 8.4;
const line = 20;
const margin = 18;
const bar = 34;

/** The colours of the terminal, by the number of their escape sequence. */
const colours = { 31: '#ff8a80', 32: '#57c98a', 33: '#e5b455', 34: '#74b6ff', 35: '#cf9cff', 36: '#74b6ff' };

const escape = (s) => s.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');

/** spans splits a line at its escape sequences, into texts with their looks. */
export function spans(text) {
  const out = [];
  let look = {};
  for (const part of text.split(/(\x1b\[[0-9;]*m)/)) {
    const code = /^\x1b\[([0-9;]*)m$/.exec(part);
    if (!code) {
      if (part) out.push({ text: part, ...look });
      continue;
    }
    for (const n of (code[1] || '0').split(';').map(Number)) {
      if (n === 0) look = {};
      else if (n === 1) look = { ...look, bold: true };
      else if (n === 2) look = { ...look, dim: true };
      else if (colours[n]) look = { ...look, colour: colours[n] };
    }
  }
  return out;
}

/** lines are those of an output, without what moves the cursor, and cut at the width of the terminal. */
export function lines(text) {
  return text
    .replaceAll(/\x1b\[[0-9;?]*[A-HJKSTfhl]/g, '')
    .replaceAll('\r', '')
    .trimEnd()
    .split('\n');
}

const textAt = (row, content) => `<text x="${margin}" y="${bar + margin + row * line}" xml:space="preserve">${content}</text>`;

function draws(text) {
  return spans(text)
    .map((s) => {
      const style = [s.colour && `fill="${s.colour}"`, s.dim && 'fill="#a0abb8"', s.bold && 'font-weight="600"'].filter(Boolean).join(' ');
      return style ? `<tspan ${style}>${escape(s.text)}</tspan>` : escape(s.text);
    })
    .join('');
}

/** draw draws screens, each {line, seconds, still, text}. */
export function draw(screens) {
  const rows = Math.max(...screens.map((s) => lines(s.text).length)) + 2;
  const width = Math.round(columns * cell + 2 * margin);
  const height = bar + margin + rows * line;
  const whole = screens.reduce((n, s) => n + s.seconds, 0);
  const styles = [];
  const groups = [];
  let at = 0;
  screens.forEach((s, i) => {
    const [from, to] = [(100 * at) / whole, (100 * (at + s.seconds)) / whole].map((p) => p.toFixed(2));
    at += s.seconds;
    styles.push(`@keyframes k${i}{0%{opacity:0}${from}%{opacity:1}${to}%{opacity:${at >= whole ? 1 : 0}}100%{opacity:${at >= whole ? 1 : 0}}}`);
    styles.push(`.s${i}{animation:k${i} ${whole}s step-end infinite}`);
    const prompt = textAt(0, `<tspan fill="#57c98a">$</tspan> <tspan font-weight="600">${escape(s.line)}</tspan>`);
    const output = lines(s.text).map((l, n) => (l.trim() ? textAt(n + 1, draws(l)) : '')).join('');
    groups.push(`<g class="s${i}"${s.still ? '' : ' opacity="0"'}>${prompt}${output}</g>`);
  });
  return `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}" viewBox="0 0 ${width} ${height}" role="img" aria-label="A session of the command line">
<!-- Made by ui/tools/recording.mjs from the output of real commands. -->
<style>text{font:14px ui-monospace,SFMono-Regular,Menlo,"DejaVu Sans Mono",monospace;fill:#e6eaf0;white-space:pre}@media (prefers-reduced-motion:no-preference){${styles.join('')}}</style>
<rect width="${width}" height="${height}" rx="10" fill="#0f1318"/>
<circle cx="20" cy="17" r="5" fill="#313a45"/><circle cx="38" cy="17" r="5" fill="#313a45"/><circle cx="56" cy="17" r="5" fill="#313a45"/>
${groups.join('\n')}
</svg>
`;
}
