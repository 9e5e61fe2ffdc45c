// The S3 adapter of the files port: objects in a bucket, named by prefix and key. Uploads are staged on the local disk.
// Only `depot doctor` lists the bucket; the claims of uploads are enough to find files without a row.
import { randomUUID } from 'node:crypto'
import { mkdir, open, rm, writeFile } from 'node:fs/promises'
import type { Readable } from 'node:stream'
import {
  DeleteObjectCommand,
  GetObjectCommand,
  HeadBucketCommand,
  HeadObjectCommand,
  ListObjectsV2Command,
  PutObjectCommand,
  type PutObjectCommandInput,
  S3Client,
} from '@aws-sdk/client-s3'
import { ApiError } from '#lib/errors.ts'
import { OperatorError } from '#lib/operator-error.ts'
import { assertFileKey, type ByteRange, concurrentBulk, type Files, hostingError, type OpenedFile } from '../files.ts'
import { discardStaged, hosted, newStagedPath, receivePart, stageFile, sweepStaged } from '../staging.ts'
import { guardStream } from './guarded-stream.ts'
import { createLinks } from './links.ts'
import { startError } from './start-error.ts'
import {
  createStoreHealth,
  isTemporary,
  type OnCall,
  type S3Location,
  type StoreHealth,
  statusOf,
} from './store-client.ts'

export type S3FilesOptions = {
  location: S3Location
  /** Local folder of staged uploads; created if missing. */
  staging: string
  /** Whether `link` returns signed URLs of the store. */
  links: boolean
  onCall?: OnCall
  /** Called if the store is unreachable at the start. Later calls try again. */
  onUnreachable?: (error: Error) => void
}

const CONNECT_TIMEOUT_MS = 2_000
const PROBE_TIMEOUT_MS = 2_000
/** A response that is more recent shows that the store is available. */
const FRESH_MS = 2_000
const STALL_MS = 30_000
/** Minimum speed of an upload. */
const UPLOAD_BYTES_PER_MS = 500
const READ_CHUNK_BYTES = 256 * 1024

/**
 * Opens the bucket and tries each operation. An unreachable store does not prevent the start. The AWS SDK looks for the
 * credentials in the environment, in files and in the role of the machine.
 * @throws OperatorError if the store reports a wrong bucket, region or key, or a missing permission.
 */
