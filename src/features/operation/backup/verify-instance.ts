// For `depot doctor`: compares rows, files and events, and changes nothing.

import { createHash } from 'node:crypto'
import { finished } from 'node:stream/promises'
import { findDrift } from '#features/reading/downloads/find-drift.ts'
import { forEachConcurrently } from '#lib/concurrency/for-each-concurrently.ts'
import { withConnection } from '#platform/db/db.ts'
import type { Deps } from '#ports/deps.ts'
import type { Client } from './rows.ts'
import { type StoredKey, storedKeys, withReferences } from './stored-keys.ts'

export type Finding =
  /** A row refers to a file that is not in the store. */
  | { what: 'missing-file'; key: string }
  /** The content of a file does not match its row. */
  | { what: 'changed-file'; key: string; detail: string }
  /** The store has a file to which no row refers. */
  | { what: 'unused-file'; key: string; sizeBytes: number }
  /** A counter differs from its imported downloads plus its events. */
  | { what: 'wrong-counter'; of: 'project' | 'version'; id: string; difference: number }

export type VerifyReport = {
  files: number
  findings: number
  /** The first findings, at most `LISTED_MAX`. */
  listed: Finding[]
  /** Parts that were not compared, with the reason. */
  skipped: string[]
}

export type VerifyOptions = {
  /** Compares sizes only. */
  quick?: boolean
  /** Whether this process can read the events. */
  canReadEvents: boolean
  onProgress?: (done: number) => void
}

const LISTED_MAX = 1_000
/** Number of files that are read concurrently. */
const CONCURRENCY = 4

export async function verifyInstance(
  deps: Pick<Deps, 'pool' | 'db' | 'cache' | 'files' | 'analytics' | 'log'>,
  { quick = false, canReadEvents, onProgress }: VerifyOptions,
): Promise<VerifyReport> {
  const report: VerifyReport = { files: 0, findings: 0, listed: [], skipped: [] }
  const note = (finding: Finding): void => {
    report.findings += 1
    if (report.listed.length < LISTED_MAX) report.listed.push(finding)
  }
  const onFile = (): void => {
    report.files += 1
    onProgress?.(report.files)
  }
  return withConnection(deps.pool, 'depot-verify', async (client) => {
    await verifyFiles(deps, client, { quick, note, onFile })
    await verifyListing(deps, client, note)
    if (canReadEvents) {
      for (const drift of await findDrift({ ...deps, store: deps.analytics })) note({ what: 'wrong-counter', ...drift })
    } else {
      report.skipped.push('download counters: the running server owns the events, and compares them every night')
    }
    return report
  })
}

type Note = (finding: Finding) => void

async function verifyFiles(
  { files }: Pick<Deps, 'files'>,
  client: Client,
  { quick, note, onFile }: { quick: boolean; note: Note; onFile: () => void },
): Promise<void> {
  const suspects: StoredKey[] = []
  await client.query('begin isolation level repeatable read read only')
  const check = async (stored: StoredKey): Promise<void> => {
    const finding = await verifyFile(files, stored, quick)
    onFile()
    if (finding?.what === 'missing-file') suspects.push(stored)
    else if (finding !== undefined) note(finding)
  }
  await forEachConcurrently(storedKeys(client), check, CONCURRENCY)
  await client.query('commit')
  // Files that were deleted after the snapshot are not missing.
  const missing = suspects.filter(({ isUploading }) => !isUploading)
  for await (const [{ key }, isReferenced] of withReferences(client, missing)) {
    if (isReferenced) note({ what: 'missing-file', key })
  }
}

async function verifyFile(files: Deps['files'], stored: StoredKey, quick: boolean): Promise<Finding | undefined> {
  const { key, sizeBytes, sha512 } = stored
  const stat = await files.stat(key)
  if (stat === undefined) return { what: 'missing-file', key }
  if (sizeBytes !== null && stat.sizeBytes !== sizeBytes)
    return { what: 'changed-file', key, detail: `${stat.sizeBytes} bytes instead of ${sizeBytes}` }
  if (quick) return undefined
  const expected = sha512 !== null ? { algorithm: 'sha512', hash: sha512 } : imageHash(key)
  if (expected === undefined) return undefined
  const opened = await files.open(key)
  if (opened === undefined) return { what: 'missing-file', key }
  const hash = createHash(expected.algorithm)
  opened.stream.on('data', (chunk: Buffer) => hash.update(chunk))
  await finished(opened.stream)
  if (hash.digest('hex') === expected.hash) return undefined
  return { what: 'changed-file', key, detail: `wrong ${expected.algorithm} hash` }
}

/** Returns the hash in the name of an original image. */
function imageHash(key: string): { algorithm: string; hash: string } | undefined {
  const hash = /^pictures\/.+\/([0-9a-f]{40})\.[a-z]+$/.exec(key)?.[1]
  return hash === undefined ? undefined : { algorithm: 'sha1', hash }
}

async function verifyListing(deps: Pick<Deps, 'files'>, client: Client, note: Note): Promise<void> {
  for await (const file of listUnusedFiles(deps, client)) note({ what: 'unused-file', ...file })
}

/** Yields the files in the store to which no row, claim or scheduled removal refers. */
export async function* listUnusedFiles(
  { files }: Pick<Deps, 'files'>,
  client: Client,
): AsyncGenerator<{ key: string; sizeBytes: number }> {
  const suspects: { key: string; sizeBytes: number }[] = []
  for await (const [file, isReferenced] of withReferences(client, files.list())) {
    if (!isReferenced) suspects.push(file)
  }
  // A row can be added after its file was listed.
  for await (const [file, isReferenced] of withReferences(client, suspects)) if (!isReferenced) yield file
}
