// The confirmation of a project that began with a file: which fields have values, and which the file did not contain.

import type { Db } from '#platform/db/db.ts'
import type { OwnRequest } from '#web/kit/pages.ts'
import { withQuery } from '#web/kit/paths.ts'
import type { WorkPage } from '#web/kit/work-page.ts'
import { html } from '#web/ui/html.ts'
import { pathTo } from '#web/ui/page-context.ts'
import type { ManagedProject } from '../project/managed-project.ts'

/** Returns the values of the notice and the link to the draft of the version, if the URL is that of the confirmation. */
export async function fromFileNotice(
  { deps, page, query, t }: OwnRequest,
  { view, path, project }: ManagedProject,
): Promise<Pick<WorkPage, 'notice' | 'notes'>> {
  if (query('done') !== 'from-file') return {}
  const draft = await findDraftFile(deps.db, project.id)
  if (draft === undefined) return {}
  const fields = [
    [t('manage.name'), true],
    [t('manage.summary'), view.summary !== ''],
    [t('publish.new.license'), view.license_decided],
    [t('manage.links'), Object.keys(view.link_urls).length > 0],
    [t('manage.icon'), view.icon_url !== null],
  ] as const
  const missing = fields.filter(([, isFilled]) => !isFilled)
  const listed = (of: readonly (readonly [string, boolean])[]) =>
    new Intl.ListFormat(page.language.tag, { type: 'unit' }).format(of.map(([label]) => label))
  const link = pathTo(page, withQuery(`${path}/versions/new`, { draft: draft.id }))
  return {
    notice: {
      file: draft.filename,
      filled: listed(fields.filter(([, isFilled]) => isFilled)),
      count: missing.length,
      missing: listed(missing),
    },
    notes: html`<div class="line"><a class="button" href="${link}">${t('publish.file.version')}</a></div>`,
  }
}

/** Returns the oldest draft of a version, and its primary file. */
function findDraftFile(db: Db, projectId: string): Promise<{ id: string; filename: string } | undefined> {
  return db
    .selectFrom('version')
    .innerJoin('file', 'file.version_id', 'version.id')
    .select(['version.id', 'file.filename'])
    .where('version.project_id', '=', projectId)
    .where('version.is_new_draft', '=', true)
    .orderBy('version.date_published')
    .orderBy('file.is_primary', 'desc')
    .limit(1)
    .executeTakeFirst()
}
