// Lets members with EDIT_DETAILS change the icon of a project.
import { requireNotMirrored } from '#features/basics/access/origin.ts'
import { requirePermission } from '#features/basics/access/project-policy.ts'
import { recordProjectEvent } from '#features/basics/events/record-event.ts'
import { iconColumns } from '#features/basics/images/hosted-image.ts'
import { ICON_BYTES_MAX, type IconOwner } from '#features/basics/images/icons.ts'
import { notFound } from '#lib/errors.ts'
import type { Deps } from '#ports/deps.ts'
import { getProjectAsMember, type ProjectReader } from '../lookup/project-cache.ts'
import { lockProject, setLikenessOfIcon } from '../queries.ts'

export function projectIconOwner(deps: ProjectReader & Pick<Deps, 'now'>): IconOwner {
  return {
    path: '/v3/project',
    noun: 'Project',
    scopes: ['PROJECT_WRITE'],
    limitedTokens: 'resource',
    maxBytes: ICON_BYTES_MAX,
    authorize: async (viewer, name) => {
      const { project, membership } = await getProjectAsMember(deps, viewer, name)
      requirePermission(viewer, membership, 'EDIT_DETAILS')
      return project.id
    },
    write: async (tx, changed, { id, icon }) => {
      const before = await lockProject(tx, id)
      if (before === undefined) throw notFound('project')
      requireNotMirrored(before)
      if (icon === null && before.icon_url === null) return []
      await tx
        .updateTable('project')
        .set({ ...iconColumns(icon), updated: new Date(deps.now()) })
        .where('id', '=', id)
        .execute()
      await setLikenessOfIcon(tx, id, icon?.likeness ?? null)
      await recordProjectEvent(tx, 'project.updated', id, { fields: ['icon'] })
      changed.add('project', id)
      return [before.icon_url, before.raw_icon_url]
    },
  }
}
