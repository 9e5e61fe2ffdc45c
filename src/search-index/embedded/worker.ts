// The search thread: one engine, a second one while it is rebuilt, and the snapshot file.
import { setImmediate as nextTurn } from 'node:timers/promises'
import { type MessagePort, parentPort, workerData } from 'node:worker_threads'
import type { SearchChange, SearchIndexStatus, SearchQuery } from '../search-index.ts'
import { Engine } from './engine.ts'
import { ByteWriter } from './hit-store.ts'
import type { Command, Reply, Request, WorkerData } from './protocol.ts'
import { readSnapshot, writeSnapshot } from './snapshot.ts'

/** Documents indexed at a stretch during a rebuild; searches wait that long. */
const REBUILD_SLICE = 100

type State = { engine: Engine; next: Engine | undefined }

if (parentPort !== null) run(parentPort, workerData as WorkerData)

function run(port: MessagePort, { snapshotFile }: WorkerData): void {
  const reply = (message: Reply, transfer: ArrayBuffer[] = []) => port.postMessage(message, transfer)
  const { engine, fault } = load(snapshotFile)
  const state: State = { engine, next: undefined }
  const out = new ByteWriter()
  // Commands wait for each other, so that a snapshot is not changed while it is written; searches do not wait.
  let last = Promise.resolve()
  port.on('message', (request: Request) => {
    if (request.kind === 'search') {
      const found = answer(state.engine, request, out)
      reply(found, [found.bytes.buffer])
      return
    }
    const { id } = request
    const command = JSON.parse(request.command) as Command
    last = last.then(async () => {
      try {
        await execute(state, command, snapshotFile)
        reply({ kind: 'done', id, status: statusOf(state) })
      } catch (error) {
        reply({ kind: 'failed', id, reason: error instanceof Error ? error.message : String(error) })
      }
      if (command.kind === 'close') port.close()
    })
  })
  reply({ kind: 'ready', status: statusOf(state), snapshotFault: fault })
}

function load(snapshotFile: string | undefined): { engine: Engine; fault: string | undefined } {
  try {
    return { engine: new Engine(snapshotFile === undefined ? undefined : readSnapshot(snapshotFile)), fault: undefined }
  } catch (error) {
    return { engine: new Engine(), fault: error instanceof Error ? error.message : String(error) }
  }
}

function answer(
  engine: Engine,
  { ids, queries }: Extract<Request, { kind: 'search' }>,
  out: ByteWriter,
): Extract<Reply, { kind: 'found' }> {
  const ends: number[] = []
  const totals: number[] = []
  for (const query of queries) {
    const start = out.length
    try {
      totals.push(engine.search(JSON.parse(query) as SearchQuery, out))
    } catch {
      // A fault of the engine costs this one answer; the caller is told and logs it.
      out.length = start
      totals.push(-1)
    }
    ends.push(out.length)
  }
  return { kind: 'found', ids, ends, totals, bytes: out.take() }
}

async function execute(state: State, command: Command, snapshotFile: string | undefined): Promise<void> {
  switch (command.kind) {
    case 'apply':
      try {
        state.engine.apply(command.changes)
      } finally {
        // Up to a change that is refused, both have had the same.
        state.next?.apply(command.changes)
      }
      return
    case 'rebuild-begin':
      if (state.next !== undefined) throw new Error('The index is being rebuilt already')
      state.next = new Engine()
      return
    case 'rebuild-add':
      await addToNext(state, command)
      return
    case 'rebuild-end':
      if (state.next === undefined) throw new Error('The index is not being rebuilt')
      state.next.sequence = Math.max(state.next.sequence, command.sequence)
      state.engine = state.next
      state.next = undefined
      return
    case 'rebuild-abort':
      state.next = undefined
      return
    case 'checkpoint':
      if (snapshotFile !== undefined) await writeSnapshot(snapshotFile, state.engine.save())
      return
    case 'status':
    case 'close':
      return
  }
}

/** In small pieces, between which searches are answered. */
async function addToNext(
  state: State,
  { sequence, documents }: Extract<Command, { kind: 'rebuild-add' }>,
): Promise<void> {
  if (state.next === undefined) throw new Error('The index is not being rebuilt')
  for (let i = 0; i < documents.length; i += REBUILD_SLICE) {
    const slice = documents.slice(i, i + REBUILD_SLICE)
    state.next.apply(slice.map((document): SearchChange => ({ kind: 'upsert', sequence, document })))
    await nextTurn()
  }
}

function statusOf({ engine, next }: State): SearchIndexStatus {
  return {
    ready: true,
    documents: engine.size,
    sequence: engine.sequence,
    rebuilding: next !== undefined,
    memoryBytes: process.memoryUsage.rss(),
  }
}
