// A model of one writing and one listening process over a fake database, in random orders that fast-check generates.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import type { Changes } from './changes.ts'
import { createEntityCache, type EntityCache } from './entity-cache.ts'
import type { KindDefinition } from './entries.ts'

interface Thing {
  id: string
  name: string
  revision: number
}
type State = ReadonlyMap<string, Thing>

const IDS = ['one', 'two']
const NAMES = ['red', 'green']

const definition: KindDefinition<Thing> = {
  name: 'project',
  contains: 'Things',
  idOf: (thing) => thing.id,
  sizeOf: () => 100,
  aliasesOf: (thing) => [thing.name],
  revisionOf: (thing) => thing.revision,
}

/** Every past state of the database, oldest first, so that the test can compare a read with the state at its start. */
class FakeDatabase {
  readonly states: State[] = [new Map()]

  get now(): number {
    return this.states.length - 1
  }

  at(index: number): State {
    const state = this.states[index]
    assert.ok(state)
    return state
  }

  /** Writes, renames or deletes; a name another thing has goes over to this one, as two updates in one commit would. */
  commit(id: string, name: string | undefined): string[] {
    const next = new Map(this.at(this.now))
    const changed = [id]
    for (const other of next.values()) {
      if (other.id === id || other.name !== name) continue
      next.set(other.id, { ...other, name: `was-${name}`, revision: other.revision + 1 })
      changed.push(other.id)
    }
    if (name === undefined) next.delete(id)
    else next.set(id, { id, name, revision: this.states.length })
    this.states.push(next)
    return changed
  }
}

const find = {
  id: (state: State, id: string) => state.get(id),
  name: (state: State, name: string) => [...state.values()].find((thing) => thing.name === name),
}

interface Process {
  cache: EntityCache
  /** The oldest state that a read asked now may still show. */
  visible: () => number
}

type Step =
  | { do: 'read'; by: 'id' | 'name'; refs: string[]; process: 'writer' | 'other' }
  | { do: 'write'; id: string; name: string | undefined; fails: boolean }
  | { do: 'lose' }

const step: fc.Arbitrary<Step> = fc.oneof(
  {
    weight: 6,
    arbitrary: fc.record({
      do: fc.constant('read' as const),
      by: fc.constant('id' as const),
      // Most operations use the first ID, because conflicts need many operations on the same entity.
      refs: fc.oneof(fc.constant(IDS.slice(0, 1)), fc.subarray(IDS, { minLength: 1 })),
      process: fc.constantFrom('writer' as const, 'writer' as const, 'other' as const),
    }),
  },
  {
    weight: 4,
    arbitrary: fc.record({
      do: fc.constant('read' as const),
      by: fc.constant('name' as const),
      refs: fc.subarray(NAMES, { minLength: 1 }),
      process: fc.constantFrom('writer' as const, 'writer' as const, 'other' as const),
    }),
  },
  {
    weight: 4,
    arbitrary: fc.record({
      do: fc.constant('write' as const),
      id: fc.constantFrom('one', 'one', 'two'),
      name: fc.option(fc.constantFrom(...NAMES), { nil: undefined, freq: 5 }),
      fails: fc.constantFrom(false, false, false, true),
    }),
  },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('lose' as const) }) },
)

/** The model: each read, write, message and loss is a task that the scheduler may put between any two others. */
async function run(s: fc.Scheduler, steps: readonly Step[], maxBytes: number): Promise<void> {
  const database = new FakeDatabase()
  const pause = (label: string): Promise<void> => s.schedule(Promise.resolve(), label)
  const writer = createEntityCache({ maxBytes })
  const other = createEntityCache({ maxBytes })
  writer.enable()
  other.enable()
  let heard = 0
  let connection = { lost: false }
  let delivered: Promise<void> = Promise.resolve()
  const processes: Record<'writer' | 'other', Process> = {
    writer: { cache: writer, visible: () => database.now },
    other: { cache: other, visible: () => (connection.lost ? database.now : heard) },
  }

  const read = async (by: 'id' | 'name', refs: string[], { cache, visible }: Process): Promise<void> => {
    const oldest = visible()
    const kind = cache.kind(definition)
    const load = async (missing: string[]): Promise<Thing[]> => {
      await pause('load: before the snapshot')
      const state = database.at(database.now)
      const things = missing.map((ref) => find[by](state, ref)).filter((thing) => thing !== undefined)
      await pause('load: after the snapshot')
      return things
    }
    const answer = await (by === 'id' ? kind.getMany(refs, load) : kind.getManyNamed(refs, load))
    for (const ref of refs) {
      const acceptable = database.states.slice(oldest).map((state) => find[by](state, ref))
      const got = answer.get(ref)
      assert.ok(acceptable.includes(got), `${by} ${ref}: ${JSON.stringify(got)} is older than state ${oldest}`)
    }
  }
  const write = async (id: string, name: string | undefined, fails: boolean): Promise<void> => {
    await pause('write: begin')
    const changes: Changes = new Map([['project', new Set(IDS)]])
    // Only the transaction knows which entity loses a name to this write; a model without locks blocks all of them.
    const release = writer.hold(name === undefined ? new Map([['project', new Set([id])]]) : changes)
    await pause('write: commit')
    if (!fails) {
      const changed = database.commit(id, name)
      const index = database.now
      const listening = connection
      const before = delivered
      delivered = (async () => {
        await before
        await pause('invalidation')
        if (listening.lost || listening !== connection) return
        other.invalidate(new Map([['project', new Set(changed)]]))
        heard = index
      })()
    }
    await pause('write: answer')
    release()
  }
  const lose = async (): Promise<void> => {
    await pause('connection lost')
    if (connection.lost) return
    connection.lost = true
    other.disable()
    await pause('connection back')
    connection = { lost: false }
    heard = database.now
    other.enable()
  }

  const tasks = steps.map(async (next) => {
    await pause('ask')
    if (next.do === 'read') await read(next.by, next.refs, processes[next.process])
    else if (next.do === 'write') await write(next.id, next.name, next.fails)
    else await lose()
  })
  await s.waitFor(Promise.all(tasks))
  await s.waitFor(Promise.resolve().then(() => delivered))

  assert.equal(heard, database.now, 'every invalidation message has arrived')
  for (const process of Object.values(processes))
    await s.waitFor(Promise.all([read('id', IDS, process), read('name', NAMES, process)]))
}

test('a read shows no state older than the newest commit its process could know of, in any order of events', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.scheduler(),
      fc.array(step, { minLength: 6, maxLength: 16, size: 'max' }),
      // The small cache, of one or two entries, lives through evictions; the large one keeps everything.
      fc.constantFrom(8_200, 1_000_000),
      run,
    ),
    { numRuns: 1_000 },
  )
})
