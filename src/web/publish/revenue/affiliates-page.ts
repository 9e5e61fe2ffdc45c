// Affiliate codes of the user with their clicks, conversions and revenue: create, rename, delete.

import type { FastifyReply } from 'fastify'
import { getSettings } from '#features/basics/settings/settings-cache.ts'
import { createCode } from '#features/people/affiliates/create-code.ts'
import { canCreateCodes } from '#features/people/affiliates/policy.ts'
import { type AffiliateCodeRow, getVisibleCode, listCodesOf } from '#features/people/affiliates/queries.ts'
import { checkAffiliateCode, NewAffiliateCode } from '#features/people/affiliates/requests.ts'
import { deleteCode, updateCode } from '#features/people/affiliates/update-code.ts'
import { sumConversions } from '#features/reading/analytics/queries.ts'
import { notFound } from '#lib/errors.ts'
import { parseId } from '#lib/ids.ts'
import { sliceGrid } from '#ports/analytics-store/slices.ts'
import { showConfirmation } from '#web/kit/forms/confirm.ts'
import { fields } from '#web/kit/forms/fields.ts'
import { type FormState, formPage, type Outcome } from '#web/kit/forms/form-page.ts'
import type { OwnRequest, Pages } from '#web/kit/pages.ts'
import { PATHS } from '#web/kit/paths.ts'
import { showWork } from '#web/kit/work-page.ts'
import { moneyText, wholeNumber } from '#web/ui/format.ts'
import { html, type Markup } from '#web/ui/html.ts'
import { icon, type PageContext, pathTo } from '#web/ui/page-context.ts'
import { formPart } from '#web/ui/parts/actions.ts'
import { sheetHead, sheetPart } from '#web/ui/parts/frame.ts'
import { emptyState, note } from '#web/ui/parts/lists.ts'
import { listTable, nameCell } from '#web/ui/parts/tables.ts'
import { dashboardSections, showDashboardPage } from '../dashboard/dashboard-frame.ts'

/** The page does not wait longer for the analytics store. */
const PATIENCE_MS = 300

type CodeFigures = { conversions: number; revenue: string; clicks: number | undefined }
type Listed = { codes: readonly AffiliateCodeRow[]; figures: ReadonlyMap<string, CodeFigures>; hasClicks: boolean }

const FIELDS = fields(NewAffiliateCode, {
  source_name: { label: 'revenue.source', said: 'The name', hint: 'revenue.source.hint', autocomplete: 'off' },
})

export function affiliatePages(pages: Pages): void {
  formPage<Listed>(pages, {
    path: PATHS.affiliates,
    name: 'ownAffiliates',
    api: 'listAffiliateCodes createAffiliateCode',
    labels: FIELDS.said,
    load,
    show: showCodes,
    commands: { create },
  })
  formPage<AffiliateCodeRow>(pages, {
    path: `${PATHS.affiliates}/:id`,
    name: 'ownAffiliate',
    api: 'getAffiliateCode updateAffiliateCode',
    labels: FIELDS.said,
    load: loadCode,
    show: showCode,
    commands: { save: rename },
  })
  formPage<AffiliateCodeRow>(pages, {
    path: `${PATHS.affiliates}/:id/delete`,
    name: 'ownAffiliateDeletion',
    api: 'deleteAffiliateCode',
    load: loadCode,
    show: showDeletion,
    commands: { confirm: remove },
  })
}

async function load(request: OwnRequest): Promise<Listed> {
  const { deps, viewer } = request
  const codes = await listCodesOf(deps.db, viewer.id)
  const [oldest] = codes
  if (oldest === undefined) return { codes, figures: new Map(), hasClicks: true }
  const ids = codes.map(({ id }) => id)
  const grid = sliceGrid(oldest.created.getTime(), deps.now() + 1, { slices: 1 })
  const records = new Map((await sumConversions(deps.db, grid, ids)).map((record) => [record.source, record]))
  const clicks = await countClicks(request, grid, ids)
  const figures = ids.map((id) => {
    const { conversions = 0, amount = '0' } = records.get(id) ?? {}
    return [id, { conversions, revenue: amount, clicks: clicks === null ? undefined : (clicks.get(id) ?? 0) }] as const
  })
  return { codes, figures: new Map(figures), hasClicks: clicks !== null }
}

/** Returns null if the analytics store does not respond in time. */
async function countClicks(
  { deps, viewer, req }: OwnRequest,
  grid: ReturnType<typeof sliceGrid>,
  ids: readonly string[],
): Promise<Map<string, number> | null> {
  const metric = {
    metric: 'affiliate_code_clicks',
    bucketBy: ['affiliate_code_id'],
    filterBy: {},
    sources: ids,
  } as const
  try {
    const signal = AbortSignal.timeout(PATIENCE_MS)
    const [counted] = await deps.analytics.query({ grid, metrics: [metric] }, { signal, caller: viewer.caller })
    const points = counted?.slices[0] ?? []
    return new Map(points.map((point) => [String(point['affiliate_code_id']), Number(point['clicks'])]))
  } catch (error) {
    req.log.warn({ err: error }, 'The page shows no clicks, because the analytics store did not respond')
    return null
  }
}

