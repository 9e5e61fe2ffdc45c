// Checksums of files that Depot does not store: build tools ask for MD5 and SHA-256. Each is computed once and cached.

import { createHash } from 'node:crypto'
import { createLimiter } from '#lib/concurrency/limiter.ts'
import { ApiError } from '#lib/errors.ts'
import { MIB } from '#lib/text/sizes.ts'
import { defineCache } from '#platform/cache/definitions.ts'
import type { RememberDefinition } from '#platform/cache/remembered.ts'
import type { Deps } from '#ports/deps.ts'
import type { Digest } from './requests.ts'

/** Each reads a whole file. */
const RUNNING_MAX = 2
const WAITING_MAX = 64

const FILE_DIGESTS = defineCache<RememberDefinition<string>>({
  name: 'file-digests',
  contains: 'MD5 and SHA-256 of a file',
  maxBytes: 4 * MIB,
  sizeOf: (digest) => 2 * digest.length,
})

type DigestedFile = { versionId: string; sha1: string; sha512: string }

/** @throws ApiError `file_hosting_error` if the file cannot be read; 503 if too many files are read. */
export function createFileDigests() {
  const limiter = createLimiter({ running: RUNNING_MAX, waiting: WAITING_MAX })
  return async (
    deps: Pick<Deps, 'db' | 'cache' | 'files'>,
    file: DigestedFile,
    digest: Digest,
    caller: string,
  ): Promise<string> => {
    if (digest === 'sha1' || digest === 'sha512') return file[digest]
    const compute = () => limiter.run(() => digestOf(deps, file, digest), caller)
    return deps.cache.remember(FILE_DIGESTS).get(`${digest} ${file.sha512}`, compute)
  }
}

async function digestOf(
  { db, files }: Pick<Deps, 'db' | 'files'>,
  { versionId, sha512 }: DigestedFile,
  digest: Digest,
): Promise<string> {
  const row = await db
    .selectFrom('file')
    .select('storage_key')
    .where('version_id', '=', versionId)
    .where('sha512', '=', sha512)
    .executeTakeFirst()
  const opened = row && (await files.open(row.storage_key))
  if (opened === undefined) throw new ApiError('file_hosting_error', 'The file is missing from the store')
  const hash = createHash(digest)
  for await (const chunk of opened.stream) hash.update(chunk as Buffer)
  return hash.digest('hex')
}
