// The user's notifications by day: filter and page in the URL, invitations that are answered in place.
import type { FastifyReply } from 'fastify'
import { joinTeam, removeMember } from '#features/community/teams/edit-member.ts'
import { deleteNotifications } from '#features/people/notifications/delete-notifications.ts'
import { markNotificationsRead } from '#features/people/notifications/mark-notifications-read.ts'
import {
  countNotifications,
  findInvitation,
  listNotificationPage,
  NOTIFICATION_FILTERS,
  type NotificationFilter,
} from '#features/people/notifications/pages.ts'
import { findNotification } from '#features/people/notifications/queries.ts'
import { notFound } from '#lib/errors.ts'
import { parseId } from '#lib/ids.ts'
import { type FormState, formPage, type Outcome } from '#web/kit/forms/form-page.ts'
import { refusedField } from '#web/kit/forms/read-form.ts'
import type { OwnRequest, Pages } from '#web/kit/pages.ts'
import { PATHS, pageNumber, withQuery } from '#web/kit/paths.ts'
import { showWork } from '#web/kit/work-page.ts'
import { dayText, timeAgo } from '#web/ui/format.ts'
import { html, type Markup, type Part } from '#web/ui/html.ts'
import type { IconName } from '#web/ui/icons.ts'
import { icon, type PageContext, pathTo } from '#web/ui/page-context.ts'
import { form, hiddenField } from '#web/ui/parts/fields.ts'
import { sheetHead } from '#web/ui/parts/frame.ts'
import { emptyState, face, pager, tabs } from '#web/ui/parts/lists.ts'
import { listTable, nameCell, pickedCount, type Row } from '#web/ui/parts/tables.ts'
import { dashboardSections } from '../dashboard/dashboard-frame.ts'
import { describeNotifications, type ShownNotification } from './describe.ts'

const PAGE_SIZE = 50

type Listed = {
  filter: NotificationFilter
  current: number
  last: number
  counts: Record<NotificationFilter, number>
  items: ShownNotification[]
  /** Name of the project or organization whose invitation was just answered. */
  answered: string
}

export function notificationPages(pages: Pages): void {
  pages.own('GET', `${PATHS.notifications}/:id`, 'ownNotificationLink', openNotification, {
    shows: false,
    api: 'markNotificationsRead',
  })
  formPage<Listed>(pages, {
    path: PATHS.notifications,
    name: 'ownNotifications',
    api: 'listUserNotifications markNotificationsRead deleteNotifications joinTeam',
    labels: { ids: 'The selection' },
    load,
    show,
    commands: {
      read: async (request, listed, state) => {
        await markNotificationsRead(request.deps, chosenIds(request, state), request.viewer.id)
        return outcome(listed, 'notifications-read')
      },
      // Only those that the page showed: a newer one stays unread.
      'read-all': async ({ deps, viewer }, listed, state) => {
        await markNotificationsRead(deps, state.list('shown').map(parseShown), viewer.id)
        return outcome(listed, 'notifications-read')
      },
      remove: async (request, listed, state) => {
        await deleteNotifications(request.deps, chosenIds(request, state), request.viewer.id)
        return outcome(listed, 'notifications-removed')
      },
      accept: async ({ deps, viewer, query }, listed) => {
        const team = parseId(query('team'), 'team')
        await joinTeam(deps, viewer, team)
        return outcome(listed, 'invitation-accepted', { team })
      },
      decline: async ({ deps, viewer, query }, listed) => {
        const team = parseId(query('team'), 'team')
        await removeMember(deps, viewer, { teamId: team, accountId: viewer.id })
        return outcome(listed, 'invitation-declined', { team })
      },
    },
  })
}

/**
 * Marks a notification of the viewer as read and leads to its page. A link of another site, a prefetch and read-only mode
 * mark nothing.
 */
