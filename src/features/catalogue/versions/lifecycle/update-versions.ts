// Edits several versions in one transaction. Never deletes versions.
import type { Updateable } from 'kysely'
import { listMemberships } from '#features/basics/access/memberships.ts'
import { requireNotMirrored } from '#features/basics/access/origin.ts'
import { requirePermission } from '#features/basics/access/project-policy.ts'
import type { Viewer } from '#features/basics/access/viewer.ts'
import { projectEvent, recordEvents } from '#features/basics/events/record-event.ts'
import { touchProjects } from '#features/catalogue/projects/queries.ts'
import { invalidInput, notFound } from '#lib/errors.ts'
import { transaction } from '#platform/cache/transaction.ts'
import type { Tx } from '#platform/db/db.ts'
import type { Version } from '#platform/db/schema.ts'
import type { Deps } from '#ports/deps.ts'
import { canSeeVersion } from '../policy.ts'
import { type LockedVersion, lockVersions } from '../queries.ts'
import type { VersionBulkPatch } from './requests.ts'
import { admitStatus, type ScanGate } from './scan-gate.ts'
import { recordStatus } from './update-version.ts'

type Update = Updateable<Version>

/**
 * Applies one patch to all these versions. The number of statements depends only on the number of versions whose status
 * changes. Sets `updated` of their projects.
 * @throws ApiError 404, 403 without UPLOAD_VERSION in a project; nothing is saved.
 */
export async function updateVersions(
  deps: Pick<Deps, 'db' | 'cache' | 'config' | 'now'>,
  viewer: Viewer,
  { ids, patch }: { ids: readonly string[]; patch: VersionBulkPatch },
): Promise<void> {
  if (ids.length === 0 || Object.keys(patch).length === 0) return
  const gate = { scanner: deps.config.scanner, now: deps.now() }
  await transaction(deps, async (tx, changed) => {
    const locked = await lockEditable(tx, viewer, ids)
    const updates: { each: LockedVersion; status: string | undefined }[] = []
    for (const { version } of locked) requireNotMirrored(version, patch)
    const groups = new Map<string, { update: Update; ids: string[] }>()
    for (const each of locked) {
      const update = await updateOf(tx, each, patch, gate)
      const key = JSON.stringify(update)
      const group = groups.get(key) ?? { update, ids: [] }
      groups.set(key, group)
      group.ids.push(each.version.id)
      updates.push({ each, status: update.status })
    }
    for (const { update, ids: equal } of groups.values())
      await tx.updateTable('version').set(update).where('id', 'in', equal).execute()
    for (const { each, status } of updates) {
      if (status !== undefined) await recordStatus(tx, viewer, each, { status, now: gate.now })
    }
    await recordChanges(tx, locked, patch)
    const projectIds = [...new Set(locked.map(({ project }) => project.id))]
    await touchProjects(tx, projectIds, new Date(gate.now))
    changed.addEach('version', ids)
    changed.addEach('project', projectIds)
  })
}

/** Changes of the status have their own events, and those of drafts that were never published have none. */
async function recordChanges(tx: Tx, locked: readonly LockedVersion[], patch: VersionBulkPatch): Promise<void> {
  const fields = Object.keys(patch).filter((field) => field !== 'status')
  if (fields.length === 0) return
  const published = locked.filter(({ version }) => !version.is_new_draft)
  await recordEvents(
    tx,
    published.map(({ project, version }) =>
      projectEvent('version.updated', project.id, { version_id: version.id, fields }),
    ),
  )
}

async function lockEditable(tx: Tx, viewer: Viewer, ids: readonly string[]): Promise<LockedVersion[]> {
  const rows = new Map((await lockVersions(tx, ids)).map((locked) => [locked.version.id, locked]))
  const projectIds = [...new Set([...rows.values()].map(({ project }) => project.id))]
  const memberships = await listMemberships(tx, viewer, projectIds)
  const locked = ids.map((id) => {
    const row = rows.get(id)
    const facts = row === undefined ? undefined : { id, status: row.version.status, project: row.project }
    const membership = memberships.get(row?.project.id ?? '') ?? {}
    if (row === undefined || facts === undefined || !canSeeVersion(viewer, facts, membership))
      throw notFound(`version ${id}`)
    return row
  })
  for (const { project } of locked) requirePermission(viewer, memberships.get(project.id) ?? {}, 'UPLOAD_VERSION')
  return locked
}

/** A status can have to wait for the scan of the version's files. It cancels a schedule. */
async function updateOf(
  tx: Tx,
  { version }: LockedVersion,
  { status, ...columns }: VersionBulkPatch,
  gate: ScanGate,
): Promise<Update> {
  if (status === undefined) return columns
  // A draft that was never published can lack fields, and its files are not checked by the rules of its loaders yet.
  if (version.is_new_draft && status !== 'draft')
    throw invalidInput(`Version ${version.id} is a draft that was never published. Publish it on its own`, 'ids')
  return { ...columns, ...(await admitStatus(tx, { id: version.id, from: version.status, wanted: status }, gate)) }
}
