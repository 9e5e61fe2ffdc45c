// The deliveries of a webhook: their list, and one of them with its requests and responses.
import {
  type AttemptRow,
  type DeliveryRow,
  findDelivery,
  listAttempts,
  listDeliveries,
} from '#features/exchange/webhooks/deliveries/queries.ts'
import { DELIVERY_STATES, type DeliveryState, readCursor } from '#features/exchange/webhooks/deliveries/requests.ts'
import { toAttemptView } from '#features/exchange/webhooks/deliveries/views.ts'
import type { WebhookRow } from '#features/exchange/webhooks/queries.ts'
import { notFound } from '#lib/errors.ts'
import type { OwnRequest } from '#web/kit/pages.ts'
import { withQuery } from '#web/kit/paths.ts'
import { exactTime, wholeNumber } from '#web/ui/format.ts'
import { html, type Markup, type Part } from '#web/ui/html.ts'
import type { IconName } from '#web/ui/icons.ts'
import { type PageContext, pathTo } from '#web/ui/page-context.ts'
import { form } from '#web/ui/parts/fields.ts'
import { sheetPart } from '#web/ui/parts/frame.ts'
import { emptyState, segments } from '#web/ui/parts/lists.ts'
import { status } from '#web/ui/parts/status.ts'
import { listTable, nameCell } from '#web/ui/parts/tables.ts'

const ROWS = 50

export type OpenLog = {
  deliveries: readonly DeliveryRow[]
  /** Cursor of the next page. */
  next: string | undefined
  state: DeliveryState | undefined
  open: { delivery: DeliveryRow; attempts: readonly AttemptRow[] } | undefined
}

/** Loads the page of deliveries that the URL names, or one delivery. @throws ApiError 404, 400 for a cursor. */
export async function openLog({ deps: { db }, query }: OwnRequest, { id }: WebhookRow): Promise<OpenLog> {
  const state = DELIVERY_STATES.find((name) => name === query('state'))
  const deliveryId = query('delivery')
  if (deliveryId !== '') {
    const delivery = await findDelivery(db, id, deliveryId)
    if (delivery === undefined) throw notFound('delivery')
    const open = { delivery, attempts: await listAttempts(db, delivery.id) }
    return { deliveries: [], next: undefined, state, open }
  }
  const before = query('cursor') === '' ? undefined : readCursor(query('cursor'))
  const rows = await listDeliveries(db, id, { state, before, limit: ROWS + 1 })
  const deliveries = rows.slice(0, ROWS)
  const next = rows.length > ROWS ? String(deliveries.at(-1)?.sequence) : undefined
  return { deliveries, next, state, open: undefined }
}

type Of = { hook: WebhookRow; path: string; log: OpenLog }

export function showLog({ page }: OwnRequest, of: Of): Part {
  return of.log.open === undefined ? logPart(page, of) : deliveryPart(page, of, of.log.open)
}

function logPart(page: PageContext, { hook, path, log }: Of): Markup {
  const { t } = page.language
  const urlOf = (more: Record<string, string>) => pathTo(page, withQuery(path, { webhook: hook.id, ...more }))
  const filters = [undefined, ...DELIVERY_STATES].map((state) => ({
    href: `${urlOf(state === undefined ? {} : { state })}#deliveries`,
    label: state === undefined ? t('webhooks.log.all') : t(`webhooks.state.${state}`),
    isCurrent: state === log.state,
  }))
  const columns = [
    { label: t('webhooks.log.event') },
    { label: t('webhooks.log.state') },
    { label: t('webhooks.log.attempts'), isNumber: true, room: 'mid' },
    { label: t('webhooks.log.created'), room: 'far' },
  ] as const
  const rows = log.deliveries.map((delivery) => ({
    cells: [
      nameCell({
        name: delivery.event_kind,
        href: urlOf({ delivery: delivery.id }),
        least: [exactTime(page.language, delivery.created)],
      }),
      deliveryState(page, delivery.state),
      wholeNumber(page.language, delivery.attempt),
      exactTime(page.language, delivery.created),
    ],
  }))
  const more = { ...(log.state === undefined ? {} : { state: log.state }), cursor: log.next ?? '' }
  const content = html`${segments(t('webhooks.log.filter'), filters)}
${
  rows.length === 0
    ? emptyState(page, { icon: 'send', title: t('webhooks.log.none') })
    : listTable(page, { caption: t('webhooks.log'), columns, rows, isInner: true })
}
${log.next !== undefined && html`<p><a class="button" href="${urlOf(more)}#deliveries">${t('webhooks.log.older')}</a></p>`}`
  return sheetPart({ id: 'deliveries', title: t('webhooks.log'), text: t('webhooks.log.text'), content })
}

const STATES: Readonly<Record<DeliveryState, readonly [IconName, 'good' | 'wait' | 'bad' | undefined]>> = {
  pending: ['wait', 'wait'],
  delivered: ['check', 'good'],
  failed: ['warning', 'bad'],
  discarded: ['x', undefined],
}

function deliveryState(page: PageContext, state: DeliveryState): Markup {
  const [icon, kind] = STATES[state]
  return status(page, { icon, kind, label: page.language.t(`webhooks.state.${state}`) })
}

function deliveryPart(page: PageContext, { hook, path }: Of, { delivery, attempts }: NonNullable<OpenLog['open']>) {
  const { t, rich } = page.language
  const back = pathTo(page, withQuery(path, { webhook: hook.id }))
  const again = html`<button name="do" value="again.${delivery.id}">${t('webhooks.again')}</button>`
  const next = delivery.next_attempt
  const content = html`<p><a href="${back}#deliveries">${t('webhooks.log.back')}</a></p>
<p>${deliveryState(page, delivery.state)} ${next !== null && rich('webhooks.next-attempt', { at: exactTime(page.language, next) })}</p>
${delivery.state !== 'pending' && hook.active && form(page, { action: back, content: again })}
${attempts.length === 0 && html`<p class="soft">${t('webhooks.attempts.none')}</p>`}
${attempts.map((row) => attemptPart(page, row))}`
  return sheetPart({ id: 'deliveries', title: delivery.event_kind, content })
}

function attemptPart(page: PageContext, row: AttemptRow): Markup {
  const { t, rich } = page.language
  const { ms, error, request, response } = toAttemptView(row)
  const result =
    response === null
      ? t(`webhooks.error.${error ?? 'connection'}` as 'webhooks.error.timeout')
      : String(response.status)
  const headers = (all: Record<string, string>) =>
    Object.entries(all)
      .map(([name, value]) => `${name}: ${value}`)
      .join('\n')
  const block = (title: string, content: string) =>
    html`<details class="more"><summary>${title}</summary><div class="prose"><pre tabindex="0" dir="ltr" aria-label="${title}"><code>${content}</code></pre></div></details>`
  return html`<section class="stack close"><h3>${t('webhooks.attempt', { number: row.attempt })}</h3>
<p class="hint">${rich('webhooks.attempt.facts', { at: exactTime(page.language, row.at), ms: wholeNumber(page.language, ms), result })}</p>
${block(t('webhooks.request'), `${headers(request.headers)}\n\n${request.body}`)}
${response !== null && block(t('webhooks.response'), `${headers(response.headers)}\n\n${response.body}`)}
</section>`
}
