// The routes of GitHub and Discord with which users sign in, as their documentation describes them. A code is the user: it is
// exchanged for a token of the same text.
import assert from 'node:assert/strict'
import { createServer, type IncomingMessage } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'
import type { Visitor } from '../http/visitor.ts'

/** `email`: with `verified`, as the service reports it. Default: no email address. */
export type ServiceUser = { name?: string; email?: string; verified?: boolean; id?: string }

export async function startSignInService() {
  const users = new Map<string, ServiceUser>()
  const state = { isDown: false }
  const server = createServer(async (req, res) => {
    const send = (status: number, body: unknown) =>
      res.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body))
    if (state.isDown) return void send(500, { message: 'Server Error' })
    const { pathname } = new URL(req.url ?? '', 'http://local')
    const answer = await answerTo(pathname, req, users)
    send(answer.status, answer.body)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  const client = { client_id: 'depot', client_secret: 'service-secret', issuer: url }
  return {
    users,
    state,
    settings: JSON.stringify([
      { kind: 'github', ...client },
      { kind: 'discord', ...client },
    ]),
    close: () => {
      server.close()
      server.closeAllConnections()
    },
  }
}

type Answer = { status: number; body: unknown }

async function answerTo(path: string, req: IncomingMessage, users: ReadonlyMap<string, ServiceUser>): Promise<Answer> {
  if (req.method === 'POST') return exchange(path, new URLSearchParams(await text(req)))
  const code = (req.headers.authorization ?? '').replace('Bearer ', '')
  const { name = code, email, verified = false, id = code } = users.get(code) ?? {}
  const number = Number.parseInt(Buffer.from(id).toString('hex').slice(0, 12), 16)
  if (path === '/api/v3/user') return { status: 200, body: { id: number, login: name } }
  if (path === '/api/v3/user/emails') {
    const emails = email === undefined ? [] : [{ email, primary: true, verified, visibility: null }]
    return { status: 200, body: emails }
  }
  if (path === '/api/users/@me')
    return { status: 200, body: { id: String(number), username: name, email: email ?? null, verified } }
  return { status: 404, body: { message: 'Not Found' } }
}

function exchange(path: string, form: URLSearchParams): Answer {
  const isComplete =
    form.get('client_secret') === 'service-secret' &&
    form.get('client_id') === 'depot' &&
    (form.get('code_verifier') ?? '').length >= 43 &&
    (form.get('redirect_uri') ?? '').startsWith('https://depot.test/account/sign-in/callback/')
  const code = form.get('code') ?? ''
  const isGitHub = path === '/login/oauth/access_token'
  if (!isComplete || code === 'unknown') {
    // GitHub reports errors with the status 200.
    return isGitHub
      ? {
          status: 200,
          body: { error: 'bad_verification_code', error_description: 'The code is incorrect or expired.' },
        }
      : { status: 400, body: { error: 'invalid_grant', error_description: 'Invalid "code" in request.' } }
  }
  if (isGitHub)
    return { status: 200, body: { access_token: code, token_type: 'bearer', scope: 'read:user,user:email' } }
  assert.equal(path, '/api/oauth2/token')
  const token = { access_token: code, token_type: 'Bearer', expires_in: 604_800, refresh_token: 'x', scope: 'identify' }
  return { status: 200, body: token }
}

type Start = { provider: string; purpose?: 'sign-in' | 'link' | 'confirm'; returnTo?: string; undoDeletion?: boolean }

/** Presses a button for a provider; returns the page of the provider, to which the browser is sent. */
export async function startAs(
  person: Visitor,
  { provider, purpose = 'sign-in', returnTo = '', undoDeletion = false }: Start,
): Promise<URL> {
  const page = purpose === 'sign-in' ? '/account/sign-in' : '/account/security'
  const fields = { provider, purpose, return: returnTo, undo_deletion: undoDeletion ? 'yes' : '' }
  const started = await person.send(page, '/account/sign-in/provider', fields)
  assert.equal(started.statusCode, 200, started.body)
  const url = /http-equiv="refresh" content="0; url=([^"]+)"/.exec(started.body)?.[1] ?? assert.fail(started.body)
  return new URL(url.replaceAll('&amp;', '&'))
}

/** Signs in at a provider as the user of a code, and comes back. */
export async function answerAs(person: Visitor, { code, ...start }: Start & { code: string }) {
  const url = await startAs(person, start)
  const query = new URLSearchParams({ code, state: url.searchParams.get('state') ?? '' })
  return person.get(`/account/sign-in/callback/${start.provider}?${query}`)
}
