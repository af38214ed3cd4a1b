// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

// The login: which token the worker uses, until when, and what it may do.

import type { ACLToken, UICode, UIConfig, UISession } from '../api/schema';
import { ask, secret } from './ask';
import type { Answer, Credential, Login, Rights } from './protocol';

const renewEvery = 10 * 60_000;
const checkEvery = 5_000;

export class Session {
  login: Login = { state: 'unknown' };
  #tell: (l: Login) => void;
  #renewed = 0;
  #checked = 0;
  #expiry: ReturnType<typeof setTimeout> | undefined;

  constructor(tell: (l: Login) => void) {
    this.#tell = tell;
  }

  /** begin asks the agent whether callers without a token are admitted. It repeats that until an agent answers. */
  async begin(): Promise<void> {
    const config = await this.#config();
    if (!config) {
      setTimeout(() => void this.begin(), 1_000);
      return;
    }
    if (this.login.state !== 'unknown') return;
    await this.#set(secret.value ? 'session' : config.Admitted ? 'open' : 'needed', config);
  }

  /** logIn trades a credential for a session of the web UI. The credential is forgotten. */
  async logIn(c: Credential): Promise<Answer> {
    const before = secret.value;
    const session = await this.#trade(c);
    if (!session.ok) {
      secret.value = before;
      return session;
    }
    const token = (session.body as UISession).Token as ACLToken;
    secret.value = token.SecretID ?? '';
    this.#renewed = Date.now();
    this.#expire(session.body as UISession);
    const config = (await this.#config()) ?? this.login.config;
    await this.#set('session', config, { name: token.Name, accessor: token.AccessorID });
    return { ...session, body: undefined };
  }

  async #trade(c: Credential): Promise<Answer> {
    let code = '';
    if ('code' in c) {
      code = c.code;
    } else {
      if ('token' in c) {
        secret.value = c.token.trim();
        const known = await this.#known();
        if (known !== undefined) return known;
      } else {
        secret.value = '';
        const login =
          'jwt' in c
            ? await ask({ method: 'PUT', path: '/v1/acl/login', body: { AuthMethodName: c.method, LoginToken: c.jwt.trim() } })
            : await ask({ method: 'PUT', path: '/v1/acl/oidc/complete-auth', body: c.oidc });
        if (!login.ok) return login;
        secret.value = (login.body as ACLToken).SecretID ?? '';
      }
      const made = await ask({ method: 'PUT', path: '/v1/ui/code', body: {} });
      if (!made.ok) return made;
      code = (made.body as UICode).Code ?? '';
    }
    secret.value = '';
    return ask({ method: 'PUT', path: '/v1/ui/session', body: { Code: code } });
  }

  /**
   * known returns the refusal of a token that the agent does not know. A trusted user of the agent's machine is
   * admitted whatever the token is, so the answer to a request does not tell.
   */
  async #known(): Promise<Answer | undefined> {
    const answer = await ask({ method: 'GET', path: '/v1/ui/config' });
    if (answer.ok && (answer.body as UIConfig).ACL && (answer.body as UIConfig).Admitted) return undefined;
    if (answer.status === 0) return answer;
    const message = 'The agent does not know this token: it is mistyped, deleted or expired, or belongs to another cluster.';
    return { ...answer, ok: false, status: 403, body: undefined, error: { status: 403, code: 'forbidden', message, detail: [] } };
  }

  /** logOut deletes the token of the session. */
  async logOut(): Promise<void> {
    if (secret.value) await ask({ method: 'DELETE', path: '/v1/acl/token/self' });
    await this.#over('');
  }

  /** active notes that the user does something, and extends the session when it is due. */
  async active(): Promise<void> {
    if (!secret.value || Date.now() - this.#renewed < renewEvery) return;
    this.#renewed = Date.now();
    const renewed = await ask({ method: 'PUT', path: '/v1/ui/session/renew', body: {} });
    if (renewed.ok) this.#expire(renewed.body as UISession);
    else if (renewed.status === 403) await this.check(true);
  }

  /** check finds out whether the session has ended after a request was refused. */
  async check(now = false): Promise<void> {
    if (!now && Date.now() - this.#checked < checkEvery) return;
    this.#checked = Date.now();
    const answer = await ask({ method: 'GET', path: '/v1/ui/config' });
    if (answer.status === 0) return;
    if (secret.value && (!answer.ok || !(answer.body as UIConfig).Admitted || !(answer.body as UIConfig).ACL)) {
      await this.#over('Your session has ended. Log in again.');
    } else if (answer.ok) {
      const config = answer.body as UIConfig;
      await this.#set(secret.value ? 'session' : config.Admitted ? 'open' : 'needed', config, this.login);
    }
  }

  #expire(s: UISession): void {
    clearTimeout(this.#expiry);
    const at = Date.parse(s.Token?.ExpirationTime ?? '');
    this.login.ends = Number.isFinite(at) && at > 0 ? at : 0;
    if (this.login.ends) {
      this.#expiry = setTimeout(() => void this.check(true), Math.min(this.login.ends - Date.now() + 500, 2 ** 31 - 1));
    }
  }

  async #over(notice: string): Promise<void> {
    secret.value = '';
    clearTimeout(this.#expiry);
    const config = (await this.#config()) ?? this.login.config;
    this.login = { state: 'unknown' };
    await this.#set(config?.Admitted ? 'open' : 'needed', config, { notice });
  }

  async #config(): Promise<UIConfig | undefined> {
    const answer = await ask({ method: 'GET', path: '/v1/ui/config' });
    if (answer.ok) return answer.body as UIConfig;
    if (answer.status === 403 && secret.value) {
      secret.value = '';
      return this.#config();
    }
    return undefined;
  }

  async #set(state: Login['state'], config: UIConfig | undefined, more: Partial<Login> = {}): Promise<void> {
    const rights = state === 'needed' ? undefined : await this.#rights();
    const next = { ends: this.login.ends, name: more.name, accessor: more.accessor, notice: more.notice, state, config, rights };
    if (JSON.stringify(next) === JSON.stringify(this.login)) return;
    this.login = next;
    this.#tell(this.login);
  }

  async #rights(): Promise<Rights | undefined> {
    const answer = await ask({ method: 'GET', path: '/v1/ui/rights' });
    return answer.ok ? (answer.body as Rights) : undefined;
  }
}