async function openNotification(request: OwnRequest): Promise<FastifyReply> {
  const { deps, viewer, req, reply, page, language } = request
  const row = await findNotification(deps.db, parseId(request.param('id'), 'id'))
  if (row === undefined || row.account_id !== viewer.id) throw notFound('notification')
  const [item] = await describeNotifications(request, [row])
  const isOpened =
    req.method === 'GET' &&
    req.headers['sec-purpose'] === undefined &&
    req.headers['sec-fetch-site'] !== 'cross-site' &&
    page.site.readOnly?.(language) === undefined
  if (isOpened && !row.read) await markNotificationsRead(deps, [row.id], viewer.id)
  reply.header('cache-control', 'no-store')
  return request.redirect(item?.path ?? PATHS.notifications)
}

const parseShown = (id: string): string => parseId(id, 'shown')

/** @throws ApiError `validation_error` if nothing is selected */
function chosenIds({ page }: OwnRequest, state: FormState): string[] {
  const ids = state.list('ids').map((id) => parseId(id, 'ids'))
  if (ids.length === 0) throw refusedField('ids', page.language.t('notifications.select'))
  return ids
}

const outcome = (
  { filter, current }: Listed,
  done: 'notifications-read' | 'notifications-removed' | 'invitation-accepted' | 'invitation-declined',
  more: Readonly<Record<string, string>> = {},
): Outcome => ({ done, path: PATHS.notifications, with: { ...pageValues(filter, current), ...more } })

const pageValues = (filter: NotificationFilter, number: number): Record<string, string> => ({
  ...(filter === 'all' ? {} : { show: filter }),
  ...(number === 1 ? {} : { page: String(number) }),
})

async function load(request: OwnRequest): Promise<Listed> {
  const { deps, viewer, query } = request
  const filter = NOTIFICATION_FILTERS.find((name) => name === query('show')) ?? 'all'
  const counts = await countNotifications(deps.db, viewer.id)
  const last = Math.max(1, Math.ceil(counts[filter] / PAGE_SIZE))
  const current = Math.min(pageNumber(request), last)
  const place = { filter, limit: PAGE_SIZE, offset: (current - 1) * PAGE_SIZE }
  const rows = await listNotificationPage(deps.db, viewer.id, place)
  const answered = await answeredName(request)
  return { filter, current, last, counts, items: await describeNotifications(request, rows), answered }
}

/** Returns the name for the notice about an answer. The URL has the ID of the team, so that a link cannot show other text. */
async function answeredName(request: OwnRequest): Promise<string> {
  const { deps, viewer, query, t } = request
  const isAnswer = ['invitation-accepted', 'invitation-declined'].includes(query('done'))
  const row = isAnswer ? await findInvitation(deps.db, viewer.id, query('team')) : undefined
  const [item] = row === undefined ? [] : await describeNotifications(request, [row])
  if (item?.subject !== undefined) return item.subject.name
  return t(row?.body.type === 'organization_invite' ? 'notifications.an-organization' : 'notifications.a-project')
}

function show(request: OwnRequest, listed: Listed, state: FormState): FastifyReply {
  const { page, t } = request
  const { filter, current, last, counts, items, answered } = listed
  return showWork(request, {
    title: t('notifications.title'),
    subject: {
      name: t('notifications.title'),
      facts: [t('notifications.unread-count', { count: counts.unread })],
      crumbs: [{ path: PATHS.dashboard, label: t('work.to-dashboard') }],
      tools: html`<a class="button" href="${pathTo(page, PATHS.notificationEmails)}">${icon(page, 'mail')}${t('notifications.email-settings')}</a>`,
    },
    sections: dashboardSections(page, PATHS.notifications),
    form: state,
    notice: { name: answered },
    body: html`${filters(page, listed)}
${sheetHead({ title: t(filter === 'all' ? 'notifications.title' : `notifications.filter.${filter}`) })}
${items.length === 0 ? nothing(page, filter) : list(page, listed, state)}
${pager(page, { current, last, href: (number) => pathTo(page, pathOf(filter, number)) })}`,
  })
}

const pathOf = (filter: NotificationFilter, number = 1): string =>
  withQuery(PATHS.notifications, pageValues(filter, number))

