// Personal pages with the data that they show: notifications, settings, devices and money.
import { unsubscribeLink } from '#features/people/notifications/emails/unsubscribe.ts'
import { insertNotifications } from '#features/people/notifications/queries.ts'
import { newId } from '#lib/ids.ts'
import { DAY_MS } from '#lib/time.ts'
import { transaction } from '#platform/cache/transaction.ts'
import { ADMIN_KEY, type TestApp } from '../app/test-app.ts'
import { aClick } from '../factories/analytics-events.ts'
import type { Person } from '../factories/factories.ts'
import { pagesOf, type ShownPage } from './shown-page.ts'
import type { WorkPeople } from './work-pages.ts'

const AFFILIATE = 128
const LONG = 'A-review-of-the-unbreakable-and-unreasonably-long-named-lantern-on-a-site-with-a-long-name'

export async function makePersonalPages(t: TestApp, { owner: person }: WorkPeople): Promise<ShownPage[]> {
  const key = { headers: { 'x-admin-key': ADMIN_KEY } }
  await t.anyone.patch('/_internal/admin/settings', { currency: 'EUR' }, key)
  for (let n = 0; n < 2; n += 1) await t.make.session(person.id)
  await t.deps.db
    .updateTable('account')
    .set({ badges: AFFILIATE, payout_handle: 'ida@payments.example' })
    .where('id', '=', person.id)
    .execute()
  const project = await t.make.project({ owner: person, slug: 'tide-lamps', name: 'Tide Lamps' })
  await t.make.version({ project })
  await earn(t, person, project.id)
  for (const [status, amount] of [
    ['success', '800'],
    ['success', '45.5'],
    ['in-transit', '120'],
  ] as const) {
    const payout = { external_id: newId(), user_id: person.id, amount, fee: '1.5', status }
    await t.anyone.post('/_internal/admin/payout', payout, key)
  }
  const code = await sell(t, person)
  await notify(t, person, project.id)
  const link = await unsubscribeLink(t.deps.db, {
    baseUrl: 'https://depot.test',
    user: person.id,
    kind: 'project_status',
  })
  const { pathname, search } = new URL(link)
  const at = pagesOf(person)
  return [
    at('notifications', 'ownNotifications', '/dashboard/notifications'),
    at('email-settings', 'showEmailSettings', '/account/notifications?done=email-settings'),
    at('unsubscribe', 'showUnsubscription', `${pathname}${search}`),
    at('webhooks-of-user', 'showOwnWebhooks', '/account/webhooks'),
    at('data', 'showData', '/account/data'),
    at('security', 'showSecurity', '/account/security'),
    at('revenue', 'ownRevenue', '/dashboard/revenue'),
    at('history', 'ownRevenueHistory', '/dashboard/revenue/history'),
    at('affiliates', 'ownAffiliates', '/dashboard/affiliates?done=affiliate-created'),
    at('affiliate', 'ownAffiliate', `/dashboard/affiliates/${code}`),
    at('affiliate-deletion', 'ownAffiliateDeletion', `/dashboard/affiliates/${code}/delete`),
    at('project-revenue', 'manageRevenue', '/mod/tide-lamps/settings/revenue'),
  ]
}

/** Adds the revenue of six months, of which two are pending. */
async function earn(t: TestApp, person: Person, projectId: string): Promise<void> {
  const amounts = ['212.4', '180', '240.75', '401.2', '377.09', '0.05']
  for (const [index, amount] of amounts.entries()) {
    const day = new Date(Date.UTC(2026, index, 15))
    const { id } = await t.deps.db
      .insertInto('revenue_part')
      .values({ external_id: newId(), day, amount })
      .returning('id')
      .executeTakeFirstOrThrow()
    const available = new Date(t.deps.now() + (index < 4 ? -30 * (5 - index) : 20 * (index - 3)) * DAY_MS)
    const share = { part_id: id, project_id: projectId, account_id: person.id, day, amount, available }
    await t.deps.db.insertInto('revenue_share').values(share).execute()
  }
}

/** Creates affiliate codes with clicks and a sale. Returns the ID of the first. */
async function sell(t: TestApp, person: Person): Promise<string> {
  const ids: string[] = []
  for (const source_name of ['Video about lanterns', LONG])
    ids.push((await t.as(person).post('/_internal/affiliate', { source_name })).json().id)
  const [first = ''] = ids
  for (let n = 0; n < 40; n += 1)
    t.deps.events.add('affiliate_click', aClick({ affiliate_code_id: first, recorded_at: t.deps.now() }))
  await t.deps.events.flush()
  const sale = { external_id: newId(), affiliate_code_id: first, amount: '49.9' }
  await t.anyone.post('/_internal/admin/affiliate-conversion', sale, { headers: { 'x-admin-key': ADMIN_KEY } })
  return first
}

async function notify(t: TestApp, person: Person, project_id: string): Promise<void> {
  const status = { project_id, old_status: 'processing', new_status: 'rejected', message: 'Please name a licence.' }
  await transaction(t.deps, async (tx, changed) => {
    await insertNotifications(tx, changed, [person.id], { type: 'status_change', ...status })
    await insertNotifications(tx, changed, [person.id], { type: 'report_submitted', report_id: 'AAAAAAAA' })
    await insertNotifications(tx, changed, [person.id], { type: 'content_taken_down', item: 'collection' })
  })
}
