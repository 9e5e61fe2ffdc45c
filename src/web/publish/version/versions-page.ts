// Project settings: all versions with their status, and actions on several of them.

import type { FastifyReply } from 'fastify'
import { listBrokenOf } from '#features/catalogue/breakage/broken-dependencies.ts'
import { listVisibleProjects } from '#features/catalogue/projects/lookup/project-cache.ts'
import { updateVersions } from '#features/catalogue/versions/lifecycle/update-versions.ts'
import { listCachedVersions } from '#features/catalogue/versions/lookup/version-cache.ts'
import { notFound, validationError } from '#lib/errors.ts'
import { isIdForm } from '#lib/ids.ts'
import { viewOf } from '#lib/text/json-bytes.ts'
import type { Taxonomy } from '#taxonomy/taxonomy.ts'
import type { FormState, Outcome } from '#web/kit/forms/form-page.ts'
import type { OwnRequest, Pages } from '#web/kit/pages.ts'
import { pageNumber, projectPath, withQuery } from '#web/kit/paths.ts'
import { tagNames } from '#web/site/names.ts'
import { shortNumber, timeAgo } from '#web/ui/format.ts'
import { html, type Markup, type Part } from '#web/ui/html.ts'
import { icon, type PageContext, pathTo } from '#web/ui/page-context.ts'
import { emptyState, note, pager } from '#web/ui/parts/lists.ts'
import { statusOf } from '#web/ui/parts/status.ts'
import { bulkForm, listTable, nameCell } from '#web/ui/parts/tables.ts'
import { type ManagedProject, may } from '../project/managed-project.ts'
import { projectForm, showProjectSettings } from '../project/settings-frame.ts'
import { listAllVersions, type VersionListRow } from './queries.ts'

const PER_PAGE = 50
/** Number of loaders and game versions that a row names. */
const NAMED_MAX = 6

type BulkPatch = { status: 'listed' | 'unlisted' | 'archived' } | { featured: boolean }

export function versionsPages(pages: Pages, taxonomy: Taxonomy): void {
  const change = (patch: BulkPatch) => (request: OwnRequest, data: ManagedProject, form: FormState) =>
    changeVersions(request, data, { form, patch })
  projectForm(pages, taxonomy, {
    below: '/settings/versions',
    name: 'manageVersions',
    api: 'updateVersions',
    show: showVersions,
    commands: {
      list: change({ status: 'listed' }),
      unlist: change({ status: 'unlisted' }),
      archive: change({ status: 'archived' }),
      feature: change({ featured: true }),
      unfeature: change({ featured: false }),
    },
    labels: { ids: 'The selection' },
  })
}

/** Changes all selected versions or none. */
async function changeVersions(
  { deps, viewer }: OwnRequest,
  { project }: ManagedProject,
  { form, patch }: { form: FormState; patch: BulkPatch },
): Promise<Outcome> {
  const ids = [...new Set(form.list('ids'))]
  if (ids.length === 0) throw validationError('ids', 'Select at least one version')
  if (ids.length > PER_PAGE || !ids.every(isIdForm)) throw validationError('ids', 'is not a list of versions')
  const versions = await listCachedVersions(deps, ids)
  if (versions.some((version) => version.project.id !== project.id)) throw notFound('version')
  await updateVersions(deps, viewer, { ids, patch })
  return { done: 'saved' }
}

