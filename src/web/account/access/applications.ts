// The OAuth applications of a user.

import type { FastifyReply } from 'fastify'
import { combineScopes, scopeNames } from '#features/basics/access/scopes.ts'
import { imageUrl } from '#features/basics/images/hosted-image.ts'
import { replaceIcon, setIcon } from '#features/basics/images/icons.ts'
import { createApplication } from '#features/people/oauth/applications/create-application.ts'
import { applicationIconOwner } from '#features/people/oauth/applications/icon.ts'
import { requireOwnApplication } from '#features/people/oauth/applications/policy.ts'
import { type Application, getApplication, listApplicationsOf } from '#features/people/oauth/applications/queries.ts'
import { ApplicationPatch, NewApplication } from '#features/people/oauth/applications/requests.ts'
import {
  deleteApplication,
  rotateSecret,
  updateApplication,
} from '#features/people/oauth/applications/update-application.ts'
import { validationError } from '#lib/errors.ts'
import { parseId } from '#lib/ids.ts'
import { limitsOf } from '#web/kit/forms/fields.ts'
import { attempt, checkValues, errorsOf, type FormRefusal, uploadedImage } from '#web/kit/forms/read-form.ts'
import type { OwnRequest, Pages } from '#web/kit/pages.ts'
import { PATHS } from '#web/kit/paths.ts'
import { requireToken } from '#web/kit/safety.ts'
import { timeAgo } from '#web/ui/format.ts'
import { html, type Part } from '#web/ui/html.ts'
import { icon, type PageContext, pathTo } from '#web/ui/page-context.ts'
import { buttonForm, checkbox, form, textArea, textField } from '#web/ui/parts/fields.ts'
import { face } from '#web/ui/parts/lists.ts'
import { showSettings } from '../account-layout.ts'
import { pictureSection } from '../settings/settings-views.ts'
import { reservedScopes, scopeChoice, scopesOf } from './scope-groups.ts'
import { secretView } from './tokens.ts'

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
  pages.own('GET', PATHS.applications, 'showApplications', showApplications, { api: 'listUserApplications' })
  pages.own('GET', `${PATHS.applications}/new`, 'showNewApplication', async (request) => showForm(request, EMPTY), {
    api: 'createApplication',
  })
  pages.own('POST', `${PATHS.applications}/new`, 'makeApplication', async (request) => {
    const typed = readForm(request)
    const { value: created, refusal } = await attempt(() => {
      const fields = checkValues(NewApplication, { ...toFields(typed), public_client: typed.isPublic })
      return createApplication(request.deps, request.viewer, fields)
    }, LABELS)
    if (refusal !== undefined) return showForm(request, { ...typed, refusal })
    if (created.secret === null) return request.redirect(`${PATHS.applications}/${created.id}`, 'application-saved')
    return showSecret(request, { id: created.id, name: typed.name, secret: created.secret })
  })
  pages.own(
    'GET',
    `${PATHS.applications}/:id`,
    'showApplication',
    async (request) => {
      const application = await getOwn(request)
      return showForm(request, toTyped(application), application)
    },
    {
      api: 'getApplication updateApplication deleteApplication rotateApplicationSecret setApplicationIcon deleteApplicationIcon',
    },
  )
  const change = async (request: OwnRequest): Promise<FastifyReply> => {
    const application = await getOwn(request)
    requireToken(request.req)
    const typed = { ...readForm(request), isPublic: application.secret_hash === null }
    const { refusal } = await attempt(() => {
      const patch = checkValues(ApplicationPatch, toPatch(typed, application))
      return updateApplication(request.deps, request.viewer, { id: application.id, patch })
    }, LABELS)
    if (refusal !== undefined) return showForm(request, { ...typed, refusal }, application)
    return request.redirect(`${PATHS.applications}/${application.id}`, 'application-saved')
  }
  pages.own('POST', `${PATHS.applications}/:id`, 'changeApplication', change, { checksToken: true })
  pages.own('POST', `${PATHS.applications}/:id/picture`, 'sendApplicationPicture', async (request) => {
    const application = await getOwn(request)
    const { deps, viewer, req } = request
    const { refusal } = await attempt(() =>
      setIcon(deps, applicationIconOwner(deps), { id: application.id, viewer, ...uploadedImage(req.body) }),
    )
    if (refusal !== undefined) return showForm(request, { ...toTyped(application), refusal }, application)
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

async function showApplications(request: OwnRequest): Promise<FastifyReply> {
  const { deps, viewer, page, t, rich } = request
  const path = pathTo(page, PATHS.applications)
  const items = (await listApplicationsOf(deps.db, viewer.id)).map(
    ({
      id,
      name,
      icon_url,
      created,
    }) => html`<li class="row">${face({ name, url: imageUrl(deps.config, icon_url), isSquare: true })}
<div class="grow"><h2><a href="${path}/${id}">${name}</a></h2>
<p class="hint">${rich('applications.facts', { id: html`<code>${id}</code>`, at: timeAgo(page.language, created, page.now) })}</p></div></li>`,
  )
  const body = html`<section class="section">
<p class="soft">${t('applications.text')}</p>
${items.length > 0 && html`<ul class="items">${items}</ul>`}
<p><a class="button main" href="${path}/new">${icon(page, 'plus')}${t('applications.new')}</a></p>
</section>`
  return showSettings(request, { title: t('settings.applications'), body })
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

/** Shows the form of an application; without one, the form for a new application. */
function showForm(request: OwnRequest, typed: Typed, application?: Application): FastifyReply {
  const { page, t } = request
  const action = `${pathTo(page, PATHS.applications)}/${application?.id ?? 'new'}`
  const errors = errorsOf(typed)
  const publicClient = checkbox({
    name: 'public_client',
    value: 'yes',
    isChecked: typed.isPublic,
    label: t('application.public'),
    hint: t('application.public.hint'),
  })
  const content = html`${textField(page, { name: 'name', label: t('field.name'), value: typed.name, ...limitsOf(NewApplication.properties.name), autocomplete: 'off', errors })}
${textField(page, { name: 'description', label: t('application.description'), value: typed.description, ...limitsOf(NewApplication.properties.description), isOptional: true, errors })}
${textField(page, { type: 'url', name: 'url', label: t('application.website'), value: typed.url, ...limitsOf(NewApplication.properties.url), placeholder: 'https://', isOptional: true, errors })}
${textArea(page, { name: 'redirect_uris', label: t('application.redirects'), hint: t('application.redirects.hint'), value: typed.uris, isCode: true, isOptional: true, errors })}
${scopeChoice(page, { ...typed, name: 'max_scopes', legend: t('application.scopes') })}
${application === undefined && publicClient}
<div><button class="main">${application === undefined ? t('application.make') : t('save')}</button></div>`
  const body = html`<section class="section">
${application !== undefined && html`<p>${t('client-id')} <code>${application.id}</code></p>`}
${form(page, { action, content })}
</section>
${application !== undefined && applicationActions(page, typed, { name: application.name, url: imageUrl(request.deps.config, application.icon_url) }, action)}`
  return showSettings(request, { title: application?.name ?? t('applications.new'), body, refusal: typed.refusal })
}

function applicationActions(
  page: PageContext,
  typed: Typed,
  { name, url }: { name: string; url: string | null },
  action: string,
): Part {
  const { t } = page.language
  return [
    pictureSection(page, { ...typed, action: `${action}/picture`, url, name, isSquare: true, limit: 'at-most' }),
    !typed.isPublic &&
      html`<section class="section"><h2>${t('secret.client-secret')}</h2>
<p class="soft">${t('application.secret.text')}</p>
${buttonForm(page, { action: `${action}/secret`, text: t('application.secret.new') })}
</section>`,
    html`<section class="section"><h2>${t('application.delete')}</h2>
<p class="soft">${t('application.delete.text')}</p>
${buttonForm(page, { action: `${action}/delete`, text: t('application.delete.button'), kind: 'danger' })}
</section>`,
  ]
}

function showSecret(request: OwnRequest, { id, name, secret }: { id: string; name: string; secret: string }) {
  const next = `${PATHS.applications}/${id}`
  const { page } = request
  const body = secretView(page, { what: 'client-secret', name, secret, clientId: id, next })
  return showSettings(request, { title: page.language.t('secret.client-secret.title'), body })
}
