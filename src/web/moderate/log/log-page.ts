// The log of moderators.
import { MODERATOR_ACTIONS, SHARED_ACTIONS } from '#features/basics/audit/actions.ts'
import { listObjectNames } from '#features/basics/audit/object-names.ts'
import { listEntryPage } from '#features/basics/audit/queries.ts'
import { attempt } from '#web/kit/forms/read-form.ts'
import type { OwnRequest, Pages } from '#web/kit/pages.ts'
import { PATHS, withQuery } from '#web/kit/paths.ts'
import { html } from '#web/ui/html.ts'
import { pathTo } from '#web/ui/page-context.ts'
import { errorSummary } from '#web/ui/parts/fields.ts'
import { sheetHead } from '#web/ui/parts/frame.ts'
import { ROWS, showSection } from '../frame.ts'
import { entryTable } from './entries.ts'
import { LOG_LABELS, logFilterForm, readLogFilter, typedLogOf } from './log-filter.ts'

const ACTIONS = [...MODERATOR_ACTIONS, ...SHARED_ACTIONS] as const

export function logPage(pages: Pages): void {
  pages.own('GET', PATHS.moderationLog, 'moderateLog', showLog, { role: 'moderator', api: 'listModerationLog' })
}

async function showLog(request: OwnRequest) {
  const { deps, page, query, t } = request
  const typed = typedLogOf(request)
  const { value: filter, refusal } = await attempt(() => readLogFilter(request, typed), LOG_LABELS)
  const before = /^[1-9]\d{0,14}$/.test(query('before')) ? Number(query('before')) : undefined
  const { rows, next } =
    filter === undefined
      ? { rows: [], next: null }
      : await listEntryPage(deps.db, { ...filter, ofModeration: true }, { before, limit: ROWS })
  const older = withQuery(PATHS.moderationLog, { ...typed, before: String(next) })
  return showSection(request, {
    section: PATHS.moderationLog,
    title: t('reports.log.title'),
    ...(refusal === undefined ? {} : { status: refusal.status }),
    body: [
      sheetHead({ title: t('reports.log.title'), text: t('reports.log.text') }),
      errorSummary(page, refusal === undefined ? [] : [refusal]),
      logFilterForm(page, typed, { path: PATHS.moderationLog, actions: ACTIONS, refusal }),
      refusal === undefined &&
        entryTable(page, rows, {
          names: await listObjectNames(deps.db, rows),
          forModerators: true,
          caption: t('reports.log.title'),
          empty: t('reports.log.empty'),
        }),
      next !== null && html`<p class="part"><a href="${pathTo(page, older)}">${t('reports.log.older')}</a></p>`,
    ],
  })
}
