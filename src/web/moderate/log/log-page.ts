// The log of moderators.
import { MODERATOR_ACTIONS, SHARED_ACTIONS } from '#features/basics/audit/actions.ts'
import { listObjectNames } from '#features/basics/audit/object-names.ts'
import { listEntries } from '#features/basics/audit/queries.ts'
import type { OwnRequest, Pages } from '#web/kit/pages.ts'
import { PATHS, withQuery } from '#web/kit/paths.ts'
import { html } from '#web/ui/html.ts'
import { pathTo } from '#web/ui/page-context.ts'
import { sheetHead } from '#web/ui/parts/frame.ts'
import { ROWS, showSection } from '../frame.ts'
import { filterForm } from '../parts.ts'
import { actionName, entryTable } from './entries.ts'

const ACTIONS = [...MODERATOR_ACTIONS, ...SHARED_ACTIONS] as const

export function logPage(pages: Pages): void {
  pages.own('GET', PATHS.moderationLog, 'moderateLog', showLog, { role: 'moderator', api: 'listModerationLog' })
}

async function showLog(request: OwnRequest) {
  const { deps, page, query, t } = request
  const action = ACTIONS.find((each) => each === query('action'))
  const before = /^[1-9]\d{0,15}$/.test(query('before')) ? Number(query('before')) : undefined
  const rows = await listEntries(deps.db, { ofModeration: true, action }, { before, limit: ROWS + 1 })
  const shown = rows.slice(0, ROWS)
  const next = rows.length > ROWS ? shown.at(-1)?.id : undefined
  const older = withQuery(PATHS.moderationLog, { action, before: next === undefined ? undefined : String(next) })
  return showSection(request, {
    section: PATHS.moderationLog,
    title: t('reports.log.title'),
    body: [
      sheetHead({ title: t('reports.log.title'), text: t('reports.log.text') }),
      filterForm(page, {
        selects: [
          {
            name: 'action',
            label: t('reports.log.action'),
            value: action ?? '',
            choices: ACTIONS.map((value) => ({ value, label: actionName(page.language, value) })),
          },
        ],
      }),
      entryTable(page, shown, {
        names: await listObjectNames(deps.db, shown),
        forModerators: true,
        caption: t('reports.log.title'),
        empty: t('reports.log.empty'),
      }),
      next !== undefined && html`<p class="part"><a href="${pathTo(page, older)}">${t('reports.log.older')}</a></p>`,
    ],
  })
}
