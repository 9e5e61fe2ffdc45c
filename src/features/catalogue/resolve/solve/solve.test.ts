// Compares the solver with a naive one on random worlds, and tests what a random world seldom contains.
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import fc from 'fast-check'
import { naiveSolve } from '#test/support/solver/naive-solver.ts'
import { type TestProject, worldOf } from '#test/support/solver/test-world.ts'
import { solve, solveInSteps } from './solve.ts'
import type { Solution, SolverRequest } from './world.ts'

type Given = Partial<Omit<SolverRequest, 'world' | 'items' | 'keep'>> & { keep?: Record<string, string> }

/** `a` requests a project, `a@a1` a version. */
function requestOf(projects: Record<string, TestProject>, items: readonly string[], given: Given = {}): SolverRequest {
  const { keep = {}, pins = 'prefer', strategy = 'newest', ...rest } = given
  return {
    world: worldOf(projects),
    items: items.map((item, index) => {
      const [projectId = '', versionId] = item.split('@')
      return { index, projectId, versionId }
    }),
    pins,
    strategy,
    keep: new Map(Object.entries(keep)),
    ...rest,
  }
}

const solveOf = (...parts: Parameters<typeof requestOf>): Solution => solve(requestOf(...parts))
const idsOf = ({ chosen }: Solution): string[] => chosen.map(({ candidate }) => candidate.id)
const statesOf = ({ items }: Solution): string[] => items.map(({ state }) => state)

const project = fc.constantFrom('a', 'b', 'c', 'd', 'e', 'f')
const dependency = fc
  .record({
    kind: fc.constantFrom('required', 'required', 'required', 'incompatible', 'embedded', 'optional'),
    to: project,
    version: fc.option(fc.integer({ min: 1, max: 4 }), { freq: 2 }),
  })
  .map(({ kind, to, version }) => `${kind} ${to}${version === null ? '' : `@${to}${version}`}`)
const versions = fc.array(fc.array(dependency, { maxLength: 3 }), { maxLength: 4 })
const worlds = fc.record({
  projects: fc.record({ a: versions, b: versions, c: versions, d: versions, e: versions, f: versions }),
  /** Versions outside the filter, which only names lead to. */
  outside: fc.array(project, { maxLength: 2 }),
  hidden: fc.option(project, { freq: 3 }),
  items: fc.array(
    fc
      .tuple(project, fc.option(fc.integer({ min: 1, max: 4 }), { freq: 3 }))
      .map(([id, n]) => (n ? `${id}@${id}${n}` : id)),
    { minLength: 1, maxLength: 4 },
  ),
  pins: fc.constantFrom('prefer' as const, 'strict' as const),
  strategy: fc.constantFrom('newest' as const, 'minimal' as const),
  keep: fc.dictionary(project, fc.integer({ min: 1, max: 4 }), { maxKeys: 2 }),
})

test('agrees with a naive solver on random worlds', () => {
  const counts = { exact: 0, fallback: 0, conflicts: 0 }
  fc.assert(
    fc.property(worlds, ({ projects, outside, hidden, items, keep, ...rest }) => {
      const world = Object.fromEntries(
        Object.entries(projects).map(([id, lists]): [string, TestProject] => [
          id,
          {
            versions: Object.fromEntries(lists.map((list, index) => [`${id}${lists.length - index}`, list])),
            outside: outside.some((each) => each === id) ? [`${id}${lists.length}`] : [],
            hidden: id === hidden,
          },
        ]),
      )
      const kept = Object.fromEntries(Object.entries(keep).map(([id, n]) => [id, `${id}${n}`]))
      const request = requestOf(world, items, { ...rest, keep: kept })
      const solution = solve(request)
      const expected = naiveSolve(request)
      assert.deepEqual(
        {
          exact: solution.exact,
          items: solution.items.map(({ state, versionId = null }) => ({
            state: versionId ? state : 'none',
            versionId,
          })),
          chosen: idsOf(solution),
        },
        expected,
      )
      counts[solution.exact ? 'exact' : 'fallback'] += 1
      if (statesOf(solution).includes('conflict')) counts.conflicts += 1
    }),
    { numRuns: 4000 },
  )
  // The worlds must contain what is compared.
  for (const [what, count] of Object.entries(counts)) assert.ok(count > 100, `${what}: ${count}`)
})

test('the same request has the same solution', () => {
  const world: Record<string, TestProject> = {
    a: { versions: { a2: ['incompatible b'], a1: [] } },
    b: { versions: { b1: ['required c', 'optional d'] } },
    c: { versions: { c1: ['required file x.jar'] } },
    d: { versions: { d1: [] } },
  }
  const texts = [1, 2, 3].map(() => JSON.stringify(solveOf(world, ['a', 'b'])))
  assert.equal(new Set(texts).size, 1)
  const solution = solveOf(world, ['a', 'b'])
  assert.deepEqual(idsOf(solution), ['a1', 'b1', 'c1'])
  assert.equal(solution.chosen[0]?.insteadOf, 'a2')
  assert.deepEqual(solution.suggested, [{ projectId: 'd', suggestedBy: ['b1'] }])
  assert.deepEqual(solution.external, [{ fileName: 'x.jar', requiredBy: ['c1'] }])
  assert.deepEqual(solution.chosen[2]?.requiredBy, ['b1'])
})

