// Requests for the tests of all operations.
import { type Declared, type Sample, send, shows, theAnswer, viewAt } from '#test/api/operations/sample.ts'

const webhookFields = {
  url: send('https://hooks.example.org/other'),
  format: send('github'),
  events: send(['project.updated']),
  loaders: send(['fabric']),
  game_versions: send(['1.20.1']),
  version_types: send(['beta']),
}

export const SAMPLES: Record<string, Sample> = {
  listProjectWebhooks: shows('webhook'),
  listWebhookDeliveries: shows('webhookDelivery'),
  createWebhook: {
    body: async (w) => ({
      owner: { kind: 'project', id: await w.id('project') },
      url: 'https://hooks.example.org/depot',
      events: ['version.published'],
    }),
  },
  updateWebhook: { body: { events: ['*'] } },
  rotateWebhookSecret: { body: {} },
}

export const DECLARED: Record<string, Declared> = {
  createWebhook: {
    view: theAnswer,
    fields: {
      ...webhookFields,
      owner: send({ kind: 'instance' }, { by: 'admin', at: 'owner.kind', shows: 'instance' }),
    },
  },
  updateWebhook: { view: viewAt('/v3/webhook', 'webhook'), fields: { ...webhookFields, active: send(false) } },
}
