// One item of everything that acts for an account, made for one member, with a function that uses it. The kinds are those of
// `src/features/people/revocation/access-table.ts`.
import assert from 'node:assert/strict'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { ALL_PROJECT_PERMISSIONS } from '#features/basics/access/permissions.ts'
import { GRANTABLE_SCOPES, scopeNames } from '#features/basics/access/scopes.ts'
import { createDispatcher } from '#features/exchange/webhooks/dispatch/dispatcher.ts'
import { insertFlow } from '#features/people/accounts/mail/flows.ts'
import type { AccessKind } from '#features/people/revocation/access-table.ts'
import { newId } from '#lib/ids.ts'
import { DAY_MS } from '#lib/time.ts'
import type { TestApp } from '../app/test-app.ts'
import type { Person } from '../factories/factories.ts'
import type { Owned } from '../factories/team-factories.ts'
import { publisherToken } from '../factories/token-factories.ts'
import type { Receiver } from '../stand-ins/receiver.ts'
import { answerAs } from '../stand-ins/sign-in-service.ts'
import { enableTwoFactor, type Member, PASSWORD, signIn, totpCode } from './account-steps.ts'
import { addPasskey, signInWithPasskey } from './authenticator.ts'
import { form, modJar, versionData } from './forms.ts'
import { exchange, getCode, getToken, makeApplication } from './oauth-steps.ts'
import { visitor } from './visitor.ts'

/** `acts`: does everything for the account. `limited`: works, but cannot change the project of the group any more. */
export type Use = 'acts' | 'limited' | 'nothing'

export type AccessItem = {
  use(): Promise<Use>
  /** Whether one use consumes the item, so that a test uses it only once. */
  isSingleUse?: boolean
  /** Whether to use it after all others, because it ends them. */
  isLast?: boolean
}

export type AccessWorld = {
  t: TestApp
  /** The member for whom everything acts, and the owner of the organization. */
  member: Member
  keeper: Person
  organization: Owned
  /** A project of the organization that the public cannot see. */
  project: Owned
  receiver: Receiver
}

/** A code host that knows one user for each token. */
export async function startCodeHost(): Promise<{ url: string; close(): void }> {
  const server = createServer((req, res) => {
    const id = req.headers.authorization?.replace('Bearer ghp_', '')
    res.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify({ login: 'someone', id }))
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const close = (): void => {
    server.close()
    server.closeAllConnections()
  }
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, close }
}

const expires = (t: TestApp) => new Date(t.deps.now() + DAY_MS).toISOString()

/** Uses a token to read its account and to change the project. */
async function useOf({ t, project }: AccessWorld, token: string): Promise<Use> {
  if ((await t.as({ token }).get('/v3/user')).statusCode === 401) return 'nothing'
  const change = await t.as({ token }).patch(`/v3/project/${project.id}`, { summary: `A light ${newId()}` })
  return change.statusCode === 204 ? 'acts' : 'limited'
}

const worksIf = (works: boolean): Use => (works ? 'acts' : 'nothing')

/** Makes one item of each kind. */
export async function makeAccessItems(world: AccessWorld): Promise<Record<AccessKind, AccessItem>> {
  const { t, member } = world
  const session = await t.make.session(member.id)
  const pat = await t.make.pat(member, GRANTABLE_SCOPES)
  return {
    sessions: { use: () => useOf(world, session) },
    access_tokens: { use: () => useOf(world, pat.token) },
    ...(await oauthItems(world)),
    ...(await linkItems(world)),
    passkeys: await passkeyItem(world),
    provider_links: await providerItem(world),
    secret_feeds: await feedItem(world),
    code_host: await codeHostItem(world),
    service_tokens: await serviceTokenItem(world),
    webhooks: await webhookItem(world),
    trusted_publishers: await publisherItem(world),
  }
}

async function oauthItems(world: AccessWorld) {
  const { t, member, keeper } = world
  const fields = { max_scopes: GRANTABLE_SCOPES }
  const [granted, coded] = [await makeApplication(t, keeper, fields), await makeApplication(t, keeper, fields)]
  const scope = scopeNames(GRANTABLE_SCOPES).join(' ')
  const token = await getToken(t, granted, member)
  const code = await getCode(t, member, { client_id: coded.id, scope })
  const useCode = async (): Promise<Use> => {
    const answer = await exchange(t, coded, { code })
    return answer.statusCode === 200 ? useOf(world, answer.json().access_token) : 'nothing'
  }
  return { oauth_grants: { use: () => useOf(world, token) }, oauth_codes: { use: useCode, isSingleUse: true } }
}

