// Personal pages with the data that they show, for the browser tests: notifications, settings, devices and money.
import { unsubscribeLink } from '#features/people/notifications/emails/unsubscribe.ts'
import { insertNotifications } from '#features/people/notifications/queries.ts'
import { newId } from '#lib/ids.ts'
import { DAY_MS } from '#lib/time.ts'
import { ADMIN_KEY } from '../app/test-app.ts'
import { aClick } from '../factories/analytics-events.ts'
import type { Person } from '../factories/factories.ts'
import type { Site } from './chromium.ts'

const AFFILIATE = 128
const LONG = 'A-review-of-the-unbreakable-and-unreasonably-long-named-lantern-on-a-site-with-a-long-name'

/** Returns the paths of the pages by the names of their images, and the user whom they are about. */
export async function makePersonalPages(site: Site): Promise<{ person: Person; pages: Record<string, string> }> {
  const { t } = site
  const key = { headers: { 'x-admin-key': ADMIN_KEY } }
  await t.anyone.patch('/_internal/admin/settings', { currency: 'EUR' }, key)
  const person = await t.make.account({ username: 'ida-marsh' })
  for (let n = 0; n < 2; n += 1) await t.make.session(person.id)
  await t.deps.db
    .updateTable('account')
    .set({ badges: AFFILIATE, payout_handle: 'ida@payments.example' })
    .where('id', '=', person.id)
    .execute()
  const project = await t.make.project({ owner: person, slug: 'tide-lamps', name: 'Tide Lamps' })
  await t.make.version({ project })
  await earn(site, person, project.id)
  for (const [status, amount] of [
    ['success', '800'],
    ['success', '45.5'],
    ['in-transit', '120'],
  ] as const) {
    const payout = { external_id: newId(), user_id: person.id, amount, fee: '1.5', status }
    await t.anyone.post('/_internal/admin/payout', payout, key)
  }
  const code = await sell(site, person)
  await notify(site, person, project.id)
  const link = await unsubscribeLink(t.deps.db, { baseUrl: site.url, user: person.id, kind: 'project_status' })
  const { pathname, search } = new URL(link)
  return {
    person,
    pages: {
      notifications: '/dashboard/notifications',
      'email-settings': '/account/notifications?done=email-settings',
      unsubscribe: `${pathname}${search}`,
      data: '/account/data',
      security: '/account/security',
      revenue: '/dashboard/revenue',
      history: '/dashboard/revenue/history',
      affiliates: '/dashboard/affiliates?done=affiliate-created',
      affiliate: `/dashboard/affiliates/${code}`,
      'affiliate-deletion': `/dashboard/affiliates/${code}/delete`,
      'project-revenue': '/mod/tide-lamps/settings/revenue',
    },
  }
}

/** Adds the revenue of six months, of which two are pending. */
async function earn({ t }: Site, person: Person, projectId: string): Promise<void> {
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
async function sell({ t }: Site, person: Person): Promise<string> {
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

async function notify({ t }: Site, person: Person, project_id: string): Promise<void> {
  const status = { project_id, old_status: 'processing', new_status: 'rejected', message: 'Please name a licence.' }
  await t.deps.db.transaction().execute(async (tx) => {
    await insertNotifications(tx, [person.id], { type: 'status_change', ...status })
    await insertNotifications(tx, [person.id], { type: 'report_submitted', report_id: 'AAAAAAAA' })
    await insertNotifications(tx, [person.id], { type: 'content_taken_down', item: 'collection' })
  })
}
