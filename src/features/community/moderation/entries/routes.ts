// Routes to the entries of the archives of a version, and to projects by the hashes of their files, for moderators.
import type { Static } from 'typebox'
import type { Viewer } from '#features/basics/access/viewer.ts'
import { requireViewer } from '#features/basics/authentication/access-control.ts'
import { getVersion } from '#features/catalogue/versions/lookup/version-cache.ts'
import { ApiError, invalidInput } from '#lib/errors.ts'
import { IdParams } from '#platform/http/query-values.ts'
import type { App } from '#platform/http/server.ts'
import type { Deps } from '#ports/deps.ts'
import { listFilesByHash } from './projects-by-hash.ts'
import { type EntryQuery, listEntries, readEntryText } from './read-entries.ts'
import { ENTRIES_DEFAULT, EntriesQuery, EntryTextQuery, HashesBody } from './requests.ts'
import { EntriesView, EntryTextView, ProjectsOfFilesView, toEntriesView, toProjectsView } from './views.ts'

type EntryRouteDeps = Pick<Deps, 'db' | 'cache' | 'taxonomy' | 'config' | 'files'>

export function entryRoutes(app: App, deps: EntryRouteDeps): void {
  const config = { auth: { scope: ['VERSION_READ'] }, role: 'moderator' } as const
  app.get('/moderation/versions/:id/entries', {
    config: { ...config, cost: 5, errors: ['500 file_hosting_error'] },
    schema: {
      operationId: 'listVersionEntries',
      summary: 'List the entries of the archives of a version',
      description:
        'Compares the primary files of both versions, and other files of the same name. Counts as 5 requests.',
      params: IdParams,
      querystring: EntriesQuery,
      response: { 200: EntriesView },
    },
    handler: async (req) => {
      const viewer = requireViewer(req)
      const version = await getVersion(deps, viewer, req.params.id)
      const against = await comparedVersion(deps, viewer, { projectId: version.project.id, id: req.query.against })
      return toEntriesView(await listEntries(deps, { versionId: version.id, against }, toQuery(req.query)))
    },
  })
  app.get('/moderation/versions/:id/entry', {
    config: { ...config, cost: 5, errors: ['500 file_hosting_error'] },
    schema: {
      operationId: 'getVersionEntry',
      summary: 'Get the text of an entry of an archive',
      description: 'Counts as 5 requests.',
      params: IdParams,
      querystring: EntryTextQuery,
      response: { 200: EntryTextView },
    },
    handler: async (req) => {
      const { id } = await getVersion(deps, requireViewer(req), req.params.id)
      return readEntryText(deps, { versionId: id, fileId: req.query.file, path: req.query.path })
    },
  })
  app.post('/moderation/files', {
    config: { auth: { scope: ['PROJECT_READ'] }, role: 'moderator' },
    schema: {
      operationId: 'listProjectsOfFiles',
      summary: 'List the projects that contain files, by several hashes',
      body: HashesBody,
      response: { 200: ProjectsOfFilesView },
    },
    handler: async (req) =>
      toProjectsView(await listFilesByHash(deps.db, [...new Set(req.body.hashes.map((hash) => hash.toLowerCase()))])),
  })
}

function toQuery(request: Static<typeof EntriesQuery>): EntryQuery {
  const { file, query: text = '', state, label, count = ENTRIES_DEFAULT, offset = 0 } = request
  const states =
    state === undefined ? undefined : state === 'different' ? (['added', 'removed', 'changed'] as const) : [state]
  return { file, text, states, label, count, offset }
}

/** @throws ApiError `invalid_input` unless it is a version of the project. */
async function comparedVersion(
  deps: EntryRouteDeps,
  viewer: Viewer,
  { projectId, id }: { projectId: string; id: string | undefined },
): Promise<string | undefined> {
  if (id === undefined) return undefined
  const version = await getVersion(deps, viewer, id).catch((error: unknown) => {
    if (error instanceof ApiError) return undefined
    throw error
  })
  if (version?.project.id !== projectId) throw invalidInput('against must be a version of the same project', 'against')
  return version.id
}