const FILTER_ICONS: Readonly<Record<NotificationFilter, IconName>> = {
  all: 'bell',
  unread: 'mail',
  invitations: 'user-plus',
  moderators: 'gavel',
  followed: 'heart',
}

function filters(page: PageContext, { filter, counts }: Listed): Markup {
  const { language } = page
  const items = NOTIFICATION_FILTERS.map((name) => ({
    href: pathTo(page, pathOf(name)),
    label: language.t(`notifications.filter.${name}`),
    icon: FILTER_ICONS[name],
    count: counts[name],
    isCurrent: name === filter,
  }))
  return tabs(page, language.t('notifications.filter'), items)
}

function nothing(page: PageContext, filter: NotificationFilter): Markup {
  const { t } = page.language
  if (filter === 'all')
    return emptyState(page, { icon: 'bell', title: t('notifications.empty'), text: t('notifications.empty.text') })
  const action = html`<a class="button" href="${pathTo(page, PATHS.notifications)}">${t('notifications.show-all')}</a>`
  return emptyState(page, { icon: 'bell', title: t('notifications.none'), action })
}

function list(page: PageContext, { filter, current, counts, items }: Listed, state: FormState): Part {
  const { t } = page.language
  const shown = items.filter(({ isRead }) => !isRead).map(({ id }) => hiddenField('shown', id))
  const content = html`${shown}${notificationTables(page, items, state.list('ids'))}
<div class="bulk" id="ids">${pickedCount(page)}<button class="tight" name="do" value="read">${t('notifications.read')}</button><button class="tight" name="do" value="remove">${t('notifications.remove')}</button>${counts.unread > 0 && shown.length > 0 && html`<button class="tight plain" name="do" value="read-all">${t('notifications.read-all')}</button>`}</div>`
  return form(page, { action: pathTo(page, pathOf(filter, current)), content })
}

/** Renders the notifications, newest day first. `picked` has the IDs that were selected before an error. */
function notificationTables(page: PageContext, items: readonly ShownNotification[], picked: readonly string[]): Part {
  const { language } = page
  const days = Map.groupBy(items, ({ created }) => dayText(language, created))
  return [...days].map(([day, ofDay]) => {
    const byProject = Map.groupBy(ofDay, ({ project, id }) => project?.id ?? id)
    return html`<h3 class="day">${day}</h3>
${table(page, day, [...byProject.values()].flat(), picked)}`
  })
}

function table(page: PageContext, day: string, items: readonly ShownNotification[], picked: readonly string[]): Markup {
  const { t } = page.language
  const hasAnswers = items.some(({ invitingTeamId }) => invitingTeamId !== undefined)
  return listTable(page, {
    caption: t('notifications.caption', { day }),
    columns: [
      { label: t('notifications.column.text') },
      { label: t('notifications.column.at'), room: 'far' },
      ...(hasAnswers ? [{ label: t('notifications.column.answer'), isAction: true }] : []),
    ],
    rows: items.map((item) => {
      const { cells, ...row } = notificationRow(page, item, picked.includes(item.id))
      return { ...row, cells: hasAnswers ? [...cells, answers(page, item)] : cells }
    }),
  })
}

function notificationRow(page: PageContext, item: ShownNotification, isPicked: boolean): Row {
  const { language } = page
  const { id, created, isRead, text, quote, path, subject } = item
  const at = timeAgo(language, created, page.now)
  const unread =
    !isRead && html`<span class="status wait">${icon(page, 'bell')}${language.t('notifications.unread')}</span>`
  return {
    cells: [
      nameCell({
        ...(subject === undefined ? {} : { tile: face({ name: subject.name, url: subject.icon_url, isSquare: true }) }),
        ...(path === undefined ? {} : { href: pathTo(page, isRead ? path : `${PATHS.notifications}/${id}`) }),
        name: text,
        details: [unread, quote !== undefined && html`${unread && html`<br>`}<q>${quote}</q>`],
        near: at,
      }),
      at,
    ],
    pick: { value: id, name: subject?.name ?? dayText(language, created), isPicked },
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
