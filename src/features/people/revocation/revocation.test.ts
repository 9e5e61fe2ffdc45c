// Access ends when trust ends: every kind of access after every event, compared with the table, and the completeness of the
// list.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { sql } from 'kysely'
import { ALL_ORGANIZATION_PERMISSIONS, ALL_PROJECT_PERMISSIONS } from '#features/basics/access/permissions.ts'
import { insertFlow } from '#features/people/accounts/mail/flows.ts'
import { ADMIN_KEY, type TestApp, testApp } from '#test/support/app/test-app.ts'
import { teamFactories } from '#test/support/factories/team-factories.ts'
import {
  type AccessItem,
  type AccessWorld,
  makeAccessItems,
  startCodeHost,
  type Use,
} from '#test/support/http/access-items.ts'
import { makeMember, OTHER_PASSWORD } from '#test/support/http/account-steps.ts'
import { type Receiver, startReceiver } from '#test/support/stand-ins/receiver.ts'
import { startSignInService } from '#test/support/stand-ins/sign-in-service.ts'
import { ACCESS_EVENTS, ACCESS_KINDS, type AccessEvent, type AccessKind, type Effect } from './access-table.ts'

let t: TestApp
let receiver: Receiver
let service: Awaited<ReturnType<typeof startSignInService>>
let codeHost: Awaited<ReturnType<typeof startCodeHost>>
before(async () => {
  receiver = await startReceiver()
  codeHost = await startCodeHost()
  service = await startSignInService()
  const env = {
    SIGN_IN_PROVIDERS: service.settings,
    OUTGOING_ALLOW: '127.0.0.0/8',
    CODE_HOST_API_URL: codeHost.url,
    ACCOUNT_DELETION_DAYS: '14',
  }
  t = await testApp({ env })
})
after(async () => {
  receiver.close()
  codeHost.close()
  service.close()
  await t.close()
})

const OPERATOR = { headers: { 'x-admin-key': ADMIN_KEY } }

async function makeWorld(): Promise<AccessWorld> {
  const make = teamFactories(t.deps.db)
  const [keeper, member] = [await t.make.account(), await makeMember(t)]
  const organization = await make.organization(keeper)
  const bits = { permissions: ALL_PROJECT_PERMISSIONS, organization_permissions: ALL_ORGANIZATION_PERMISSIONS }
  await make.member(organization.teamId, member, bits)
  const project = await make.project(undefined, { organization_id: organization.id, status: 'draft' })
  return { t, member, keeper, organization, project, receiver }
}

type Act = (world: AccessWorld, undoing: string) => Promise<{ statusCode: number; body: string }>

const accountPath = ({ member }: AccessWorld, rest: string) => `/_internal/admin/user/${member.id}/${rest}`
const seat = ({ organization, member }: AccessWorld) => `/v3/team/${organization.teamId}/members/${member.id}`

/** The request that causes each event. */
const ACTS: Readonly<Record<AccessEvent, Act>> = {
  email_undone: (_, flow) => t.anyone.post('/_internal/auth/email/undo', { flow }),
  password_reset: ({ member }) => t.as(member).patch('/_internal/auth/password', { new_password: OTHER_PASSWORD }),
  password_changed: ({ member }) =>
    t.as(member).patch('/_internal/auth/password', { new_password: OTHER_PASSWORD, end_tokens: false }),
  signed_out: (world) => t.anyone.delete(accountPath(world, 'sessions'), {}, OPERATOR),
  revoked: (world) => t.anyone.delete(accountPath(world, 'sessions?tokens=true'), {}, OPERATOR),
  suspended: (world) => t.anyone.put(accountPath(world, 'suspension'), { reason: 'Spam' }, OPERATOR),
  deleted: ({ member }) => t.as(member).delete(`/v3/user/${member.id}`),
  cleaned_up: async ({ member }) => {
    const moderator = await t.make.account({ role: 'moderator' })
    const body = { action: 'spam', users: [member.id], message: 'Spam' }
    const done = await t.as(moderator).post('/_internal/moderation/cleanups', body)
    await t.deps.db
      .updateTable('account_cleanup')
      .set({ created: new Date(0) })
      .execute()
    await t.deps.db
      .updateTable('account')
      .set({ suspended_at: new Date(0) })
      .where('id', '=', member.id)
      .execute()
    await t.runJob('cleanups.finish')
    return done
  },
  left: (world) => t.as(world.keeper).delete(seat(world)),
  permission_lost: (world) => t.as(world.keeper).patch(seat(world), { permissions: 0, organization_permissions: 0 }),
  organization_deleted: ({ keeper, organization }) => t.as(keeper).delete(`/v3/organization/${organization.id}`),
}

