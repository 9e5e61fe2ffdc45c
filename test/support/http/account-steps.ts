// Steps that the tests of accounts share, all over HTTP.
import assert from 'node:assert/strict'
import { hash } from '@node-rs/argon2'
import type { LightMyRequestResponse as InjectResponse } from 'fastify'
import { Secret, TOTP } from 'otpauth'
import type { TestApp } from '../app/test-app.ts'

export const PASSWORD = 'lantern glass orbit 77'
export const OTHER_PASSWORD = 'seven violet teapots 31'

export type Member = { id: string; username: string; email: string; token: string; sessionId: string }

let passwordHash: Promise<string> | undefined

/** An account with `PASSWORD` and a session; made by SQL and with a cheap hash, since only signing up itself needs the slow checks. */
export async function makeMember(
  t: TestApp,
  fields: { username?: string; email_verified?: boolean } = {},
): Promise<Member> {
  const person = await t.make.account(fields)
  passwordHash ??= hash(PASSWORD, { memoryCost: 8, timeCost: 1 })
  const password_hash = await passwordHash
  await t.deps.db.updateTable('account').set({ password_hash }).where('id', '=', person.id).execute()
  const session = await t.deps.db
    .selectFrom('session')
    .select('id')
    .where('account_id', '=', person.id)
    .executeTakeFirstOrThrow()
  return { ...person, sessionId: session.id }
}

export function signIn(t: TestApp, username: string, password = PASSWORD): Promise<InjectResponse> {
  return t.anyone.post('/_internal/auth/login', { username, password })
}

/** Status, error word and, where given, the field of an answer. */
export function assertError(answer: InjectResponse, status: number, error: string, field?: string): void {
  const body = answer.json()
  assert.deepEqual([answer.statusCode, body.error], [status, error], answer.body)
  if (field !== undefined) assert.equal(body.details?.field, field, answer.body)
}

/** Sends each value for a field and expects `validation_error` naming it. `absent` stands for leaving it out. */
export async function assertRefusedValues(
  send: (body: Record<string, unknown>) => Promise<InjectResponse>,
  valid: Record<string, unknown>,
  field: string,
  values: readonly unknown[],
): Promise<void> {
  for (const value of values) {
    const { [field]: _, ...rest } = valid
    assertError(await send(value === ABSENT ? rest : { ...rest, [field]: value }), 400, 'validation_error', field)
  }
}
export const ABSENT = Symbol('absent')

/** Statuses of answers, sorted. */
export function statuses(answers: readonly InjectResponse[]): number[] {
  return answers.map(({ statusCode }) => statusCode).sort()
}

/** Runs the due jobs and returns the emails to an address whose subject matches, oldest first. */
export async function mailsTo(t: TestApp, address: string, subject: RegExp): Promise<string[]> {
  await t.runJobs()
  const all = await t.mails()
  return all.filter((mail) => {
    const head = mail.slice(0, mail.indexOf('\r\n\r\n'))
    return head.includes(`To: ${address}`) && subject.test(/^Subject: (.*)$/m.exec(head)?.[1] ?? '')
  })
}

/** Returns the secret in the link of the newest matching email; the link is alone on its line. */
export async function mailedFlow(t: TestApp, address: string, subject: RegExp): Promise<string> {
  const mail = (await mailsTo(t, address, subject)).at(-1)
  assert.ok(mail !== undefined, `no mail to ${address} about ${subject}`)
  const flow = /^https:\/\/depot\.test\/\S+[?&]flow=([0-9A-Za-z]+)\r$/m.exec(mail)?.[1]
  assert.ok(flow !== undefined, mail)
  return flow
}

/** The code an authenticator program shows, `steps` half minutes from the application's present. */
export function totpCode(t: TestApp, secret: string, steps = 0): string {
  return new TOTP({ secret: Secret.fromBase32(secret) }).generate({ timestamp: t.deps.now() + steps * 30_000 })
}

/** Turns two-factor sign-in on; the code of the present step is used up by it, so the clock moves on to the next. */
export async function enableTwoFactor(t: TestApp, member: Member): Promise<{ secret: string; backupCodes: string[] }> {
  const { secret, flow } = (await t.as(member).post('/_internal/auth/2fa/get_secret')).json()
  const answer = await t.as(member).post('/_internal/auth/2fa', { flow, code: totpCode(t, secret) })
  assert.equal(answer.statusCode, 200, answer.body)
  t.advance(30_000)
  return { secret, backupCodes: answer.json().backup_codes }
}
