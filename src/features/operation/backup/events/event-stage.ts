// Stages the events of a backup on disk until the whole backup is verified, because an analytics store cannot undo writes.
import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { OperatorError } from '#lib/operator-error.ts'
import { type AnalyticsStore, APPEND_EVENTS_MAX } from '#ports/analytics-store/analytics-store.ts'
import { EVENT_KINDS, type EventKind } from '#ports/analytics-store/events.ts'
import type { Deps } from '#ports/deps.ts'
import { damaged, type Head } from '../archive/archive-format.ts'
import type { Member } from '../archive/member-reader.ts'
import type { Client } from '../rows.ts'
import { linesOf } from './event-parts.ts'

/**
 * Opens a stage in the data folder.
 * @throws OperatorError if the store already has events, except from an interrupted restore of the same backup: the store
 * ignores batches that it already has.
 */
export async function openEventStage({ config, analytics }: Pick<Deps, 'config' | 'analytics'>, head: Head) {
  const marker = join(config.dataDir, 'restore-begun')
  const interruptedId = await readFile(marker, 'utf8').catch(() => undefined)
  if (interruptedId?.trim() !== head.id && (await hasEvents(analytics))) {
    throw new OperatorError(
      'This instance is not empty: its analytics store has events. Restore into a new data folder or a new ClickHouse database. Nothing was changed.',
    )
  }
  const identity = await analytics.identity()
  const settledAt = await analytics.settledAt()
  await removeInterrupted(config.dataDir)
  const folder = await mkdtemp(join(config.dataDir, 'restore-'))
  const parts: { kind: EventKind; path: string; id: string }[] = []
  const batches: string[] = []
  return {
    /** Identity of the store, and a time before the first write. */
    identity,
    settledAt,
    /** IDs of the stored batches of downloads. */
    batches,
    /** Stages a part of events. */
    async add(name: string, member: Member): Promise<void> {
      const kind = EVENT_KINDS.find((eventKind) => eventKind === name)
      if (kind === undefined) throw damaged(`${name} is not a kind of event`)
      const path = join(folder, String(parts.length))
      await writeFile(path, await member.bytes(), { mode: 0o600 })
      parts.push({ kind, path, id: `${head.id}-${parts.length}` })
    },
    /** Stores all staged events and returns their number. */
    async store(onProgress: (done: number) => void): Promise<number> {
      if (parts.length > 0) await writeFile(marker, `${head.id}\n`, { mode: 0o600 })
      let done = 0
      async function storeKind(kind: EventKind): Promise<void> {
        for (const { path, id } of parts.filter((part) => part.kind === kind)) {
          const all = await linesOf(await readFile(path))
          for (let at = 0; at < all.length; at += APPEND_EVENTS_MAX) {
            const lines = all.slice(at, at + APPEND_EVENTS_MAX)
            const batch = `${id}-${1 + at / APPEND_EVENTS_MAX}`
            const columns = head.events[kind] ?? []
            await analytics.appendLines(kind, { id: batch, madeAt: Date.parse(head.created), columns, lines })
            if (kind === 'download') batches.push(batch)
            done += lines.length
            onProgress(done)
          }
        }
      }
      // The kinds do not wait for each other, because each batch waits for the disk.
      await Promise.all(EVENT_KINDS.map(storeKind))
      return done
    },
    dispose: (): Promise<void> => rm(folder, { recursive: true, force: true }),
  }
}

/** Removes the stages of killed restores. Only one restore runs at a time. */
async function removeInterrupted(dataDir: string): Promise<void> {
  for (const name of await readdir(dataDir)) {
    if (/^restore-[A-Za-z0-9]{6}$/.test(name)) await rm(join(dataDir, name), { recursive: true, force: true })
  }
}

/** Returns whether a store has any events. */
export async function hasEvents(store: Pick<AnalyticsStore, 'readEvents'>): Promise<boolean> {
  let isFound = false
  for (const kind of EVENT_KINDS) {
    try {
      await store.readEvents(kind, async () => {
        isFound = true
        throw new Error('The store has events')
      })
    } catch (error) {
      if (isFound) return true
      throw error
    }
  }
  return false
}

/** Makes the download counters follow this store. The batches are recorded as already counted. */
export async function followStore(
  client: Pick<Client, 'query'>,
  { identity, settledAt, batches }: { identity: string; settledAt: number; batches: readonly string[] },
): Promise<void> {
  await client.query('delete from download_batch')
  await client.query('insert into download_batch (id) select unnest($1::text[])', [batches])
  await client.query('update download_ledger set store_id = $1, caught_up_to = $2, needs_rebase = true', [
    identity,
    settledAt,
  ])
}
