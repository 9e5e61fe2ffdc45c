// Requests for the tests of all operations.
import {
  type Declared,
  icon,
  ids,
  made,
  PICTURE,
  type Sample,
  send,
  shows,
  viewAt,
} from '#test/api/operations/sample.ts'
import { openCode, openQuestion, type World } from '#test/api/operations/world.ts'
import type { Form } from '#test/support/http/forms.ts'
import { CALLBACK } from '#test/support/http/oauth-steps.ts'

const urlEncoded = (fields: Record<string, string>): Form => ({
  payload: Buffer.from(new URLSearchParams(fields).toString()),
  headers: { 'content-type': 'application/x-www-form-urlencoded' },
})
const clientFields = async (w: World) => {
  const { id, secret } = await w.application()
  return { client_id: id, client_secret: secret }
}
const heldToken = async (w: World) => urlEncoded({ ...(await clientFields(w)), token: (await w.person('owner')).token })

export const SAMPLES: Record<string, Sample> = {
  listUserApplications: shows('application'),
  listApplications: ids('application'),
  createApplication: {
    body: { name: 'Chart Maker', max_scopes: ['USER_READ', 'PROJECT_READ'], redirect_uris: [CALLBACK] },
  },
  updateApplication: { body: { name: 'Map Maker' } },
  setApplicationIcon: icon,
  authorize: { query: async (w) => ({ client_id: await w.id('application'), redirect_uri: CALLBACK }) },
  acceptAuthorization: { body: async (w) => ({ flow: await openQuestion(w) }) },
  rejectAuthorization: { body: async (w) => ({ flow: await openQuestion(w) }) },
  revokeAuthorization: { query: async (w) => ({ client_id: await w.id('application') }), before: openCode },
  exchangeCode: {
    raw: async (w) => urlEncoded({ ...(await clientFields(w)), code: await openCode(w), redirect_uri: CALLBACK }),
  },
  introspectToken: { raw: heldToken },
  revokeToken: { raw: heldToken },
}

export const DECLARED: Record<string, Declared> = {
  updateApplication: {
    view: viewAt('/_internal/oauth/app', 'application'),
    fields: {
      name: send('Map maker'),
      max_scopes: send(2),
      redirect_uris: send(['https://maps.example.org/back'], {
        at: 'redirect_uris.0.uri',
        shows: 'https://maps.example.org/back',
      }),
      url: send('https://maps.example.org'),
      description: send('Makes maps'),
    },
  },
  createApplication: {
    view: made('/_internal/oauth/app'),
    fields: {
      name: send('Map maker'),
      max_scopes: send(2),
      redirect_uris: send(['https://maps.example.org/back'], {
        at: 'redirect_uris.0.uri',
        shows: 'https://maps.example.org/back',
      }),
      url: send('https://maps.example.org'),
      description: send('Makes maps'),
      public_client: send(true),
    },
  },
  setApplicationIcon: { view: viewAt('/_internal/oauth/app', 'application'), unseen: { ext: PICTURE } },
}
