// Serves style sheet, script, fonts and icons. Their names contain a hash, so that browsers can cache them for a year.
import type { FastifyReply, FastifyRequest } from 'fastify'
import { entityTag } from '#lib/text/json-bytes.ts'
import { ASSETS_PATH, type Asset, type Assets } from '#platform/html/assets.ts'
import { codedTag, codingFor } from '#platform/http/responses/content-coding.ts'
import type { App } from '#platform/http/server.ts'

export function assetRoutes(app: App, assets: Assets): void {
  for (const asset of assets.values()) {
    const etag = entityTag(asset.bytes)
    app.get(
      `${ASSETS_PATH}/${asset.name}`,
      { config: { auth: 'public', cache: 'shared', budget: 'asset' }, schema: { operationId: 'getAsset', hide: true } },
      async (req, reply) => {
        void reply
          .header('cache-control', 'public, max-age=31536000, immutable')
          .header('x-content-type-options', 'nosniff')
          .type(asset.type)
        return sendEncoded(req, reply, { asset, etag })
      },
    )
  }
}

/** Sends the best compressed form that the browser accepts. Each form has its own ETag. */
async function sendEncoded(
  req: FastifyRequest,
  reply: FastifyReply,
  { asset: { bytes, encode }, etag }: { asset: Asset; etag: string },
): Promise<FastifyReply> {
  const coding = encode === undefined ? undefined : codingFor(req.headers['accept-encoding'])
  if (encode !== undefined) void reply.header('vary', 'accept-encoding')
  const tag = coding === undefined ? etag : codedTag(etag, coding)
  void reply.header('etag', tag)
  if (req.headers['if-none-match'] === tag) return reply.status(304).send()
  if (encode === undefined || coding === undefined) return reply.send(bytes)
  return reply.header('content-encoding', coding).send(await encode(coding))
}
