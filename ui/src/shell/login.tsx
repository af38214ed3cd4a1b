// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

import { signal } from '@preact/signals';
import { useEffect, useState } from 'preact/hooks';
import type { ACLAuthMethodStub, OIDCAuthURLResponse } from '../api/schema';
import { logIn, login, put } from '../link/link';
import { Failed } from '../parts/states';
import { CopyLine } from '../parts/copy';
import type { Answer, Credential, Failure } from '../worker/protocol';
import { go, place, to } from './place';

const stateKey = 'reeve.oidc';

/** What survives the redirect to an identity provider. It has no secret of the cluster. */
interface Redirect {
  method: string;
  nonce: string;
  uri: string;
  back: string;
}

/** Login asks for a token, or leads to an identity provider. */
export function Login() {
  const config = login.value.config;
  const [error, setError] = useState<Failure | undefined>(undefined);
  const [busy, setBusy] = useState(false);
  const [token, setToken] = useState('');
  const finish = (answer: Answer, back: string) => {
    setBusy(false);
    if (answer.ok) go(back, true);
    else setError(answer.error);
  };
  const use = async (c: Credential, back: string) => {
    setBusy(true);
    setError(undefined);
    finish(await logIn(c), back);
  };
  const back = place.value.path[0] === 'login' || place.value.path[0] === 'oidc' ? to([]) : location.pathname + location.search;

  useEffect(() => {
    document.title = 'Log in · Reeve';
    const { path, query } = place.value;
    if (path[0] !== 'oidc') return;
    const stored = takeRedirect();
    if (!stored || !query.get('code')) {
      setError({ status: 400, code: 'invalid', message: query.get('error_description') ?? query.get('error') ?? 'This login was not begun in this tab, or has been used already.', detail: [] });
      return;
    }
    void use({ oidc: { AuthMethodName: stored.method, ClientNonce: stored.nonce, State: query.get('state') ?? '', Code: query.get('code')!, Iss: query.get('iss') ?? '', RedirectURI: stored.uri } }, stored.back);
  }, []);

  return (
    <main id="main" class="alone login">
      <h1>Log in to Reeve</h1>
      {config && (
        <p class="meta">
          Region {config.Region}, agent {config.Agent}.
        </p>
      )}
      {login.value.notice && <p role="status">{login.value.notice}</p>}
      <form
        onSubmit={(e) => {
          e.preventDefault();
          if (token.trim()) void use({ token }, back);
        }}
      >
        <label class="field">
          <span>Token</span>
          <input type="password" name="token" autocomplete="off" spellcheck={false} value={token} onInput={(e) => setToken(e.currentTarget.value)} />
          <small>The page trades it for a session of 8 hours, and forgets it.</small>
        </label>
        <button type="submit" class="b primary" aria-disabled={busy ? 'true' : undefined}>
          {busy ? 'Logging in' : 'Log in'}
        </button>
      </form>
      {(config?.AuthMethods ?? []).map((m) => m && <Method key={m.Name} of={m} back={back} failed={setError} use={use} />)}
      {(error ?? codeError.value) && <Failed error={(error ?? codeError.value)!} />}
      <p class="sub">
        Or let the command line open the page with its own login: <CopyLine text="reeve ui" />
      </p>
    </main>
  );
}

function Method({ of: m, back, failed, use }: { of: ACLAuthMethodStub; back: string; failed(f: Failure | undefined): void; use(c: Credential, back: string): Promise<void> }) {
  const [jwt, setJWT] = useState('');
  if (m.Type === 'JWT') {
    return (
      <form
        onSubmit={(e) => {
          e.preventDefault();
          if (jwt.trim()) void use({ jwt, method: m.Name ?? '' }, back);
        }}
      >
        <label class="field">
          <span>Signed token for {m.Name}</span>
          <input type="password" autocomplete="off" spellcheck={false} value={jwt} onInput={(e) => setJWT(e.currentTarget.value)} />
        </label>
        <button type="submit" class="b">
          Log in with {m.Name}
        </button>
      </form>
    );
  }
  const begin = async () => {
    const nonce = crypto.getRandomValues(new Uint8Array(16)).reduce((s, b) => s + b.toString(16).padStart(2, '0'), '');
    const uri = `${location.origin}/ui/oidc/callback`;
    const answer = await put<OIDCAuthURLResponse>('/v1/acl/oidc/auth-url', { AuthMethodName: m.Name, RedirectURI: uri, ClientNonce: nonce });
    if (!answer.ok) return failed(answer.error);
    const redirect: Redirect = { method: m.Name ?? '', nonce, uri, back };
    sessionStorage.setItem(stateKey, JSON.stringify(redirect));
    location.assign(answer.body.AuthURL ?? '');
  };
  return (
    <p>
      <button type="button" class="b" onClick={() => void begin()}>
        Log in with {m.Name}
      </button>
    </p>
  );
}

function takeRedirect(): Redirect | undefined {
  const text = sessionStorage.getItem(stateKey);
  sessionStorage.removeItem(stateKey);
  try {
    const r = JSON.parse(text ?? '') as Redirect;
    return r.back.startsWith('/ui/') ? r : undefined;
  } catch {
    return undefined;
  }
}

/** Why the code of the address was refused. */
const codeError = signal<Failure | undefined>(undefined);

/** tradeCode uses the code that `reeve ui` put into the address, and removes it from there. */
export async function tradeCode(): Promise<void> {
  const code = new URLSearchParams(location.hash.slice(1)).get('code');
  if (!code) return;
  history.replaceState(null, '', location.pathname + location.search);
  const answer = await logIn({ code });
  if (!answer.ok) codeError.value = answer.error;
}
