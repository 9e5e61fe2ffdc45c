// Events of an archive wait on disk until the archive has shown to be whole: a store of events takes nothing back.
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { OperatorError } from '#lib/operator-error.ts'
import type { AnalyticsStore } from '#ports/analytics-store/analytics-store.ts'
import { EVENT_KINDS, type EventKind } from '#ports/analytics-store/events.ts'
import type { Deps } from '#ports/deps.ts'
import { damaged, type Head } from '../archive/archive-format.ts'
import type { Member } from '../archive/member-reader.ts'
import type { Client } from '../rows.ts'
import { readPart } from './event-parts.ts'

export type EventStage = {
  /** Which store it is, and an instant of it before anything is stored. */
  identity: string
  settledAt: number
  /** The IDs of the batches of downloads. */
  batches: string[]
  /** Keeps a part of events of a kind. */
  keep(kind: string, member: Member): Promise<void>
  /** Stores all that was kept and returns how many events. */
  store(onProgress: (done: number) => void): Promise<number>
  dispose(): Promise<void>
}

/** Objects of so many are in memory at a time. Each batch costs a commit. */
const EVENTS_AT_ONCE = 2_000

/**
 * @throws OperatorError when the store has events already. Those of a restore of this very archive that was interrupted
 * are no hindrance: a batch is stored once.
 */
export async function openEventStage(
  { config, analytics }: Pick<Deps, 'config' | 'analytics'>,
  head: Head,
): Promise<EventStage> {
  const marker = join(config.dataDir, 'restore-begun')
  const begun = await readFile(marker, 'utf8').catch(() => undefined)
  if (begun?.trim() !== head.id && (await hasEvents(analytics))) {
    throw new OperatorError(
      'This instance is not empty: its analytics store has events. Restore into a new data folder, or a new database of ClickHouse; nothing was changed.',
    )
  }
  const identity = await analytics.identity()
  const settledAt = await analytics.settledAt()
  const folder = await mkdtemp(join(config.dataDir, 'restore-'))
  const kept: { kind: EventKind; path: string; id: string }[] = []
  const batches: string[] = []
  return {
    identity,
    settledAt,
    batches,
    async keep(name, member) {
      const kind = EVENT_KINDS.find((known) => known === name)
      if (kind === undefined) throw damaged(`${name} is no kind of event`)
      const path = join(folder, String(kept.length))
      await writeFile(path, await member.bytes(), { mode: 0o600 })
      kept.push({ kind, path, id: `${head.id}-${kept.length}` })
    },
    async store(onProgress) {
      if (kept.length > 0) await writeFile(marker, `${head.id}\n`, { mode: 0o600 })
      let done = 0
      for (const { kind, path, id } of kept) {
        let piece = 0
        for await (const events of readPart(kind, head.events[kind] ?? [], {
          bytes: await readFile(path),
          size: EVENTS_AT_ONCE,
        })) {
          piece += 1
          const batch = `${id}-${piece}`
          await analytics.append(kind, { id: batch, madeAt: Date.parse(head.created), events: events as never })
          if (kind === 'download') batches.push(batch)
          done += events.length
          onProgress(done)
        }
      }
      return done
    },
    dispose: () => rm(folder, { recursive: true, force: true }),
  }
}

/** Whether a store has any event at all. */
export async function hasEvents(store: Pick<AnalyticsStore, 'readEvents'>): Promise<boolean> {
  const found = new Error('There are events')
  for (const kind of EVENT_KINDS) {
    try {
      await store.readEvents(kind, () => Promise.reject(found))
    } catch (error) {
      if (isCausedBy(error, found)) return true
      throw error
    }
  }
  return false
}

/** Counters follow the store of this instance from here on; what was stored just now is counted already. */
export async function followStore(
  client: Pick<Client, 'query'>,
  { identity, settledAt, batches }: Pick<EventStage, 'identity' | 'settledAt' | 'batches'>,
): Promise<void> {
  await client.query('delete from download_batch')
  await client.query('insert into download_batch (id) select unnest($1::text[])', [batches])
  await client.query('update download_ledger set store_id = $1, caught_up_to = $2, needs_rebase = true', [
    identity,
    settledAt,
  ])
}

function isCausedBy(error: unknown, wanted: Error): boolean {
  for (let current = error; current instanceof Error; current = current.cause) if (current === wanted) return true
  return false
}