/** @throws ApiError 404 for the codes of others, also for admins: the page is the user's own */
async function loadCode({ deps, viewer, param }: OwnRequest): Promise<AffiliateCodeRow> {
  const code = await getVisibleCode(deps.db, viewer, parseId(param('id'), 'id'))
  if (code.account_id !== viewer.id) throw notFound('affiliate code')
  return code
}

async function create({ deps, viewer }: OwnRequest, _data: Listed, state: FormState): Promise<Outcome> {
  await createCode(deps, viewer, checkAffiliateCode(FIELDS.read(state)))
  return { done: 'affiliate-created' }
}

async function rename({ deps, viewer }: OwnRequest, { id }: AffiliateCodeRow, state: FormState): Promise<Outcome> {
  await updateCode(deps, viewer, { id, patch: checkAffiliateCode(FIELDS.read(state)) })
  return { done: 'affiliate-renamed', path: PATHS.affiliates }
}

async function remove({ deps, viewer }: OwnRequest, { id }: AffiliateCodeRow): Promise<Outcome> {
  await deleteCode(deps, viewer, id)
  return { done: 'affiliate-deleted', path: PATHS.affiliates }
}

async function showCodes(request: OwnRequest, listed: Listed, state: FormState): Promise<FastifyReply> {
  const { deps, page, viewer, account, t } = request
  const { currency } = await getSettings(deps)
  const mayCreate = canCreateCodes(viewer, account)
  const list =
    listed.codes.length === 0
      ? emptyState(page, {
          icon: 'link',
          title: t('revenue.affiliates.empty'),
          text: mayCreate ? t('revenue.affiliates.empty.text') : t('revenue.affiliates.badge'),
        })
      : codeTable(page, listed, currency)
  return showDashboardPage(request, {
    path: PATHS.affiliates,
    title: t('revenue.affiliates'),
    form: state,
    notes: !listed.hasClicks && note(page, 'warn', html`<p>${t('revenue.clicks.unavailable')}</p>`),
    body: [
      sheetHead({ title: t('revenue.affiliates'), text: t('revenue.affiliates.text') }),
      list,
      (mayCreate || state.isSubmitted) && creation(page, state),
    ],
  })
}

function codeTable(page: PageContext, { codes, figures }: Listed, currency: string | null): Markup {
  const { language } = page
  const { t } = language
  return listTable(page, {
    caption: t('revenue.affiliates'),
    columns: [
      { label: t('revenue.source') },
      { label: t('revenue.clicks'), isNumber: true, room: 'far' },
      { label: t('revenue.conversions'), isNumber: true, room: 'mid' },
      { label: t('revenue.revenue'), isNumber: true },
    ],
    rows: codes.map(({ id, source_name }) => {
      const { clicks, conversions = 0, revenue = '0' } = figures.get(id) ?? {}
      const clicked = clicks === undefined ? '–' : wholeNumber(language, clicks)
      return {
        cells: [
          nameCell({
            href: pathTo(page, `${PATHS.affiliates}/${id}`),
            name: source_name,
            details: html`<code>${id}</code>`,
            near: t('revenue.clicks.of', { clicks: clicked }),
            least: [t('revenue.conversions.of', { count: conversions })],
          }),
          clicked,
          wholeNumber(language, conversions),
          moneyText(language, revenue, currency),
        ],
      }
    }),
  })
}

function creation(page: PageContext, state: FormState): Markup {
  const { t } = page.language
  const content = html`${FIELDS.controls(page, state)}
<div class="line"><button class="main" name="do" value="create">${icon(page, 'plus')}${t('revenue.create')}</button></div>`
  return formPart(page, { id: 'create', title: t('revenue.new'), path: PATHS.affiliates, content })
}

function showCode(request: OwnRequest, { id, source_name }: AffiliateCodeRow, state: FormState): FastifyReply {
  const { page, t } = request
  const path = `${PATHS.affiliates}/${id}`
  const content = html`${FIELDS.controls(page, state, { source_name })}
<div class="line"><button class="main" name="do" value="save">${t('work.save')}</button></div>`
  return showWork(request, {
    title: source_name,
    subject: {
      name: source_name,
      facts: [html`<code>${id}</code>`],
      crumbs: [
        { path: PATHS.dashboard, label: t('publish.dashboard') },
        { path: PATHS.affiliates, label: t('revenue.affiliates') },
      ],
    },
    sections: dashboardSections(page, PATHS.affiliates),
    form: state,
    body: [
      sheetHead({ title: t('revenue.affiliate') }),
      formPart(page, { id: 'name', path, content }),
      sheetPart({
        id: 'delete',
        title: t('revenue.delete'),
        text: t('revenue.delete.text'),
        content: html`<div class="line"><a class="button danger" href="${pathTo(page, `${path}/delete`)}">${icon(page, 'trash')}${t('revenue.delete')}</a></div>`,
      }),
    ],
  })
}

function showDeletion(request: OwnRequest, { id, source_name }: AffiliateCodeRow, state: FormState): FastifyReply {
  const { t } = request
  const question = {
    title: t('revenue.delete.title', { name: source_name }),
    consequences: [t('revenue.delete.effect'), t('revenue.delete.earnings')],
    button: t('revenue.delete'),
    cancel: `${PATHS.affiliates}/${id}`,
  }
  return showConfirmation(request, question, state)
}
