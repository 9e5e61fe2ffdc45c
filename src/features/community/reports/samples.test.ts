// Requests for the tests of all operations.
import { ATTACHED, type Declared, ids, made, type Sample, send, thing, viewAt } from '#test/api/operations/sample.ts'
import type { World } from '#test/api/operations/world.ts'

export const SAMPLES: Record<string, Sample> = {
  listReports: ids('report'),
  createReport: {
    body: async (w) => ({ report_type: 'spam', item_type: 'project', item_id: await w.id('project'), body: 'Look' }),
  },
  closeReports: { body: async (w) => ({ ids: [await w.id('report')], outcome: 'no_action' }) },
  claimNextReport: { body: {}, before: (w) => w.id('report') },
  updateReport: { body: { body: 'Look again' } },
}

export const DECLARED: Record<string, Declared> = {
  updateReport: {
    by: 'moderator',
    view: viewAt('/v3/report', 'report'),
    fields: { body: send('Another reason'), closed: send(true), outcome: send('action', { needs: { closed: true } }) },
  },
  createReport: {
    view: made('/v3/report'),
    fields: {
      report_type: send('malicious'),
      item_id: send(thing('stranger'), { needs: { item_type: 'user' } }),
      item_type: send('user', { needs: async (w: World) => ({ item_id: await w.id('stranger') }) }),
      body: send('Another reason'),
    },
    unseen: { uploaded_images: ATTACHED },
  },
}
