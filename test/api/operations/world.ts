// The fixtures for the authorization matrix: one owner with one resource of each kind, created on first use.
import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { makeSecret } from '#features/exchange/webhooks/secrets.ts'
import { createPasswords } from '#features/people/accounts/passwords/passwords.ts'
import { hashToken, newToken } from '#lib/access/tokens.ts'
import { newId } from '#lib/ids.ts'
import { DAY_MS } from '#lib/time.ts'
import { ADMIN_KEY, type TestApp } from '#test/support/app/test-app.ts'
import { conversationFactories } from '#test/support/factories/conversation-factories.ts'
import type { MadeProject, Person } from '#test/support/factories/factories.ts'
import { type Owned, teamFactories } from '#test/support/factories/team-factories.ts'
import { PASSWORD } from '#test/support/http/account-steps.ts'
import { authorize, CALLBACK, getCode, makeApplication, type TestApplication } from '#test/support/http/oauth-steps.ts'
import { buildService } from '#test/support/stand-ins/build-service.ts'

/** `member` is an accepted member of the owner's project and organization who holds no permission. */
export const ROLES = ['stranger', 'member', 'moderator', 'admin', 'owner'] as const
export type Role = (typeof ROLES)[number]

/** A resource that a path or a body can name. */
export type Thing =
  | 'affiliateCode'
  | 'application'
  | 'collection'
  | 'fileHash'
  | 'filename'
  | 'grant'
  | 'member'
  | 'message'
  | 'notification'
  | 'organization'
  | 'organizationProject'
  | 'organizationTeam'
  | 'organizationPublisher'
  | 'owner'
  | 'pack'
  | 'pat'
  | 'payout'
  | 'project'
  | 'projectPublisher'
  | 'report'
  | 'savedReply'
  | 'serviceAccount'
  | 'serviceToken'
  | 'session'
  | 'stranger'
  | 'team'
  | 'thread'
  | 'upload'
  | 'version'
  | 'versionNumber'
  | 'webhook'
  | 'webhookDelivery'

/** Resources that other users cannot see, at least in a world that was created with `hidden`. */
export const HIDDEN_THINGS: ReadonlySet<Thing> = new Set<Thing>([
  'affiliateCode',
  'collection',
  'fileHash',
  'message',
  'notification',
  'organizationProject',
  'pack',
  'pat',
  'project',
  'report',
  'session',
  'team',
  'thread',
  'upload',
  'version',
  'webhook',
  'webhookDelivery',
])

/** Something of the right form that does not exist. */
export function absentThing(thing: Thing): string {
  return thing === 'fileHash' ? randomBytes(64).toString('hex') : newId()
}

export type World = {
  t: TestApp
  hidden: boolean
  /** A request has changed something. */
  isChanged: boolean
  /** Returns what `make` returned for this name the first time. */
  once<T>(name: string, make: () => Promise<T>): Promise<T>
  person(role: Role): Promise<Person>
  project(): Promise<MadeProject>
  organization(): Promise<Owned>
  application(): Promise<TestApplication>
  file(): Promise<{ filename: string; sha512: string; version: string }>
  report(): Promise<{ id: string; threadId: string }>
  /** Returns the ID of the resource for use in a path. */
  id(thing: Thing): Promise<string>
}

