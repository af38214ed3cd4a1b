// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

import { useEffect, useRef, useState } from 'preact/hooks';
import { asked } from './asked';
import { CopyLine } from './copy';
import { asking, failedVerb, readOnly, refusal, run, start, verbID, type Field, type Given, type Verb } from './verb';
import { Failed } from './states';

/** VerbButton offers one verb. What the token may not do is greyed, and says which capability it needs. */
export function VerbButton({ verb: v, small }: { verb: Verb; small?: boolean }) {
  if (readOnly.value) return null;
  const why = v.blocked || refusal(v.capability, v.namespace);
  const sent = asked.value.has(verbID(v));
  const id = `why-${verbID(v).replaceAll(/[^\w]/g, '-')}`;
  return (
    <>
      <button
        type="button"
        class={`b ${v.look ?? ''} ${small ? 'small' : ''}`}
        aria-disabled={why || sent ? 'true' : undefined}
        aria-describedby={why ? id : undefined}
        title={why || v.cli({ reason: '', values: {} })}
        onClick={() => !sent && start(v)}
      >
        {sent ? 'Asked' : v.name}
        {v.ask && !sent && !v.name.endsWith('…') && v.look !== 'primary' ? '…' : ''}
        {v.key && !small && <kbd aria-hidden="true">{v.key}</kbd>}
      </button>
      {why && (
        <span class="unseen" id={id}>
          {why}
        </span>
      )}
    </>
  );
}

/** VerbDialog asks the question of a verb, and shows why a verb failed. The app has one. */
export function VerbDialog() {
  const failure = failedVerb.value;
  const v = failure?.verb ?? asking.value;
  if (!v) return null;
  return <Asking key={verbID(v)} verb={v} />;
}

function Asking({ verb: v }: { verb: Verb }) {
  const ref = useRef<HTMLDialogElement>(null);
  const [given, set] = useState<Given>({
    reason: '',
    values: Object.fromEntries((v.ask?.fields ?? []).map((f) => [f.name, f.value ?? ''])),
  });
  const [typed, type] = useState('');
  const [busy, setBusy] = useState(false);
  const failure = failedVerb.value;
  useEffect(() => {
    const d = ref.current!;
    const before = document.activeElement as HTMLElement | null;
    d.showModal();
    return () => before?.focus?.();
  }, []);
  const close = () => {
    asking.value = undefined;
    failedVerb.value = undefined;
  };
  const ready = (!v.ask?.type || typed === v.ask.type) && (v.ask?.reason !== 'required' || given.reason.trim() !== '');
  const submit = async (e: Event) => {
    e.preventDefault();
    if (!ready || busy) return;
    failedVerb.value = undefined;
    setBusy(true);
    const answer = await run(v, given);
    setBusy(false);
    if (answer.ok) close();
  };
  const label = v.name.replace('…', '');
  return (
    <dialog ref={ref} class="ask-dialog" aria-labelledby="ask-title" onClose={close} onCancel={close}>
      <form method="dialog" onSubmit={(e) => void submit(e)}>
        <h2 id="ask-title">{label}</h2>
        {v.ask?.consequence && <p>{v.ask.consequence}</p>}
        {(v.ask?.fields ?? []).map((f) => (
          <FieldInput key={f.name} field={f} value={given.values[f.name] ?? ''} set={(x) => set({ ...given, values: { ...given.values, [f.name]: x } })} />
        ))}
        {v.ask?.reason && (
          <label class="field">
            <span>Reason{v.ask.reason === 'optional' ? ' (optional)' : ''}</span>
            <input value={given.reason} maxLength={512} onInput={(e) => set({ ...given, reason: e.currentTarget.value })} />
          </label>
        )}
        {v.ask?.type && (
          <label class="field">
            <span>
              Type <code>{v.ask.type}</code> to confirm
            </span>
            <input value={typed} onInput={(e) => type(e.currentTarget.value)} autocomplete="off" spellcheck={false} />
          </label>
        )}
        {failure && <Failed error={failure.answer.error!} />}
        <p class="same">
          Same as <CopyLine text={v.cli(given)} />
        </p>
        <div class="btns end">
          <button type="button" class="b" onClick={close}>
            Cancel
          </button>
          <button type="submit" class={`b ${v.look ?? 'primary'}`} aria-disabled={!ready || busy ? 'true' : undefined}>
            {failure ? 'Try again' : label}
          </button>
        </div>
      </form>
    </dialog>
  );
}

function FieldInput({ field: f, value, set }: { field: Field; value: string; set(v: string): void }) {
  const common = { required: f.required };
  return (
    <label class={`field ${f.kind}`}>
      <span>{f.label}</span>
      {f.kind === 'select' ? (
        <select {...common} value={value} onChange={(e) => set(e.currentTarget.value)}>
          {f.options!.map((o) => (
            <option key={o.value} value={o.value}>
              {o.label}
            </option>
          ))}
        </select>
      ) : f.kind === 'check' ? (
        <input type="checkbox" checked={value === 'true'} onChange={(e) => set(String(e.currentTarget.checked))} />
      ) : f.kind === 'area' ? (
        <textarea {...common} rows={6} value={value} onInput={(e) => set(e.currentTarget.value)} spellcheck={false} />
      ) : (
        <input {...common} {...({ type: f.kind, min: f.min } as object)} value={value} onInput={(e) => set(e.currentTarget.value)} spellcheck={false} />
      )}
      {f.hint && <small>{f.hint}</small>}
    </label>
  );
}
