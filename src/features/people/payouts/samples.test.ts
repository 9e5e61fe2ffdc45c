// Requests for the tests of all operations.
import { type Declared, ONCE, type Sample, send, shows, slug, theAnswer, thing } from '#test/api/operations/sample.ts'
import { earn } from '#test/api/operations/world.ts'

/** Returns the payout as the owner sees it; an operator writes it. */
const lastPayout: Declared['view'] = async (_read, { t, person }) => {
  const history: { type: string }[] = (await t.as(await person('owner')).get('/v3/payout/history')).json()
  return history.find(({ type }) => type === 'withdrawal')
}

export const SAMPLES: Record<string, Sample> = {
  getPayoutHistory: shows('payout'),
  distributeRevenue: { body: () => ({ external_id: slug(), day: '2026-01-01', amount: '12.34' }) },
  recordPayout: {
    before: earn,
    body: async (w) => ({ external_id: slug(), user_id: await w.id('owner'), amount: '12.34' }),
  },
  updatePayout: { body: { status: 'success' } },
}

export const DECLARED: Record<string, Declared> = {
  distributeRevenue: {
    by: 'operator',
    view: theAnswer,
    fields: { day: send('2026-02-02'), amount: send('99.00') },
    unseen: { external_id: ONCE },
  },
  recordPayout: {
    by: 'operator',
    view: theAnswer,
    fields: { user_id: send(thing('owner')), amount: send('7.00'), fee: send('0.50'), status: send('in-transit') },
    unseen: { external_id: ONCE },
  },
  updatePayout: { by: 'operator', view: lastPayout, fields: { status: send('success') } },
}
