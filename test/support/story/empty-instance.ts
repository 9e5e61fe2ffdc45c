// The first people of an empty instance. They come only through public pages and routes, so a story with them begins as it
// does for a stranger.
import assert from 'node:assert/strict'
import { GRANTABLE_SCOPES } from '#features/basics/access/scopes.ts'
import { makeFirstAdminLink } from '#features/people/accounts/sign-up/create-first-admin.ts'
import { DAY_MS } from '#lib/time.ts'
import type { TestApp } from '../app/test-app.ts'
import { mailsTo, PASSWORD } from '../http/account-steps.ts'
import { form, modJar, projectData, versionData } from '../http/forms.ts'
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

/** Creates an access token for a program of the author. */
export async function makeToken(t: TestApp, author: StoryPerson): Promise<string> {
  const body = { name: 'Build', scopes: GRANTABLE_SCOPES, expires: new Date(t.deps.now() + 30 * DAY_MS).toISOString() }
  const answer = await t.as(author).post('/_internal/pat', body)
  assert.ok(answer.statusCode < 300, answer.body)
  return answer.json().access_token
}

/** Creates a project that is a draft; returns its ID. */
export async function makeProject(t: TestApp, token: string, slug: string): Promise<string> {
  const { payload, headers } = await form(projectData(slug, { name: slug }))
  const answer = await t.as({ token }).post('/v3/project', payload, { headers })
  assert.ok(answer.statusCode < 300, answer.body)
  return answer.json().id
}

/** Uploads a version with a file. */
export async function publish(
  t: TestApp,
  token: string,
  { query = '', ...fields }: Record<string, unknown> & { project_id: string; version_number: string; query?: string },
) {
  const bytes = modJar(`${fields.project_id} ${fields.version_number}`)
  const { payload, headers } = await form(versionData(fields), [{ name: 'file', bytes }])
  const answer = await t.as({ token }).post(`/v3/version${query}`, payload, { headers })
  assert.ok(answer.statusCode < 300, answer.body)
  return answer.json()
}

/** Submits a project; the moderator takes it from the queue and approves what they have seen. */
export async function approve(t: TestApp, token: string, moderator: StoryPerson, project: string): Promise<void> {
  const submitted = await t.as({ token }).patch(`/v3/project/${project}`, { status: 'processing' })
  assert.equal(submitted.statusCode, 204, submitted.body)
  const next = await t.as(moderator).post('/_internal/moderation/projects/next', {})
  assert.equal(next.json().project.id, project, next.body)
  const { seen } = (await t.as(moderator).get(`/_internal/moderation/projects/${project}/changes`)).json()
  const decided = await t.as(moderator).patch(`/v3/project/${project}`, { status: 'approved', seen })
  assert.equal(decided.statusCode, 204, decided.body)
}
