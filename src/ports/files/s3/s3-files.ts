// The S3 adapter of the files port: objects in a bucket, named by prefix and key. Uploads are staged on the local disk.
// Requests never list the bucket: what no row names is found by the claims of uploads. Only `depot verify` lists it.
import { randomUUID } from 'node:crypto'
import { mkdir, open, rm, writeFile } from 'node:fs/promises'
import type { Readable } from 'node:stream'
import { buffer } from 'node:stream/consumers'
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
import { forEachConcurrently } from '#lib/concurrency/for-each-concurrently.ts'
import { ApiError } from '#lib/errors.ts'
import { OperatorError } from '#lib/operator-error.ts'
import { assertFileKey, type ByteRange, type Files, hostingError, type OpenedFile } from '../files.ts'
import { discardStaged, hosted, newStagedPath, stageFile, sweepStaged } from '../staging.ts'
import { guardStream } from './guarded-stream.ts'
import { createLinks } from './links.ts'
import { startError } from './start-error.ts'
import { createStoreHealth, isPassing, type OnCall, type StoreHealth, statusOf } from './store-client.ts'

export type S3Location = {
  bucket: string
  /** Of a store that is not Amazon's; without trailing slash. */
  endpoint: string | undefined
  region: string
  /** Whether the bucket is the first part of the path instead of the host. */
  pathStyle: boolean
  /** Before every key; empty, or ends with `/`. */
  prefix: string
}

export type S3FilesOptions = {
  location: S3Location
  /** Local folder of staged uploads; made when absent. */
  staging: string
  /** Whether `link` gives addresses at the store. */
  links: boolean
  onCall?: OnCall
  /** Called when the store cannot be reached at the start; it is asked again later. */
  onUnreachable?: (error: Error) => void
}

const CONNECT_TIMEOUT_MS = 2_000
const PROBE_TIMEOUT_MS = 2_000
/** An answer this young says that the store is there. */
const FRESH_MS = 2_000
const STALL_MS = 30_000
/** A slower line than this many bytes a millisecond is given up. */
const UPLOAD_BYTES_PER_MS = 500
const READ_CHUNK_BYTES = 256 * 1024

/**
 * Opens the bucket and tries everything the adapter does there. A store that cannot be reached at the moment is no
 * reason not to start. Keys come from where the AWS SDK looks: environment, files, the machine's role.
 * @throws OperatorError when the store answers that the bucket, the region, the keys or a right is wrong.
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
    if (!isPassing(error)) {
      client.destroy()
      throw startError(error, location)
    }
    options.onUnreachable?.(error as Error)
  }
  const links = options.links ? createLinks(client) : undefined

  let probing: Promise<void> | undefined
  /** Asks for the bucket; those who want to know at once share one question. */
  function probe(): Promise<void> {
    const head = (signal: AbortSignal) =>
      client.send(new HeadBucketCommand({ Bucket: location.bucket }), { abortSignal: signal })
    probing ??= orHostingError(health.ask('headBucket', head, { timeoutMs: PROBE_TIMEOUT_MS, tries: 1 }))
      .then(() => undefined)
      .finally(() => {
        probing = undefined
      })
    return probing
  }

  const put: Files['put'] = async (key, bytes, { contentType }) => {
    const input = { ...objectOf(key), Body: bytes, ContentLength: bytes.length, ContentType: contentType }
    const send = (signal: AbortSignal) => client.send(new PutObjectCommand(input), { abortSignal: signal })
    await orHostingError(health.ask('putObject', send, { timeoutMs: STALL_MS }))
  }

  return {
    stage: (source, stageOptions) => stageFile(staging, source, stageOptions),
    async publish(staged, key, { contentType }) {
      const ChecksumSHA1 = Buffer.from(staged.sha1, 'hex').toString('base64')
      const input = { ...objectOf(key), ContentLength: staged.sizeBytes, ContentType: contentType, ChecksumSHA1 }
      const put = (signal: AbortSignal) => putFile(client, staged.path, input, signal)
      const timeoutMs = STALL_MS + staged.sizeBytes / UPLOAD_BYTES_PER_MS
      await orHostingError(health.ask('putObject', put, { timeoutMs }))
      await discardStaged(staged)
    },
    put,
    putAll: (items) => forEachConcurrently(items, ({ key, bytes, contentType }) => put(key, bytes, { contentType })),
    flush: async () => {},
    async readAll(keys, { maxBytes }) {
      const read = new Map<string, Buffer | 'larger'>()
      await forEachConcurrently(keys, async (key) => {
        const opened = await openObject(client, health, objectOf(key), {})
        if (opened === undefined) return
        if (opened.sizeBytes > maxBytes) opened.stream.destroy()
        read.set(key, opened.sizeBytes > maxBytes ? 'larger' : await buffer(opened.stream))
      })
      return keys.map((key) => read.get(key))
    },
    open: (key, range) => openObject(client, health, objectOf(key), range ?? {}),
    async link(key, linkOptions) {
      const object = objectOf(key)
      return links === undefined ? undefined : hosted(links(object, linkOptions))
    },
    stat: (key) => statObject(client, health, objectOf(key)),
    list: () => listObjects(client, health, location),
    async remove(key) {
      const input = objectOf(key)
      const remove = (signal: AbortSignal) => client.send(new DeleteObjectCommand(input), { abortSignal: signal })
      await orHostingError(health.ask('deleteObject', remove))
    },
    discard: discardStaged,
    // There are no unfinished objects to sweep: each is sent whole, by one request.
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
  // Downloads hold a connection each, and must not keep uploads waiting for one.
  const agent = { keepAlive: true, maxSockets: Number.POSITIVE_INFINITY }
  return new S3Client({
    region,
    forcePathStyle: pathStyle,
    ...(endpoint === undefined ? {} : { endpoint }),
    // Tries are repeated by `store-client.ts`, which knows what can be sent again.
    maxAttempts: 1,
    // Failures are counted and passed on; the SDK would print some as well.
    logger: { debug() {}, info() {}, warn() {}, error() {} },
    // Some stores refuse the checksum that the SDK adds by itself, behind the body.
    requestChecksumCalculation: 'WHEN_REQUIRED',
    responseChecksumValidation: 'WHEN_REQUIRED',
    requestHandler: { connectionTimeout: CONNECT_TIMEOUT_MS, httpAgent: agent, httpsAgent: agent },
  })
}

