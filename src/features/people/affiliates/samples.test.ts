// Requests for the tests of all operations.
import {
  type Declared,
  inDays,
  made,
  ONCE,
  type Sample,
  send,
  slug,
  theAnswer,
  thing,
  viewAt,
} from '#test/api/operations/sample.ts'
import type { World } from '#test/api/operations/world.ts'

const AFFILIATE_BADGE = 128
const giveAffiliateBadge = async ({ t, id }: World) =>
  t.deps.db
    .updateTable('account')
    .set({ badges: AFFILIATE_BADGE })
    .where('id', '=', await id('owner'))
    .execute()
const newAffiliateCode: Sample = { before: giveAffiliateBadge, body: { source_name: 'A shop' } }

export const SAMPLES: Record<string, Sample> = {
  createAffiliateCode: newAffiliateCode,
  putAffiliateCode: newAffiliateCode,
  updateAffiliateCode: { before: giveAffiliateBadge, body: { source_name: 'Another shop' } },
  recordConversion: {
    body: async (w) => ({ external_id: slug(), affiliate_code_id: await w.id('affiliateCode'), amount: '12.34' }),
  },
}

export const DECLARED: Record<string, Declared> = {
  createAffiliateCode: {
    view: made('/_internal/affiliate'),
    fields: {
      source_name: send('Another shop'),
      affiliate: send(thing('stranger'), { by: 'admin' }),
      revenue_split: send('0.250000', { by: 'admin' }),
    },
  },
  updateAffiliateCode: {
    view: viewAt('/_internal/affiliate', 'affiliateCode'),
    fields: { source_name: send('Another shop'), revenue_split: send('0.250000', { by: 'admin' }) },
  },
  recordConversion: {
    by: 'operator',
    view: theAnswer,
    fields: { affiliate_code_id: send(thing('affiliateCode')), at: send(() => inDays(-1)), amount: send('99.00') },
    unseen: { external_id: ONCE },
  },
}
