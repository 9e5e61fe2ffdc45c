// The OAuth applications of a user.

import type { FastifyReply } from 'fastify'
import { combineScopes, scopeNames } from '#features/basics/access/scopes.ts'
import { imageUrl } from '#features/basics/images/hosted-image.ts'
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
import { fields } from '#web/kit/forms/fields.ts'
import { type FormState, formPage, type Outcome, stateOf } from '#web/kit/forms/form-page.ts'
import type { OwnRequest, Pages } from '#web/kit/pages.ts'
import { PATHS } from '#web/kit/paths.ts'
import { timeAgo } from '#web/ui/format.ts'
import { html, type Part } from '#web/ui/html.ts'
import { icon, pathTo } from '#web/ui/page-context.ts'
import { buttonForm, checkbox, form, textArea } from '#web/ui/parts/fields.ts'
import { face } from '#web/ui/parts/lists.ts'
import { showSettings } from '../account-layout.ts'
import { pictureCommands, pictureSection } from '../settings/settings-views.ts'
import { reservedScopes, scopeChoice, scopesOf } from './scope-groups.ts'
import { secretView } from './tokens.ts'

const TEXTS = {
  name: { label: 'field.name', autocomplete: 'off' },
  description: { label: 'application.description', isOptional: true },
  url: { label: 'application.website', said: 'The website', type: 'url', placeholder: 'https://', isOptional: true },
} as const
const NEW = fields(NewApplication, TEXTS)
const CHANGED = fields(ApplicationPatch, TEXTS)
const labels = { ...NEW.said, redirect_uris: 'Each redirect URL', max_scopes: 'The choice' }

export function applicationPages(pages: Pages): void {
  pages.own('GET', PATHS.applications, 'showApplications', showApplications, { api: 'listUserApplications' })
  formPage<undefined>(pages, {
    path: `${PATHS.applications}/new`,
    name: 'showNewApplication',
    api: 'createApplication',
    load: async () => undefined,
    show: showForm,
    commands: { create },
    labels,
  })
  formPage<Application>(pages, {
    path: `${PATHS.applications}/:id`,
    name: 'showApplication',
    api: 'getApplication updateApplication deleteApplication rotateApplicationSecret setApplicationIcon deleteApplicationIcon',
    load: getOwn,
    show: showForm,
    commands: { save, ...pictureCommands(applicationIconOwner), secret: renewSecret, delete: remove },
    labels,
  })
}

async function create(request: OwnRequest, _: undefined, form: FormState): Promise<Outcome> {
  const public_client = form.text('public_client') !== ''
  const values = NEW.read(form, { ...listsOf(form), public_client })
  const { id, secret } = await createApplication(request.deps, request.viewer, values)
  return secret === null
    ? { path: `${PATHS.applications}/${id}`, done: 'application-saved' }
    : showSecret(request, { id, name: values.name, secret })
}

/** Leaves fields unchanged that the form does not show, or that were empty and still are. */
async function save({ deps, viewer }: OwnRequest, application: Application, form: FormState): Promise<Outcome> {
  const { redirect_uris, max_scopes } = listsOf(form)
  if (redirect_uris.length === 0 && application.redirect_uris.length > 0)
    throw validationError('redirect_uris', 'The application needs at least one redirect URL')
  const patch = CHANGED.read(form, {
    max_scopes: combineScopes(max_scopes, reservedScopes(application.max_scopes)),
    ...(redirect_uris.length === 0 ? {} : { redirect_uris }),
  })
  await updateApplication(deps, viewer, { id: application.id, patch })
  return { done: 'application-saved' }
}

async function renewSecret(request: OwnRequest, { id, name }: Application): Promise<Outcome> {
  return showSecret(request, { id, name, secret: await rotateSecret(request.deps, request.viewer, id) })
}

async function remove({ deps, viewer }: OwnRequest, { id }: Application): Promise<Outcome> {
  await deleteApplication(deps, viewer, id)
  return { path: PATHS.applications, done: 'application-deleted' }
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

const listsOf = (form: FormState) => ({
  redirect_uris: form
    .text('redirect_uris')
    .split(/\s+/)
    .filter((uri) => uri !== ''),
  max_scopes: scopesOf(form.list('scope')),
})

/** Shows the form of an application; without one, the form for a new application. */
function showForm(request: OwnRequest, application: Application | undefined, sent: FormState): FastifyReply {
  const { page, t } = request
  const { refusal, errors } = sent
  const state = stateOf(sent, [''])
  const action = `${pathTo(page, PATHS.applications)}/${application?.id ?? 'new'}`
  const publicClient = checkbox({
    name: 'public_client',
    value: 'yes',
    isChecked: state.text('public_client') !== '',
    label: t('application.public'),
    hint: t('application.public.hint'),
  })
  const uris = application?.redirect_uris.map(({ uri }) => uri).join('\n')
  const chosen = state.list('scope', scopeNames(application?.max_scopes ?? 0))
  const content = html`${NEW.controls(page, state, application)}
${textArea(page, { name: 'redirect_uris', label: t('application.redirects'), hint: t('application.redirects.hint'), value: state.text('redirect_uris', uris), isCode: true, isOptional: true, errors })}
${scopeChoice(page, { name: 'max_scopes', legend: t('application.scopes'), chosen, errors })}
${application === undefined && publicClient}
<div><button class="main">${application === undefined ? t('application.make') : t('save')}</button></div>`
  const body = html`<section class="section">
${application !== undefined && html`<p>${t('client-id')} <code>${application.id}</code></p>`}
${form(page, { action, content })}
</section>
${application !== undefined && actionsOf(request, application, { refusal, action })}`
  return showSettings(request, { title: application?.name ?? t('applications.new'), body, refusal })
}

function actionsOf(
  { deps, page, t }: OwnRequest,
  { name, icon_url, secret_hash }: Application,
  of: Pick<FormState, 'refusal'> & { action: string },
): Part {
  const { action } = of
  const url = imageUrl(deps.config, icon_url)
  return [
    pictureSection(page, { ...of, url, name, isSquare: true, limit: 'at-most' }),
    secret_hash !== null &&
      html`<section class="section"><h2>${t('secret.client-secret')}</h2>
<p class="soft">${t('application.secret.text')}</p>
${buttonForm(page, { action, text: t('application.secret.new'), fields: { do: 'secret' } })}
</section>`,
    html`<section class="section"><h2>${t('application.delete')}</h2>
<p class="soft">${t('application.delete.text')}</p>
${buttonForm(page, { action, text: t('application.delete.button'), kind: 'danger', fields: { do: 'delete' } })}
</section>`,
  ]
}

function showSecret(request: OwnRequest, { id, name, secret }: { id: string; name: string; secret: string }) {
  const next = `${PATHS.applications}/${id}`
  const { page } = request
  const body = secretView(page, { what: 'client-secret', name, secret, clientId: id, next })
  return showSettings(request, { title: page.language.t('secret.client-secret.title'), body })
}
