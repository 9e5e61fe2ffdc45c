// Setting and deleting an icon, the same for whatever has one. The old picture goes only once the new one stands.
import Type from 'typebox'
import type { ChangeSet } from '#cache/changes.ts'
import { writing } from '#cache/writing.ts'
import type { Tx } from '#db/db.ts'
import { Empty, ErrorAnswers } from '#http/answers.ts'
import { requireViewer } from '#http/auth.ts'
import { IdParams } from '#http/query-values.ts'
import { readRawBody, takeRawBodies } from '#http/raw-body.ts'
import type { App } from '#http/server.ts'
import { newId } from '#lib/ids.ts'
import type { ScopeName } from '#lib/scopes.ts'
import type { Viewer } from '#lib/viewer.ts'
import type { Deps } from '../../deps.ts'
import { removeLater } from '../versions/store-files.ts'
import { type Picture, pictureKey, placePicture, storePictures } from './pictures.ts'

/** Something that has an icon, as its feature describes it. */
export type IconOwner = {
  /** Path of the things, as `/v3/user`. */
  path: string
  /** One of them, as `User`: part of the operations' names. */
  noun: string
  tag: string
  scope: ScopeName
  /** The largest picture taken. */
  maxBytes: number
  /**
   * ID of what `name` names, if the viewer may change its icon. Asked before the picture is read.
   * @throws ApiError 404 for what is absent or hidden, 403.
   */
  authorize(viewer: Viewer, name: string): Promise<string>
  /**
   * Puts the addresses into the row, which it locks; null clears them. Names what it changes.
   * @returns the addresses that were there before.
   * @throws ApiError 404 when the row has gone meanwhile.
   */
  write(
    tx: Tx,
    changed: ChangeSet,
    change: { id: string; viewer: Viewer; icon: IconAddresses | null },
  ): Promise<readonly (string | null)[]>
}

export type IconAddresses = Pick<Picture, 'url' | 'rawUrl' | 'color'>

export const ICON_WIDTH = 96
/** Organizations and projects take icons up to this, users and collections below it (decisions.md 11). */
export const ICON_BYTES_MAX = 262_144

const ExtQuery = Type.Object({ ext: Type.String({ maxLength: 16, description: 'png, jpg, jpeg, gif, webp or svg' }) })
const done = { 204: Empty, ...ErrorAnswers }

/** Registers `PATCH` and `DELETE {path}/{id}/icon`. */
export function iconRoutes(app: App, deps: Deps, owner: IconOwner): void {
  const config = { auth: { scope: [owner.scope] } } as const
  const tags = [owner.tag]
  app.register(async (plain) => {
    const scope = plain as App
    takeRawBodies(scope)
    scope.patch(
      `${owner.path}/:id/icon`,
      {
        config,
        schema: {
          operationId: `set${owner.noun}Icon`,
          summary: 'Set the icon',
          description: `The body is the picture itself, at most ${owner.maxBytes} bytes.`,
          tags,
          consumes: ['image/*'],
          params: IdParams,
          querystring: ExtQuery,
          response: done,
        },
      },
      async (req, reply) => {
        const viewer = requireViewer(req)
        const id = await owner.authorize(viewer, req.params.id)
        const bytes = await readRawBody(req.body, { maxBytes: owner.maxBytes, field: 'icon' })
        await setIcon(deps, owner, { id, viewer, bytes, ext: req.query.ext.toLowerCase() })
        return reply.status(204).send(null)
      },
    )
  })
  app.delete(
    `${owner.path}/:id/icon`,
    {
      config,
      schema: {
        operationId: `delete${owner.noun}Icon`,
        summary: 'Remove the icon',
        tags,
        params: IdParams,
        response: done,
      },
    },
    async (req, reply) => {
      const viewer = requireViewer(req)
      const id = await owner.authorize(viewer, req.params.id)
      await writing(deps, async (tx, changed) => {
        await removePictures(tx, deps.config, await owner.write(tx, changed, { id, viewer, icon: null }))
      })
      return reply.status(204).send(null)
    },
  )
}

type Upload = { id: string; viewer: Viewer; bytes: Buffer; ext: string }

async function setIcon(deps: Deps, owner: IconOwner, { id, viewer, bytes, ext }: Upload): Promise<void> {
  const processed = await deps.images.processIcon(bytes, ext, { maxBytes: owner.maxBytes })
  // A folder for each upload: two of the same picture at once, one of which fails, do not share a file.
  const icon = placePicture(deps.config, processed, `${id}-${newId()}`, ICON_WIDTH)
  try {
    await storePictures(deps.files, icon.stored)
    await writing(deps, async (tx, changed) => {
      await removePictures(tx, deps.config, await owner.write(tx, changed, { id, viewer, icon }))
    })
  } catch (error) {
    await Promise.allSettled(icon.stored.map(({ key }) => deps.files.remove(key)))
    throw error
  }
}

/** Asks for the removal of the pictures at these addresses once the transaction commits. */
export async function removePictures(tx: Tx, config: Deps['config'], urls: readonly (string | null)[]): Promise<void> {
  await removeLater(tx, [...new Set(urls.flatMap((url) => pictureKey(config, url) ?? []))])
}
