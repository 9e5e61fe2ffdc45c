// Unfinished uploads: the drafts of versions in the user's projects. Several of them can be deleted together.

import type { FastifyReply } from 'fastify'
import { type DraftRow, listDrafts } from '#features/catalogue/versions/drafts/queries.ts'
import { deleteVersion } from '#features/catalogue/versions/lifecycle/delete-version.ts'
import { getVersionAsMember } from '#features/catalogue/versions/lookup/version-cache.ts'
import { ApiError, validationError } from '#lib/errors.ts'
import { showConfirmation } from '#web/kit/forms/confirm.ts'
import { type FormState, formPage, type Outcome } from '#web/kit/forms/form-page.ts'
import type { OwnRequest, Pages } from '#web/kit/pages.ts'
import { PATHS, projectPath, withQuery } from '#web/kit/paths.ts'
import { tile } from '#web/site/lists/rows.ts'
import { fileSize, timeAgo } from '#web/ui/format.ts'
import { html, type Markup } from '#web/ui/html.ts'
import { pathTo } from '#web/ui/page-context.ts'
import { hiddenField } from '#web/ui/parts/fields.ts'
import { sheetHead } from '#web/ui/parts/frame.ts'
import { emptyState } from '#web/ui/parts/lists.ts'
import { bulkForm, listTable, nameCell } from '#web/ui/parts/tables.ts'
import { type ListedProject, listOwnProjects, showDashboardPage } from './dashboard-frame.ts'

type Draft = { draft: DraftRow; view: ListedProject }

export function uploadsPage(pages: Pages): void {
  formPage<readonly Draft[]>(pages, {
    path: PATHS.dashboardUploads,
    name: 'publishUploads',
    shows: 'Unfinished uploads and draft versions',
    load: loadDrafts,
    show: showUploads,
    commands: { discard: confirmDiscard, confirm: discardDrafts },
    labels: { ids: 'The selection' },
  })
}

async function loadDrafts(request: OwnRequest): Promise<readonly Draft[]> {
  const views = new Map((await listOwnProjects(request)).map(({ view }) => [view.id, view]))
  const drafts = await listDrafts(request.deps.db, [...views.keys()])
  return drafts.flatMap((draft) => {
    const view = views.get(draft.project_id)
    return view === undefined ? [] : [{ draft, view }]
  })
}

/** A version that was published before is deleted on its own page, because it has statistics and dependents. */
const canDiscard = ({ draft }: Draft): boolean => draft.is_new_draft

/** Returns the selected drafts. Those that are deleted or published by now are omitted. @throws ApiError without a selection */
function selectedDrafts({ page }: OwnRequest, rows: readonly Draft[], form: FormState): readonly Draft[] {
  const ids = new Set(form.list('ids'))
  if (ids.size === 0) throw validationError('ids', page.language.t('publish.uploads.select'))
  return rows.filter((row) => ids.has(row.draft.id) && canDiscard(row))
}

async function confirmDiscard(request: OwnRequest, rows: readonly Draft[], form: FormState): Promise<Outcome> {
  const { language } = request.page
  const { t } = language
  const chosen = selectedDrafts(request, rows, form)
  if (chosen.length === 0) return { done: 'drafts-discarded' }
  const size = chosen.reduce((sum, { draft }) => sum + draft.size_bytes, 0)
  return showConfirmation(request, {
    title: t('publish.uploads.discard-title', { count: chosen.length }),
    consequences: [
      ...chosen.map(({ draft, view }) => html`<bdi>${view.name}</bdi> <bdi>${nameOf(request, draft)}</bdi>`),
      t('publish.uploads.discard-size', { size: fileSize(language, size) }),
    ],
    fields: chosen.map(({ draft }) => hiddenField('ids', draft.id)),
    button: t('publish.uploads.discard'),
  })
}

/** Deletes the drafts one by one. Skips drafts that another member has deleted in the meantime. */
async function discardDrafts(request: OwnRequest, rows: readonly Draft[], form: FormState): Promise<Outcome> {
  const { deps, viewer } = request
  for (const { draft } of selectedDrafts(request, rows, form)) {
    try {
      const { membership } = await getVersionAsMember(deps, viewer, draft.id)
      await deleteVersion(deps, viewer, { id: draft.id, membership })
    } catch (error) {
      if (!(error instanceof ApiError) || error.kind !== 'not_found') throw error
    }
  }
  return { done: 'drafts-discarded' }
}

const nameOf = ({ page }: OwnRequest, { version_number: number }: DraftRow): string =>
  number === '' ? page.language.t('publish.uploads.no-number') : number

async function showUploads(request: OwnRequest, rows: readonly Draft[], form: FormState): Promise<FastifyReply> {
  const { page, t } = request
  const table = draftTable(request, rows, new Set(form.list('ids')))
  const list = rows.some(canDiscard)
    ? bulkForm(page, {
        action: pathTo(page, PATHS.dashboardUploads),
        table,
        actions: [{ value: 'discard', label: t('publish.uploads.discard') }],
      })
    : table
  return showDashboardPage(request, {
    path: PATHS.dashboardUploads,
    title: t('publish.uploads'),
    facts: [t('publish.uploads.count', { count: rows.length })],
    form,
    body: html`${sheetHead({ title: t('publish.uploads'), text: t('publish.uploads.text') })}
<div id="ids">${rows.length === 0 ? emptyState(page, { icon: 'upload', title: t('publish.uploads.none') }) : list}</div>`,
  })
}

function draftTable(request: OwnRequest, rows: readonly Draft[], picked: ReadonlySet<string>): Markup {
  const { page, language, t } = request
  const { now } = page
  return listTable(page, {
    caption: t('publish.uploads'),
    columns: [
      { label: t('publish.uploads.version') },
      { label: t('publish.uploads.files'), room: 'mid' },
      { label: t('publish.uploads.stored'), room: 'far' },
      { label: t('publish.uploads.continue'), isAction: true },
    ],
    rows: rows.map((row) => {
      const { draft, view } = row
      const number = nameOf(request, draft)
      const files = t('publish.uploads.size', { count: draft.files, size: fileSize(language, draft.size_bytes) })
      const stored =
        draft.draft_expires === null ? t('publish.uploads.complete') : timeAgo(language, draft.draft_expires, now)
      const href = pathTo(page, withQuery(`${projectPath(view)}/versions/new`, { draft: draft.id }))
      const name = `${view.name} ${number}`
      return {
        cells: [
          nameCell({
            tile: tile(page, { iconUrl: view.icon_url, rawUrl: view.raw_icon_url }, 27),
            href,
            name: html`${view.name} ${number}`,
            details: html`<bdi>${draft.author}</bdi>, ${timeAgo(language, draft.created, now)}`,
            least: [files],
            near: stored,
          }),
          files,
          stored,
          html`<a class="button tight" href="${href}">${t('publish.uploads.continue')}<span class="vh">: ${name}</span></a>`,
        ],
        ...(canDiscard(row) ? { pick: { value: draft.id, name, isPicked: picked.has(draft.id) } } : {}),
      }
    }),
  })
}