/** Last part of the path of the request that undoes an event. */
const LIFTS: Partial<Record<AccessEvent, string>> = { suspended: 'suspension', deleted: 'deletion' }

const EXPECTED: Readonly<Record<Effect, Use>> = {
  ends: 'nothing',
  newer: 'nothing',
  pauses: 'nothing',
  limited: 'limited',
  stays: 'acts',
}

const inOrder = (items: Record<AccessKind, AccessItem>): [AccessKind, AccessItem][] =>
  (Object.entries(items) as [AccessKind, AccessItem][]).toSorted(
    ([, a], [, b]) => Number(a.isLast ?? false) - Number(b.isLast ?? false),
  )

for (const event of Object.keys(ACTS) as AccessEvent[]) {
  test(`the table says what works after: ${ACCESS_EVENTS[event].label}`, async () => {
    const world = await makeWorld()
    const { member } = world
    const older = (await t.make.pat(member)).token
    await t.deps.db
      .updateTable('personal_access_token')
      .set({ created: new Date(0) })
      .where('account_id', '=', member.id)
      .execute()
    // The database has the real time, which the clock of the tests has left.
    const data = { email: member.email, had_two_factor: true, changed_at: Date.now() - 1_000 }
    const undoing = await insertFlow(t.deps.db, {
      kind: 'undo_email_change',
      accountId: member.id,
      data,
      now: t.deps.now(),
    })
    const items = await makeAccessItems(world)
    for (const [kind, { use, isSingleUse = false }] of inOrder(items)) {
      if (!isSingleUse) assert.equal(await use(), 'acts', `${kind} before`)
    }
    const done = await ACTS[event](world, undoing)
    assert.ok(done.statusCode < 300, done.body)
    const effects: Readonly<Record<AccessKind, Effect>> = ACCESS_EVENTS[event].effects
    const found: Partial<Record<AccessKind, Use>> = {}
    for (const [kind, { use }] of inOrder(items)) {
      // A consumed link ends other access, so nothing is used after one that works.
      if (found.password_links === 'acts' && kind === 'undo_links') continue
      found[kind] = await use()
      assert.equal(found[kind], EXPECTED[effects[kind]], `${kind} after ${event}: ${effects[kind]}`)
    }
    if (event === 'email_undone') assert.equal((await t.as({ token: older }).get('/v3/user')).statusCode, 200)
    await checkLifted(world, event, items)
  })
}

/** Access that an event pauses works again when the event is undone. */
async function checkLifted(
  world: AccessWorld,
  event: AccessEvent,
  items: Record<AccessKind, AccessItem>,
): Promise<void> {
  const lift = LIFTS[event]
  if (lift === undefined) return
  const lifted = await t.anyone.delete(accountPath(world, lift), {}, OPERATOR)
  assert.ok(lifted.statusCode < 300, lifted.body)
  for (const [kind, { use }] of inOrder(items)) {
    if (ACCESS_EVENTS[event].effects[kind] === 'pauses') assert.equal(await use(), 'acts', `${kind} again`)
  }
}

type Hook = { id: string; active: boolean; disabled_reason: string | null }

