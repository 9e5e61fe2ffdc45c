// Lists the projects and packs that a withdrawal or a deletion would break.

import { countPacksWith, type ImpactAction, listImpact } from '#features/catalogue/breakage/impact-queries.ts'
import { listVisibleProjects } from '#features/catalogue/projects/lookup/project-cache.ts'
import { viewOf } from '#lib/text/json-bytes.ts'
import type { OwnRequest } from '#web/kit/pages.ts'
import { projectPath } from '#web/kit/paths.ts'
import { html, type Part } from '#web/ui/html.ts'
import { pathTo } from '#web/ui/page-context.ts'

/** Number of projects that a list names. */
const NAMED_MAX = 10

/** Returns consequences for a confirmation page: sentences for projects and packs, with their names, and a count of
 * the saved packs of users. */
export async function impactOf(
  { deps, viewer, page }: OwnRequest,
  of: { projectId: string; versionId: string | null; action: ImpactAction },
): Promise<Part[]> {
  const { t } = page.language
  const rows = await listImpact(deps.db, of)
  const saved = await countPacksWith(deps.db, of)
  if (rows.length === 0 && saved === 0) return [t('upload.impact.none')]
  const groups = [rows.filter(({ is_pack }) => !is_pack), rows.filter(({ is_pack }) => is_pack)]
  const named = await Promise.all(
    groups.flatMap((group, index) => {
      if (group.length === 0) return []
      const key = index === 0 ? 'upload.impact.projects' : 'upload.impact.packs'
      return [nameAll(group.slice(0, NAMED_MAX), t(key, { count: group.length }), group.length - NAMED_MAX)]
    }),
  )
  return saved === 0 ? named : [...named, t('upload.impact.saved-packs', { count: saved })]

  async function nameAll(named: typeof rows, sentence: string, more: number): Promise<Part> {
    const ids = named.map(({ project_id }) => project_id)
    const views = (await listVisibleProjects(deps, viewer, ids)).map(viewOf)
    const items = views.map(
      (view) => html`<li><a href="${pathTo(page, projectPath(view))}"><bdi>${view.name}</bdi></a></li>`,
    )
    return html`${sentence}<ul>${items}${more > 0 && html`<li>${t('upload.impact.more', { count: more })}</li>`}</ul>`
  }
}
