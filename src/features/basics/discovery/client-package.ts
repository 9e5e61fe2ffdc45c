// The client of this version of Depot, as an npm package that npx and npm install from the instance.
import { execFile } from 'node:child_process'
import { createHash } from 'node:crypto'
import { existsSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { entityTag } from '#lib/text/json-bytes.ts'
import { MIB } from '#lib/text/sizes.ts'
import { VERSION } from '#platform/config/version.ts'

const ROOT = join(import.meta.dirname, '../../../..')
/** A release contains the package. */
const RELEASED = join(ROOT, 'client.tgz')
const run = promisify(execFile)

/** `integrity`: Subresource Integrity with SHA-512, as in lock files of npm. */
export type ClientPackage = { bytes: Buffer; integrity: string; etag: string }

let packed: Promise<ClientPackage> | undefined

/** Returns the package, which never changes while the process runs. A checkout packs it on the first call. */
export function getClientPackage(): Promise<ClientPackage> {
  packed ??= readPackage().catch((error: unknown) => {
    packed = undefined
    throw error
  })
  return packed
}

/**
 * Returns the URL of the package with the version. npx reuses a package that it has installed from the same URL, so the
 * version makes it install that of an upgraded instance.
 */
export const clientUrl = (baseUrl: string): string => `${baseUrl}/client.tgz?v=${VERSION}`

async function readPackage(): Promise<ClientPackage> {
  const bytes = existsSync(RELEASED) ? await readFile(RELEASED) : await packSources()
  const integrity = `sha512-${createHash('sha512').update(bytes).digest('base64')}`
  return { bytes, integrity, etag: entityTag(integrity) }
}

/** In another process, because removing the types takes a quarter of a second. */
async function packSources(): Promise<Buffer> {
  // Node.js warns that removing types is experimental.
  const words = ['--disable-warning=ExperimentalWarning', join(ROOT, 'scripts/pack-client.mjs')]
  const { stdout } = await run(process.execPath, words, { encoding: 'buffer', maxBuffer: 16 * MIB })
  return stdout
}
