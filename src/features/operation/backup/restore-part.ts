// `depot restore --only`: restores the events or single files of a backup into the existing instance.

import { reconcileDownloads } from '#features/reading/downloads/reconcile-downloads.ts'
import { OperatorError } from '#lib/operator-error.ts'
import { withConnection } from '#platform/db/db.ts'
import type { Deps } from '#ports/deps.ts'
import { fileMember } from './archive/archive-format.ts'
import { type ArchiveReader, openArchive } from './archive/archive-reader.ts'
import { decrypted } from './archive/encryption.ts'
import { followStore, openEventStage } from './events/event-stage.ts'
import { type RestoreOptions, requireEarlier } from './restore-backup.ts'
import { createFileRestorer, restoreEarlier } from './restore-files.ts'
import { isServed } from './rows.ts'
import { storedKeys } from './stored-keys.ts'

type Options = Pick<RestoreOptions, 'source' | 'earlier' | 'packs' | 'identities' | 'onProgress'>

export type EventsReport = { created: string; events: number }

export type FilesReport = {
  created: string
  files: number
  /** Keys that neither the backup nor those on which it is based contain. */
  missing: string[]
}

/** Opens the backup, runs `act`, and closes it. */
async function withArchive<T>(
  { source, identities = [] }: Options,
  act: (reader: ArchiveReader) => Promise<T>,
): Promise<T> {
  const reader = await openArchive(await decrypted(source, identities))
  try {
    return await act(reader)
  } finally {
    await reader.dispose()
  }
}

/**
 * Restores the events into an empty store. Download counters keep their values.
 * @throws OperatorError if a server runs or the store has events. ArchiveError if the backup is damaged.
 */
export async function restoreEvents(
  deps: Pick<Deps, 'pool' | 'db' | 'cache' | 'analytics' | 'config' | 'log'>,
  options: Options,
): Promise<EventsReport> {
  if (await isServed(deps.pool))
    throw new OperatorError('A server is running. Stop it and run this command again. Nothing was changed.')
  return withArchive(options, async (reader) => {
    const { head } = reader
    const stage = await openEventStage(deps, head)
    try {
      for await (const member of reader.members()) {
        const [folder, name = ''] = member.name.split('/')
        if (folder === 'events') await stage.add(name, member)
      }
      const events = await stage.store((done) => options.onProgress?.('events', done))
      await withConnection(deps.pool, 'depot-restore', async (client) => {
        await client.query('begin')
        await followStore(client, stage)
        await client.query('commit')
      })
      await reconcileDownloads({ ...deps, store: deps.analytics })
      return { created: head.created, events }
    } finally {
      await stage.dispose()
    }
  })
}

/**
 * Restores the named files, or those that are missing in the store or have another size than their row. Servers can run,
 * because the file of a key never changes.
 * @throws OperatorError if no row refers to a named file. ArchiveError if the backup is damaged or based on backups that are not named.
 */
export async function restoreFiles(
  deps: Pick<Deps, 'pool' | 'files'>,
  options: Options & { keys: readonly string[] },
): Promise<FilesReport> {
  const wanted = await listWanted(deps, options.keys)
  return withArchive(options, async (reader) => {
    const { head } = reader
    const names = new Set([...wanted].map(fileMember))
    const isWanted = (name: string): boolean => names.has(name)
    const restorer = createFileRestorer(deps)
    const found = new Set<string>()
    for await (const member of reader.members()) {
      if (!isWanted(member.name)) continue
      await restorer.add(member)
      found.add(member.name)
      options.onProgress?.('files', found.size)
    }
    await restorer.end()
    const needed = new Set<string>()
    for await (const entry of reader.elsewhere()) {
      if ('absent' in entry || entry.in === undefined || !isWanted(entry.name)) continue
      needed.add(entry.in)
      found.add(entry.name)
    }
    const { identities = [] } = options
    const since = head.since.filter(({ id }) => needed.has(id))
    for (const [id, source] of await requireEarlier({ ...head, since }, options, identities)) {
      if (needed.has(id)) await restoreEarlier(deps, reader, { id, source, identities, isWanted })
    }
    options.onProgress?.('files', found.size)
    const missing = [...wanted].filter((key) => !found.has(fileMember(key)))
    return { created: head.created, files: found.size, missing }
  })
}

/** Returns the keys of the files to restore. @throws OperatorError if no row refers to one of `keys`. */
async function listWanted(
  { pool, files }: Pick<Deps, 'pool' | 'files'>,
  keys: readonly string[],
): Promise<Set<string>> {
  const named = new Set(keys)
  const wanted = new Set<string>()
  await withConnection(pool, 'depot-restore', async (client) => {
    await client.query('begin isolation level repeatable read read only')
    for await (const { key, sizeBytes, isUploading } of storedKeys(client)) {
      if (named.has(key)) wanted.add(key)
      if (named.size > 0 || isUploading) continue
      const stat = await files.stat(key)
      if (stat === undefined || (sizeBytes !== null && stat.sizeBytes !== sizeBytes)) wanted.add(key)
    }
  })
  const unknown = [...named].filter((key) => !wanted.has(key))
  if (unknown.length === 0) return wanted
  throw new OperatorError(
    `No row refers to the file ${unknown[0]}. Use the names that \`depot doctor --full\` prints. Nothing was changed.`,
  )
}
