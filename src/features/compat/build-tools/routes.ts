// Routes for build tools and loaders: a Maven repository and update files.

import { createHash } from 'node:crypto'
import type { FastifyReply } from 'fastify'
import Type from 'typebox'
import { getProject } from '#features/catalogue/projects/lookup/project-cache.ts'
import { getVersion } from '#features/catalogue/versions/lookup/version-cache.ts'
import { FileAddress } from '#features/catalogue/versions/views.ts'
import { notFound } from '#lib/errors.ts'
import { viewOf } from '#lib/text/json-bytes.ts'
import { callerOf } from '#platform/http/limits/client-address.ts'
import { sendRaw } from '#platform/http/responses/declared-responses.ts'
import type { App } from '#platform/http/server.ts'
import type { Deps } from '#ports/deps.ts'
import { createFileDigests } from './file-digests.ts'
import { findByCoordinate, findMavenFile, mavenMetadata, mavenPom } from './maven.ts'
import { listCoordinates, listEndings } from './queries.ts'
import { type Digest, FileParams, MetadataParams, splitDigest, UpdateFileParams, UpdateFileQuery } from './requests.ts'
import { loadersOfUpdateFile, promotions, UpdateFileView } from './update-file.ts'

const config = {
  auth: { read: ['PROJECT_READ'] },
  limitedTokens: 'resource',
  cache: 'public',
  withoutPage: 'For launchers and build tools',
} as const
const METADATA = 'maven-metadata.xml'

export function buildToolRoutes(app: App, deps: Deps): void {
  mavenRoutes(app, deps)
  updateFileRoute(app, deps)
}

function mavenRoutes(app: App, deps: Deps): void {
  app.get('/maven/maven/:group/:id/:file', {
    config,
    schema: {
      operationId: 'getMavenMetadata',
      summary: 'Get the Maven metadata of a project',
      description: `Serves \`${METADATA}\` and its checksums, such as \`${METADATA}.sha256\` (\`.md5\`, \`.sha1\`, \`.sha256\`, \`.sha512\`).`,
      produces: ['text/xml', 'text/plain'],
      params: MetadataParams,
      response: { 200: Type.String() },
    },
    handler: async (req, reply) => {
      const { group, id, file } = req.params
      const { name, digest } = splitDigest(file)
      if (name !== METADATA) throw notFound('file')
      const project = await getProject(deps, req.viewer, id)
      const versions = await listCoordinates(deps.db, project.id)
      if (versions.length === 0) throw notFound('version')
      return sendText(reply, mavenMetadata({ group, id }, versions, viewOf(project).updated), digest)
    },
  })
  const digestFile = createFileDigests()
  app.get('/maven/maven/:group/:id/:version/:file', {
    config,
    schema: {
      operationId: 'getMavenFile',
      summary: 'Get the POM or a file of a version by Maven coordinates',
      description:
        'The version is a version number, an ID, or `number-loader,gameversion`. Redirects to files. A number ' +
        'always means the version that got it first, and a classifier and extension the first file that had them in a ' +
        'public version, also after it is deleted. With the suffix `.md5`, `.sha1`, `.sha256` or `.sha512`, returns ' +
        'the checksum of the file.',
      produces: ['text/xml', 'text/plain'],
      params: FileParams,
      response: { 200: Type.String(), 307: FileAddress },
    },
    handler: async (req, reply) => {
      const { group, id, version: coordinate, file } = req.params
      const project = await getProject(deps, req.viewer, id)
      const version = findByCoordinate(await listCoordinates(deps.db, project.id, coordinate), coordinate)
      if (version === undefined) throw notFound('version')
      const { name, digest } = splitDigest(file)
      const stem = `${id}-${coordinate}`
      if (name === `${stem}.pom`) return sendText(reply, mavenPom({ group, id }, coordinate, viewOf(project)), digest)
      const { files } = viewOf(await getVersion(deps, req.viewer, version.id))
      const match = findMavenFile(files, await listEndings(deps.db, version.id), { name, stem })
      if (match === undefined) throw notFound('file')
      if (digest !== undefined) {
        const of = { versionId: version.id, ...match.hashes }
        return reply.type('text/plain; charset=utf-8').send(await digestFile(deps, of, digest, callerOf(req)))
      }
      return reply.status(307).header('location', match.url).send({ url: match.url })
    },
  })
}

function updateFileRoute(app: App, deps: Deps): void {
  app.get('/updates/:id/:file', {
    config,
    schema: {
      operationId: 'getUpdateFile',
      summary: 'Get the latest version for each game version, for the update checker of a loader',
      description:
        'Serves `{loader}_updates.json`. Query parameters named after other loaders add their versions (`include`), ' +
        'return only their versions (`only`) or omit them (`none`, the default).',
      params: UpdateFileParams,
      querystring: UpdateFileQuery,
      response: { 200: UpdateFileView },
    },
    handler: async (req) => {
      const { id, file } = req.params
      const loaders = loadersOfUpdateFile(deps.taxonomy, file, req.query)
      if (loaders === undefined) throw notFound('file')
      const project = await getProject(deps, req.viewer, id)
      const type = deps.taxonomy.loaders.get(loaders[0] ?? '')?.project_types[0] ?? 'project'
      return {
        homepage: `${deps.config.http.baseUrl}/${type}/${encodeURIComponent(id)}`,
        promos: promotions(await listCoordinates(deps.db, project.id), loaders),
      }
    },
  })
}

function sendText(reply: Pick<FastifyReply, 'type'>, xml: string, digest: Digest | undefined): never {
  if (digest === undefined) return sendRaw(reply.type('text/xml; charset=utf-8'), xml)
  return sendRaw(reply.type('text/plain; charset=utf-8'), createHash(digest).update(xml).digest('hex'))
}
