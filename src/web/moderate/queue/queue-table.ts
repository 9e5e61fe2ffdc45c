// Rows of projects under review: on the overview and in the queue.
import { imageUrl } from '#features/basics/images/hosted-image.ts'
import type { OwnerRecord } from '#features/community/moderation/users/queries.ts'
import type { QueueRow } from '#features/community/moderation/views.ts'
import { DAY_MS, MINUTE_MS } from '#lib/time.ts'
import { projectTypesOf } from '#taxonomy/taxonomy.ts'
import type { OwnRequest } from '#web/kit/pages.ts'
import { organizationPath, PROJECT_TYPES, reviewPath } from '#web/kit/paths.ts'
import { dayAgo, timeAgo, wholeNumber } from '#web/ui/format.ts'
import { attributes, html, type Markup, type Part } from '#web/ui/html.ts'
import { icon, type PageContext, pathTo } from '#web/ui/page-context.ts'
import { badge } from '#web/ui/parts/lists.ts'
import { status, statusOf } from '#web/ui/parts/status.ts'
import { type Column, listTable, nameCell, type Row } from '#web/ui/parts/tables.ts'
import { typeName } from '../../site/names.ts'
import { moderatedUser } from '../frame.ts'

export type QueueTable = {
  rows: readonly QueueRow[]
  /** Records of the owners, by `kind:id`. */
  records: ReadonlyMap<string, OwnerRecord>
  /** Median wait of the last decisions, in minutes. */
  median: number | null
  caption: string
  /** Whether the table is inside a part of a sheet. */
  isInner?: boolean
  /** IDs of the selected rows; undefined without selection. */
  picked?: readonly string[] | undefined
  /** ID of the form that claims and releases the project of a row; undefined without these buttons. */
  claims?: string
}

/** ID of the row of a project. */
export const rowId = (id: string): string => `p-${id}`

/** A row is marked from this factor of the median wait, but not before a day. */
const LONG_FACTOR = 2

export function queueTable(request: OwnRequest, { rows, caption, isInner = false, ...of }: QueueTable): Markup {
  const { page, t } = request
  const columns: Column[] = [
    { label: t('moderate.column.project') },
    { label: t('moderate.column.type'), room: 'far' },
    { label: t('moderate.column.waiting'), room: 'mid' },
    { label: t('moderate.column.owner'), room: 'mid' },
    { label: t('moderate.column.requested'), room: 'far' },
    { label: t('moderate.column.scan'), room: 'far' },
    { label: t('moderate.column.assigned'), room: 'mid' },
  ]
  return listTable(page, {
    caption,
    columns,
    isInner,
    rows: rows.map((row, index) => queueRow(request, row, { ...of, isFirst: index < 5 })),
  })
}

function queueRow(
  request: OwnRequest,
  row: QueueRow,
  of: Omit<QueueTable, 'rows' | 'caption'> & { isFirst: boolean },
): Row {
  const { page, deps, t } = request
  const types = projectTypesOf(deps.taxonomy, row.loaders ?? [])
  const type = PROJECT_TYPES.find((name) => types.includes(name))
  const typeText = type === undefined ? t('moderate.no-type') : typeName(page.language, type)
  const waiting = waitingPart(page, row, of.median)
  const owner = ownerPart(page, row, of.records)
  const scan = scanPart(page, row)
  const assigned = claimPart(request, row, of.claims)
  const requested = statusOf(page, 'project', row.requested_status ?? 'approved')
  const name = nameCell({
    tile: rowTile(page, imageUrl(deps.config, row.icon_url), of.isFirst),
    href: pathTo(page, reviewPath(row.id)),
    name: row.name,
    details: html`${row.appeal !== null && html`${badge('warn', t('moderate.appeal'))} `}<span dir="auto">${row.summary}</span>`,
    least: [waitingPart(page, row, of.median, true), owner, assigned],
    near: html`${typeText} · ${requested} · ${scan}`,
  })
  return {
    id: rowId(row.id),
    isStep: of.claims !== undefined,
    cells: [
      html`<span class="vh">${t('moderate.position', { position: row.position })}</span>${name}`,
      typeText,
      waiting,
      owner,
      requested,
      scan,
      assigned,
    ],
    ...(of.picked === undefined
      ? {}
      : { pick: { value: row.id, name: row.name, isPicked: of.picked.includes(row.id) } }),
  }
}

