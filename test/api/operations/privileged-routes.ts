// docs/operators/security.md lists the routes that act on another account, on its content or on the instance.
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import type { RouteEntry } from '#platform/http/route-config.ts'
import { matrix } from './authorization-matrix.ts'
import { t } from './fixture.ts'
import { buildRequest, type Caller, sendAs, unchanged } from './requests.ts'
import { createWorld, type World } from './world.ts'

const SECURITY = join(import.meta.dirname, '../../../docs/operators/security.md')
/** Fields of `updateUser` that need more than the route. */
const RANKS = { role: 'moderator', badges: 1, payout_handle: 'lantern@example.org' }

/** Statuses of one request for each caller, and of an admin whose session was confirmed too long ago. */
type Statuses = Record<'moderator' | 'admin' | 'token' | 'unconfirmed', number>

const isDone = (status: number): boolean => status < 400

/** Sends the sample of a route; `body` replaces its body. */
async function statusFor(
  route: RouteEntry,
  caller: Caller | 'unconfirmed',
  { body, world = createWorld(t) }: { body?: object; world?: World },
): Promise<number> {
  const request = await buildRequest(world, route)
  if (caller === 'unconfirmed') {
    const { id } = await world.person('admin')
    await world.once('unconfirmed', () =>
      t.deps.db.updateTable('session').set({ confirmed_at: null }).where('account_id', '=', id).execute(),
    )
  }
  const whole = body === undefined ? request : { ...request, payload: body }
  return (await sendAs(world, route, whole, caller === 'unconfirmed' ? 'admin' : caller)).status
}

function describe({ config }: RouteEntry, { moderator, admin, token, unconfirmed }: Statuses): string {
  const callers = config.auth === 'operator' ? 'operators' : isDone(moderator) ? 'moderators' : 'admins'
  const needsPassword = isDone(admin) && unconfirmed === 401
  return `${callers}, token: ${isDone(token) ? 'yes' : 'no'}, password: ${needsPassword ? 'yes' : 'no'}`
}

/** Returns the requests that a moderator or an admin can send and another user cannot, with a description of each. */
async function privileged(): Promise<string[]> {
  const lines = new Set<string>()
  // Second paths of an operation come last.
  const all = [...t.app.routeTable()].sort((a, b) => Number(a.hidden) - Number(b.hidden))
  const first = (id: string): RouteEntry | undefined => all.find(({ operationId }) => operationId === id)
  let world = createWorld(t)
  for (const id of matrix.keys()) {
    const route = first(id) ?? assert.fail(id)
    const statusOf = (caller: Caller): number => matrix.get(id)?.get(caller)?.status ?? 500
    const [moderator, admin, token] = [statusOf('moderator'), statusOf('admin'), statusOf('token')]
    if (route.config.auth === 'public' || isDone(statusOf('stranger')) || !(isDone(moderator) || isDone(admin)))
      continue
    const { url } = first(id.replace(/V2$/, '')) ?? route
    const request = `${route.method} ${url.replace(/:(\w+)/g, '{$1}')}`
    world = unchanged(world, route)
    const unconfirmed = await statusFor(route, 'unconfirmed', { world })
    lines.add(`${request}: ${describe(route, { moderator, admin, token, unconfirmed })}`)
    if (!id.startsWith('updateUser')) continue
    for (const [field, value] of Object.entries(RANKS)) {
      const as = (caller: Caller | 'unconfirmed') => statusFor(route, caller, { body: { [field]: value } })
      const statuses = {
        moderator: await as('moderator'),
        admin: await as('admin'),
        token: await as('token'),
        unconfirmed: await as('unconfirmed'),
      }
      lines.add(`${request} with ${field}: ${describe(route, statuses)}`)
    }
  }
  return [...lines].sort()
}

/** Returns the rows of the document, one line per request. */
function documented(): string[] {
  const [, section = ''] = readFileSync(SECURITY, 'utf8').split('## Routes for moderators and admins\n')
  const rows = section.split('\n## ')[0]?.matchAll(/^\| (`.*) \| (\w+) \| (\w+) \| (\w+) \|$/gm) ?? []
  return [...rows]
    .flatMap(([, requests = '', callers, token, password]) =>
      [...requests.matchAll(/`([A-Z, ]+) (\/[^`]+)`(?: with `(\w+)`)?/g)].flatMap(([, methods = '', path, field]) =>
        methods
          .split(', ')
          .map((method) => `${method} ${path}${field === undefined ? '' : ` with ${field}`}`)
          .map((request) => `${request}: ${callers}, token: ${token}, password: ${password}`),
      ),
    )
    .sort()
}

test('docs/operators/security.md lists what moderators and admins can do to others, and whether a token can', async () => {
  assert.deepEqual(documented(), await privileged())
})