test('the owner sees why a webhook of a former member is off, and the member who switches it on answers for it', async () => {
  const world = await makeWorld()
  const { member, keeper, project } = world
  const body = { url: 'https://hooks.example/', events: ['*'] }
  const add = async (owner: object) => (await t.as(member).post('/v3/webhook', { ...body, owner })).json() as Hook
  const shown = async (hook: Hook) => (await t.as(keeper).get(`/v3/webhook/${hook.id}`)).json() as Hook
  const hook = await add({ kind: 'project', id: project.id })
  assert.equal((await t.as(keeper).delete(seat(world))).statusCode, 204)
  const { active, disabled_reason } = await shown(hook)
  assert.deepEqual([active, disabled_reason], [false, 'access_lost'])
  const list = (await t.as(keeper).get(`/v3/user/${keeper.id}/notifications`)).json() as { text: string }[]
  assert.ok(list.some(({ text }) => text.includes('lost access')))
  assert.equal((await t.as(keeper).patch(`/v3/webhook/${hook.id}`, { active: true })).statusCode, 204)
  // The former member joins and leaves again: the webhook is not theirs any more.
  await teamFactories(t.deps.db).member(world.organization.teamId, member)
  assert.equal((await t.as(member).delete(seat(world))).statusCode, 204)
  assert.equal((await shown(hook)).active, true)
})

test('webhooks end with the role and with the organization of a project', async () => {
  const world = await makeWorld()
  const { member, keeper, project, organization } = world
  const [admin, other] = [await t.make.account({ role: 'admin' }), await t.make.account({ role: 'admin' })]
  const add = async (as: { token: string }, owner: object): Promise<Hook> =>
    (await t.as(as).post('/v3/webhook', { url: 'https://hooks.example/', events: ['*'], owner })).json()
  const ofInstance = await add(admin, { kind: 'instance' })
  const ofProject = await add(member, { kind: 'project', id: project.id })
  const isActive = async (as: { token: string }, { id }: Hook) =>
    ((await t.as(as).get(`/v3/webhook/${id}`)).json() as Hook).active
  assert.equal((await t.as(other).patch(`/v3/user/${admin.id}`, { role: 'developer' })).statusCode, 204)
  assert.equal(await isActive(other, ofInstance), false)
  const path = `/v3/organization/${organization.id}/projects/${project.id}`
  assert.equal((await t.as(keeper).delete(path, { new_owner: keeper.id })).statusCode, 204)
  assert.equal(await isActive(keeper, ofProject), false)
})

/** Stored secrets that act for nobody, or only together with something else. */
const NOT_ACCESS: Readonly<Record<string, string>> = {
  'account.password_hash': 'the password itself',
  'account.totp_secret': 'the second factor itself',
  'backup_code.code_hash': 'a second factor; it needs the password',
  'oauth_client.secret_hash': 'the application itself; it acts only with a code or a token of a user',
}

test('every table with a secret of an account or an organization is in the list', async () => {
  const { rows } = await sql<{ table: string; column: string }>`
    select distinct relname as "table", attname as "column" from pg_attribute
      join pg_class on pg_class.oid = attrelid and relkind = 'r'
      join pg_namespace on pg_namespace.oid = relnamespace and nspname = 'public'
    where attnum > 0 and not attisdropped and (attname ~ '(_hash|secret|token|code_host_id)$')
      and (relname in ('account', 'organization') or exists (select from pg_constraint where conrelid = pg_class.oid
        and contype = 'f' and confrelid in ('account'::regclass, 'organization'::regclass, 'trusted_publisher'::regclass)))
    order by 1, 2`.execute(t.deps.db)
  const listed = new Set<string>(Object.values(ACCESS_KINDS).flatMap(({ tables }) => [...tables]))
  const missing = rows
    .filter(({ table, column }) => NOT_ACCESS[`${table}.${column}`] === undefined && !listed.has(table))
    .map(({ table, column }) => `${table}.${column}`)
  assert.deepEqual(missing, [], 'add the kind to access-table.ts, or state in NOT_ACCESS why it acts for nobody')
})
