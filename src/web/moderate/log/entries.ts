// Entries of the audit log as sentences and details.

import { type ObjectNames, objectsOf } from '#features/basics/audit/object-names.ts'
import type { AuditRow } from '#features/basics/audit/queries.ts'
import { organizationPath, PATHS, reviewPath, userPath } from '#web/kit/paths.ts'
import { exactTime, timeAgo } from '#web/ui/format.ts'
import { html, type Markup, type Part } from '#web/ui/html.ts'
import type { IconName } from '#web/ui/icons.ts'
import { type Language, messageOr } from '#web/ui/languages.ts'
import { icon, type PageContext, pathTo } from '#web/ui/page-context.ts'
import { emptyState } from '#web/ui/parts/lists.ts'
import { statusName } from '#web/ui/parts/status.ts'
import { listTable } from '#web/ui/parts/tables.ts'
import { moderatedUser } from '../frame.ts'

/** Icons by the first part of an action. */
const ICONS: Readonly<Record<string, IconName>> = {
  account: 'user',
  session: 'lock',
  token: 'key',
  oauth: 'plug',
  project: 'package',
  version: 'upload',
  team: 'users',
  organization: 'building',
  collection: 'bookmark',
  report: 'flag',
  message: 'chat',
  affiliate: 'coins',
  payout: 'coins',
  revenue: 'coins',
  rate_limit: 'gauge',
  search: 'search',
  job: 'pulse',
  mail: 'mail',
  storage: 'disk',
  settings: 'cog',
  invitation: 'mail',
  backup: 'archive',
}

/** Returns what an action does, otherwise its name. */
export const actionName = (language: Language, action: string): string =>
  messageOr(language, `operate.action.${action}`, action)

/** Renders entries as a short list, newest first. */
export function entryList(page: PageContext, entries: readonly AuditRow[]): Markup {
  const { language } = page
  if (entries.length === 0) return html`<p class="soft">${language.t('operate.log.none')}</p>`
  const items = entries.map((entry) => {
    const symbol = ICONS[entry.action.split('.')[0] ?? ''] ?? 'scroll'
    return html`<li class="event">${icon(page, symbol)}<span><b class="strong">${actorName(page, entry)}</b>: ${actionName(language, entry.action)} ${subjectOf(page, entry)} <span class="soft">· ${timeAgo(language, entry.at, page.now)}</span></span></li>
`
  })
  return html`<ol class="thread">
${items}</ol>`
}

/** A table of entries. For moderators it lacks addresses and tokens, and links their pages. */
export type EntryTable = { names: ObjectNames; forModerators?: boolean; caption: string; empty: string }

/** Renders entries with their details, newest first. */
export function entryTable(page: PageContext, rows: readonly AuditRow[], of: EntryTable): Part {
  const { language } = page
  const { t } = language
  if (rows.length === 0) return emptyState(page, { icon: 'scroll', title: of.empty })
  return listTable(page, {
    caption: of.caption,
    columns: [
      { label: t('operate.log.time') },
      { label: t('operate.log.action') },
      { label: t('operate.log.by'), room: 'far' },
      { label: t('operate.log.subject'), room: 'mid' },
    ],
    rows: rows.map((row) => ({
      id: `entry-${row.id}`,
      cells: [
        timeAgo(language, row.at, page.now),
        html`${actionName(language, row.action)}${changeOf(page, row)}<span class="near">${actorName(page, row, of)}</span><span class="least">${subjectOf(page, row, of)}</span>${detailsTable(page, row, of)}`,
        actorName(page, row, of),
        subjectOf(page, row, of),
      ],
    })),
  })
}

/** Returns the change of a status, or the outcome of a report. */
function changeOf(page: PageContext, { details }: AuditRow): Part {
  const { from, to, outcome } = (details ?? {}) as Record<string, unknown>
  if (typeof from === 'string' && typeof to === 'string')
    return html`: ${statusName(page, 'project', from)} → ${statusName(page, 'project', to)}`
  return typeof outcome === 'string' && html`: ${messageOr(page.language, `reports.outcome.${outcome}`, outcome)}`
}

type Shown = Pick<EntryTable, 'names' | 'forModerators'>
const UNNAMED: Shown = { names: new Map() }

function userLink(page: PageContext, { forModerators }: Shown, { id, name }: { id: string; name: string }): Markup {
  const path = forModerators === true ? moderatedUser(id) : userPath(name)
  return html`<a href="${pathTo(page, path)}"><bdi>${name}</bdi></a>`
}

