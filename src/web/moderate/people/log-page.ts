// The log of moderators.

import { MODERATOR_ACTIONS, SHARED_ACTIONS } from '#features/basics/audit/actions.ts'
import { type AuditRow, listEntries } from '#features/basics/audit/queries.ts'
import { listVisibleProjects } from '#features/catalogue/projects/lookup/project-cache.ts'
import { viewOf } from '#lib/text/json-bytes.ts'
import type { OwnRequest, Pages } from '#web/kit/pages.ts'
import { PATHS, reviewPath, withQuery } from '#web/kit/paths.ts'
import { html, type Markup, type Part } from '#web/ui/html.ts'
import { messageOr } from '#web/ui/languages.ts'
import { type PageContext, pathTo } from '#web/ui/page-context.ts'
import { sheetHead } from '#web/ui/parts/frame.ts'
import { emptyState } from '#web/ui/parts/lists.ts'
import { listTable, nameCell } from '#web/ui/parts/tables.ts'
import { moderatedReport, moderatedUser, ROWS, showSection } from '../frame.ts'
import { filterForm, timeOf, userLink } from '../parts.ts'

const ACTIONS = [...MODERATOR_ACTIONS, ...SHARED_ACTIONS] as const

export function logPage(pages: Pages): void {
  pages.own('GET', PATHS.moderationLog, 'moderateLog', showLog, { role: 'moderator', api: 'listModerationLog' })
}

/** Returns the name of an action of the audit log. */
const actionName = ({ language }: PageContext, action: string): string =>
  messageOr(language, `reports.action.${action}`, action)

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
            choices: ACTIONS.map((value) => ({ value, label: actionName(page, value) })),
          },
        ],
      }),
      shown.length === 0
        ? emptyState(page, { icon: 'history', title: t('reports.log.empty') })
        : table(page, shown, await projectNames(request, shown)),
      next !== undefined && html`<p class="part"><a href="${pathTo(page, older)}">${t('reports.log.older')}</a></p>`,
    ],
  })
}

/** Returns the names of the projects that the entries are about, by ID. */
async function projectNames({ deps, viewer }: OwnRequest, rows: readonly AuditRow[]): Promise<Map<string, string>> {
  const ids = rows.flatMap(({ subject_kind, subject_id }) =>
    subject_kind === 'project' && subject_id ? subject_id : [],
  )
  const projects = await listVisibleProjects(deps, viewer, [...new Set(ids)])
  return new Map(projects.map(viewOf).map(({ id, name }) => [id, name]))
}

function table(page: PageContext, rows: readonly AuditRow[], names: ReadonlyMap<string, string>): Markup {
  const { t } = page.language
  return listTable(page, {
    caption: t('reports.log.title'),
    columns: [
      { label: t('reports.log.action') },
      { label: t('reports.log.subject'), room: 'mid' },
      { label: t('reports.moderator'), room: 'mid' },
      { label: t('reports.time'), room: 'far' },
    ],
    rows: rows.map((row) => ({
      cells: [
        nameCell({
          name: actionName(page, row.action),
          details: detailsOf(row),
          near: timeOf(page, row.at),
          least: [subject(page, row, names), actor(page, row)],
        }),
        subject(page, row, names),
        actor(page, row),
        timeOf(page, row.at),
      ],
    })),
  })
}

function actor(page: PageContext, { actor_kind, actor_id, actor_name }: AuditRow): Part {
  if (actor_id !== null && actor_name !== null) return userLink(page, { id: actor_id, username: actor_name })
  return messageOr(page.language, `reports.actor.${actor_kind}`, actor_kind)
}

function subject(
  page: PageContext,
  { subject_kind, subject_id, subject_name }: AuditRow,
  names: ReadonlyMap<string, string>,
): Part {
  if (subject_kind === null || subject_id === null) return null
  const name = subject_name ?? names.get(subject_id) ?? `${subject_kind} ${subject_id.slice(0, 12)}`
  const paths: Record<string, (id: string) => string> = {
    user: moderatedUser,
    project: reviewPath,
    report: moderatedReport,
  }
  const path = paths[subject_kind]?.(subject_id)
  return path === undefined ? html`<bdi>${name}</bdi>` : html`<a href="${pathTo(page, path)}"><bdi>${name}</bdi></a>`
}

/** Renders the details of an entry, which can contain text of users. */
function detailsOf({ details }: AuditRow): Part {
  const entries = Object.entries((details ?? {}) as Record<string, unknown>)
  const text = entries
    .filter(([, value]) => value !== null && value !== '')
    .map(([name, value]) => `${name}: ${Array.isArray(value) ? value.join(', ') : String(value)}`)
    .join(' · ')
  return html`<span dir="auto">${text.slice(0, 400)}</span>`
}