const THINGS: Record<Thing, (world: World) => Promise<string>> = {
  affiliateCode: async (w) => {
    const id = newId()
    const account_id = await w.id('owner')
    await w.t.deps.db.insertInto('affiliate_code').values({ id, account_id, source_name: 'A shop' }).execute()
    return id
  },
  application: async (w) => (await w.application()).id,
  collection: makeCollection,
  fileHash: async (w) => (await w.file()).sha512,
  filename: async (w) => (await w.file()).filename,
  grant: ({ t }) => operator(t, 'rate-limits', { address_range: nextRange(), requests_per_minute: 600 }),
  member: async (w) => {
    await w.project()
    await w.organization()
    return (await w.person('member')).id
  },
  message: async (w) =>
    conversationFactories(w.t.deps.db).message((await w.report()).threadId, await w.person('owner')),
  notification: makeNotification,
  organization: async (w) => (await w.organization()).id,
  organizationProject: async (w) => {
    const status = w.hidden ? 'draft' : 'approved'
    return (await w.t.make.project({ organization_id: (await w.organization()).id, status })).id
  },
  organizationTeam: async (w) => (await w.organization()).teamId,
  organizationPublisher: async (w) => makePublisher(w, { organization_id: (await w.organization()).id }),
  owner: async (w) => (await w.person('owner')).id,
  pack: makePack,
  pat: async (w) => {
    const { token } = await w.t.make.pat(await w.person('owner'))
    return idByHash(w, 'personal_access_token', token)
  },
  payout: async (w) => {
    await earn(w)
    const fields = { external_id: newId(), amount: '1.00', status: 'in-transit' }
    return operator(w.t, 'payout', { ...fields, user_id: await w.id('owner') })
  },
  projectPublisher: async (w) => makePublisher(w, { project_id: (await w.project()).id }),
  project: async (w) => (await w.project()).id,
  report: async (w) => (await w.report()).id,
  savedReply: async ({ t }) => {
    const id = newId()
    const texts = { topic: 'Licence', language: 'en', title: 'Name the licence', body: 'Please add a licence.' }
    await t.deps.db
      .insertInto('saved_reply')
      .values({ id, ...texts, position: 1 })
      .execute()
    return id
  },
  serviceAccount: async (w) => {
    const { id: service_of, teamId } = await w.organization()
    const id = newId()
    await w.t.deps.db
      .insertInto('account')
      .values({ id, username: `builds-${id.toLowerCase()}`, service_of })
      .execute()
    await teamFactories(w.t.deps.db).member(teamId, { id }, { organization_permissions: 0 })
    return id
  },
  serviceToken: async (w) => {
    const { token } = await w.t.make.pat({ id: await w.id('serviceAccount') } as Person)
    return idByHash(w, 'personal_access_token', token)
  },
  session: async (w) => idByHash(w, 'session', await w.t.make.session((await w.person('owner')).id)),
  stranger: async (w) => (await w.person('stranger')).id,
  team: async (w) => (await w.project()).teamId,
  thread: async (w) => {
    const { db } = w.t.deps
    const project = await w.project()
    return (await db.selectFrom('thread').select('id').where('project_id', '=', project.id).executeTakeFirstOrThrow())
      .id
  },
  upload: async (w) => {
    const id = newId()
    const expires = new Date(w.t.deps.now() + DAY_MS)
    const row = { id, account_id: await w.id('owner'), length: 3, metadata: '', expires }
    await w.t.deps.db.insertInto('upload').values(row).execute()
    return id
  },
  version: async (w) => (await w.file()).version,
  versionNumber: async (w) => {
    await w.file()
    return '1.0.0'
  },
  webhook: makeWebhook,
  webhookDelivery: makeWebhookDelivery,
}

/** Every kind of thing that a world can make. */
export const THING_NAMES = Object.keys(THINGS) as Thing[]

/** Each thing is made on first need and stays the same. */
export function createWorld(t: TestApp, { hidden = false, made = new Map<string, Promise<unknown>>() } = {}): World {
  const once = <T>(name: string, make: () => Promise<T>): Promise<T> => {
    const known = made.get(name) ?? make()
    made.set(name, known)
    return known as Promise<T>
  }
  const world: World = {
    t,
    hidden,
    isChanged: false,
    once,
    person: (role) => once(`person ${role}`, async () => (await once('people', () => makePeople(t)))[role]),
    project: () => once('project', () => makeProject(world)),
    organization: () => once('organization', () => makeOrganization(world)),
    application: () => once('application', async () => makeApplication(t, await world.person('owner'))),
    file: () => once('file', () => makeFile(world)),
    report: () => once('report', async () => conversationFactories(t.deps.db).report(await world.person('owner'))),
    id: (thing) => once(`thing ${thing}`, () => THINGS[thing](world)),
  }
  return world
}

