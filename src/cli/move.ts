// `depot move files`: brings the files into another store, which the operator then sets.
import { readFileSync } from 'node:fs'
import { resolve } from 'node:path'
import { parseEnv } from 'node:util'
import { type FilesConfig, loadConfig } from '#config/config.ts'
import { COMMAND } from '#features/audit/actor.ts'
import { recordAudit } from '#features/audit/record-audit.ts'
import { moveFiles } from '#features/backup/move-files.ts'
import { isServed } from '#features/backup/rows.ts'
import { OperatorError } from '#lib/operator-error.ts'
import { openFiles } from '#main/open-files.ts'
import { readArguments, required } from './arguments.ts'
import { createProgress, shownBytes } from './progress.ts'
import { type Env, print, withDeps } from './with-deps.ts'

export async function moveFilesCommand(args: readonly string[], env: Env): Promise<void> {
  const { values } = readArguments(args, { to: 'string', json: 'boolean' })
  const path = required(values.to, 'to')
  const target = loadConfig({ ...env, ...readSettings(path) }).files.store
  if (placeOf(target) === placeOf(loadConfig(env).files.store)) {
    throw new OperatorError(`The settings in ${path} name the store that is used already; nothing was copied`)
  }
  await withDeps(env, async (deps) => {
    const store = await openFiles(target, deps)
    const progress = createProgress({ label: 'Files' })
    try {
      const served = await isServed(deps.pool)
      const report = await moveFiles(deps, store, { onProgress: progress.update }).finally(progress.end)
      const { copied, present, bytes, missing } = report
      const details = { copied, present, missing: missing.length }
      await recordAudit(deps.db, { action: 'files.moved', actor: COMMAND, details })
      const counted = `Copied ${copied} files (${shownBytes(bytes)}); ${present} were there already`
      const lacking = missing.map((key) => `\nThe old store lacks ${key}, which a row names`).join('')
      const next = served
        ? 'A server is running: stop it, run this again for what came meanwhile, then use the new settings.'
        : `Use the settings in ${path} from the next start; \`depot verify\` with them compares every file.`
      print({ json: { ...report, served }, text: `${counted}${lacking}\n${next}` }, values.json)
      if (missing.length > 0) process.exitCode = 1
    } finally {
      await store.close()
    }
  })
}

/** Variables in the form of `.env`. @throws OperatorError when the file cannot be read. */
function readSettings(path: string): Env {
  try {
    return parseEnv(readFileSync(path, 'utf8'))
  } catch (cause) {
    const reason = cause instanceof Error ? cause.message : String(cause)
    throw new OperatorError(`The settings in ${path} cannot be read: ${reason}`, { cause })
  }
}

const placeOf = (store: FilesConfig): string =>
  store.kind === 'folder' ? resolve(store.folder) : `${store.endpoint ?? store.region} ${store.bucket}/${store.prefix}`
