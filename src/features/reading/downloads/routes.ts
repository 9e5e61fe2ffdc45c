// Routes that serve files and images: immutable content with strong ETags and byte ranges.
import { Readable } from 'node:stream'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { requireDownloadable } from '#features/catalogue/contents/policy.ts'
import { filterVisibleVersions } from '#features/catalogue/versions/lookup/version-cache.ts'
import { ApiError, notFound } from '#lib/errors.ts'
import { sendRaw } from '#platform/http/responses/declared-responses.ts'
import { isUnchanged } from '#platform/http/responses/entity-tags.ts'
import type { App } from '#platform/http/server.ts'
import { CONTENT_TYPES, imageTypeOf } from '#platform/images/image-kind.ts'
import type { Deps } from '#ports/deps.ts'
import type { LinkOptions } from '#ports/files/files.ts'
import { archiveRoutes } from './archive/routes.ts'
import { attachment } from './attachment.ts'
import { findServedFile, type ServedFile } from './queries.ts'
import { type DownloadDeps, recordDownload } from './record-download.ts'
import { DownloadHints, FileParams, isWholeFile, PictureParams, parseRange } from './requests.ts'

const YEAR_SECONDS = 31_536_000
/** Content security policy that prevents scripts in SVG and other files that a browser opens as a page. */
const INERT = "default-src 'none'; style-src 'unsafe-inline'; sandbox"

export function downloadRoutes(app: App, deps: DownloadDeps): void {
  app.get('/data/:project_id/versions/:version_id/:filename', {
    config: {
      isTransfer: true,
      auth: { read: ['VERSION_READ'] },
      limitedTokens: 'versions',
      errors: ['206', '304', '416 invalid_input'],
    },
    schema: {
      operationId: 'downloadFile',
      summary: 'Download a file of a version',
      description:
        'Supports a single byte range (206). The content at a URL never changes; its ETag is the SHA-512 hash. If the ' +
        'operator serves files from an object store, redirects (302) to a URL that is valid for some minutes.',
      params: FileParams,
      querystring: DownloadHints,
      produces: ['application/octet-stream'],
      response: {},
    },
    handler: async (req, reply) => {
      const { project_id, version_id, filename } = req.params
      const file = await findServedFile(deps.db, project_id, version_id, filename)
      if (file === undefined) throw notFound('file')
      const [visible] = await filterVisibleVersions(deps.db, req.viewer, [
        { id: file.version_id, status: file.version_status, project: file.project },
      ])
      if (visible === undefined) throw notFound('file')
      requireDownloadable(req.viewer, file)
      return sendFile(req, reply, deps, file)
    },
  })
  imageRoutes(app, deps)
  archiveRoutes(app, deps)
}

async function sendFile(
  req: FastifyRequest,
  reply: FastifyReply,
  deps: DownloadDeps,
  file: ServedFile,
): Promise<never> {
  const etag = `"${file.sha512}"`
  const visibility = req.viewer === null ? 'public' : 'private'
  void reply
    .header('etag', etag)
    .header('cache-control', `${visibility}, max-age=${YEAR_SECONDS}, immutable`)
    .header('accept-ranges', 'bytes')
    .header('content-disposition', attachment(file.filename))
    .header('x-content-type-options', 'nosniff')
    .header('content-security-policy', INERT)
  if (isUnchanged(req, reply, etag)) return sendRaw(reply)
  const { range: rangeHeader, 'if-range': ifRange } = req.headers
  const range = ifRange === undefined || ifRange === etag ? parseRange(rangeHeader, file.size_bytes) : undefined
  if (range === 'unsatisfiable') {
    void reply.header('content-range', `bytes */${file.size_bytes}`)
    throw new ApiError('range_not_satisfiable', `The range is outside the file, which has ${file.size_bytes} bytes`)
  }
  const whole = isWholeFile(rangeHeader, range)
  const link = req.method === 'HEAD' ? undefined : await deps.files.link(file.storage_key, linkOptions(file))
  if (link !== undefined) {
    if (whole) await countDownload(req, deps, file)
    // The URL expires after some minutes, and the store handles ranges.
    void reply.removeHeader('etag').removeHeader('accept-ranges').removeHeader('content-disposition')
    return reply.header('cache-control', 'private, no-store').redirect(link, 302) as never
  }
  if (range !== undefined)
    void reply.status(206).header('content-range', `bytes ${range.start}-${range.end}/${file.size_bytes}`)
  const length = range === undefined ? file.size_bytes : range.end - range.start + 1
  void reply.type(file.content_type).header('content-length', length)
  // The framework discards the body but requires one: an empty stream avoids opening the file.
  if (req.method === 'HEAD') return sendRaw(reply, Readable.from([]))
  const opened = await deps.files.open(file.storage_key, range ?? {})
  if (opened === undefined) throw new ApiError('file_hosting_error', 'The file is missing from the store')
  if (whole) await countDownload(req, deps, file)
  return sendRaw(reply, opened.stream)
}

const linkOptions = (file: ServedFile): LinkOptions => ({
  contentType: file.content_type,
  contentDisposition: attachment(file.filename),
})

async function countDownload(req: FastifyRequest, deps: DownloadDeps, file: ServedFile): Promise<void> {
  await recordDownload(deps, {
    projectId: file.project.id,
    versionId: file.version_id,
    caller: { address: req.clientAddress, headers: req.headers },
    signedIn: req.viewer !== null,
    hints: req.query as Record<string, unknown>,
  })
}

/** Images are public: their names contain a hash of the content, so that their URLs cannot be guessed. */
function imageRoutes(app: App, deps: Deps): void {
  const config = { auth: 'public', budget: 'asset' } as const
  const about = { summary: 'Get an image', produces: Object.values(CONTENT_TYPES), response: {} }
  app.get('/data/:folder/:picture', {
    config: { ...config, errors: ['304'] },
    schema: { operationId: 'getPicture', ...about, params: PictureParams },
    handler: (req, reply) => sendImage(req, reply, deps, `${req.params.folder}/${req.params.picture}`),
  })
  app.get('/data/:folder/images/:picture', {
    config: { ...config, errors: ['304'] },
    schema: { operationId: 'getGalleryPicture', ...about, params: PictureParams },
    handler: (req, reply) => sendImage(req, reply, deps, `${req.params.folder}/images/${req.params.picture}`),
  })
}

async function sendImage(req: FastifyRequest, reply: FastifyReply, deps: Deps, path: string): Promise<never> {
  const contentType = imageTypeOf(path)
  if (contentType === undefined) throw notFound('image')
  const etag = `"${path.slice(path.lastIndexOf('/') + 1)}"`
  const opened = await deps.files.open(`pictures/${path}`)
  if (opened === undefined) throw notFound('image')
  void reply
    .header('etag', etag)
    .header('cache-control', `public, max-age=${YEAR_SECONDS}, immutable`)
    .header('x-content-type-options', 'nosniff')
    .header('content-security-policy', INERT)
  if (isUnchanged(req, reply, etag)) {
    opened.stream.destroy()
    return sendRaw(reply)
  }
  return sendRaw(reply.type(contentType).header('content-length', opened.sizeBytes), opened.stream)
}
