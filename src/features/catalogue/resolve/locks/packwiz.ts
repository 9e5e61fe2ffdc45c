// Writes a lock as the files of a packwiz pack, which launchers install from their address.
import { hash } from 'node:crypto'
import { convertInPieces } from '#lib/text/json-pieces.ts'
import type { PackTarget } from '../answer.ts'
import { DEFAULT_NAME, DEFAULT_VERSION, loaderKeyOf, type PackDeps, type PackFile } from './pack.ts'
import type { LockFiles } from './store-lock.ts'

/** Returns a TOML string. JSON strings are TOML strings, except for U+007F and halves of surrogate pairs. */
function toml(text: string): string {
  return JSON.stringify(text.toWellFormed().replaceAll('\x7f', ''))
}

const sha256 = (text: string): string => hash('sha256', text)

/** A file in a pack. */
export type Described = {
  name: string
  /** Relative to the folder of the description. */
  filename: string
  side: 'both' | 'client' | 'server'
  url: string
  sha512: string
}

/**
 * Returns the description of a file. It has no section `update`: packwiz accepts only the names of updaters that it knows,
 * and each of these reads the API of a fixed host, not of this instance.
 */
export function writeDescription({ name, filename, side, url, sha512 }: Described): string {
  const lines = [`name = ${toml(name)}`, `filename = ${toml(filename)}`, `side = "${side}"`]
  const download = ['[download]', `url = ${toml(url)}`, 'hash-format = "sha512"', `hash = "${sha512}"`]
  return `${[...lines, '', ...download].join('\n')}\n`
}

/** Returns the description of a file of a lock. */
export function writeMetafile(file: PackFile): string {
  const { name, filename, url, sha512, client, server } = file
  const side = client === 'unsupported' ? 'server' : server === 'unsupported' ? 'client' : 'both'
  return writeDescription({ name, filename, side, url, sha512 })
}

/** Path of the description of a file in the pack. */
export const metafilePath = ({ folder, slug }: PackFile): string => `${folder}/${slug}.pw.toml`

/** Names of the files of a pack: of the index, and of the description of each file. */
export type PackNames = { index: string; pathOf(file: PackFile): string }
const LOCK_NAMES: PackNames = { index: 'index.toml', pathOf: metafilePath }

/**
 * Names the description of a file by its content, so that a client that has read one index of a pack whose files change gets
 * exactly the descriptions of that index. Unchanged files keep their names, which clients compare.
 */
export function pathByContent(file: PackFile): string {
  return `${file.folder}/${file.slug}.${sha256(writeMetafile(file)).slice(0, 16)}.pw.toml`
}

/** Returns the index of a lock. */
export function writeIndex(files: readonly PackFile[], { pathOf } = LOCK_NAMES): Promise<string> {
  return writeIndexOf(files, (file) => ({ path: pathOf(file), text: writeMetafile(file) }))
}

/** Returns an index of descriptions: the path and the text of each. */
export async function writeIndexOf<F>(
  files: readonly F[],
  describe: (file: F) => { path: string; text: string },
): Promise<string> {
  const sections = await convertInPieces(files, (file) => {
    const { path, text } = describe(file)
    return ['[[files]]', `file = ${toml(path)}`, `hash = "${sha256(text)}"`, 'metafile = true', ''].join('\n')
  })
  return `hash-format = "sha256"\n\n${sections.join('\n')}`
}

/** Returns `pack.toml` of a lock. */
export async function writePack(
  deps: Pick<PackDeps, 'resolving'>,
  { target }: Pick<LockFiles, 'target'>,
  files: readonly PackFile[],
  names = LOCK_NAMES,
): Promise<string> {
  return writePackOf(deps, target, { file: names.index, text: await writeIndex(files, names) })
}

/** Returns `pack.toml` with the name and the hash of an index. */
export function writePackOf(
  deps: Pick<PackDeps, 'resolving'>,
  target: PackTarget,
  index: { file: string; text: string },
): string {
  const { name, version, loaders, loader_version: loaderVersion, game_versions } = target
  const loader = loaderKeyOf(deps, loaders, 'packwiz')
  const gameVersion = game_versions[0]
  const hasLoader = loader !== undefined && loaderVersion != null
  const versions = [
    ...(gameVersion === undefined ? [] : [`minecraft = ${toml(gameVersion)}`]),
    ...(hasLoader ? [`${loader} = ${toml(loaderVersion)}`] : []),
  ]
  const isIncomplete = gameVersion === undefined || loaderVersion == null
  return `${[
    `name = ${toml(name ?? DEFAULT_NAME)}`,
    `version = ${toml(version ?? DEFAULT_VERSION)}`,
    'pack-format = "packwiz:1.1.0"',
    '',
    '[index]',
    `file = ${toml(index.file)}`,
    'hash-format = "sha256"',
    `hash = "${sha256(index.text)}"`,
    '',
    '[versions]',
    ...versions,
    ...(isIncomplete ? ['', '[options]', 'incomplete = true'] : []),
  ].join('\n')}\n`
}
