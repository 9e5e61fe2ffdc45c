// Deletes a version with its files. Dependencies on the version become dependencies on its project.

import { sql } from 'kysely'
import { type Membership, requirePermission } from '#features/basics/access/project-policy.ts'
import { actorOf } from '#features/basics/audit/actor.ts'
import { recordAudit } from '#features/basics/audit/record-audit.ts'
import { dropImages } from '#features/basics/content-images/queries.ts'
import { touchProject } from '#features/catalogue/projects/queries.ts'
import type { Viewer } from '#lib/access/viewer.ts'
import { notFound } from '#lib/errors.ts'
import { transaction } from '#platform/cache/transaction.ts'
import type { Tx } from '#platform/db/db.ts'
import { recordEvent } from '#platform/telemetry/events.ts'
import type { Deps } from '#ports/deps.ts'
import { removeLater } from '#ports/files/claims.ts'
import { lockVersion } from '../queries.ts'

/** A job deletes the files after the commit. @throws ApiError 403 without DELETE_VERSION, 404. */
export async function deleteVersion(
  deps: Deps,
  viewer: Viewer,
  { id, membership }: { id: string; membership: Membership },
): Promise<void> {
  requirePermission(viewer, membership, 'DELETE_VERSION')
  const projectId = await transaction(deps, async (tx, changed) => {
    const locked = await lockVersion(tx, id)
    if (locked === undefined) throw notFound('version')
    const projectId = locked.project.id
    const files = await tx.selectFrom('file').select(['storage_key', 'sha512']).where('version_id', '=', id).execute()
    const dependents = await tx
      .selectFrom('dependency')
      .select('dependent_id')
      .distinct()
      .where('version_id', '=', id)
      .execute()
    await dropImages(tx, 'version', [id])
    await tx.deleteFrom('version').where('id', '=', id).execute()
    const hashes = files.map(({ sha512 }) => sha512)
    await freeContents(tx, projectId, hashes)
    await touchProject(tx, projectId, new Date(deps.now()))
    const keys = files.map(({ storage_key }) => storage_key)
    await removeLater(tx, keys)
    await recordAudit(tx, {
      action: 'version.deleted',
      actor: actorOf(viewer),
      subject: { kind: 'version', id },
      details: { project: projectId, version_number: locked.version.version_number },
    })
    changed.add('project', projectId)
    changed.add('version', id, ...dependents.map(({ dependent_id }) => dependent_id))
    return projectId
  })
  recordEvent(deps, 'version.deleted', { project_id: projectId, version_id: id })
}

/** Lets other projects upload these files again, unless a version of this project still contains them. */
export async function freeContents(tx: Tx, projectId: string, sha512s: readonly string[]): Promise<void> {
  await sql`delete from file_content where project_id = ${projectId} and sha512 = any(${[...sha512s]}::text[])
    and not exists (select 1 from file where file.sha512 = file_content.sha512)`.execute(tx)
}