let passwordHash: Promise<string> | undefined

/** The owner has a password; the others need none. */
async function makePeople(t: TestApp): Promise<Record<Role, Person>> {
  passwordHash ??= createPasswords().hash(PASSWORD)
  const password_hash = await passwordHash
  const people = await t.make.accounts([{}, {}, { role: 'moderator' }, { role: 'admin' }, { password_hash }])
  return Object.fromEntries(ROLES.map((role, index) => [role, people[index]])) as Record<Role, Person>
}

async function makeProject(w: World): Promise<MadeProject> {
  const { make } = w.t
  const name = 'Lantern'
  const project = await make.project({ owner: await w.person('owner'), name, status: w.hidden ? 'draft' : 'approved' })
  await make.member({ teamId: project.teamId, accountId: (await w.person('member')).id, permissions: 0 })
  return project
}

async function makeOrganization(w: World): Promise<Owned> {
  const factories = teamFactories(w.t.deps.db)
  const organization = await factories.organization(await w.person('owner'))
  await factories.member(organization.teamId, await w.person('member'), { organization_permissions: 0 })
  return organization
}

async function makeFile(w: World): Promise<{ filename: string; sha512: string; version: string }> {
  const project = await w.project()
  const version = await w.t.make.version({ project })
  const filename = 'lantern.jar'
  const { sha512 } = await w.t.make.file({ version, project, bytes: randomBytes(32), filename })
  return { filename, sha512, version: version.id }
}

/** Returns a build service that the application accepts. */
export function issuerOf({ t }: World): string {
  return t.deps.config.ci.issuers[0]?.issuer ?? ''
}

async function makePublisher(w: World, owner: { project_id: string } | { organization_id: string }): Promise<string> {
  const row = { id: newId(), issuer: issuerOf(w), repository: `lanterns/${newId()}`, workflow: 'release.yml' }
  const created_by = await w.id('owner')
  await w.t.deps.db
    .insertInto('trusted_publisher')
    .values({ ...row, ...owner, created_by })
    .execute()
  return row.id
}

/** A token of a build of the repository of a new publisher of the world's project. */
export async function buildToken(w: World): Promise<string> {
  const publisher = await makePublisher(w, { project_id: (await w.project()).id })
  const { repository } = await w.t.deps.db
    .selectFrom('trusted_publisher')
    .select('repository')
    .where('id', '=', publisher)
    .executeTakeFirstOrThrow()
  const seconds = Math.floor(w.t.deps.now() / 1000)
  return (await buildService()).token({
    aud: w.t.deps.config.ci.audience,
    iat: seconds,
    exp: seconds + 600,
    repository,
    workflow_ref: `${repository}/.github/workflows/release.yml@refs/tags/v1`,
    ref: 'refs/tags/v1',
    event_name: 'push',
    sha: 'ab'.repeat(20),
  })
}

/** A webhook of the world's project. */
async function makeWebhook(w: World): Promise<string> {
  const id = newId()
  const { sealed } = await makeSecret(w.t.deps, id)
  await w.t.deps.db
    .insertInto('webhook')
    .values({
      id,
      owner_kind: 'project',
      project_id: (await w.project()).id,
      created_by: (await w.person('owner')).id,
      url: 'https://hooks.example.org/depot',
      host: 'hooks.example.org',
      format: 'standard',
      events: ['version.published'],
      secret: sealed,
    })
    .execute()
  return id
}

