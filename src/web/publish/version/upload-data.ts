// Loads the upload page: the project, the draft, the proposals for the draft and the projects of its dependencies.
import { getProject, listVisibleProjects } from '#features/catalogue/projects/lookup/project-cache.ts'
import { getVersionAsMember } from '#features/catalogue/versions/lookup/version-cache.ts'
import { proposeForVersion } from '#features/catalogue/versions/proposals/propose-version.ts'
import { toProposalsView } from '#features/catalogue/versions/proposals/views.ts'
import type { VersionView } from '#features/catalogue/versions/views.ts'
import { ApiError } from '#lib/errors.ts'
import { isIdForm } from '#lib/ids.ts'
import { NAME_PATTERN } from '#lib/text/text-rules.ts'
import type { OwnRequest } from '#web/kit/pages.ts'
import { versionOf, viewOf } from '#web/site/lists/rows.ts'
import { loadManagedProject, type ManagedProject, may } from '../project/managed-project.ts'

export type ProposalsOf = ReturnType<typeof toProposalsView>

export type UploadData = ManagedProject & {
  /** Path of the page, without the draft. */
  action: string
  draft: VersionView | undefined
  /** Whether the draft of the URL was deleted, expired or published. */
  isDraftGone: boolean
  proposals: ProposalsOf | undefined
}

/** Returns the project of the path with the draft of the query. @throws ApiError 404 for people who are not members. */
export async function loadUpload(request: OwnRequest): Promise<UploadData> {
  return withDraft(request, await loadManagedProject(request), request.query('draft'))
}

/** Returns the data of the page with this draft. */
export async function withDraft(request: OwnRequest, managed: ManagedProject, id: string): Promise<UploadData> {
  const draft = id === '' ? undefined : await findDraft(request, managed, id)
  const base = {
    ...managed,
    action: `${managed.path}/versions/new`,
    draft,
    isDraftGone: id !== '' && draft === undefined,
  }
  if (draft === undefined || !may(managed, 'UPLOAD_VERSION')) return { ...base, proposals: undefined }
  const { viewer, deps } = request
  const of = { versionId: draft.id, projectId: managed.project.id, membership: managed.membership }
  return { ...base, proposals: toProposalsView(await proposeForVersion(deps, viewer, of)) }
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
  const view = versionOf(found.version)
  return view.status === 'draft' ? view : undefined
}

/** Returns the names of the projects with these IDs that the viewer can see. */
export async function namesOfProjects(
  { deps, viewer }: OwnRequest,
  ids: readonly (string | null)[],
): Promise<ReadonlyMap<string, string>> {
  const wanted = [...new Set(ids.flatMap((id) => (id === null || id === '' ? [] : id)))].filter(isIdForm).slice(0, 1000)
  if (wanted.length === 0) return new Map()
  const projects = await listVisibleProjects(deps, viewer, wanted)
  return new Map(projects.map((project) => [project.id, viewOf(project).name]))
}

/** Returns the ID of the project that a person named: by its ID, its slug or the URL of its page. */
export async function findProjectOf({ deps, viewer }: OwnRequest, text: string): Promise<string | undefined> {
  const name =
    text
      .trim()
      .replace(/[?#].*$/, '')
      .replace(/\/+$/, '')
      .split('/')
      .at(-1) ?? ''
  if (!new RegExp(NAME_PATTERN).test(name)) return undefined
  const project = await getProject(deps, viewer, name).catch((error: unknown) => {
    if (error instanceof ApiError && error.status < 500) return undefined
    throw error
  })
  return project?.id
}
