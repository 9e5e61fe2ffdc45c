// Advisories for moderators: the list by status, one of them with the decision, and a new one about files that belong to no
// project here.

import type { FastifyReply } from 'fastify'
import { getVisibleAdvisory } from '#features/catalogue/versions/advisories/get-visible-advisory.ts'
import { decideAdvisory } from '#features/catalogue/versions/advisories/publish-advisory.ts'
import { type AdvisoryRow, countAdvisories, listAdvisoryPage } from '#features/catalogue/versions/advisories/queries.ts'
import { type AdvisoryPatch, STATUSES } from '#features/catalogue/versions/advisories/requests.ts'
import { listCachedUsers } from '#features/people/users/user-cache.ts'
import { type FormState, formPage, type Outcome } from '#web/kit/forms/form-page.ts'
import type { OwnRequest, Pages } from '#web/kit/pages.ts'
import { advisoryPath, PATHS, pageNumber, withQuery } from '#web/kit/paths.ts'
import { ADVISORY_LABELS, advisoryForm, createFrom } from '#web/publish/advisories/advisory-form.ts'
import { advisoryStatus, advisoryTable } from '#web/publish/advisories/advisory-table.ts'
import { advisoryDetails, advisoryFacts, advisoryHashes } from '#web/site/advisory/advisory-view.ts'
import { html, type Part } from '#web/ui/html.ts'
import { icon, pathTo } from '#web/ui/page-context.ts'
import { optionCards } from '#web/ui/parts/choices.ts'
import { buttonForm, form } from '#web/ui/parts/fields.ts'
import { sheetHead, sheetPart } from '#web/ui/parts/frame.ts'
import { emptyState, note, tabs } from '#web/ui/parts/lists.ts'
import { moderatedAdvisory, ROWS, showSection } from '../frame.ts'
import { listPager, offsetOf, pairs, timeOf, userLink } from '../parts.ts'

export function advisoryReviewPage(pages: Pages): void {
  formPage<AdvisoryRow>(pages, {
    path: `${PATHS.moderationAdvisories}/:id`,
    name: 'moderateAdvisory',
    api: 'decideAdvisory',
    load: ({ deps, viewer, param }) => getVisibleAdvisory(deps, viewer, param('id')),
    show: showAdvisory,
    commands: {
      decide: (request, row, state) =>
        decide(request, row, state.text('decision') === 'published' ? 'published' : 'rejected'),
      withdraw: (request, row) => decide(request, row, 'withdrawn'),
    },
    labels: { status: 'The status' },
    options: { role: 'moderator' },
  })
}

async function decide(
  { deps, viewer }: OwnRequest,
  { id }: AdvisoryRow,
  status: AdvisoryPatch['status'],
): Promise<Outcome> {
  await decideAdvisory(deps, viewer, { id, status })
  return { done: `advisory-${status}` }
}

async function showAdvisory(request: OwnRequest, row: AdvisoryRow, state: FormState) {
  const { page, deps, t } = request
  const [author] = row.author_id === null ? [] : await listCachedUsers(deps, [row.author_id])
  const facts = pairs([
    [t('advisories.status'), advisoryStatus(page, row)],
    ...(await advisoryFacts(request, row)),
    [t('advisories.author'), author !== undefined && userLink(page, author)],
    [t('advisories.created'), timeOf(page, row.created)],
    [t('site.advisory.modified'), timeOf(page, row.modified)],
  ])
  const open = html`<a class="button" href="${pathTo(page, advisoryPath(row.id))}">${icon(page, 'eye')}${t('advisories.view')}</a>`
  return showSection(request, {
    section: PATHS.moderationAdvisories,
    title: row.summary,
    form: state,
    body: [
      sheetHead({ title: t('site.advisory'), action: open }),
      sheetPart({ id: 'facts', content: facts }),
      sheetPart({ id: 'text', title: t('site.tab.description'), content: await advisoryDetails(request, row) }),
      row.hashes.length > 0 &&
        sheetPart({ id: 'files', title: t('site.advisory.files'), content: advisoryHashes(page, row) }),
      decisionPart(request, row, state),
    ],
  })
}

