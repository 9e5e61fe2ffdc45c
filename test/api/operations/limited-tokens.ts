// Fine-grained tokens on every operation: outside their limits, their account counts as somebody who is not a member.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { limitedToken } from '#test/support/factories/token-factories.ts'
import { matrix, routes } from './authorization-matrix.ts'
import { t } from './fixture.ts'
import { buildRequest, send, sendAs, unchanged } from './requests.ts'
import { createWorld, type World } from './world.ts'

/** A user can create projects, a fine-grained token only in the organizations of its limits. Lists show what it covers. */
const COMPARED_ELSEWHERE = new Set([
  'createProject',
  'createProjectV2',
  'listUserProjects',
  'listUserProjectsV2',
  'listAllUserProjects',
])
const NEVER_TWICE_THE_SAME = new Set(['listRandomProjects', 'listRandomProjectsV2'])

test('a route that states no treatment rejects fine-grained tokens and names their limits', () => {
  const wrong = routes.flatMap(({ operationId, config }) => {
    const isOpen = config.auth === 'public' || config.auth === 'operator' || config.limitedTokens !== undefined
    const answer = matrix.get(operationId)?.get('limited')
    if (isOpen || answer === undefined) return []
    return answer.status === 403 && JSON.parse(answer.body).details?.limits !== undefined
      ? []
      : [`${operationId}: ${answer.status} ${answer.body.slice(0, 200)}`]
  })
  assert.deepEqual(wrong, [])
})

test('a read that ignores fine-grained tokens answers as to an anonymous caller', () => {
  const ignoring = routes.filter(({ config }) => config.limitedTokens === 'anonymous')
  assert.ok(ignoring.length > 0)
  for (const { operationId } of ignoring) {
    const answers = matrix.get(operationId)
    assert.equal(answers?.get('limited')?.status, answers?.get('anonymous')?.status, operationId)
  }
})

test('outside its limits, a fine-grained token of an owner or a moderator reaches no more than a stranger', async () => {
  const wrong: string[] = []
  const treated = routes.filter(
    ({ operationId, config }) =>
      (config.limitedTokens === 'resource' || config.limitedTokens === 'versions') &&
      !COMPARED_ELSEWHERE.has(operationId) &&
      !NEVER_TWICE_THE_SAME.has(operationId),
  )
  for (const hidden of [true, false]) {
    let world = createWorld(t, { hidden })
    for (const route of treated) {
      world = unchanged(world, route)
      const request = await buildRequest(world, route)
      const stranger = await sendAs(world, route, request, 'stranger')
      for (const role of ['owner', 'moderator'] as const) {
        const limited = await send(t, request, await tokenElsewhere(world, role))
        if (limited.status !== stranger.status || (route.method === 'GET' && limited.body !== stranger.body))
          wrong.push(`${route.operationId} hidden=${hidden} ${role}: ${limited.status} ${limited.body.slice(0, 200)}`)
      }
    }
  }
  assert.deepEqual(wrong, [])
})

test('the token of a trusted publisher works only on routes that state it', () => {
  const wrong = routes.flatMap(({ operationId, config: { auth, limitedTokens } }) => {
    if (auth === 'public' || auth === 'operator' || limitedTokens === 'versions') return []
    const answers = matrix.get(operationId)
    const answer = answers?.get('publisher')
    if ('read' in auth) {
      const isAnonymous = answer?.status === answers?.get('anonymous')?.status || limitedTokens === undefined
      return isAnonymous ? [] : [`${operationId}: ${answer?.status}`]
    }
    return answer?.status === 403 ? [] : [`${operationId}: ${answer?.status} ${answer?.body.slice(0, 200)}`]
  })
  assert.deepEqual(wrong, [])
})

/** Returns a token of one of the world's people that is limited to another project. */
function tokenElsewhere(world: World, role: 'owner' | 'moderator'): Promise<string> {
  return world.once(`token elsewhere of ${role}`, async () => {
    const person = await world.person(role)
    const other = await world.t.make.project({ owner: person })
    return limitedToken(world.t, person, { projects: [other.id] })
  })
}
