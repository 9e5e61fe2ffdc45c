// The search thread: an engine, a second one during a rebuild, and the snapshot file.
import { setTimeout } from 'node:timers/promises'
import { type MessagePort, parentPort, workerData } from 'node:worker_threads'
import type { SearchIndexStatus, SearchQuery } from '../search-index.ts'
import { Engine } from './engine.ts'
import { ByteWriter } from './parts/hit-store.ts'
import type { Command, Reply, Request, WorkerData } from './protocol.ts'
import { ParsedFilters } from './query/filter-cache.ts'
import { readSnapshot, writeSnapshot } from './snapshot.ts'

/** Duration of a clean-up step and of the pause after it: about an eighth of the thread's time. */
const TIDY_MS = 0.5
const TIDY_PAUSE_MS = 4

type State = {
  engine: Engine
  next: Engine | undefined
  readonly snapshotFile: string | undefined
  readonly filters: ParsedFilters
  readonly out: ByteWriter
  /** Whether the arrays are being written and must not change. */
  isWriting: boolean
  /** Settles when the last snapshot is on disk or has failed. */
  saved: Promise<void>
  isTidying: boolean
  isClosed: boolean
}

if (parentPort !== null) run(parentPort, workerData as WorkerData)

function run(port: MessagePort, { snapshotFile }: WorkerData): void {
  const reply = (message: Reply, transfer: ArrayBuffer[] = []) => port.postMessage(message, transfer)
  const { engine, problem } = load(snapshotFile)
  const state: State = {
    engine,
    next: undefined,
    snapshotFile,
    filters: new ParsedFilters(),
    out: new ByteWriter(),
    isWriting: false,
    saved: Promise.resolve(),
    isTidying: false,
    isClosed: false,
  }
  // Commands run one after another, so that none changes the index while a snapshot is written. Searches do not wait.
  let last = Promise.resolve()
  port.on('message', (request: Request) => {
    if (request.kind === 'search') {
      const results = search(state, request)
      reply(results, [results.bytes.buffer])
      return
    }
    const { id, command } = request
    const done = () => reply({ kind: 'done', id, status: statusOf(state) })
    const failed = (error: unknown) => reply({ kind: 'failed', id, reason: reasonOf(error) })
    last = last.then(async () => {
      try {
        if (command.kind === 'checkpoint') await checkpoint(state, done, failed)
        else {
          execute(state, command)
          if (command.kind === 'close') await state.saved
          done()
        }
      } catch (error) {
        failed(error)
      }
      if (state.isClosed) port.close()
      else void tidy(state)
    })
  })
  reply({ kind: 'ready', status: statusOf(state), snapshotError: problem })
}

function load(snapshotFile: string | undefined): { engine: Engine; problem: string | undefined } {
  try {
    const saved = snapshotFile === undefined ? undefined : readSnapshot(snapshotFile)
    return { engine: new Engine(saved), problem: undefined }
  } catch (error) {
    return { engine: new Engine(), problem: reasonOf(error) }
  }
}

function search(
  state: State,
  { ids, queries, filters }: Extract<Request, { kind: 'search' }>,
): Extract<Reply, { kind: 'found' }> {
  const { engine, out } = state
  const ends: number[] = []
  const totals: number[] = []
  for (const [i, json] of queries.entries()) {
    const start = out.length
    try {
      const key = filters[i] ?? ''
      const query: Omit<SearchQuery, 'filter'> = JSON.parse(json)
      if (key.startsWith('[')) {
        out.text(JSON.stringify(engine.count({ text: query.text, filters: JSON.parse(key) })))
        totals.push(0)
      } else totals.push(engine.search({ ...query, filter: state.filters.read(key) }, out, key))
    } catch {
      // An error of the engine fails only this search; the caller logs it.
      out.length = start
      totals.push(-1)
    }
    ends.push(out.length)
  }
  return { kind: 'found', ids, ends, totals, bytes: out.take() }
}

function execute(state: State, command: Command): void {
  switch (command.kind) {
    case 'apply':
      try {
        state.engine.apply(command.changes)
      } finally {
        // If a change is rejected, both engines have applied the changes before it.
        state.next?.add(command.changes)
      }
      return
    case 'rebuild-begin':
      state.next = new Engine()
      return
    case 'rebuild-add':
      nextEngine(state).add(command.changes)
      return
    case 'rebuild-end': {
      const next = nextEngine(state)
      next.finish()
      next.sequence = Math.max(next.sequence, command.sequence)
      state.engine = next
      state.next = undefined
      return
    }
    case 'rebuild-abort':
      state.next = undefined
      return
    case 'close':
      state.isClosed = true
      return
    case 'checkpoint':
    case 'status':
      return
  }
}

function nextEngine({ next }: State): Engine {
  if (next === undefined) throw new Error('The index is not being rebuilt')
  return next
}

/** Resolves when changes can continue. Calls `done` when the snapshot is on disk, or `failed`. */
async function checkpoint(state: State, done: () => void, failed: (error: unknown) => void): Promise<void> {
  await state.saved
  const { snapshotFile } = state
  if (snapshotFile === undefined) {
    done()
    return
  }
  state.isWriting = true
  try {
    await new Promise<void>((resolve) => {
      state.saved = writeSnapshot(snapshotFile, state.engine.save(), resolve).then(done, failed).finally(resolve)
    })
  } finally {
    state.isWriting = false
  }
}

/** Cleans up in short steps, between which searches and changes run. */
async function tidy(state: State): Promise<void> {
  if (state.isTidying) return
  state.isTidying = true
  while (!state.isWriting && !state.isClosed && tidyFor(TIDY_MS, state.engine)) await setTimeout(TIDY_PAUSE_MS)
  state.isTidying = false
}

function tidyFor(ms: number, engine: Engine): boolean {
  const start = performance.now()
  let isMore = engine.tidy()
  while (isMore && performance.now() - start < ms) isMore = engine.tidy()
  return isMore
}

function reasonOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error)
}

function statusOf({ engine, next }: State): SearchIndexStatus {
  return {
    ready: true,
    documents: engine.size,
    sequence: engine.sequence,
    rebuilding: next !== undefined,
    // The other thread measures it, because that takes longer than most commands.
    memoryBytes: 0,
    identity: '',
  }
}
