// The tables of notifications: one for each day, with the notifications of a project side by side.

import { PATHS, withQuery } from '#web/kit/paths.ts'
import { dayText, exactTime } from '#web/ui/format.ts'
import { html, type Markup, type Part } from '#web/ui/html.ts'
import { icon, type PageContext, pathTo } from '#web/ui/page-context.ts'
import { face } from '#web/ui/parts/lists.ts'
import { listTable, nameCell, type Row } from '#web/ui/parts/tables.ts'
import type { ShownNotification } from './describe.ts'

/** Renders the notifications, newest day first. `picked` has the IDs that were selected before an error. */
export function notificationTables(
  page: PageContext,
  items: readonly ShownNotification[],
  picked: readonly string[],
): Part {
  const { language } = page
  const days = Map.groupBy(items, ({ created }) => dayText(language, created))
  return [...days].map(([day, ofDay]) => {
    const byProject = Map.groupBy(ofDay, ({ project, id }) => project?.id ?? id)
    const rows = [...byProject.values()].flat().map((item) => notificationRow(page, item, picked.includes(item.id)))
    return html`<h3 class="day">${day}</h3>
${table(page, day, rows)}`
  })
}

function table(page: PageContext, day: string, rows: readonly Row[]): Markup {
  const { t } = page.language
  return listTable(page, {
    caption: t('notifications.caption', { day }),
    columns: [
      { label: t('notifications.column.text') },
      { label: t('notifications.column.at'), room: 'far' },
      { label: t('notifications.column.answer'), isAction: true },
    ],
    rows,
  })
}

function notificationRow(page: PageContext, item: ShownNotification, isPicked: boolean): Row {
  const { language } = page
  const { id, created, isRead, text, quote, path, project } = item
  const at = exactTime(language, created)
  const unread =
    !isRead && html`<span class="status wait">${icon(page, 'bell')}${language.t('notifications.unread')}</span>`
  return {
    cells: [
      nameCell({
        ...(project === undefined ? {} : { tile: face({ name: project.name, url: project.icon_url, isSquare: true }) }),
        ...(path === undefined ? {} : { href: pathTo(page, path) }),
        name: text,
        details: [unread, quote !== undefined && html` <q>${quote}</q>`],
        near: at,
      }),
      at,
      answers(page, item),
    ],
    pick: { value: id, name: project?.name ?? dayText(language, created), isPicked },
    isHot: !isRead,
  }
}

/** The buttons belong to the form of the list; the team is in the URL to which they send it. */
function answers(page: PageContext, { invitingTeamId }: ShownNotification): Part {
  const { t } = page.language
  if (invitingTeamId === undefined) return ''
  const action = pathTo(page, withQuery(PATHS.notifications, { team: invitingTeamId }))
  const button = (value: string, label: string, kind: string) =>
    html`<button class="${kind}" name="do" value="${value}" formaction="${action}">${label}</button>`
  return html`<div class="line">${button('accept', t('notifications.accept'), 'main tight')}${button('decline', t('notifications.decline'), 'tight')}</div>`
}
