// The files of a lock that a server needs, with a text that says how to start the server. The loader itself is not in it.
import { createHash } from 'node:crypto'
import { sql } from 'kysely'
import { isNotBlocked } from '#features/catalogue/contents/blocked-contents.ts'
import { DEFAULT_NAME, listPackFiles, type PackDeps, type PackFile } from '#features/catalogue/resolve/locks/pack.ts'
import type { LockFiles } from '#features/catalogue/resolve/locks/store-lock.ts'
import { ApiError, notFound } from '#lib/errors.ts'
import type { Db } from '#platform/db/db.ts'
import { type Archive, checkLimits } from './choose-files.ts'

/** Name of the text in the archive. */
export const README = 'README.txt'

/**
 * Returns the files that run on the server, in the folders of the pack.
 * @throws ApiError 404 if the server needs no file, 409 for files that are no longer public, `invalid_input` beyond the limits.
 */
export async function chooseServerFiles(deps: PackDeps, lock: LockFiles): Promise<Archive> {
  const files = (await listPackFiles(deps, lock)).filter(({ server }) => server !== 'unsupported')
  if (files.length === 0) throw notFound('file')
  const stored = await listStored(deps.db, files)
  const rows = files.map((file) => {
    const row = stored.get(`${file.versionId} ${file.sha1}`)
    if (row === undefined) throw new ApiError('conflict', 'The pack contains files that are no longer public')
    return { ...file, ...row }
  })
  checkLimits(rows.map(({ sizeBytes }) => ({ size_bytes: sizeBytes })))
  const archived = rows.map(({ folder, filename, storage_key, sizeBytes, sha512, date_published }) => {
    const name = `${folder}/${filename}`
    return { name, storageKey: storage_key, sizeBytes, sha512, at: date_published }
  })
  const texts = [{ name: README, content: startHint(deps, lock.target) }]
  const ids = rows.map(({ versionId, projectId }) => ({
    id: versionId,
    projectId,
    isRequired: !lock.named.has(versionId),
  }))
  const etag = `"${createHash('sha1')
    .update(JSON.stringify([archived, texts]))
    .digest('base64url')}"`
  return { files: archived, texts, versions: ids, etag }
}

type Target = Pick<LockFiles['target'], 'name' | 'loaders' | 'loader_version' | 'game_versions'>

type Stored = { version_id: string; sha1: string; storage_key: string; date_published: Date }

async function listStored(db: Db, files: readonly PackFile[]): Promise<Map<string, Stored>> {
  const rows = await db
    .selectFrom('file')
    .innerJoin('version', 'version.id', 'file.version_id')
    .select(['version_id', 'sha1', 'storage_key', 'date_published'])
    .where(sql<boolean>`version_id = any(${files.map(({ versionId }) => versionId)}::text[])`)
    .where(isNotBlocked())
    .execute()
  return new Map(rows.map((row) => [`${row.version_id} ${row.sha1}`, row]))
}

/** Returns the text for the loader of the pack, from the taxonomy. */
export function startHint(
  { resolving }: Pick<PackDeps, 'resolving'>,
  { name, loaders, loader_version: loaderVersion, game_versions }: Target,
): string {
  const [loader] = loaders
  const gameVersion = game_versions[0] ?? ''
  const hint = loader === undefined ? undefined : resolving.pack_loaders[loader]?.server
  const setup = [gameVersion, loader, loaderVersion].filter(Boolean).join(', ')
  const steps =
    hint === undefined
      ? ['Install the server of the game in this folder, and the loader if the pack has one.', 'Start the server.']
      : [
          'Install Java.',
          `Download the installer of ${loader} into this folder: ${hint.installer}`,
          'Run these commands in this folder:',
        ]
  const commands = (hint?.commands ?? []).map((command) =>
    command.replaceAll('{game_version}', gameVersion).replaceAll('{loader_version}', loaderVersion ?? 'VERSION'),
  )
  const eula =
    'If the server stops, read the licence of the game, set eula=true in eula.txt, and start the server again.'
  return [
    `${name ?? DEFAULT_NAME} (${setup})`,
    '',
    'This archive contains the files of the pack that a server needs. It contains neither the game nor the loader.',
    '',
    ...steps.map((step, index) => `${index + 1}. ${step}`),
    ...commands.map((command) => `   ${command}`),
    `${steps.length + 1}. ${eula}`,
    '',
  ].join('\n')
}