type ObjectName = { Bucket: string; Key: string }

/** Each try reads the file from its start: a stream that was sent in part cannot be sent again. */
async function putFile(
  client: S3Client,
  path: string,
  input: Omit<PutObjectCommandInput, 'Body'>,
  signal: AbortSignal,
): Promise<void> {
  const body = (await open(path, 'r')).createReadStream({ highWaterMark: READ_CHUNK_BYTES })
  const { promise: broken, reject } = Promise.withResolvers<never>()
  body.once('error', reject)
  try {
    await Promise.race([client.send(new PutObjectCommand({ ...input, Body: body }), { abortSignal: signal }), broken])
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
  // Stores ignore a range that ends before it starts.
  if (end !== undefined && end < start) {
    const info = await statObject(client, health, object)
    if (info === undefined) return undefined
    throw unsatisfiable()
  }
  const whole = start === 0 && end === undefined
  const input = { ...object, ...(whole ? {} : { Range: `bytes=${start}-${end ?? ''}` }) }
  const get = (signal: AbortSignal) => client.send(new GetObjectCommand(input), { abortSignal: signal })
  try {
    const { Body, ContentLength = 0, ContentRange } = await health.ask('getObject', get)
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
    const { ContentLength = 0 } = await health.ask('headObject', head)
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
    const page = await orHostingError(health.ask('listObjects', list))
    for (const { Key = '', Size = 0 } of page.Contents ?? []) {
      // Some programs make an object for a folder; it is nobody's file.
      if (!Key.endsWith('/')) yield { key: Key.slice(prefix.length), sizeBytes: Size }
    }
    after = page.IsTruncated === true ? page.NextContinuationToken : undefined
  } while (after !== undefined)
}

/** The file, that is: a bucket that has gone is an error. */
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

/** Writes, reads and removes an object, and looks for one that is not there, which takes the right to list. */
async function verify(client: S3Client, { bucket, prefix }: S3Location): Promise<void> {
  const object = { Bucket: bucket, Key: `${prefix}depot-start-${randomUUID()}` }
  const limit = () => ({ abortSignal: AbortSignal.timeout(CONNECT_TIMEOUT_MS + PROBE_TIMEOUT_MS) })
  await client.send(new HeadBucketCommand({ Bucket: bucket }), limit())
  const absent = await client.send(new HeadObjectCommand(object), limit()).catch((error) => {
    if (statusOf(error) !== 404) throw error
  })
  if (absent !== undefined) throw new OperatorError('it answers for an object that is not there. Check S3_ENDPOINT')
  await client.send(new PutObjectCommand({ ...object, Body: 'ok', ContentLength: 2 }), limit())
  const { Body } = await client.send(new GetObjectCommand(object), limit())
  const text = await Body?.transformToString()
  await client.send(new DeleteObjectCommand(object), limit())
  if (text !== 'ok') throw new OperatorError('it does not give back what was stored. Check S3_ENDPOINT')
}