/** Renders the icon of a project in a row. */
export function rowTile(page: PageContext, url: string | null, isFirst = false): Markup {
  if (url === null) return html`<span class="tile">${icon(page, 'package')}</span>`
  const image = attributes({ src: url, alt: '', width: 27, height: 27, loading: !isFirst && 'lazy' })
  return html`<span class="tile"><img${image}></span>`
}

/** Returns the time of the appeal or of the submission. */
export const waitsSince = ({ appeal, queued, published }: QueueRow): Date =>
  appeal === null ? (queued ?? published) : new Date(appeal.created)

/** Renders how long a project has waited. `isInline`: as a line of the name cell. */
function waitingPart(page: PageContext, row: QueueRow, median: number | null, isInline = false): Markup {
  const { language, now } = page
  const { t } = language
  const at = waitsSince(row)
  const isLong = now - at.getTime() >= Math.max(DAY_MS, LONG_FACTOR * (median ?? 0) * MINUTE_MS)
  const age = timeAgo(language, at, now)
  const since = isLong ? html`<b>${age}</b> ${badge('warn', t('moderate.long'))}` : age
  const position = t('moderate.position', { position: row.position })
  const reply = row.waits_for_reply && html` ${status(page, { icon: 'reply', label: t('moderate.waits-for-reply') })}`
  return isInline
    ? html`${t('moderate.column.waiting')}: ${since} · ${position}${reply}`
    : html`${since}<br><small class="soft">${position}</small>${reply}`
}

/** Renders the owner with the number of approvals, rejections and reports. */
export function ownerPart(page: PageContext, { owner }: Pick<QueueRow, 'owner'>, records: QueueTable['records']): Part {
  const { language, now } = page
  const { t, rich } = language
  if (owner === null) return html`<span class="soft">${t('moderate.no-owner')}</span>`
  const path = owner.kind === 'user' ? moderatedUser(owner.id) : organizationPath(owner.id)
  const record = records.get(`${owner.kind}:${owner.id}`)
  const link = html`<a href="${pathTo(page, path)}"><bdi>${owner.name}</bdi></a>`
  if (record === undefined) return link
  const { approved, rejected, reports, downloads, created, suspended } = record
  const facts = rich('moderate.owner.facts', { since: dayAgo(language, new Date(created), now), downloads })
  return html`${link}${suspended && html` ${badge('bad', t('moderate.owner.suspended'))}`}<br><small class="soft">${t('moderate.record', { approved, rejected, reports })}<br>${facts}</small>`
}

function scanPart(page: PageContext, { scans, scan_passed: isPassed }: QueueRow): Markup {
  const worst = ['quarantine', 'warn', 'pending'].find((state) => scans.some((scan) => scan.state === state))
  const count = scans.filter(({ state }) => state === worst).length
  const more = worst !== undefined && count > 1 && html` (${wholeNumber(page.language, count)})`
  return html`${statusOf(page, 'scan', worst ?? (isPassed ? 'pass' : 'none'))}${more}`
}

function claimPart(
  { page, viewer }: OwnRequest,
  { id, name, claim, appeal }: QueueRow,
  formId: string | undefined,
): Part {
  const { t } = page.language
  const isOwn = claim?.id === viewer.id
  const state =
    claim === null
      ? html`<span class="soft">${t('moderate.unassigned')}</span>`
      : isOwn
        ? badge('good', t('moderate.you'))
        : html`<bdi>${claim.username}</bdi>`
  const isDecider = appeal !== null && appeal.decided_by?.id === viewer.id
  if (formId === undefined || isDecider || (claim !== null && !isOwn)) return state
  const command = isOwn ? 'release' : 'claim'
  const more = attributes({ form: formId, value: `${command}.${id}`, 'data-key': isOwn ? undefined : 't' })
  return html`${state} <button class="plain" name="do"${more}>${t(`moderate.bulk.${command}`)}<span class="vh"> ${name}</span></button>`
}
