// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

import { useEffect, useRef, useState } from 'preact/hooks';
import type { ExecOutput } from '../../api/schema';
import { code } from '../../link/code';
import { socket, type Socket } from '../../link/link';
import { readOnly, refusal } from '../../parts/verb';
import { CopyLine } from '../../parts/copy';
import { setQuery, place } from '../../shell/place';
import { command, inNS } from '../../words/command';
import { short } from '../../words/count';
import { fromBase64 } from '../logs/lines';
import type { Screen } from './terminal';

const remembered = 'reeve.exec';

/** wordsOf splits a command line at spaces; quotes hold words together. */
export function wordsOf(line: string): string[] {
  const out: string[] = [];
  for (const m of line.matchAll(/(?:[^\s"']+|"[^"]*"|'[^']*')+/g)) out.push(m[0].replace(/"([^"]*)"|'([^']*)'/g, (_, d?: string, s?: string) => d ?? s ?? ''));
  return out;
}

function toBase64(text: string): string {
  let binary = '';
  for (const b of new TextEncoder().encode(text)) binary += String.fromCharCode(b);
  return btoa(binary);
}

type State = { is: 'choice' } | { is: 'opening' | 'open' } | { is: 'over'; said: string; bad: boolean };

/** Exec runs a command in a task, on a terminal. It goes on while other tabs of the page are shown. */
export function Exec({ alloc, namespace, tasks, runs }: { alloc: string; namespace: string | undefined; tasks: string[]; runs(task: string): boolean }) {
  const asked = place.value.query.get('task');
  const [task, setTask] = useState(asked && tasks.includes(asked) ? asked : (tasks[0] ?? ''));
  const [line, setLine] = useState(() => localStorage.getItem(remembered) ?? '/bin/sh');
  const [state, set] = useState<State>({ is: 'choice' });
  const box = useRef<HTMLDivElement>(null);
  const leave = useRef<HTMLButtonElement>(null);
  const session = useRef<{ screen?: Screen; socket?: Socket; ended: boolean }>({ ended: true });
  const why = refusal('alloc-exec', namespace) || (readOnly.value ? 'This UI is read-only.' : '') || (runs(task) ? '' : tasks.some(runs) ? `The task ${task} does not run.` : 'No task runs.');
  const words = wordsOf(line);

  const end = () => {
    const s = session.current;
    s.ended = true;
    s.socket?.close();
    s.screen?.end();
    session.current = { ended: true };
  };
  useEffect(() => end, []);

  const start = async () => {
    end();
    localStorage.setItem(remembered, line);
    set({ is: 'opening' });
    const mine: typeof session.current = { ended: false };
    session.current = mine;
    const terminal = await code(() => import('./terminal'), () => !mine.ended);
    if (!terminal || mine.ended) return;
    const over = (said: string, bad: boolean) => {
      if (mine.ended) return;
      mine.ended = true;
      set({ is: 'over', said, bad });
    };
    mine.screen = terminal.open(box.current!, {
      data: (text) => mine.ended || mine.socket?.send({ stdin: { data: toBase64(text) } }),
      resize: (width, height) => mine.ended || mine.socket?.send({ tty_size: { width, height } }),
      leave: () => leave.current?.focus(),
    });
    const path = `/v1/client/allocation/${encodeURIComponent(alloc)}/exec?task=${encodeURIComponent(task)}&tty=true&command=${encodeURIComponent(JSON.stringify(words))}`;
    mine.socket = socket(path, {
      text(chunk) {
        if (mine.ended) return;
        if (chunk === '') {
          set({ is: 'open' });
          mine.socket!.send({ tty_size: mine.screen!.size() });
          mine.screen!.focus();
          return;
        }
        const m = JSON.parse(chunk) as ExecOutput;
        for (const io of [m.stdout, m.stderr]) if (io?.data) mine.screen!.write(fromBase64(io.data));
        if (m.exited) over(`The command ended with exit code ${m.result?.exit_code ?? 0}.`, (m.result?.exit_code ?? 0) !== 0);
      },
      end: (error) => over(error ? `The session ended: ${error.message || 'the connection was closed'}.` : 'The session ended.', error !== undefined),
    });
  };
  const going = state.is === 'opening' || state.is === 'open';
  return (
    <section class="exec" aria-label="Exec">
      <form
        class="log-bar"
        onSubmit={(e) => {
          e.preventDefault();
          if (!why && words.length > 0 && !going) void start();
        }}
      >
        <label class="tick">
          Task
          <select
            value={task}
            disabled={going}
            onChange={(e) => {
              setTask(e.currentTarget.value);
              setQuery('task', e.currentTarget.value);
            }}
          >
            {tasks.map((t) => (
              <option key={t} value={t}>
                {t}
              </option>
            ))}
          </select>
        </label>
        <label class="tick">
          Command
          <input value={line} disabled={going} spellcheck={false} maxLength={2_000} onInput={(e) => setLine(e.currentTarget.value)} />
        </label>
        {going ? (
          <button key="end" ref={leave} class="b" type="button" onClick={() => {
            end();
            set({ is: 'over', said: 'You ended the session.', bad: false });
          }}>
            End session
          </button>
        ) : (
          <button key="run" ref={leave} class="b" type="submit" aria-disabled={why || words.length === 0 ? 'true' : undefined} title={why || undefined}>
            {state.is === 'over' ? 'Run again' : 'Run'}
          </button>
        )}
        <span class="sub">
          <kbd>Shift Esc</kbd> leaves the terminal
        </span>
      </form>
      {why && <p class="sub">{why}</p>}
      <p class={state.is === 'over' && state.bad ? 'bad' : ''} role="status">
        {state.is === 'over' ? state.said : state.is === 'opening' ? 'Connecting' : ''}
      </p>
      <div class={`exec-screen ${state.is === 'choice' ? 'unused' : ''}`} ref={box} />
      <p class="same sub">
        Same as <CopyLine text={command('alloc', 'exec', ...inNS(namespace), '-task', task, short(alloc), ...words)} />
      </p>
    </section>
  );
}
