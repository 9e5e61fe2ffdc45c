// Proposals for a stored version, and for files that are only checked.

import { type Membership, requirePermission } from '#features/basics/access/project-policy.ts'
import type { Viewer } from '#features/basics/access/viewer.ts'
import { invalidInput } from '#lib/errors.ts'
import type { Deps } from '#ports/deps.ts'
import { checkFilename } from '../files/filename.ts'
import { choosePrimaryOf } from '../manifests/manifest.ts'
import { listDeclaredIds } from '../manifests/queries.ts'
import { readManifests, unreadableEntries } from '../manifests/read-manifests.ts'
import { requirePublisher } from '../publish/create-version.ts'
import type { ReceivedFiles } from '../publish/prepare-files.ts'
import { findNamedUploads, type NamedUploads, withUploads } from '../uploads/use-uploads.ts'
import { declaredDependencies, type ProposalInput, proposeFields } from './propose.ts'
import { proposeDependencies } from './propose-dependencies.ts'
import { findPreviousVersion, findPrimaryManifests } from './queries.ts'
import { parseProposalData } from './requests.ts'
import type { Proposals } from './views.ts'

type ProposalDeps = Pick<Deps, 'db' | 'taxonomy' | 'now'>

/** @throws ApiError 403 without UPLOAD_VERSION. */
export async function proposeForVersion(
  deps: ProposalDeps,
  viewer: Viewer,
  { versionId, projectId, membership }: { versionId: string; projectId: string; membership: Membership },
): Promise<Proposals> {
  requirePermission(viewer, membership, 'UPLOAD_VERSION')
  const file = await findPrimaryManifests(deps.db, versionId)
  return propose(deps, viewer, { projectId, versionId, file })
}

type FilesToRead = { projectId: string; names: readonly string[]; uploads: NamedUploads }

/**
 * Returns the proposals for a new version with these files. Stores nothing, and leaves uploads as they are.
 * @throws ApiError `validation_error` for the project and for an upload, 403 without UPLOAD_VERSION, `invalid_input` naming
 * the part.
 */
export async function proposeForFiles(
  deps: Deps,
  viewer: Viewer,
  receive: (describe: (data: unknown) => Promise<FilesToRead>) => Promise<ReceivedFiles<FilesToRead>>,
): Promise<Proposals> {
  const { description, parts: sent } = await receive(async (data) => {
    const { project_id, file_parts } = parseProposalData(data)
    const names = file_parts ?? []
    const projectId = await requirePublisher(deps.db, viewer, project_id)
    return { projectId, names, uploads: await findNamedUploads(deps, viewer, { names }) }
  })
  const { projectId, names, uploads } = description
  return withUploads(deps, { sent, uploads, names }, async (parts) => {
    if (parts.length === 0) throw invalidInput('At least one file part is required', 'file')
    const files: { filename: string; manifests: Awaited<ReturnType<typeof readManifests>> }[] = []
    for (const { name: part, filename, staged } of parts) {
      const { isArchive } = checkFilename(deps.fileRules, part, filename)
      const archive = isArchive
        ? await deps.archives.inspect(staged.path, { field: part, caller: viewer.caller })
        : undefined
      files.push({ filename, manifests: await readManifests(archive) })
    }
    const file = choosePrimaryOf(files, await listDeclaredIds(deps.db, projectId))
    return propose(deps, viewer, { projectId, versionId: undefined, file })
  })
}

async function propose(
  { db, taxonomy, now }: ProposalDeps,
  viewer: Viewer,
  { projectId, versionId, file }: { projectId: string; versionId: string | undefined; file: ProposalInput['file'] },
): Promise<Proposals> {
  const previous = await findPreviousVersion(db, projectId, versionId)
  const declared = declaredDependencies({ file })
  return {
    file: file?.filename,
    unreadable: unreadableEntries(file?.manifests ?? []),
    ...proposeFields({ file, previous, taxonomy, now: now() }),
    dependencies: await proposeDependencies(db, viewer, { projectId, declared, previous }),
  }
}
