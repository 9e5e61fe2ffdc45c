// OAuth applications that one has made.
import type { FastifyReply } from 'fastify'
import { transaction } from '#cache/transaction.ts'
import {
  applicationIconOwner,
  deleteApplication,
  requireOwnApplication,
  rotateSecret,
  updateApplication,
} from '#features/oauth/applications/change-application.ts'
import { createApplication } from '#features/oauth/applications/create-application.ts'
import { type Application, getApplication, listApplicationsOf } from '#features/oauth/applications/queries.ts'
import { ApplicationPatch, NewApplication } from '#features/oauth/applications/views.ts'
import { replaceIcon, setIcon } from '#features/pictures/icons.ts'
import { validationError } from '#lib/errors.ts'
import { parseId } from '#lib/ids.ts'
import { combineScopes, scopeNames } from '#lib/scopes.ts'
import { checkValues, pictureOf } from './forms.ts'
import { attempt, type FormFault, type OwnVisit, type PageDeps, type Pages } from './page-kit.ts'
import { PATHS } from './paths.ts'
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
  fault?: FormFault
}

const EMPTY: Typed = { name: '', description: '', url: '', uris: '', chosen: [], isPublic: false }

export function applicationPages(pages: Pages, { deps }: PageDeps): void {
  const { db } = deps
  const icons = applicationIconOwner(deps)
  pages.own('GET', PATHS.applications, 'showApplications', async ({ viewer, show }) =>
    show('applications', { title: 'Applications', applications: await listApplicationsOf(db, viewer.id) }),
  )
  pages.own('GET', `${PATHS.applications}/new`, 'showNewApplication', async (visit) => showNew(visit, EMPTY))
  pages.own('POST', `${PATHS.applications}/new`, 'makeApplication', async (visit) => {
    const typed = readForm(visit)
    const { value: made, fault } = await attempt(() => {
      const fields = checkValues(NewApplication, { ...toFields(typed), public_client: typed.isPublic })
      return transaction(deps, (tx) => createApplication(tx, { accountId: visit.viewer.id, now: deps.now(), fields }))
    }, LABELS)
    if (fault !== undefined) return showNew(visit, { ...typed, fault })
    if (made.secret === null) return visit.lead(`${PATHS.applications}/${made.id}`, 'application-saved')
    return showSecret(visit, { id: made.id, name: typed.name, secret: made.secret })
  })
  pages.own('GET', `${PATHS.applications}/:id`, 'showApplication', async (visit) => {
    const application = await getOwn(visit)
    return showOne(visit, application, toTyped(application))
  })
  pages.own('POST', `${PATHS.applications}/:id`, 'changeApplication', async (visit) => {
    const application = await getOwn(visit)
    const typed = { ...readForm(visit), isPublic: application.secret_hash === null }
    const { fault } = await attempt(() => {
      const patch = checkValues(ApplicationPatch, toPatch(typed, application))
      return transaction(deps, (tx) => updateApplication(tx, visit.viewer, { id: application.id, patch }))
    }, LABELS)
    if (fault !== undefined) return showOne(visit, application, { ...typed, fault })
    return visit.lead(`${PATHS.applications}/${application.id}`, 'application-saved')
  })
  pages.own('POST', `${PATHS.applications}/:id/picture`, 'sendApplicationPicture', async (visit) => {
    const application = await getOwn(visit)
    const { fault } = await attempt(() =>
      setIcon(deps, icons, { id: application.id, viewer: visit.viewer, ...pictureOf(visit.req.body) }),
    )
    if (fault !== undefined) return showOne(visit, application, { ...toTyped(application), fault })
    return visit.lead(`${PATHS.applications}/${application.id}`, 'picture')
  })
  pages.own('POST', `${PATHS.applications}/:id/picture/remove`, 'removeApplicationPicture', async (visit) => {
    const { id } = await getOwn(visit)
    await replaceIcon(deps, icons, { id, viewer: visit.viewer, icon: null })
    return visit.lead(`${PATHS.applications}/${id}`, 'picture-removed')
  })
  pages.own('POST', `${PATHS.applications}/:id/secret`, 'renewApplicationSecret', async (visit) => {
    const { id, name } = await getOwn(visit)
    const secret = await transaction(deps, (tx) => rotateSecret(tx, visit.viewer, id))
    return showSecret(visit, { id, name, secret })
  })
  pages.own('POST', `${PATHS.applications}/:id/delete`, 'removeApplication', async (visit) => {
    const { id } = await getOwn(visit)
    const { config } = deps
    await transaction(deps, (tx, changed) => deleteApplication({ tx, changed, config }, visit.viewer, id))
    return visit.lead(PATHS.applications, 'application-deleted')
  })

  async function getOwn({ req, viewer }: OwnVisit): Promise<Application> {
    const { id } = req.params as { id: string }
    return requireOwnApplication(viewer, await getApplication(db, parseId(id, 'id')))
  }
}

function readForm({ field, fields }: OwnVisit): Typed {
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

function showNew({ show }: OwnVisit, typed: Typed): FastifyReply {
  const status = typed.fault?.status ?? 200
  return show('application', {
    title: 'New application',
    status,
    ...typed,
    groups: scopeGroups(),
    application: undefined,
  })
}

function showOne({ show }: OwnVisit, application: Application, typed: Typed): FastifyReply {
  const status = typed.fault?.status ?? 200
  return show('application', { title: application.name, status, ...typed, groups: scopeGroups(), application })
}

function showSecret(
  { show }: OwnVisit,
  { id, name, secret }: { id: string; name: string; secret: string },
): FastifyReply {
  const next = `${PATHS.applications}/${id}`
  return show('secret', { title: 'The client secret', what: 'client secret', name, secret, clientId: id, next })
}