export async function openS3Files(options: S3FilesOptions): Promise<Files> {
  const { location, staging } = options
  await hosted(mkdir(staging, { recursive: true, mode: 0o700 }))
  const client = newClient(location)
  const health = createStoreHealth(options.onCall)
  const objectOf = (key: string) => {
    assertFileKey(key)
    return { Bucket: location.bucket, Key: location.prefix + key }
  }
  try {
    await verify(client, location)
  } catch (error) {
    if (!isTemporary(error)) {
      client.destroy()
      throw startError(error, location)
    }
    options.onUnreachable?.(error as Error)
  }
  const links = options.links ? createLinks(client) : undefined

  let probing: Promise<void> | undefined
  /** Requests the bucket. Concurrent callers share one request. */
  function probe(): Promise<void> {
    const head = (signal: AbortSignal) =>
      client.send(new HeadBucketCommand({ Bucket: location.bucket }), { abortSignal: signal })
    probing ??= orHostingError(health.request('headBucket', head, { timeoutMs: PROBE_TIMEOUT_MS, tries: 1 }))
      .then(() => undefined)
      .finally(() => {
        probing = undefined
      })
    return probing
  }

  const openFile: Files['open'] = (key, range) => openObject(client, health, objectOf(key), range ?? {})
  const put: Files['put'] = async (key, bytes, { contentType }) => {
    const input = { ...objectOf(key), Body: bytes, ContentLength: bytes.length, ContentType: contentType }
    const send = (signal: AbortSignal) => client.send(new PutObjectCommand(input), { abortSignal: signal })
    await orHostingError(health.request('putObject', send, { timeoutMs: STALL_MS }))
  }

  const stage: Files['stage'] = (source, stageOptions) => stageFile(staging, source, stageOptions)
  const publish: Files['publish'] = async (staged, key, { contentType }) => {
    const { sha1 } = staged
    const checksum = sha1 === undefined ? {} : { ChecksumSHA1: Buffer.from(sha1, 'hex').toString('base64') }
    const input = { ...objectOf(key), ContentLength: staged.sizeBytes, ContentType: contentType, ...checksum }
    const send = (signal: AbortSignal) => putFile(client, staged.path, input, signal)
    const timeoutMs = STALL_MS + staged.sizeBytes / UPLOAD_BYTES_PER_MS
    await orHostingError(health.request('putObject', send, { timeoutMs }))
    await discardStaged(staged)
  }

  return {
    stage,
    receive: (source, receiveOptions) => receivePart(staging, source, receiveOptions),
    publish,
    put,
    open: openFile,
    ...concurrentBulk({ put, open: openFile, stage, publish, discard: discardStaged }),
    async link(key, linkOptions) {
      const object = objectOf(key)
      return links === undefined ? undefined : hosted(links(object, linkOptions))
    },
    stat: (key) => statObject(client, health, objectOf(key)),
    list: () => listObjects(client, health, location),
    async remove(key) {
      const input = objectOf(key)
      const remove = (signal: AbortSignal) => client.send(new DeleteObjectCommand(input), { abortSignal: signal })
      await orHostingError(health.request('deleteObject', remove))
    },
    discard: discardStaged,
    // The bucket contains no unfinished objects, because one request sends a whole file.
    sweep: ({ olderThanMs, nowMs }) => sweepStaged(staging, olderThanMs, nowMs),
    async assertAvailable() {
      if (!health.isFresh(FRESH_MS)) await probe()
    },
    async check() {
      const path = newStagedPath(staging)
      await hosted(writeFile(path, 'ok', { flag: 'wx', flush: true }).finally(() => rm(path, { force: true })))
      await probe()
    },
    close: async () => client.destroy(),
  }
}

function newClient({ endpoint, region, pathStyle }: S3Location): S3Client {
  // Each download uses a connection; uploads must not wait for one.
  const agent = { keepAlive: true, maxSockets: Number.POSITIVE_INFINITY }
  return new S3Client({
    region,
    forcePathStyle: pathStyle,
    ...(endpoint === undefined ? {} : { endpoint }),
    // `store-client.ts` repeats requests, because it knows which bodies can be sent again.
    maxAttempts: 1,
    // Prevents the SDK from printing failures, which Depot logs itself.
    logger: { debug() {}, info() {}, warn() {}, error() {} },
    // Some stores reject the checksum that the SDK appends to the body by default.
    requestChecksumCalculation: 'WHEN_REQUIRED',
    responseChecksumValidation: 'WHEN_REQUIRED',
    requestHandler: { connectionTimeout: CONNECT_TIMEOUT_MS, httpAgent: agent, httpsAgent: agent },
  })
}

type ObjectName = { Bucket: string; Key: string }

/** Opens the file for each attempt, because a partly sent stream cannot be sent again. */
async function putFile(
  client: S3Client,
  path: string,
  input: Omit<PutObjectCommandInput, 'Body'>,
  signal: AbortSignal,
): Promise<void> {
  const body = (await open(path, 'r')).createReadStream({ highWaterMark: READ_CHUNK_BYTES })
  const { promise: failed, reject } = Promise.withResolvers<never>()
  body.once('error', reject)
  try {
    await Promise.race([client.send(new PutObjectCommand({ ...input, Body: body }), { abortSignal: signal }), failed])
  } finally {
    body.destroy()
  }
}

