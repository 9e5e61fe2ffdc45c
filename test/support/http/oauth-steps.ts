// Steps that the tests of OAuth share, all over HTTP.
import assert from 'node:assert/strict'
import { after } from 'node:test'
import type { LightMyRequestResponse as InjectResponse } from 'fastify'
import { type TestApp, testApp } from '../app/test-app.ts'

export const BASE = '/v2/_internal/oauth'
export const CALLBACK = 'https://app.example.org/callback'
/** USER_READ + PROJECT_READ + COLLECTION_CREATE: on both sides of bit 31. */
export const SCOPES = 2 + 2048 + 2 ** 31

export type TestApplication = { id: string; secret: string }

export async function makeApplication(
  t: TestApp,
  owner: { token: string },
  fields: Record<string, unknown> = {},
): Promise<TestApplication> {
  const body = { name: 'Chart Maker', max_scopes: SCOPES, redirect_uris: [CALLBACK], ...fields }
  const answer = await t.as(owner).post(`${BASE}/app`, body)
  assert.equal(answer.statusCode, 201, answer.body)
  return { id: answer.json().id, secret: answer.json().client_secret }
}

/** Starts Depot with an application of `owner`. Depot ends after the tests of the file. */
export async function oauthApp() {
  const t = await testApp()
  after(() => t.close())
  const owner = await t.make.account()
  return { t, owner, application: await makeApplication(t, owner) }
}

export function authorize(
  t: TestApp,
  person: { token: string },
  query: Record<string, string>,
): Promise<InjectResponse> {
  return t.as(person).get(`${BASE}/authorize`, { query })
}

/** The parameters with which the person comes back to the application. */
export function parametersOf(answer: InjectResponse): Record<string, string> {
  assert.equal(answer.statusCode, 200, answer.body)
  assert.equal(answer.headers.location, answer.body)
  return Object.fromEntries(new URL(answer.body).searchParams)
}

/** A code for an application, allowed by the person. */
export async function getCode(t: TestApp, person: { token: string }, query: Record<string, string>): Promise<string> {
  const asked = await authorize(t, person, { redirect_uri: CALLBACK, ...query })
  assert.equal(asked.statusCode, 200, asked.body)
  if (asked.headers.location !== undefined) return parametersOf(asked)['code'] ?? assert.fail(asked.body)
  const accepted = await t.as(person).post(`${BASE}/accept`, { flow: asked.json().flow_id })
  return parametersOf(accepted)['code'] ?? assert.fail(accepted.body)
}

/** A post of a form; a list sends a parameter several times. */
export function postForm(
  t: TestApp,
  path: string,
  fields: Record<string, string | string[] | undefined>,
  headers: Record<string, string> = {},
): Promise<InjectResponse> {
  const form = new URLSearchParams()
  for (const [name, value] of Object.entries(fields)) {
    for (const one of [value ?? []].flat()) form.append(name, one)
  }
  const all = { 'content-type': 'application/x-www-form-urlencoded', ...headers }
  return t.anyone.post(`${BASE}/${path}`, form.toString(), { headers: all })
}

/** Exchanges a code in the specification's way; fields that are undefined are left out. */
export function exchange(
  t: TestApp,
  application: TestApplication,
  fields: Record<string, string | string[] | undefined>,
): Promise<InjectResponse> {
  const common = { client_id: application.id, client_secret: application.secret, redirect_uri: CALLBACK }
  return postForm(t, 'token', { ...common, ...fields })
}

/** A token of the application, allowed by the person. */
export async function getToken(t: TestApp, application: TestApplication, person: { token: string }): Promise<string> {
  const answer = await exchange(t, application, { code: await getCode(t, person, { client_id: application.id }) })
  assert.equal(answer.statusCode, 200, answer.body)
  return answer.json().access_token
}

export async function statusOf(t: TestApp, token: string): Promise<number> {
  return (await t.as({ token }).get('/v3/user')).statusCode
}

/** Checks the status and the error code of a token endpoint, which has its own error format. */
export function assertOAuthError(answer: InjectResponse, status: number, error: string): void {
  const body = answer.json()
  assert.deepEqual([answer.statusCode, body.error], [status, error], answer.body)
  assert.equal(body.error_description, body.description)
  assert.equal(answer.headers['cache-control'], 'no-store')
}
