// Loads the upload page: the project, the draft, the proposals for the draft, the previous version and the scan.

import { getProject, listVisibleProjects } from '#features/catalogue/projects/lookup/project-cache.ts'
import type { ProjectView } from '#features/catalogue/projects/views.ts'
import { findScan, type ScanRow } from '#features/catalogue/scans/queries.ts'
import { getVersionAsMember, listCachedVersions } from '#features/catalogue/versions/lookup/version-cache.ts'
import { proposeForVersion } from '#features/catalogue/versions/proposals/propose-version.ts'
import { findPreviousVersion } from '#features/catalogue/versions/proposals/queries.ts'
import { toProposalsView } from '#features/catalogue/versions/proposals/views.ts'
import { listUploads, type UploadRow } from '#features/catalogue/versions/uploads/queries.ts'
import type { VersionView } from '#features/catalogue/versions/views.ts'
import { ApiError } from '#lib/errors.ts'
import { isIdForm } from '#lib/ids.ts'
import { viewOf } from '#lib/text/json-bytes.ts'
import { withoutEnd } from '#lib/text/linear-text.ts'
import { NAME_PATTERN } from '#lib/text/text-rules.ts'
import type { OwnRequest } from '#web/kit/pages.ts'
import { loadManagedProject, type ManagedProject, may } from '../../project/managed-project.ts'

export type ProposalsOf = ReturnType<typeof toProposalsView>

export type UploadData = ManagedProject & {
  /** Path of the page, without the draft. */
  action: string
  draft: VersionView | undefined
  /** Whether the draft of the URL was deleted, expired or published. */
  isDraftGone: boolean
  /** The files that the draft names and that the viewer has begun to upload. */
  waiting: readonly UploadRow[]
  proposals: ProposalsOf | undefined
  /** The newest published version, with which the page compares. */
  previous: VersionView | undefined
  /** The scan of the files of the draft. */
  scan: ScanRow | undefined
}

/** Returns the project of the path with the draft of the query. @throws ApiError 404 for people who are not members. */
export async function loadUpload(request: OwnRequest): Promise<UploadData> {
  return withDraft(request, await loadManagedProject(request), request.query('draft'))
}

/** Returns the data of the page with this draft. */
export async function withDraft(request: OwnRequest, managed: ManagedProject, id: string): Promise<UploadData> {
  const { viewer, deps } = request
  const draft = id === '' ? undefined : await findDraft(request, managed, id)
  const base = {
    ...managed,
    action: `${managed.path}/versions/new`,
    draft,
    isDraftGone: id !== '' && draft === undefined,
    previous: await findPrevious(request, managed, draft?.id),
    waiting: [],
    proposals: undefined,
    scan: undefined,
  }
  if (draft === undefined || !may(managed, 'UPLOAD_VERSION')) return base
  const of = { versionId: draft.id, projectId: managed.project.id, membership: managed.membership }
  return {
    ...base,
    waiting: await listUploads(deps, viewer, { versionId: draft.id }),
    proposals: toProposalsView(await proposeForVersion(deps, viewer, of)),
    scan: deps.config.scanner.kind === 'none' ? undefined : await findScan(deps.db, draft.id),
  }
}

async function findPrevious({ deps }: OwnRequest, { project }: ManagedProject, exceptId: string | undefined) {
  const row = await findPreviousVersion(deps.db, project.id, exceptId)
  const [cached] = row === undefined ? [] : await listCachedVersions(deps, [row.id])
  return cached && viewOf(cached)
}

async function findDraft(
  request: OwnRequest,
  { project }: ManagedProject,
  id: string,
): Promise<VersionView | undefined> {
  if (!isIdForm(id)) return undefined
  const found = await getVersionAsMember(request.deps, request.viewer, id).catch((error: unknown) => {
    if (error instanceof ApiError && error.kind === 'not_found') return undefined
    throw error
  })
  if (found === undefined || found.version.project.id !== project.id) return undefined
  const view = viewOf(found.version)
  return view.status === 'draft' ? view : undefined
}

/** Returns the projects with these IDs that the viewer can see. Runs a constant number of statements. */
export async function viewsOfProjects(
  { deps, viewer }: OwnRequest,
  ids: readonly string[],
): Promise<ReadonlyMap<string, ProjectView>> {
  const wanted = [...new Set(ids)].filter((id) => id !== '' && isIdForm(id)).slice(0, 1000)
  if (wanted.length === 0) return new Map()
  const projects = await listVisibleProjects(deps, viewer, wanted)
  return new Map(projects.map((project) => [project.id, viewOf(project)]))
}

/** Returns the ID of the project that a person named: by its ID, its slug or the URL of its page. */
export async function findProjectOf({ deps, viewer }: OwnRequest, text: string): Promise<string | undefined> {
  const name =
    withoutEnd(text.trim().split(/[?#]/, 1)[0] ?? '', '/')
      .split('/')
      .at(-1) ?? ''
  if (!new RegExp(NAME_PATTERN).test(name)) return undefined
  const project = await getProject(deps, viewer, name).catch((error: unknown) => {
    if (error instanceof ApiError && error.status < 500) return undefined
    throw error
  })
  return project?.id
}
