// The OAuth applications of a user.
import type { FastifyReply } from 'fastify'
import { replaceIcon, setIcon } from '#features/basics/images/icons.ts'
import { createApplication } from '#features/people/oauth/applications/create-application.ts'
import { deleteApplication } from '#features/people/oauth/applications/delete-application.ts'
import { applicationIconOwner } from '#features/people/oauth/applications/icon.ts'
import { requireOwnApplication } from '#features/people/oauth/applications/policy.ts'
import { type Application, getApplication, listApplicationsOf } from '#features/people/oauth/applications/queries.ts'
import { ApplicationPatch, NewApplication } from '#features/people/oauth/applications/requests.ts'
import { rotateSecret } from '#features/people/oauth/applications/rotate-secret.ts'
import { updateApplication } from '#features/people/oauth/applications/update-application.ts'
import { combineScopes, scopeNames } from '#lib/access/scopes.ts'
import { validationError } from '#lib/errors.ts'
import { parseId } from '#lib/ids.ts'
import { attempt, checkValues, type FormRefusal, uploadedImage } from '#web/kit/forms.ts'
import type { OwnRequest, Pages } from '#web/kit/pages.ts'
import { PATHS } from '#web/kit/paths.ts'
import { showSettings } from '../account-layout.ts'
import { applicationsView, applicationView, secretView } from './access-views.ts'
import { reservedScopes, scopeGroups } from './scope-groups.ts'
import { scopesOf } from './tokens.ts'

const LABELS = {
  name: 'The name',
  description: 'The description',
  url: 'The website',
  redirect_uris: 'Each redirect URL',
  max_scopes: 'The choice',
}

/** Values of the form. */
type Typed = {
  name: string
  description: string
  url: string
  uris: string
  chosen: string[]
  isPublic: boolean
  refusal?: FormRefusal
}

const EMPTY: Typed = { name: '', description: '', url: '', uris: '', chosen: [], isPublic: false }

export function applicationPages(pages: Pages): void {
  pages.own('GET', PATHS.applications, 'showApplications', async (request) => {
    const { deps, viewer, page } = request
    const body = applicationsView(page, await listApplicationsOf(deps.db, viewer.id))
    return showSettings(request, { title: page.language.t('settings.applications'), body })
  })
  pages.own('GET', `${PATHS.applications}/new`, 'showNewApplication', async (request) => showNew(request, EMPTY))
  pages.own('POST', `${PATHS.applications}/new`, 'makeApplication', async (request) => {
    const typed = readForm(request)
    const { value: created, refusal } = await attempt(() => {
      const fields = checkValues(NewApplication, { ...toFields(typed), public_client: typed.isPublic })
      return createApplication(request.deps, request.viewer, fields)
    }, LABELS)
    if (refusal !== undefined) return showNew(request, { ...typed, refusal })
    if (created.secret === null) return request.redirect(`${PATHS.applications}/${created.id}`, 'application-saved')
    return showSecret(request, { id: created.id, name: typed.name, secret: created.secret })
  })
  pages.own('GET', `${PATHS.applications}/:id`, 'showApplication', async (request) => {
    const application = await getOwn(request)
    return showOne(request, application, toTyped(application))
  })
  pages.own('POST', `${PATHS.applications}/:id`, 'changeApplication', async (request) => {
    const application = await getOwn(request)
    const typed = { ...readForm(request), isPublic: application.secret_hash === null }
    const { refusal } = await attempt(() => {
      const patch = checkValues(ApplicationPatch, toPatch(typed, application))
      return updateApplication(request.deps, request.viewer, { id: application.id, patch })
    }, LABELS)
    if (refusal !== undefined) return showOne(request, application, { ...typed, refusal })
    return request.redirect(`${PATHS.applications}/${application.id}`, 'application-saved')
  })
  pages.own('POST', `${PATHS.applications}/:id/picture`, 'sendApplicationPicture', async (request) => {
    const application = await getOwn(request)
    const { deps, viewer, req } = request
    const { refusal } = await attempt(() =>
      setIcon(deps, applicationIconOwner(deps), { id: application.id, viewer, ...uploadedImage(req.body) }),
    )
    if (refusal !== undefined) return showOne(request, application, { ...toTyped(application), refusal })
    return request.redirect(`${PATHS.applications}/${application.id}`, 'picture')
  })
  pages.own('POST', `${PATHS.applications}/:id/picture/remove`, 'removeApplicationPicture', async (request) => {
    const { id } = await getOwn(request)
    const { deps, viewer } = request
    await replaceIcon(deps, applicationIconOwner(deps), { id, viewer, icon: null })
    return request.redirect(`${PATHS.applications}/${id}`, 'picture-removed')
  })
  pages.own('POST', `${PATHS.applications}/:id/secret`, 'renewApplicationSecret', async (request) => {
    const { id, name } = await getOwn(request)
    const secret = await rotateSecret(request.deps, request.viewer, id)
    return showSecret(request, { id, name, secret })
  })
  pages.own('POST', `${PATHS.applications}/:id/delete`, 'removeApplication', async (request) => {
    const { id } = await getOwn(request)
    await deleteApplication(request.deps, request.viewer, id)
    return request.redirect(PATHS.applications, 'application-deleted')
  })
}

