// The style and the script of the pages, read once. Their addresses are fixed; the tag tells whether they have changed.
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { App } from '#http/server.ts'
import { entityTag } from '#lib/json-bytes.ts'
import { PATHS } from './paths.ts'

const ASSETS = join(import.meta.dirname, 'assets')
const TYPES: Readonly<Record<string, string>> = {
  css: 'text/css; charset=utf-8',
  js: 'text/javascript; charset=utf-8',
  svg: 'image/svg+xml',
}

export function assetRoutes(app: App): void {
  for (const name of readdirSync(ASSETS)) {
    const bytes = readFileSync(join(ASSETS, name))
    const etag = entityTag(bytes)
    const type = TYPES[name.slice(name.lastIndexOf('.') + 1)]
    if (type === undefined) throw new Error(`No content type is known for the asset ${name}`)
    app.get(
      `${PATHS.assets}/${name}`,
      { config: { auth: 'public', cache: 'shared' }, schema: { operationId: 'getAsset', hide: true } },
      async (_req, reply) =>
        reply.header('etag', etag).header('x-content-type-options', 'nosniff').type(type).send(bytes),
    )
  }
}
