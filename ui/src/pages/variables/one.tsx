// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

import type { ComponentChildren } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import type { Variable, VariableMetadata } from '../../api/schema';
import { del, get, put } from '../../link/link';
import { CopyLine } from '../../parts/copy';
import { Card, Facts, Head, Time } from '../../parts/page';
import { Empty, Failed, Shown } from '../../parts/states';
import { readOnly, refusal, useVerbs, type Verb } from '../../parts/verb';
import { VerbButton } from '../../parts/verbs';
import { to } from '../../shell/place';
import { useRead } from '../../store/read';
import type { Failure } from '../../worker/protocol';
import { command, inNS } from '../../words/command';
import { itemsOf, rejected } from '../../words/items';
import { variablePath } from './index';

const hideAfter = 60_000;

/** One shows a variable. Its values are read only when a person asks for them, because every read is recorded. */
export function One({ path, namespace }: { path: string; namespace: string }) {
  const list = useRead<VariableMetadata[]>(`/v1/vars?namespace=${encodeURIComponent(namespace)}&prefix=${encodeURIComponent(path)}`, { block: true });
  const [shown, show] = useState<Variable | undefined>(undefined);
  const [error, setError] = useState<Failure | undefined>(undefined);
  const meta = (list.data ?? []).find((v) => v?.Path === path);
  useEffect(() => {
    if (!shown) return;
    const timer = setTimeout(() => show(undefined), hideAfter);
    return () => clearTimeout(timer);
  }, [shown]);
  useEffect(() => show(undefined), [meta?.ModifyIndex]);
  const reveal = async () => {
    const answer = await get<Variable>(variablePath(path, namespace));
    setError(answer.error);
    show(answer.ok ? answer.body : undefined);
  };
  const change: Verb = {
    name: 'Change…',
    capability: 'variables:write',
    namespace,
    blocked: shown ? '' : 'Reveal the values first: a change replaces all of them.',
    cli: () => command('var', 'put', ...inNS(namespace), path, 'KEY=VALUE'),
    ask: {
      consequence: 'Templates that use the variable are rendered again; their tasks restart or get a signal, as their jobs say.',
      fields: [{ name: 'items', label: 'Items', kind: 'area', value: Object.entries(shown?.Items ?? {}).map(([k, v]) => `${k}=${v}`).join('\n'), hint: 'One KEY=VALUE per line. Use the command line for values of several lines.' }],
    },
    run: ({ values }) => {
      if (Object.values(shown?.Items ?? {}).some((v) => v.includes('\n'))) return Promise.resolve(rejected('A value has several lines: change it with `reeve var put`.'));
      const items = itemsOf(values.items ?? '');
      if (typeof items === 'string') return Promise.resolve(rejected(items));
      return put<Variable>(`${variablePath(path, namespace)}&cas=${shown?.ModifyIndex ?? 0}`, { Path: path, Namespace: namespace, Items: items });
    },
  };
  const remove: Verb = {
    name: 'Delete…',
    capability: 'variables:destroy',
    namespace,
    look: 'danger',
    cli: () => command('var', 'delete', ...inNS(namespace), path),
    ask: { consequence: `The variable ${path} and its values are lost. Tasks whose templates need it wait at their next start.`, type: path },
    run: () => del(`${variablePath(path, namespace)}&cas=${meta?.ModifyIndex ?? 0}`),
  };
  useVerbs([change, remove]);
  const refused = refusal('variables:read', namespace);
  return (
    <>
      <Head title={path} crumbs={[{ name: 'Variables', href: to(['variables']) }]} sentence={`Namespace ${namespace}`}>
        {meta && <VerbButton verb={change} />}
        {meta && <VerbButton verb={remove} />}
      </Head>
      <Shown read={list}>
        {() =>
          !meta ? (
            <Empty command={command('var', 'put', ...inNS(namespace), path, 'KEY=VALUE')}>No variable has this path, or it was deleted. Store it:</Empty>
          ) : (
            <div class="cols">
              <Card title="Items" sub={shown ? 'hidden again after a minute' : 'hidden'}>
                {shown ? (
                  <Facts of={Object.entries(shown.Items ?? {}).map(([k, v]): [string, ComponentChildren] => [k, <pre>{v || '(empty)'}</pre>])} />
                ) : (
                  <div class="pad btns">
                    <button type="button" class="b" aria-disabled={refused ? 'true' : undefined} title={refused} onClick={() => !refused && void reveal()}>
                      Reveal the values
                    </button>
                    <span class="sub">{refused || (readOnly.value ? '' : 'The servers record who read them.')}</span>
                  </div>
                )}
                {error && <Failed error={error} />}
                <div class="pad">
                  <CopyLine text={command('var', 'get', ...inNS(namespace), path)} />
                </div>
              </Card>
              <Card title="About">
                <Facts
                  of={[
                    ['Created', <Time of={meta.CreateTime} />],
                    ['Changed', <Time of={meta.ModifyTime} />],
                    ['Index', meta.ModifyIndex],
                    ['Lock', meta.Lock && `held, for ${meta.Lock.TTL} without a renewal`],
                  ]}
                />
              </Card>
            </div>
          )
        }
      </Shown>
    </>
  );
}