function decisionPart({ page }: OwnRequest, { id, status, withdraws }: AdvisoryRow, state: FormState): Part {
  const { t } = page.language
  const action = pathTo(page, moderatedAdvisory(id))
  if (status === 'published') {
    const button = buttonForm(page, {
      action,
      text: t('advisories.retract'),
      kind: 'danger',
      fields: { do: 'withdraw' },
    })
    const text = t('advisories.retract.text')
    return sheetPart({ id: 'decide', title: t('advisories.retract'), text, content: button })
  }
  if (status !== 'review') return null
  const chosen = state.text('decision', 'published')
  const cards = optionCards({
    legend: t('advisories.decision'),
    name: 'decision',
    options: [
      {
        value: 'published',
        label: t('advisories.decide.published'),
        text: t(withdraws ? 'advisories.decide.published.withdraws' : 'advisories.decide.published.text'),
        isChosen: chosen === 'published',
      },
      {
        value: 'rejected',
        label: t('advisories.decide.rejected'),
        text: t('advisories.decide.rejected.text'),
        isChosen: chosen === 'rejected',
        kind: 'no',
      },
    ],
  })
  const content = form(page, {
    action,
    className: 'stack',
    content: [
      cards,
      html`<div class="line"><button class="main" name="do" value="decide">${t('advisories.decide')}</button></div>`,
    ],
  })
  return sheetPart({ id: 'decide', content })
}

export function advisoryListPage(pages: Pages): void {
  pages.own('GET', PATHS.moderationAdvisories, 'moderateAdvisories', showAdvisories, {
    role: 'moderator',
    api: 'listAdvisories',
  })
}

async function showAdvisories(request: OwnRequest) {
  const { deps, page, query, t } = request
  const status = STATUSES.find((each) => each === query('status')) ?? 'review'
  const current = pageNumber(request)
  const counts = await countAdvisories(deps.db)
  const rows = await listAdvisoryPage(deps.db, { status, count: ROWS, offset: offsetOf(current) })
  const items = STATUSES.map((each) => ({
    href: pathTo(page, withQuery(PATHS.moderationAdvisories, { status: each })),
    label: t(`advisories.status.${each}`),
    icon: 'warning' as const,
    count: counts[each],
    isCurrent: each === status,
  }))
  const add = html`<a class="button" href="${pathTo(page, PATHS.newModeratedAdvisory)}">${icon(page, 'plus')}${t('advisories.new')}</a>`
  return showSection(request, {
    section: PATHS.moderationAdvisories,
    title: t('advisories.title'),
    body: [
      tabs(page, t('advisories.status'), items),
      sheetHead({ title: t(`advisories.status.${status}`), action: add }),
      rows.length === 0
        ? emptyState(page, { icon: 'warning', title: t('advisories.list.none') })
        : advisoryTable(page, rows, moderatedAdvisory),
      listPager(page, { path: PATHS.moderationAdvisories, current, total: counts[status], query: { status } }),
    ],
  })
}

export function newAdvisoryPage(pages: Pages): void {
  formPage<undefined>(pages, {
    path: PATHS.newModeratedAdvisory,
    name: 'moderateNewAdvisory',
    api: 'createAdvisory',
    load: async () => undefined,
    show: showNew,
    commands: { create, preview: async (request, _data, state) => showNew(request, undefined, state) },
    // The API expects a version or a hash, and this form has no versions.
    labels: { ...ADVISORY_LABELS, versions: 'The hashes' },
    options: { role: 'moderator' },
  })
}

async function create(request: OwnRequest, _data: undefined, state: FormState): Promise<Outcome> {
  const { id } = await createFrom(request, state, undefined)
  return { done: 'advisory-published', path: moderatedAdvisory(id) }
}

async function showNew(request: OwnRequest, _data: undefined, state: FormState): Promise<FastifyReply> {
  const { page, t } = request
  return showSection(request, {
    section: PATHS.moderationAdvisories,
    title: t('advisories.new'),
    form: state,
    notes: note(page, 'warn', t('advisories.new.without-project')),
    body: [
      sheetHead({ title: t('advisories.new'), text: t('advisories.new.text') }),
      await advisoryForm(request, state, { action: pathTo(page, PATHS.newModeratedAdvisory), versions: undefined }),
    ],
  })
}