async function linkItems({ t, member }: AccessWorld) {
  const { db, now } = t.deps
  const { secret } = await enableTwoFactor(t, member)
  const started = (await signIn(t, member.username, PASSWORD)).json()
  assert.equal(started.error, '2fa_required')
  const { email } = member
  const flowOf = (kind: 'verify_email' | 'reset_password' | 'undo_email_change', data: Record<string, unknown>) =>
    insertFlow(db, { kind, accountId: member.id, data, now: now() })
  const verify = await flowOf('verify_email', { email })
  const reset = await flowOf('reset_password', { email })
  const undo = await flowOf('undo_email_change', { email, had_two_factor: true, changed_at: now() })
  const send = async (path: string, body: object): Promise<Use> =>
    worksIf((await t.anyone.post(`/_internal/auth/${path}`, body)).statusCode < 300)
  const setPassword = { flow: reset, new_password: 'copper kettle nineteen', end_tokens: false }
  return {
    sign_ins: { use: () => send('login/2fa', { flow: started.flow, code: totpCode(t, secret) }), isSingleUse: true },
    email_changes: { use: () => send('email/verify', { flow: verify }), isSingleUse: true },
    password_links: {
      use: async () => worksIf((await t.anyone.patch('/_internal/auth/password', setPassword)).statusCode === 204),
      isSingleUse: true,
      isLast: true,
    },
    undo_links: { use: () => send('email/undo', { flow: undo }), isSingleUse: true, isLast: true },
  }
}

async function feedItem({ t, member }: AccessWorld): Promise<AccessItem> {
  const feed = (await t.as(member).post(`/v3/user/${member.id}/feed`)).json()
  const url = Object.values<string>(feed).find((value) => value.startsWith('https:')) ?? assert.fail('no address')
  return { use: async () => worksIf((await t.anyone.get(new URL(url).pathname)).statusCode === 200) }
}

async function passkeyItem({ t, member }: AccessWorld): Promise<AccessItem> {
  const { authenticator } = await addPasskey(t, member)
  return { use: async () => worksIf((await signInWithPasskey(t, authenticator)).statusCode === 200) }
}

/** Needs the provider `github` of `startSignInService` in the settings. */
async function providerItem({ t, member }: AccessWorld): Promise<AccessItem> {
  const code = newId()
  const link = await answerAs(visitor(t, member.token), { provider: 'github', purpose: 'link', code })
  assert.equal(link.headers.location, '/account/security?done=provider-linked', link.body)
  return {
    // The member has two-factor sign-in, so that the page asks for the code.
    use: async () => {
      const answer = await answerAs(visitor(t), { provider: 'github', purpose: 'sign-in', code })
      return worksIf(answer.statusCode === 200 && answer.body.includes('name="code"'))
    },
  }
}

async function codeHostItem(world: AccessWorld): Promise<AccessItem> {
  const { t, member } = world
  const token = `ghp_${newId()}`
  assert.equal((await t.as(member).post('/_internal/auth/code-host', { token })).statusCode, 204)
  return { use: () => useOf(world, token) }
}

async function serviceTokenItem(world: AccessWorld): Promise<AccessItem> {
  const { t, member, organization } = world
  const path = `/v3/organization/${organization.id}/service-accounts`
  const { id } = (await t.as(member).post(path, { username: `builds-${newId().toLowerCase()}` })).json()
  await t.deps.db
    .updateTable('team_member')
    .set({ permissions: ALL_PROJECT_PERMISSIONS })
    .where('account_id', '=', id)
    .execute()
  const body = { name: 'For builds', scopes: scopeNames(GRANTABLE_SCOPES), expires: expires(t) }
  const made = await t.as(member).post(`${path}/${id}/tokens`, body)
  assert.equal(made.statusCode, 201, made.body)
  return { use: () => useOf(world, made.json().access_token) }
}

async function webhookItem({ t, member, keeper, project, receiver }: AccessWorld): Promise<AccessItem> {
  const path = `/hook-${newId()}`
  const made = await t
    .as(member)
    .post('/v3/webhook', { owner: { kind: 'project', id: project.id }, url: `${receiver.url}${path}`, events: ['*'] })
  assert.equal(made.statusCode, 201, made.body)
  const dispatcher = createDispatcher({ ...t.deps, version: '1.2.3' })
  const count = () => receiver.received.filter((message) => message.path === path).length
  return {
    use: async () => {
      await dispatcher.settle()
      const before = count()
      const change = await t.as(keeper).patch(`/v3/project/${project.id}`, { name: `Lantern ${newId()}` })
      assert.equal(change.statusCode, 204, change.body)
      await dispatcher.settle()
      return worksIf(count() > before)
    },
  }
}

async function publisherItem({ t, member, project }: AccessWorld): Promise<AccessItem> {
  const token = await publisherToken(t, member, project)
  return {
    use: async () => {
      const data = versionData({ project_id: project.id, version_number: newId() })
      const { payload, headers } = await form(data, [{ name: 'file', bytes: modJar(newId()) }])
      const { statusCode } = await t.as({ token }).post('/v3/version', payload, { headers })
      return statusCode === 201 ? 'acts' : statusCode === 401 ? 'nothing' : 'limited'
    },
  }
}
