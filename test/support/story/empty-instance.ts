// The first people of an empty instance. They come only through public pages and routes, so a story with them begins as it
// does for a stranger.
import assert from 'node:assert/strict'
import { makeFirstAdminLink } from '#features/people/accounts/sign-up/create-first-admin.ts'
import type { TestApp } from '../app/test-app.ts'
import { mailsTo, PASSWORD } from '../http/account-steps.ts'
import { visitor } from '../http/visitor.ts'

export type StoryPerson = { id: string; username: string; token: string }

const FIRST_ADMIN = '/account/first-admin'

/** The path that the first start prints in the terminal. */
export async function firstAdminPath(t: TestApp): Promise<string> {
  return `${FIRST_ADMIN}?flow=${(await makeFirstAdminLink(t.deps)) ?? assert.fail('there is an admin')}`
}

/** Opens the printed link and fills its form. */
export async function firstAdmin(t: TestApp, username = 'olga'): Promise<StoryPerson> {
  const person = visitor(t)
  const fields = { username, email: `${username}@example.org`, password: PASSWORD }
  const answer = await person.send(await firstAdminPath(t), FIRST_ADMIN, fields)
  assert.equal(answer.statusCode, 303, answer.body)
  return signInAs(t, username)
}

/** Signs up and opens the link of the email. */
export async function signUp(t: TestApp, username: string): Promise<StoryPerson> {
  const email = `${username}@example.org`
  const made = await t.anyone.post('/_internal/auth/create', { username, email, password: PASSWORD })
  assert.ok(made.statusCode < 300, made.body)
  const mail = (await mailsTo(t, email, /Verify/)).at(-1) ?? assert.fail(`no email to ${email}`)
  const flow = /[?&]flow=(\w+)/.exec(mail)?.[1]
  const verified = await t.anyone.post('/_internal/auth/email/verify', { flow })
  assert.ok(verified.statusCode < 300, verified.body)
  return signInAs(t, username)
}

async function signInAs(t: TestApp, username: string): Promise<StoryPerson> {
  const answer = await t.anyone.post('/_internal/auth/login', { username, password: PASSWORD })
  assert.equal(answer.statusCode, 200, answer.body)
  const { session: token } = answer.json()
  const { id } = (await t.as({ token }).get('/v3/user')).json()
  return { id, username, token }
}

/** The admin makes a person a moderator. */
export async function appointModerator(t: TestApp, admin: StoryPerson, person: StoryPerson): Promise<void> {
  const answer = await t.as(admin).patch(`/v3/user/${person.id}`, { role: 'moderator' })
  assert.equal(answer.statusCode, 204, answer.body)
}
