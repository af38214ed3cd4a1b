// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

// An identity provider on loopback: OpenID Connect with discovery, the code flow, PKCE and the name of the issuer in
// its answers (RFC 9207). It checks what clients send.

import { execFileSync } from 'node:child_process';
import { createHash, createPrivateKey, createPublicKey, randomUUID, sign } from 'node:crypto';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { createServer } from 'node:https';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const client = { id: 'reeve', secret: 'the secret of the client' };
const encode = (value) => Buffer.from(typeof value === 'string' ? value : JSON.stringify(value)).toString('base64url');

/** certificate makes a key and a certificate of 127.0.0.1 that verifies itself. */
function certificate() {
  const dir = mkdtempSync(join(tmpdir(), 'reeve-idp-'));
  try {
    const at = (name) => join(dir, name);
    execFileSync(
      'openssl',
      ['req', '-x509', '-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes', '-days', '2', '-subj', '/CN=idp', '-addext', 'subjectAltName=IP:127.0.0.1', '-keyout', at('key'), '-out', at('cert')],
      { stdio: 'pipe' },
    );
    return { key: readFileSync(at('key'), 'utf8'), cert: readFileSync(at('cert'), 'utf8') };
  } finally {
    rmSync(dir, { recursive: true, force: true });
  }
}

/** A Provider has one user, who confirms each login at once, or declines it. */
export class Provider {
  static async start() {
    const p = new Provider();
    Object.assign(p, certificate());
    p.user = { sub: 'ana' };
    p.declines = false;
    p.away = false; // without an answer to the agent
    p.codes = new Map();
    p.server = createServer({ key: p.key, cert: p.cert }, (request, response) => void p.answer(request, response));
    await new Promise((resolve) => p.server.listen(0, '127.0.0.1', resolve));
    p.url = `https://127.0.0.1:${p.server.address().port}`;
    return p;
  }

  /** method is an auth method that trusts the provider, for browsers at the given address. */
  method(name, redirect) {
    const config = {
      OIDCDiscoveryURL: this.url, DiscoveryCaPem: [this.cert], OIDCClientID: client.id, OIDCClientSecret: client.secret, SigningAlgs: ['ES256'],
      AllowedRedirectURIs: [redirect], ClaimMappings: { sub: 'user' },
    };
    return { Name: name, Type: 'OIDC', MaxTokenTTL: '1h', TokenLocality: 'local', TokenNameFormat: '${value.user}', Config: config };
  }

  async answer(request, response) {
    const address = new URL(request.url, this.url);
    const json = (body, status = 200) => {
      response.writeHead(status, { 'Content-Type': 'application/json' });
      response.end(JSON.stringify(body));
    };
    switch (address.pathname) {
      case '/.well-known/openid-configuration':
        return json({
          issuer: this.url, jwks_uri: `${this.url}/keys`, authorization_endpoint: `${this.url}/authorize`, token_endpoint: `${this.url}/token`,
          authorization_response_iss_parameter_supported: true,
        });
      case '/keys':
        return json({ keys: [{ ...createPublicKey(this.key).export({ format: 'jwk' }), kid: 'one', use: 'sig', alg: 'ES256' }] });
      case '/authorize':
        return this.authorize(address.searchParams, response);
      case '/token':
        return this.away ? request.socket.destroy() : this.token(request, json);
    }
    return json({ error: 'not found' }, 404);
  }

  authorize(asked, response) {
    const back = new URL(asked.get('redirect_uri'));
    const code = randomUUID();
    const answer = this.declines ? { error: 'access_denied', error_description: 'The user declined <b>this</b> login.' } : { code, state: asked.get('state'), iss: this.url };
    this.codes.set(code, asked);
    back.search = new URLSearchParams(answer).toString();
    response.writeHead(302, { Location: back.href });
    response.end();
  }

  async token(request, json) {
    let body = '';
    for await (const part of request) body += part;
    const form = new URLSearchParams(body);
    const asked = this.codes.get(form.get('code'));
    this.codes.delete(form.get('code'));
    const basic = Buffer.from((request.headers.authorization ?? '').replace('Basic ', ''), 'base64').toString();
    const [id, secret] = basic.split(':').map((part) => decodeURIComponent(part.replaceAll('+', ' ')));
    if (id !== client.id || secret !== client.secret) return json({ error: 'invalid_client' }, 400);
    const challenge = createHash('sha256').update(form.get('code_verifier') ?? '').digest('base64url');
    if (!asked || challenge !== asked.get('code_challenge') || form.get('redirect_uri') !== asked.get('redirect_uri')) return json({ error: 'invalid_grant' }, 400);
    const now = Math.floor(Date.now() / 1000);
    const claims = { iss: this.url, aud: client.id, iat: now, exp: now + 300, nonce: asked.get('nonce'), ...this.user };
    const text = `${encode({ alg: 'ES256', kid: 'one' })}.${encode(claims)}`;
    const signature = sign('sha256', Buffer.from(text), { key: createPrivateKey(this.key), dsaEncoding: 'ieee-p1363' });
    return json({ access_token: randomUUID(), token_type: 'Bearer', id_token: `${text}.${signature.toString('base64url')}` });
  }

  stop() {
    this.server.closeAllConnections();
    this.server.close();
  }
}
