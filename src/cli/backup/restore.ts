// `depot restore`.
import { createReadStream } from 'node:fs'
import { open, readdir, readFile } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import type { Readable } from 'node:stream'
import { readArguments, UsageError } from '#cli/kit/arguments.ts'
import { createSteps } from '#cli/kit/progress.ts'
import { type Env, print, withUnmigratedDeps } from '#cli/kit/with-deps.ts'
import { COMMAND } from '#features/basics/audit/actor.ts'
import { recordAudit } from '#features/basics/audit/record-audit.ts'
import { QUIET } from '#features/basics/settings/quiet.ts'
import { fileSource, parseIdentities, type Source } from '#features/operation/backup/archive/encryption.ts'
import {
  type RestoreDeps,
  type RestoreOptions,
  type RestoreReport,
  restoreBackup,
} from '#features/operation/backup/restore-backup.ts'
import { findBackup, isBackupName, objectSource } from '#features/operation/backup/scheduled/target.ts'
import { OperatorError } from '#lib/operator-error.ts'
import { withBackupTarget } from '#main/open-backup-target.ts'
import { loadConfig } from '#platform/config/load-config.ts'
import { targetDeps } from './backup.ts'
import { restoreOnlyEvents, restoreOnlyFiles } from './restore-part.ts'

/** Size of a read. */
const SOURCE_BYTES = 1024 * 1024
const NEW_WRITER =
  'Backups of this copy need another BACKUP_TARGET. If this copy replaces the original, run `depot backup --take-over` once.'
const LABELS = { rows: 'Rows', files: 'Files', events: 'Events' } as const

const PARTS = new Map([
  ['events', restoreOnlyEvents],
  ['files', restoreOnlyFiles],
])

type Chosen = Pick<RestoreOptions, 'source' | 'earlier' | 'packs'>

export async function restoreCommand(args: readonly string[], env: Env): Promise<void> {
  const { values, words } = readArguments(
    args,
    { identity: 'string', quiet: 'boolean', only: 'string', json: 'boolean' },
    { min: 1, max: 1000 },
  )
  const isQuiet = values.quiet === true
  const identities = await readIdentities(values.identity)
  if (values.only !== undefined) {
    if (isQuiet) throw new UsageError('--quiet restores a whole instance; do not combine it with --only')
    const part = PARTS.get(values.only)
    if (part === undefined) throw new UsageError('--only must be events or files')
    return part(withBackup, env, { words, identities, json: values.json })
  }
  const progress = createSteps(LABELS)
  try {
    const report = await withBackup(words, env, (chosen) =>
      withUnmigratedDeps(env, (deps) =>
        restore(deps, { ...chosen, identities, isQuiet, onProgress: progress.onProgress }),
      ),
    )
    progress.end()
    const next = [
      ...(isQuiet ? [`${QUIET}.`] : []),
      ...(loadConfig(env).backup.target === undefined ? [] : [NEW_WRITER]),
    ]
    print({ json: report, text: [describeRestore(report), ...next].join('\n') }, values.json)
  } finally {
    progress.end()
  }
}

async function restore(deps: RestoreDeps, options: RestoreOptions): Promise<RestoreReport> {
  const restored = await restoreBackup(deps, options)
  const { id, created, rows, files, events, missing } = restored
  const details = { id, created, rows, files, events, missing, quiet: options.isQuiet === true }
  await recordAudit(deps.db, { action: 'backup.restored', actor: COMMAND, details })
  return restored
}

function describeRestore({ rows, files, events, missing, created, renew }: RestoreReport): string {
  const lacks = missing === 0 ? '' : `; ${missing} files were missing in the backup`
  return `Restored the backup of ${created}: ${rows} rows, ${files} files, ${events} events${lacks}${describeRenewal(renew)}`
}

/** Opens the backup that the words name: `latest` or a name at BACKUP_TARGET, or a file and those that it is based on. */
export async function withBackup<T>(
  [name = '-', ...earlier]: readonly string[],
  env: Env,
  act: (backup: Chosen) => Promise<T>,
): Promise<T> {
  if (name !== 'latest' && !isBackupName(name)) return withFile(name, earlier, act)
  if (earlier.length > 0) throw new UsageError(`Unexpected argument: ${earlier[0]}`)
  return withBackupTarget(targetDeps(env), async (target) => {
    const { source, packs } = await findBackup(target, name)
    const find = (id: string): Source | undefined => {
      const pack = packs.find((found) => found.id === id)
      return pack && objectSource(target, pack.key)
    }
    const opened = await source.open()
    try {
      return await act({ source: opened, packs: { name: source.name, find } })
    } finally {
      // A backup that cannot be decrypted is not read to its end.
      opened.destroy()
    }
  })
}

async function withFile<T>(path: string, earlier: readonly string[], act: (backup: Chosen) => Promise<T>): Promise<T> {
  const source = await openSource(path)
  try {
    return await act({ source, earlier: earlier.map(fileSource), packs: await packsNextTo(path) })
  } finally {
    if (path !== '-') source.destroy()
  }
}

/** A copy of a scheduled backup is next to its packs. */
async function packsNextTo(path: string): Promise<RestoreOptions['packs']> {
  const names = path === '-' ? [] : await readdir(dirname(path))
  const find = (id: string): Source | undefined => {
    const name = names.find((found) => found.startsWith(`files-${id}-`))
    return name === undefined ? undefined : fileSource(join(dirname(path), name))
  }
  return { name: isBackupName(basename(path, '.tar')) ? path : undefined, find }
}

function describeRenewal(renew: readonly string[]): string {
  if (renew.length === 0) return ''
  return `\nThe backup has no secrets of the instance. Renew:\n${renew.map((line) => `  ${line}`).join('\n')}`
}

/** Reads the file with private keys that `--identity` names. */
export async function readIdentities(path: string | undefined): Promise<string[]> {
  if (path === undefined) return []
  const text = await readFile(path, 'utf8').catch((cause: Error) => {
    throw new OperatorError(`Cannot read the private key ${path}: ${cause.message}`, { cause })
  })
  return parseIdentities(text, path)
}

async function openSource(path: string): Promise<Readable> {
  if (path === '-') return process.stdin
  const handle = await open(path, 'r').catch((cause: Error) => {
    throw new OperatorError(`Cannot open the backup ${path}: ${cause.message}`, { cause })
  })
  await handle.close()
  return createReadStream(path, { highWaterMark: SOURCE_BYTES })
}