async function getOwn({ deps, viewer, param }: OwnRequest): Promise<Application> {
  return requireOwnApplication(viewer, await getApplication(deps.db, parseId(param('id'), 'id')))
}

function readForm({ field, fields }: OwnRequest): Typed {
  return {
    name: field('name'),
    description: field('description'),
    url: field('url'),
    uris: field('redirect_uris'),
    chosen: fields('scope'),
    isPublic: field('public_client') !== '',
  }
}

function toFields({ name, description, url, uris, chosen }: Typed) {
  return {
    name,
    description: description === '' ? null : description,
    url: url === '' ? null : url,
    redirect_uris: uris.split(/\s+/).filter((uri) => uri !== ''),
    max_scopes: scopesOf(chosen),
  }
}

/** Leaves fields unchanged that the form does not show, or that were empty and still are. */
function toPatch(typed: Typed, application: Application) {
  const { redirect_uris, max_scopes, ...fields } = toFields(typed)
  if (redirect_uris.length === 0 && application.redirect_uris.length > 0)
    throw validationError('redirect_uris', 'The application needs at least one redirect URL')
  return {
    ...fields,
    max_scopes: combineScopes(max_scopes, reservedScopes(application.max_scopes)),
    ...(redirect_uris.length === 0 ? {} : { redirect_uris }),
  }
}

function toTyped(application: Application): Typed {
  return {
    name: application.name,
    description: application.description ?? '',
    url: application.url ?? '',
    uris: application.redirect_uris.map(({ uri }) => uri).join('\n'),
    chosen: scopeNames(application.max_scopes),
    isPublic: application.secret_hash === null,
  }
}

function showNew(request: OwnRequest, typed: Typed): FastifyReply {
  const { page } = request
  const body = applicationView(page, { ...typed, groups: scopeGroups(), application: undefined })
  return showSettings(request, { title: page.language.t('applications.new'), body, refusal: typed.refusal })
}

function showOne(request: OwnRequest, application: Application, typed: Typed): FastifyReply {
  const body = applicationView(request.page, { ...typed, groups: scopeGroups(), application })
  return showSettings(request, { title: application.name, body, refusal: typed.refusal })
}

function showSecret(
  request: OwnRequest,
  { id, name, secret }: { id: string; name: string; secret: string },
): FastifyReply {
  const next = `${PATHS.applications}/${id}`
  const { page } = request
  const body = secretView(page, { what: 'client-secret', name, secret, clientId: id, next })
  return showSettings(request, { title: page.language.t('secret.client-secret.title'), body })
}
