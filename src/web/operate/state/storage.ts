// The usage of the storage: by kind and by project, growth, orphaned files.
import { actorOf } from '#features/basics/audit/actor.ts'
import { loadStorage } from '#features/operation/overview/storage/load-storage.ts'
import { measureStorage } from '#features/operation/overview/storage/measure-storage.ts'
import { listMeasures, type MeasuredDay } from '#features/operation/overview/storage/queries.ts'
import type { StorageView } from '#features/operation/overview/storage/views.ts'
import { type FormState, formPage, type Outcome } from '#web/kit/forms/form-page.ts'
import type { OwnRequest, Pages } from '#web/kit/pages.ts'
import { exactTime, fileSize, wholeNumber } from '#web/ui/format.ts'
import { html, type Markup, type Part } from '#web/ui/html.ts'
import { type PageContext, pathTo } from '#web/ui/page-context.ts'
import { buttonForm } from '#web/ui/parts/fields.ts'
import { sheetHead, sheetPart } from '#web/ui/parts/frame.ts'
import { emptyState } from '#web/ui/parts/lists.ts'
import { listTable } from '#web/ui/parts/tables.ts'
import { showOperator } from '../sections.ts'
import { diskText, storageChart } from './charts.ts'

const PATH = '/operator/storage'

type Shown = { storage: StorageView; measures: readonly MeasuredDay[] }

export function storagePages(pages: Pages): void {
  formPage<Shown>(pages, {
    path: PATH,
    name: 'operateStorage',
    shows: 'Usage by kind and by project, growth',
    api: 'getStorage measureStorage',
    // As in the API, the measurement works in read-only mode.
    options: { role: 'admin', whenReadOnly: 'answers' },
    load: async ({ deps }) => ({ storage: await loadStorage(deps), measures: await listMeasures(deps.db) }),
    show: showStorage,
    commands: { measure },
  })
}

async function measure({ deps, viewer }: OwnRequest): Promise<Outcome> {
  await measureStorage(deps, actorOf(viewer))
  return { done: 'storage-measuring' }
}

function showStorage(request: OwnRequest, { storage, measures }: Shown, form: FormState) {
  const { page, language, t, rich } = request
  const { measured, measuring, disk, growth } = storage
  const text =
    measured === null
      ? t('operate.storage.unmeasured')
      : rich('operate.storage.measured', { at: exactTime(language, new Date(measured)) })
  const button = buttonForm(page, {
    action: pathTo(page, PATH),
    text: t('operate.storage.measure'),
    fields: { do: 'measure' },
  })
  const summary = diskText(page, { ...disk, days_left: growth.days_left })
  return showOperator(request, {
    section: PATH,
    heading: t('operate.storage'),
    text,
    action: measuring ? html`<span class="soft">${t('operate.storage.measuring')}</span>` : button,
    form,
    body: [
      sheetPart({
        id: 'disk',
        title: t('operate.storage.disk'),
        content: html`<p>${summary}</p>${growthText(page, storage)}`,
      }),
      storage.kinds.length > 0 && kinds(page, storage),
      measures.length > 0 && html`<div class="plots">${storageChart(page, measures, summary)}</div>`,
      storage.projects.length > 0 && largest(page, storage),
      measured !== null && orphans(page, storage),
      measured === null &&
        emptyState(page, { icon: 'disk', title: t('operate.storage.none'), text: t('operate.storage.none.text') }),
    ],
  })
}

function growthText(page: PageContext, { growth: { bytes_per_day: bytes } }: StorageView): Part {
  const { language } = page
  if (bytes === null) return null
  const size = fileSize(language, Math.abs(bytes))
  return html`<p class="soft">${language.t(bytes < 0 ? 'operate.storage.shrinks' : 'operate.storage.grows', { size })}</p>`
}

function kinds(page: PageContext, { kinds: all }: StorageView): Markup {
  const { language } = page
  const { t } = language
  return html`${sheetHead({ title: t('operate.storage.kinds'), isRuled: true })}
${listTable(page, {
  caption: t('operate.storage.kinds'),
  columns: [
    { label: t('operate.storage.kind') },
    { label: t('operate.storage.files'), isNumber: true },
    { label: t('operate.storage.size'), isNumber: true },
  ],
  rows: all.map(({ kind, bytes, files }) => ({
    cells: [
      t(`operate.kind.${kind}`),
      files === null ? '' : wholeNumber(language, files),
      bytes === null ? t('operate.storage.elsewhere') : fileSize(language, bytes),
    ],
  })),
})}`
}

function largest(page: PageContext, { projects }: StorageView): Markup {
  const { language } = page
  const { t } = language
  return html`${sheetHead({ title: t('operate.storage.projects'), isRuled: true, text: t('operate.storage.projects.text') })}
${listTable(page, {
  caption: t('operate.storage.projects'),
  columns: [
    { label: t('operate.storage.project') },
    { label: t('operate.storage.files'), isNumber: true },
    { label: t('operate.storage.size'), isNumber: true },
  ],
  rows: projects.map(({ slug, name, bytes, files }) => ({
    cells: [
      html`<a href="${pathTo(page, `/project/${encodeURIComponent(slug)}`)}"><bdi>${name}</bdi></a>`,
      wholeNumber(language, files),
      fileSize(language, bytes),
    ],
  })),
})}`
}

function orphans(page: PageContext, { orphans: { files, bytes, listed } }: StorageView): Markup {
  const { language } = page
  const { t, rich } = language
  const content =
    files === 0
      ? html`<p class="soft">${t('operate.storage.orphans.none')}</p>`
      : html`<p>${t('operate.storage.orphans.text', { files, size: fileSize(language, bytes) })}</p>
<p>${rich('operate.storage.verify', { command: html`<code>depot doctor</code>` })}</p>
<details><summary>${t('operate.storage.orphans.list', { count: listed.length })}</summary><ul>${listed.map(({ key, bytes: size }) => html`<li><code>${key}</code> ${fileSize(language, size)}</li>`)}</ul></details>`
  return sheetPart({ id: 'orphans', title: t('operate.kind.orphaned_files'), content })
}
