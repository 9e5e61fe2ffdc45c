// Undeclared keys in a body change nothing: they write no column and do not select another acting user.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { newId } from '#lib/ids.ts'
import { enableTwoFactor, makeMember, PASSWORD } from '#test/support/http/account-steps.ts'
import { CALLBACK, SCOPES } from '#test/support/http/oauth-steps.ts'
import { matrix } from './authorization-matrix.ts'
import { t } from './fixture.ts'
import { authorizationOf, buildRequest, type Caller, sampleOf, send } from './requests.ts'
import { createWorld } from './world.ts'

/** Their bodies are open: further keys are loader fields, or IDs. */
const OPEN = new Set(['updateVersion', 'updateVersionV2', 'reportPlaytime', 'queryAnalytics'])

test('names of columns and of parameters in a body are ignored like any unknown key', async () => {
  const more = {
    id: newId(),
    account_id: newId(),
    accountId: newId(),
    viewer: { id: newId(), role: 'admin' },
    is_owner: true,
    accepted: true,
    secret_hash: 'x',
    unknown_key: {},
  }
  const routes = t.app.routeTable().filter((route) => !route.hidden && sampleOf(route).body !== undefined)
  assert.ok(routes.length > 40)
  for (const route of routes.filter(({ operationId }) => !OPEN.has(operationId))) {
    const { auth, role } = route.config
    const caller: Caller = auth === 'operator' ? 'admin' : (role ?? 'owner')
    const world = createWorld(t)
    const request = await buildRequest(world, route)
    const payload = { ...more, ...(request.payload as object) }
    const { status } = await send(t, { ...request, payload }, await authorizationOf(world, caller))
    assert.equal(status, matrix.get(route.operationId)?.get(caller)?.status, route.operationId)
  }
})

test('a body cannot select the acting user', async () => {
  const [attacker, victim] = [await makeMember(t), await makeMember(t)]
  const { backupCodes } = await enableTwoFactor(t, victim)
  const viewer = { id: victim.id, role: 'admin', scopes: SCOPES }
  await t.as(attacker).delete('/_internal/auth/2fa', { code: backupCodes[0], password: PASSWORD, viewer })
  const { totp_secret } = await t.deps.db
    .selectFrom('account')
    .select('totp_secret')
    .where('id', '=', victim.id)
    .executeTakeFirstOrThrow()
  assert.notEqual(totp_secret, null)

  const application = { name: 'Chart Maker', max_scopes: SCOPES, redirect_uris: [CALLBACK], account_id: victim.id }
  const made = await t.as(attacker).post('/_internal/oauth/app', application)
  assert.equal(made.json().created_by, attacker.id)
})
