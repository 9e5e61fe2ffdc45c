// The files of saved packs for launchers, at addresses that follow the newest save. Errors are texts, because programs read them.
import type { FastifyReply } from 'fastify'
import { findSave } from '#features/community/packs/queries.ts'
import {
  findSaveMetafile,
  writeSaveIndex,
  writeSaveMrpack,
  writeSavePack,
} from '#features/community/packs/save-files.ts'
import { ApiError, notFound } from '#lib/errors.ts'
import { entityTag } from '#lib/text/json-bytes.ts'
import { isUnchanged } from '#platform/http/responses/entity-tags.ts'
import type { PageRequest } from '#web/kit/request.ts'
import { pathTo } from '#web/ui/page-context.ts'
import { type SavedPack, withSavedPack } from './saved-pack.ts'

export const TOML = 'application/toml; charset=utf-8'

/** Sends a client error as a text, and lets all other errors through. */
export function sendError({ reply }: Pick<PageRequest, 'reply'>, error: unknown): FastifyReply {
  if (!(error instanceof ApiError) || error.status >= 500) throw error
  return reply
    .status(error.status)
    .header('cache-control', 'no-cache')
    .type('text/plain; charset=utf-8')
    .send(`${error.message}\n`)
}

/** Sends a file that clients ask for again to learn whether it has changed. */
export function sendFile({ req, reply, viewer }: PageRequest, type: string, bytes: string | Buffer): FastifyReply {
  const etag = entityTag(bytes)
  void reply
    .header('etag', etag)
    .header('cache-control', `${viewer === null ? 'public' : 'private'}, max-age=0, must-revalidate`)
    .header('cross-origin-resource-policy', 'cross-origin')
  if (isUnchanged(req, reply, etag)) return reply.send()
  return reply.type(type).send(bytes)
}

function fileHandler(type: string, write: (request: PageRequest, saved: SavedPack) => Promise<string | Buffer>) {
  return async (request: PageRequest): Promise<FastifyReply> => {
    const send = withSavedPack(async (_request, saved) => sendFile(request, type, await write(request, saved)))
    return send(request).catch((error: unknown) => sendError(request, error))
  }
}

/** Names the file, because the address does not contain the name of the pack. */
function named({ reply }: PageRequest, { pack }: SavedPack, number: number): void {
  void reply.header('content-disposition', `attachment; filename="${pack.slug}-${number}.mrpack"`)
}

export const sendLatestMrpack = (type: string) =>
  fileHandler(type, async (request, saved) => {
    const bytes = await writeSaveMrpack(request.deps, saved.pack)
    named(request, saved, saved.pack.number)
    return bytes
  })

export const sendNumberedMrpack = (type: string) =>
  fileHandler(type, async (request, saved) => {
    const save = await findNumbered(request, saved)
    const bytes = await writeSaveMrpack(request.deps, save)
    named(request, saved, save.number)
    return bytes
  })

export const sendSavedPackToml = fileHandler(TOML, ({ deps }, { pack }) => writeSavePack(deps, pack))

export const sendSavedIndex = fileHandler(TOML, async (request, saved) =>
  writeSaveIndex(request.deps, await findNumbered(request, saved)),
)

/** Leads to the archive of the newest save, which counts as downloads of its versions. */
export const sendServerPack = async (request: PageRequest): Promise<FastifyReply> => {
  const { reply, page } = request
  const send = withSavedPack(async (_request, { pack }) =>
    reply.header('cache-control', 'no-cache').redirect(pathTo(page, `/v3/lock/${pack.lock_id}/server.zip`), 302),
  )
  return send(request).catch((error: unknown) => sendError(request, error))
}

export const sendSavedMetafile = fileHandler(TOML, async ({ deps, param }, { pack }) => {
  const text = await findSaveMetafile(deps, pack.id, `${param('folder')}/${param('file')}`)
  if (text === undefined) throw notFound('file')
  return text
})

async function findNumbered({ deps, param }: PageRequest, { pack }: SavedPack) {
  const number = /^[1-9]\d{0,3}$/.exec(param('number'))?.[0]
  const save = number === undefined ? undefined : await findSave(deps.db, pack.id, Number(number))
  if (save === undefined) throw notFound('file')
  return save
}