test('an item that could not be chosen is chosen if a later item requires another version of its project', () => {
  const world: Record<string, TestProject> = {
    a: { versions: { a1: [] }, outside: ['a1'] },
    c: { versions: { c2: ['required a'], c1: [] } },
    e: { versions: { e1: ['required c'] } },
  }
  const solution = solveOf(world, ['c', 'c@c2', 'e'])
  assert.deepEqual(idsOf(solution), ['c1', 'e1'])
  assert.deepEqual(statesOf(solution), ['chosen', 'no_version', 'chosen'])
})

describe('pins', () => {
  const world: Record<string, TestProject> = {
    a: { versions: { a1: ['required l@l1'] } },
    b: { versions: { b1: ['required l@l2'] } },
    l: { versions: { l3: [], l2: [], l1: [] }, outside: ['l1'] },
  }
  test('are preferences by default: the newest pin wins, and the others are listed', () => {
    const solution = solveOf(world, ['a', 'b'])
    assert.deepEqual([idsOf(solution), solution.exact], [['a1', 'b1', 'l2'], true])
    assert.deepEqual(solution.unmetPins, [{ versionId: 'a1', projectId: 'l', pin: 'l1', chosen: 'l2' }])
  })
  test('lead outside the filter', () => {
    const [, library] = solveOf(world, ['a']).chosen
    assert.deepEqual([library?.candidate.id, library?.candidate.outsideFilter], ['l1', true])
  })
  test('a later pin does not change an earlier choice', () => {
    assert.deepEqual(idsOf(solveOf(world, ['l', 'a', 'b'])), ['a1', 'b1', 'l3'])
  })
  test('are binding on request: the second item names both sides', () => {
    const solution = solveOf(world, ['a', 'b'], { pins: 'strict' })
    assert.deepEqual(
      [statesOf(solution), idsOf(solution), solution.exact],
      [['chosen', 'conflict'], ['a1', 'l1'], false],
    )
    assert.deepEqual(solution.items[1]?.because, [
      { version_id: 'a1', requires: { project_id: 'l', version_id: 'l1' } },
      { version_id: 'b1', requires: { project_id: 'l', version_id: 'l2' } },
    ])
  })
})

describe('conflicts', () => {
  test('incompatible projects exclude each other in both orders, and both sides are named', () => {
    const world: Record<string, TestProject> = {
      a: { versions: { a1: ['incompatible b'] } },
      b: { versions: { b1: [] } },
    }
    for (const items of [
      ['a', 'b'],
      ['b', 'a'],
    ]) {
      const solution = solveOf(world, items)
      assert.deepEqual(statesOf(solution), ['chosen', 'conflict'])
      const named = JSON.stringify(solution.items[1]?.because)
      assert.match(named, /"version_id":"a1","incompatible":\{"project_id":"b","version_id":"b1"\}/)
    }
  })
  test('an incompatible version excludes only itself', () => {
    const world: Record<string, TestProject> = {
      a: { versions: { a1: ['incompatible b@b2'] } },
      b: { versions: { b2: [], b1: [] } },
    }
    assert.deepEqual(idsOf(solveOf(world, ['a', 'b'])), ['a1', 'b1'])
    assert.deepEqual(idsOf(solveOf(world, ['a', 'b@b1'])), ['a1', 'b1'])
    assert.deepEqual(statesOf(solveOf(world, ['a', 'b@b2'])), ['chosen', 'conflict'])
  })
  test('two versions of one project: the first item decides, without the fallback', () => {
    const world: Record<string, TestProject> = { a: { versions: { a2: [], a1: [] } } }
    const solution = solveOf(world, ['a', 'a@a1', 'a@a2', 'a@a1'])
    assert.deepEqual([statesOf(solution), solution.exact], [['chosen', 'chosen', 'conflict', 'chosen'], true])
    assert.deepEqual(solution.items[2]?.because, [
      { item: 1, requires: { project_id: 'a', version_id: 'a1' } },
      { item: 2, requires: { project_id: 'a', version_id: 'a2' } },
    ])
  })
  test('an item that cannot join leaves nothing behind', () => {
    const world: Record<string, TestProject> = {
      a: { versions: { a1: [] } },
      b: { versions: { b1: ['required c', 'incompatible a'] } },
      c: { versions: { c1: [] } },
      d: { versions: { d1: [] } },
    }
    const solution = solveOf(world, ['a', 'b', 'd'])
    assert.deepEqual(
      [statesOf(solution), idsOf(solution)],
      [
        ['chosen', 'conflict', 'chosen'],
        ['a1', 'd1'],
      ],
    )
  })
})