async function showVersions(request: OwnRequest, data: ManagedProject, form: FormState): Promise<FastifyReply> {
  const { page, deps, t } = request
  const current = pageNumber(request)
  const rows = await listAllVersions(deps.db, data.project.id, { limit: PER_PAGE, offset: (current - 1) * PER_PAGE })
  const last = Math.max(1, Math.ceil((rows[0]?.total ?? 0) / PER_PAGE))
  const action = `${data.settings}/versions`
  const mayEdit = may(data, 'UPLOAD_VERSION')
  const picked = new Set(form.list('ids'))
  const table = listTable(page, {
    caption: t('upload.versions'),
    columns: [
      { label: t('upload.versions.number') },
      { label: t('upload.versions.status') },
      { label: t('upload.versions.for'), room: 'far' },
      { label: t('upload.versions.downloads'), room: 'mid', isNumber: true },
      { label: t('upload.versions.published'), room: 'far' },
      { label: t('upload.versions.edit'), isAction: true },
    ],
    rows: rows.map((row) => ({
      cells: cellsOf(page, data, row),
      ...(mayEdit && !row.is_new_draft
        ? { pick: { value: row.id, name: row.version_number, isPicked: picked.has(row.id) } }
        : {}),
    })),
  })
  const actions = [
    { value: 'list', label: t('upload.versions.list') },
    { value: 'unlist', label: t('upload.versions.unlist') },
    { value: 'archive', label: t('upload.versions.archive') },
    { value: 'feature', label: t('upload.versions.feature') },
    { value: 'unfeature', label: t('upload.versions.unfeature') },
  ]
  const upload = html`<a class="button main" href="${pathTo(page, `${data.path}/versions/new`)}">${icon(page, 'plus')}${t('upload.versions.new')}</a>`
  const none = emptyState(page, { icon: 'box', title: t('upload.versions.none'), action: html`<p>${upload}</p>` })
  const list = mayEdit ? bulkForm(page, { action: pathTo(page, action), table, actions }) : table
  return showProjectSettings(request, data, {
    section: '/versions',
    heading: t('upload.versions'),
    text: t('upload.versions.text'),
    ...(mayEdit ? { action: upload } : {}),
    needs: 'UPLOAD_VERSION',
    form,
    notes: await brokenNote(request, data),
    body: html`${rows.length === 0 ? none : list}
${last > 1 && pager(page, { current, last, href: (number) => pathTo(page, withQuery(action, { page: number === 1 ? '' : String(number) })) })}`,
  })
}

/** Names the dependencies of the newest version that have broken. */
async function brokenNote({ deps, viewer, page }: OwnRequest, { project, path }: ManagedProject): Promise<Part> {
  const { rich, t } = page.language
  const broken = await listBrokenOf(deps.db, project.id)
  const [first] = broken
  if (first === undefined) return false
  const ids = broken.map(({ project_id }) => project_id)
  const views = new Map((await listVisibleProjects(deps, viewer, ids)).map((each) => [each.id, viewOf(each)]))
  const version = html`<a href="${pathTo(page, `${path}/version/${first.dependent_id}/edit`)}"><bdi>${first.version_number}</bdi></a>`
  const items = broken.map(({ project_id, reason }) => {
    const view = views.get(project_id)
    const name =
      view === undefined
        ? t('upload.broken.unknown')
        : html`<a href="${pathTo(page, projectPath(view))}"><bdi>${view.name}</bdi></a>`
    return html`<li>${rich(`upload.broken.${reason}`, { name })}</li>`
  })
  return note(page, 'warn', html`<p>${rich('upload.broken', { version })}</p><ul>${items}</ul>`)
}

function cellsOf(page: PageContext, data: ManagedProject, row: VersionListRow): (Markup | string)[] {
  const { language } = page
  const { t } = language
  const number = row.version_number === '' ? t('publish.uploads.no-number') : row.version_number
  const edit = row.is_new_draft
    ? withQuery(`${data.path}/versions/new`, { draft: row.id })
    : `${data.path}/version/${row.id}/edit`
  const runs = [...tagNames(language, row.loaders), ...row.game_versions].slice(0, NAMED_MAX).join(', ')
  const published = timeAgo(language, row.date_published, page.now)
  return [
    nameCell({
      href: pathTo(page, edit),
      name: number,
      details: row.name,
      near: runs,
      least: [shortNumber(language, row.downloads)],
    }),
    html`${statusOf(page, 'version', row.status)}${row.featured && html` <span class="badge">${t('upload.versions.featured')}</span>`}${row.is_withdrawn && html` <span class="badge bad">${t('project.withdrawn')}</span>`}`,
    runs,
    shortNumber(language, row.downloads),
    published,
    html`${!row.is_new_draft && may(data, 'VIEW_ANALYTICS') && html`<a class="button tight" href="${pathTo(page, withQuery(`${data.settings}/analytics`, { version: row.id }))}">${icon(page, 'chart')}<span class="vh">${t('numbers.title')} ${number}</span></a>`}<a class="button tight" href="${pathTo(page, edit)}">${icon(page, 'pencil')}<span class="vh">${t('upload.versions.edit')} ${number}</span></a>`,
  ]
}