/** Returns the user who acted, with a link, or the name of another actor. */
function actorName(
  page: PageContext,
  { actor_kind: kind, actor_name: name, actor_id: id }: AuditRow,
  of = UNNAMED,
): Part {
  if (id !== null && name !== null) return userLink(page, of, { id, name })
  if (id !== null) return html`<code>${id}</code>`
  return messageOr(page.language, `operate.actor.${kind}`, kind)
}

/** Returns the resource of an entry: its kind, and its name or ID, as a link if it has a page. */
function subjectOf(page: PageContext, row: AuditRow, of = UNNAMED): Part {
  const { subject_kind: kind, subject_id: id, subject_name: name } = row
  if (kind === null || id === null) return null
  if (name !== null) return userLink(page, of, { id, name })
  const link = objectLink(page, { kind, id }, of)
  return kind === 'project' ? link : html`${kindName(page.language, kind)} ${link}`
}

/** Renders the name of an object, otherwise its ID, as a link if it has a page. */
function objectLink(page: PageContext, { kind, id }: { kind: string; id: string }, of: Shown): Markup {
  const { name, slug = null } = of.names.get(`${kind} ${id}`) ?? {}
  const text = name === undefined ? html`<code>${id}</code>` : html`<bdi>${name}</bdi>`
  const path = objectPath({ kind, id, name, slug }, of)
  return path === undefined ? text : html`<a href="${pathTo(page, path)}">${text}</a>`
}

type NamedObject = { kind: string; id: string; name: string | undefined; slug: string | null }

function objectPath({ kind, id, name, slug }: NamedObject, { forModerators }: Shown): string | undefined {
  const code = encodeURIComponent(id)
  if (kind === 'project') return forModerators === true ? reviewPath(code) : `/project/${code}`
  if (kind === 'report') return `${PATHS.moderationReports}/${code}`
  if (name === undefined) return undefined
  if (kind === 'user') return forModerators === true ? moderatedUser(code) : userPath(name)
  if (kind === 'collection') return `/collection/${code}`
  if (slug === null) return undefined
  return kind === 'organization'
    ? organizationPath(slug)
    : kind === 'version'
      ? `/project/${slug}/version/${code}`
      : undefined
}

export const kindName = (language: Language, kind: string): string =>
  messageOr(language, `operate.subject.${kind}`, kind)

/** Renders the details of an entry as a table, never as JSON. */
function detailsTable(page: PageContext, entry: AuditRow, of: Shown): Part {
  const { language } = page
  const { t } = language
  const token = entry.token_kind === null ? null : `${entry.token_kind} ${entry.token_id ?? ''}`
  const origin: [string, Part][] = [
    [t('operate.log.address'), entry.address === null ? null : html`<code>${entry.address}</code>`],
    [t('operate.log.token'), token === null ? null : html`<code>${token}</code>`],
  ]
  const known: [string, Part][] = [
    [t('operate.log.id'), html`<code>${entry.id}</code>`],
    [t('operate.log.time'), exactTime(language, entry.at)],
    [t('operate.log.action'), html`<code>${entry.action}</code>`],
    ...(of.forModerators === true ? [] : origin),
  ]
  const details = Object.entries((entry.details ?? {}) as Record<string, unknown>)
  const rows: [Part, Part][] = [
    ...known.filter(([, value]) => value !== null),
    ...details.map(([name, value]): [Part, Part] => [
      html`<code>${name}</code>`,
      detailValue(page, { name, value }, of),
    ]),
  ]
  return html`<details><summary>${t('operate.log.details')}<span class="vh"> ${entry.id}</span></summary><table class="was"><tbody>${rows.map(([name, value]) => html`<tr><th scope="row">${name}</th><td>${value}</td></tr>`)}</tbody></table></details>`
}

function detailValue(page: PageContext, { name, value }: { name: string; value: unknown }, of: Shown): Part {
  const objects = objectsOf(name, value)
  if (objects === undefined) return html`<bdi>${detailText(page.language, value)}</bdi>`
  const { kind, ids } = objects
  return ids.map((id, index) => html`${index > 0 && ', '}${objectLink(page, { kind, id }, of)}`)
}

function detailText({ t }: Language, value: unknown): string {
  if (value === null) return t('operate.log.nothing')
  if (typeof value === 'boolean') return t(value ? 'operate.log.yes' : 'operate.log.no')
  return Array.isArray(value) ? value.join(', ') : String(value)
}