test('an embedded project satisfies a requirement, except with strict pins, and excludes no other file', () => {
  const world: Record<string, TestProject> = {
    a: { versions: { a1: ['required l', 'embedded l'] } },
    l: { versions: { l1: [] } },
  }
  const solution = solveOf(world, ['a'])
  assert.deepEqual([idsOf(solution), solution.provided], [['a1'], [{ projectId: 'l', requiredBy: ['a1'], by: ['a1'] }]])
  assert.deepEqual(idsOf(solveOf(world, ['a'], { pins: 'strict' })), ['a1', 'l1'])
  assert.deepEqual(idsOf(solveOf(world, ['a', 'l'])), ['a1', 'l1'])
})

test('what is missing is named with the way to it', () => {
  const world: Record<string, TestProject> = {
    a: { versions: { a1: ['required b'] } },
    b: { versions: { b1: ['required h'] } },
    h: { versions: { h1: [] }, hidden: true },
    n: { versions: {} },
    o: { versions: { o1: ['required n'] } },
  }
  const solution = solveOf(world, ['a', 'n', 'o', 'b@b1'])
  assert.deepEqual([statesOf(solution), solution.exact], [['missing', 'no_version', 'no_version', 'missing'], true])
  assert.deepEqual([solution.items[1]?.lacking, solution.items[2]?.lacking], ['n', 'n'])
  assert.deepEqual(solution.items[0]?.because, [
    { version_id: 'a1', requires: { project_id: 'b', version_id: null } },
    { version_id: 'b1', requires: { project_id: 'h', version_id: null } },
  ])
})

test('only the strategy minimal prefers kept versions; every strategy reports an equal choice as kept', () => {
  const world: Record<string, TestProject> = {
    a: { versions: { a3: [], a2: [], a1: ['incompatible b'] } },
    b: { versions: { b1: [] } },
  }
  const minimal = (keep: Record<string, string>, items = ['a']) => solveOf(world, items, { strategy: 'minimal', keep })
  assert.deepEqual([idsOf(minimal({ a: 'a2' })), statesOf(minimal({ a: 'a2' }))], [['a2'], ['kept']])
  assert.deepEqual(idsOf(minimal({ a: 'a1' }, ['a', 'b'])), ['a3', 'b1'])
  assert.deepEqual(idsOf(solveOf(world, ['a'], { keep: { a: 'a2' } })), ['a3'])
  assert.deepEqual(statesOf(solveOf(world, ['a'], { keep: { a: 'a3' } })), ['kept'])
})

describe('size', () => {
  test('a chain of 10,000 and a cycle of 10,000', () => {
    const length = 10_000
    for (const last of [[], ['required p0']]) {
      const chain = Object.fromEntries(
        Array.from({ length }, (_, n): [string, TestProject] => {
          const requires = n === length - 1 ? last : [`required p${n + 1}`]
          return [`p${n}`, { versions: { [`v${n}`]: requires } }]
        }),
      )
      const solution = solveOf(chain, ['p0'])
      assert.deepEqual([solution.chosen.length, solution.exact, solution.isFirstChoice], [length, true, true])
    }
  })
  test('a long chain to something hidden', () => {
    const chain = Object.fromEntries(
      Array.from({ length: 10_000 }, (_, n): [string, TestProject] => [
        `p${n}`,
        { versions: { [`v${n}`]: [`required p${n + 1}`] } },
      ]),
    )
    const [item] = solveOf(chain, ['p0']).items
    assert.equal(item?.state, 'missing')
  })
  test('a search that would take too long ends with the fallback, and gives turns to other work', () => {
    // Pigeons: 12 projects share 11 slots, each of which excludes the others' use of it.
    const count = 12
    const pigeons = Object.fromEntries(
      Array.from({ length: count }, (_, n): [string, TestProject] => {
        const slots = Array.from({ length: count - 1 }, (_, slot): [string, string[]] => [
          `p${n}s${slot}`,
          Array.from({ length: count }, (_, other) => `incompatible p${other}@p${other}s${slot}`),
        ])
        return [`p${n}`, { versions: Object.fromEntries(slots) }]
      }),
    )
    const request = requestOf(pigeons, Object.keys(pigeons))
    const steps = solveInSteps(request)
    let turns = 0
    let step = steps.next()
    for (; step.done !== true; step = steps.next()) turns += 1
    assert.equal(step.value.exact, false)
    assert.deepEqual(statesOf(step.value), [...Array.from({ length: count - 1 }, () => 'chosen'), 'conflict'])
    assert.ok(turns > 20, `${turns} turns`)
    assert.deepEqual(idsOf(solve(request)), idsOf(step.value))
  })
})