async function openObject(
  client: S3Client,
  health: StoreHealth,
  object: ObjectName,
  { start = 0, end }: ByteRange,
): Promise<OpenedFile | undefined> {
  // S3 ignores a range that ends before it starts.
  if (end !== undefined && end < start) {
    const info = await statObject(client, health, object)
    if (info === undefined) return undefined
    throw unsatisfiable()
  }
  const whole = start === 0 && end === undefined
  const input = { ...object, ...(whole ? {} : { Range: `bytes=${start}-${end ?? ''}` }) }
  const get = (signal: AbortSignal) => client.send(new GetObjectCommand(input), { abortSignal: signal })
  try {
    const { Body, ContentLength = 0, ContentRange } = await health.request('getObject', get)
    const sizeBytes = ContentRange === undefined ? ContentLength : Number(ContentRange.split('/')[1])
    return { stream: guardStream(Body as Readable, STALL_MS), sizeBytes }
  } catch (error) {
    if (isAbsent(error)) return undefined
    throw statusOf(error) === 416 ? unsatisfiable() : asHostingError(error)
  }
}

async function statObject(
  client: S3Client,
  health: StoreHealth,
  object: ObjectName,
): Promise<{ sizeBytes: number } | undefined> {
  const head = (signal: AbortSignal) => client.send(new HeadObjectCommand(object), { abortSignal: signal })
  try {
    const { ContentLength = 0 } = await health.request('headObject', head)
    return { sizeBytes: ContentLength }
  } catch (error) {
    if (isAbsent(error)) return undefined
    throw asHostingError(error)
  }
}

async function* listObjects(
  client: S3Client,
  health: StoreHealth,
  { bucket, prefix }: S3Location,
): AsyncGenerator<{ key: string; sizeBytes: number }> {
  let after: string | undefined
  do {
    const input = { Bucket: bucket, Prefix: prefix, ContinuationToken: after }
    const list = (signal: AbortSignal) => client.send(new ListObjectsV2Command(input), { abortSignal: signal })
    const page = await orHostingError(health.request('listObjects', list))
    for (const { Key = '', Size = 0 } of page.Contents ?? []) {
      // Some programs create an object for a folder, which is not a file of Depot.
      if (!Key.endsWith('/')) yield { key: Key.slice(prefix.length), sizeBytes: Size }
    }
    after = page.IsTruncated === true ? page.NextContinuationToken : undefined
  } while (after !== undefined)
}

/** Whether the file is missing. A missing bucket is an error. */
function isAbsent(error: unknown): boolean {
  return statusOf(error) === 404 && !(error instanceof Error && error.name === 'NoSuchBucket')
}

function unsatisfiable(): ApiError {
  return new ApiError('range_not_satisfiable', 'The range is outside the file')
}

const asHostingError = (error: unknown): unknown => (error instanceof ApiError ? error : hostingError(error))

async function orHostingError<T>(step: Promise<T>): Promise<T> {
  try {
    return await step
  } catch (error) {
    throw asHostingError(error)
  }
}

/** Writes, reads and removes an object, and requests a missing one, which needs the permission to list the bucket. */
async function verify(client: S3Client, { bucket, prefix }: S3Location): Promise<void> {
  const object = { Bucket: bucket, Key: `${prefix}depot-start-${randomUUID()}` }
  const limit = () => ({ abortSignal: AbortSignal.timeout(CONNECT_TIMEOUT_MS + PROBE_TIMEOUT_MS) })
  await client.send(new HeadBucketCommand({ Bucket: bucket }), limit())
  const absent = await client.send(new HeadObjectCommand(object), limit()).catch((error) => {
    if (statusOf(error) !== 404) throw error
  })
  if (absent !== undefined) throw new OperatorError('it returns an object that does not exist. Check S3_ENDPOINT')
  await client.send(new PutObjectCommand({ ...object, Body: 'ok', ContentLength: 2 }), limit())
  const { Body } = await client.send(new GetObjectCommand(object), limit())
  const text = await Body?.transformToString()
  await client.send(new DeleteObjectCommand(object), limit())
  if (text !== 'ok') throw new OperatorError('it does not return the stored content. Check S3_ENDPOINT')
}