/** A finished delivery of the world's webhook. */
async function makeWebhookDelivery(w: World): Promise<string> {
  const webhook_id = await w.id('webhook')
  const { db } = w.t.deps
  const event = await db
    .insertInto('event')
    .values({ kind: 'webhook.ping', subject_kind: 'webhook', subject_id: webhook_id, is_public: false })
    .returning('id')
    .executeTakeFirstOrThrow()
  const row = { webhook_id, event_id: event.id, subject: 'ping', state: 'delivered', created: new Date() } as const
  return (await db.insertInto('webhook_delivery').values(row).returning('id').executeTakeFirstOrThrow()).id
}

async function makeCollection(w: World): Promise<string> {
  const id = newId()
  const account_id = (await w.person('owner')).id
  const status = w.hidden ? 'private' : 'listed'
  await w.t.deps.db.insertInto('collection').values({ id, account_id, name: 'Lanterns', status }).execute()
  return id
}

/** A pack of a public project, because only those can be part of it. */
async function makePack(w: World): Promise<string> {
  const { t } = w
  const project = await t.make.project()
  const version = await t.make.version({ project, loaders: ['minecraft'], game_versions: ['1.20.1', '1.20.2'] })
  await t.make.file({ project, version, bytes: Buffer.from(project.id) })
  const setup = { loader: 'fabric', game_version: '1.20.1', loader_version: '0.15.11' }
  const body = { name: 'Lanterns', slug: newId(), projects: [project.id], ...setup }
  const answer = await t.as(await w.person('owner')).post('/v3/pack', body)
  assert.equal(answer.statusCode, 201, answer.body)
  const { id } = answer.json()
  if (w.hidden) await t.deps.db.updateTable('pack').set({ status: 'private' }).where('id', '=', id).execute()
  return id
}

async function makeNotification(w: World): Promise<string> {
  const id = newId()
  const account_id = (await w.person('owner')).id
  const body = JSON.stringify({ type: 'project_update', project_id: newId(), version_id: newId() })
  await w.t.deps.db.insertInto('notification').values({ id, account_id, body }).execute()
  return id
}

async function idByHash(w: World, table: 'session' | 'personal_access_token', token: string): Promise<string> {
  const row = await w.t.deps.db
    .selectFrom(table)
    .select('id')
    .where('token_hash', '=', hashToken(token))
    .executeTakeFirstOrThrow()
  return row.id
}

/** Something the owner has earned, so that there is something to pay out. */
export async function earn(w: World): Promise<void> {
  const [at, amount] = [new Date(w.t.deps.now() - 1000), '100.00']
  await w.t.deps.db
    .insertInto('affiliate_conversion')
    .values({
      external_id: newId(),
      affiliate_code_id: newId(),
      account_id: await w.id('owner'),
      converted: at,
      available: at,
      amount,
      revenue: amount,
    })
    .execute()
}

/** Creates a resource through an operator route and returns its ID. */
async function operator(t: TestApp, path: string, body: object): Promise<string> {
  const answer = await t.anyone.post(`/_internal/admin/${path}`, body, { headers: { 'x-admin-key': ADMIN_KEY } })
  assert.equal(answer.statusCode, 201, answer.body)
  return answer.json().id
}

let ranges = 0

/** Returns an address range that no other rate limit of this process has. */
export function nextRange(): string {
  ranges += 1
  return `10.${ranges >> 8}.${ranges & 255}.0/24`
}

/** A well-formed ID that does not exist. */
export function unknownToken(): string {
  return newToken('session').token
}

/** Creates an authorization request of an application that waits for the owner's consent. */
export async function openQuestion(w: World): Promise<string> {
  const { id } = await w.application()
  const answer = await authorize(w.t, await w.person('owner'), { client_id: id, redirect_uri: CALLBACK })
  return answer.json().flow_id
}

/** A code that the owner has allowed the application. */
export async function openCode(w: World): Promise<string> {
  return getCode(w.t, await w.person('owner'), { client_id: (await w.application()).id })
}
