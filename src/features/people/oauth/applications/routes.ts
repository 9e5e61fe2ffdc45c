// OAuth applications of third parties.
import Type from 'typebox'
import { UserParams } from '#features/basics/access/requests.ts'
import { requireViewer } from '#features/basics/authentication/access-control.ts'
import { iconRoutes } from '#features/basics/images/icon-routes.ts'
import { requireOwnUser } from '#features/people/users/policy.ts'
import { getAccountByName } from '#features/people/users/queries.ts'
import { parseId } from '#lib/ids.ts'
import { IdParams, parseIdList } from '#platform/http/query-values.ts'
import type { App } from '#platform/http/server.ts'
import type { Deps } from '#ports/deps.ts'
import { createApplication } from './create-application.ts'
import { applicationIconOwner } from './icon.ts'
import { getApplication, listApplications, listApplicationsOf } from './queries.ts'
import { ApplicationPatch, IdsQuery, NewApplication } from './requests.ts'
import { deleteApplication, rotateSecret, updateApplication } from './update-application.ts'
import { ApplicationView, ClientSecretView, NewApplicationView, toApplicationView } from './views.ts'

const session = { auth: { scope: ['SESSION_ACCESS'] } } as const

export function applicationRoutes(app: App, deps: Deps): void {
  reads(app, deps)
  writes(app, deps)
  iconRoutes(app, deps, applicationIconOwner(deps))
}

function reads(app: App, { db, config }: Deps): void {
  app.get('/oauth/app/:id', {
    config: { auth: 'public', cache: 'shared' },
    schema: {
      operationId: 'getApplication',
      summary: 'Get an OAuth application',
      params: IdParams,
      response: { 200: ApplicationView },
    },
    handler: async (req) => toApplicationView(config)(await getApplication(db, parseId(req.params.id, 'id'))),
  })
  app.get('/oauth/apps', {
    config: { auth: 'public', cache: 'shared', errors: ['400 decoding_error'] },
    schema: {
      operationId: 'listApplications',
      summary: 'Get OAuth applications by ID',
      querystring: IdsQuery,
      response: { 200: Type.Array(ApplicationView) },
    },
    handler: async (req) => (await listApplications(db, readIds(req.query.ids))).map(toApplicationView(config)),
  })
}

/** Parses IDs in both formats that existing clients send. */
function readIds(text: string): string[] {
  return parseIdList(text.trimStart().startsWith('[') ? text : JSON.stringify(text.split(',').map((id) => id.trim())))
}

function writes(app: App, deps: Deps): void {
  app.post('/oauth/app', {
    config: { ...session, errors: ['400 LimitReached', '404 not_found'] },
    schema: {
      operationId: 'createApplication',
      summary: 'Create an OAuth application; its secret is returned only once',
      body: NewApplication,
      response: { 201: NewApplicationView },
    },
    handler: async (req, reply) => {
      const { id, secret } = await createApplication(deps, requireViewer(req), req.body)
      const view = toApplicationView(deps.config)(await getApplication(deps.db, id))
      return reply.status(201).send({ ...view, client_secret: secret })
    },
  })
  app.patch('/oauth/app/:id', {
    config: session,
    schema: {
      operationId: 'updateApplication',
      summary: 'Edit an OAuth application',
      description:
        'Changing the scopes or removing a redirect URI cancels pending consent requests and unused authorization codes. Existing tokens keep their scopes.',
      params: IdParams,
      body: ApplicationPatch,
    },
    handler: async (req) => {
      const id = parseId(req.params.id, 'id')
      await updateApplication(deps, requireViewer(req), { id, patch: req.body })
    },
  })
  app.post('/oauth/app/:id/secret', {
    config: session,
    schema: {
      operationId: 'rotateApplicationSecret',
      summary: 'Replace the secret of an OAuth application',
      params: IdParams,
      response: { 200: ClientSecretView },
    },
    handler: async (req) => ({
      client_secret: await rotateSecret(deps, requireViewer(req), parseId(req.params.id, 'id')),
    }),
  })
  app.delete('/oauth/app/:id', {
    config: session,
    schema: {
      operationId: 'deleteApplication',
      summary: 'Delete an OAuth application and revoke its tokens',
      params: IdParams,
    },
    handler: (req): Promise<void> => deleteApplication(deps, requireViewer(req), parseId(req.params.id, 'id')),
  })
}

/** Registers the route below the path of a user, which exists under one prefix only. */
export function userApplicationRoutes(app: App, { db, config }: Deps): void {
  app.get('/v3/user/:id/oauth_apps', {
    config: { ...session, cache: 'private' },
    schema: {
      operationId: 'listUserApplications',
      summary: "List a user's OAuth applications; only for the user and admins",
      params: UserParams,
      response: { 200: Type.Array(ApplicationView) },
    },
    handler: async (req) => {
      const viewer = requireViewer(req)
      const { id } = requireOwnUser(viewer, await getAccountByName(db, req.params.id))
      return (await listApplicationsOf(db, id)).map(toApplicationView(config))
    },
  })
}
