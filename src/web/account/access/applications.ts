// OAuth applications that one has made.
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
import { checkValues, pictureOf } from '#web/kit/forms.ts'
import { type AccountPageRequest, attempt, type FormRefusal, type PageDeps, type Pages } from '#web/kit/page-request.ts'
import { PATHS } from '#web/kit/paths.ts'
import { applicationsView, applicationView, secretView } from './access-views.ts'
import { reservedScopes, scopeGroups } from './scope-groups.ts'
import { scopesOf } from './tokens.ts'

const LABELS = {
  name: 'The name',
  description: 'The description',
  url: 'The website',
  redirect_uris: 'Each redirect address',
  max_scopes: 'The choice',
}

/** The form as it is filled in. */
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

export function applicationPages(pages: Pages, { deps }: PageDeps): void {
  const { db } = deps
  const icons = applicationIconOwner(deps)
  pages.own('GET', PATHS.applications, 'showApplications', async ({ viewer, page, showSettings }) => {
    const body = applicationsView(page, await listApplicationsOf(db, viewer.id))
    return showSettings({ title: page.language.t('settings.applications'), body })
  })
  pages.own('GET', `${PATHS.applications}/new`, 'showNewApplication', async (request) => showNew(request, EMPTY))
  pages.own('POST', `${PATHS.applications}/new`, 'makeApplication', async (request) => {
    const typed = readForm(request)
    const { value: made, refusal } = await attempt(() => {
      const fields = checkValues(NewApplication, { ...toFields(typed), public_client: typed.isPublic })
      return createApplication(deps, request.viewer, fields)
    }, LABELS)
    if (refusal !== undefined) return showNew(request, { ...typed, refusal })
    if (made.secret === null) return request.redirect(`${PATHS.applications}/${made.id}`, 'application-saved')
    return showSecret(request, { id: made.id, name: typed.name, secret: made.secret })
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
      return updateApplication(deps, request.viewer, { id: application.id, patch })
    }, LABELS)
    if (refusal !== undefined) return showOne(request, application, { ...typed, refusal })
    return request.redirect(`${PATHS.applications}/${application.id}`, 'application-saved')
  })
  pages.own('POST', `${PATHS.applications}/:id/picture`, 'sendApplicationPicture', async (request) => {
    const application = await getOwn(request)
    const { refusal } = await attempt(() =>
      setIcon(deps, icons, { id: application.id, viewer: request.viewer, ...pictureOf(request.req.body) }),
    )
    if (refusal !== undefined) return showOne(request, application, { ...toTyped(application), refusal })
    return request.redirect(`${PATHS.applications}/${application.id}`, 'picture')
  })
  pages.own('POST', `${PATHS.applications}/:id/picture/remove`, 'removeApplicationPicture', async (request) => {
    const { id } = await getOwn(request)
    await replaceIcon(deps, icons, { id, viewer: request.viewer, icon: null })
    return request.redirect(`${PATHS.applications}/${id}`, 'picture-removed')
  })
  pages.own('POST', `${PATHS.applications}/:id/secret`, 'renewApplicationSecret', async (request) => {
    const { id, name } = await getOwn(request)
    const secret = await rotateSecret(deps, request.viewer, id)
    return showSecret(request, { id, name, secret })
  })
  pages.own('POST', `${PATHS.applications}/:id/delete`, 'removeApplication', async (request) => {
    const { id } = await getOwn(request)
    await deleteApplication(deps, request.viewer, id)
    return request.redirect(PATHS.applications, 'application-deleted')
  })

  async function getOwn({ req, viewer }: AccountPageRequest): Promise<Application> {
    const { id } = req.params as { id: string }
    return requireOwnApplication(viewer, await getApplication(db, parseId(id, 'id')))
  }
}

function readForm({ field, fields }: AccountPageRequest): Typed {
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

/** Of what the form does not show, or leaves as empty as it is, nothing changes. */
function toPatch(typed: Typed, application: Application) {
  const { redirect_uris, max_scopes, ...fields } = toFields(typed)
  if (redirect_uris.length === 0 && application.redirect_uris.length > 0)
    throw validationError('redirect_uris', 'One redirect address at least must stay')
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

function showNew({ page, showSettings }: AccountPageRequest, typed: Typed): FastifyReply {
  const body = applicationView(page, { ...typed, groups: scopeGroups(), application: undefined })
  return showSettings({ title: page.language.t('applications.new'), body, refusal: typed.refusal })
}

function showOne({ page, showSettings }: AccountPageRequest, application: Application, typed: Typed): FastifyReply {
  const body = applicationView(page, { ...typed, groups: scopeGroups(), application })
  return showSettings({ title: application.name, body, refusal: typed.refusal })
}

function showSecret(
  { page, showSettings }: AccountPageRequest,
  { id, name, secret }: { id: string; name: string; secret: string },
): FastifyReply {
  const next = `${PATHS.applications}/${id}`
  const body = secretView(page, { what: 'client-secret', name, secret, clientId: id, next })
  return showSettings({ title: page.language.t('secret.client-secret.title'), body })
}
