// Organization settings: service accounts and their tokens.

import type { FastifyReply } from 'fastify'
import { scopeBitsOf } from '#features/basics/access/scopes.ts'
import { actorOf } from '#features/basics/audit/actor.ts'
import { deleteAccountOf } from '#features/community/personal-data/delete-account.ts'
import { createServiceAccount } from '#features/community/service-accounts/create-service-account.ts'
import { issueServiceToken, tokenLimitsOf } from '#features/community/service-accounts/issue-service-token.ts'
import {
  getGrantableAccount,
  getServiceAccount,
  listServiceAccounts,
  type ServiceAccount,
} from '#features/community/service-accounts/queries.ts'
import { NewServiceAccount } from '#features/community/service-accounts/requests.ts'
import { checkAccessToken } from '#features/people/accounts/access-tokens/create-access-token.ts'
import type { AccessTokenRow } from '#features/people/accounts/access-tokens/queries.ts'
import { NewToken } from '#features/people/accounts/access-tokens/requests.ts'
import { deleteAccessToken } from '#features/people/accounts/access-tokens/update-access-token.ts'
import { createConfirmOwner } from '#features/people/accounts/credentials/confirm-owner.ts'
import { isConfirmed } from '#features/people/accounts/sessions/queries.ts'
import { validationError } from '#lib/errors.ts'
import { parseId } from '#lib/ids.ts'
import { DAY_MS } from '#lib/time.ts'
import { scopeChoice, scopesOf } from '#web/account/access/scope-groups.ts'
import { limitChoice, limitsLine, readLimits, tokenSentences } from '#web/account/access/token-limits.ts'
import { secretView } from '#web/account/access/tokens.ts'
import { proofFields, proofOf } from '#web/account/settings/settings-views.ts'
import { limitsOf } from '#web/kit/forms/fields.ts'
import type { FormState, Outcome } from '#web/kit/forms/form-page.ts'
import { attempt, errorsOf, type FormRefusal } from '#web/kit/forms/read-form.ts'
import type { OwnRequest, Pages } from '#web/kit/pages.ts'
import { timeAgo } from '#web/ui/format.ts'
import { html, type Markup, type Part } from '#web/ui/html.ts'
import { pathTo } from '#web/ui/page-context.ts'
import { formPart } from '#web/ui/parts/actions.ts'
import { buttonForm, form, hiddenField, selectField, textField } from '#web/ui/parts/fields.ts'
import { sheetPart } from '#web/ui/parts/frame.ts'
import { badge } from '#web/ui/parts/lists.ts'
import { loadManagedOrganization, type ManagedOrganization, may } from './managed-organization.ts'
import { organizationFormOf, showOrganizationSettings } from './settings-frame.ts'

type ServiceOrganization = ManagedOrganization & { accounts: ServiceAccount[]; isManager: boolean }

const LABELS = {
  username: 'The username',
  name: 'The name',
  scopes: 'The choice',
  expires: 'The expiry',
  password: 'The password',
  code: 'The code',
}
/** Lifetimes that the form offers, in days. */
const LIFETIMES = [30, 90, 365]
const DEFAULT_SCOPES = ['VERSION_CREATE', 'VERSION_READ', 'VERSION_WRITE']
/** The scopes that tokens of service accounts can use: the others belong to persons. */
const OFFERED_SCOPES = scopeBitsOf([
  ...(['PROJECT_CREATE', 'PROJECT_READ', 'PROJECT_WRITE', 'PROJECT_DELETE', 'ANALYTICS'] as const),
  ...(['VERSION_CREATE', 'VERSION_READ', 'VERSION_WRITE', 'VERSION_DELETE'] as const),
  ...(['ORGANIZATION_READ', 'ORGANIZATION_WRITE', 'USER_READ'] as const),
])

export function serviceAccountPages(pages: Pages): void {
  organizationFormOf<ServiceOrganization>(pages, {
    below: '/service-accounts',
    name: 'manageServiceAccounts',
    api: 'listServiceAccounts createServiceAccount deleteServiceAccount createServiceToken deleteServiceToken',
    load: async (request) => {
      const data = await loadManagedOrganization(request)
      const isManager = may(data, 'MANAGE_INVITES') && may(data, 'EDIT_MEMBER')
      const accounts = isManager ? await listServiceAccounts(request.deps.db, data.organization.id) : []
      return { ...data, accounts, isManager }
    },
    show: showServiceAccounts,
    commands: { add, remove, token, revoke },
    labels: LABELS,
  })
}

async function add({ deps, viewer }: OwnRequest, { organization }: ServiceOrganization, state: FormState) {
  const username = state.text('username').trim()
  await createServiceAccount(deps, viewer, { organization: organization.id, username })
  return { done: 'service-account-added' } as const
}

async function remove({ deps, viewer }: OwnRequest, { organization }: ServiceOrganization, state: FormState) {
  const names = { organization: organization.id, account: parseId(state.argument, 'id') }
  const { account } = await getServiceAccount(deps.db, viewer, names)
  await deleteAccountOf(deps, account, actorOf(viewer))
  return { done: 'service-account-removed' } as const
}

async function revoke({ deps, viewer }: OwnRequest, { organization }: ServiceOrganization, state: FormState) {
  const [accountId = '', tokenId = ''] = state.argument.split('.')
  const names = { organization: organization.id, account: parseId(accountId, 'id') }
  const { account } = await getServiceAccount(deps.db, viewer, names)
  const reference = { id: parseId(tokenId, 'id') }
  await deleteAccessToken(deps, { accountId: account.id, token: reference, actor: actorOf(viewer) })
  return { done: 'token-revoked' } as const
}

/** The first request shows what the token can do; the second, from that page, creates it. */
async function token(request: OwnRequest, data: ServiceOrganization, state: FormState): Promise<Outcome> {
  const { deps, accounts, viewer, page, t } = request
  const account = data.accounts.find(({ id }) => id === state.text('account'))
  if (account === undefined) throw validationError('account', 'must be one of the service accounts')
  const days = Number(state.text('days'))
  const chosen = [...state.list('scope')]
  const fields = {
    name: state.text('name'),
    scopes: scopesOf(chosen),
    expires: new Date(deps.now() + (LIFETIMES.includes(days) ? days : Number.NaN) * DAY_MS),
    limits: tokenLimitsOf(data.organization, readLimits({ resources: [], networks: state.text('networks') })),
  }
  let refusal: FormRefusal | undefined
  if (state.text('reviewed') === 'yes') {
    const names = { organization: data.organization.id, account: account.id }
    const proof = proofOf((name) => state.text(name))
    const issuing = { ...deps, confirmOwner: createConfirmOwner(accounts) }
    const issued = await attempt(() => issueServiceToken(issuing, viewer, { ...names, ...fields, proof }), LABELS)
    if (issued.value !== undefined) {
      const { row, token: secret } = issued.value
      const next = `${data.settings}/service-accounts`
      const body = secretView(page, { what: 'token', name: row.name, secret, next })
      return showPart(request, data, { heading: t('secret.token.title'), body })
    }
    refusal = issued.refusal
  }
  await getGrantableAccount(deps.db, viewer, { organization: data.organization.id, account: account.id })
  await checkAccessToken(deps, { accountId: account.id, ...fields })
  const known = [{ kind: 'organization', id: data.organization.id, name: data.view.name }] as const
  const values = [
    ['account', account.id],
    ['name', fields.name],
    ['days', String(days)],
    ['networks', state.text('networks')],
    ['reviewed', 'yes'],
    ...chosen.map((name) => ['scope', name]),
  ] as [string, string][]
  const path = pathTo(page, `${data.settings}/service-accounts`)
  const needsProof = !(await isConfirmed(deps.db, viewer, deps.now()))
  const content = html`${values.map(([name, value]) => hiddenField(name, value))}
${tokenSentences(page, { ...fields, known })}
${needsProof && proofFields(page, { account: request.account, refusal })}
<div class="line"><button class="main" name="do" value="token">${t('tokens.make')}</button> <a href="${path}">${t('work.cancel')}</a></div>`
  const body = sheetPart({
    id: 'review',
    title: `${fields.name}, ${account.username}`,
    content: form(page, { action: path, className: 'stack', content }),
  })
  const refused = { ...state, refusal, errors: errorsOf({ refusal }) }
  return showPart(request, data, { heading: t('tokens.review.title'), body, form: refused })
}

function showPart(
  request: OwnRequest,
  data: ServiceOrganization,
  of: { heading: string; body: Part; form?: FormState },
): Promise<FastifyReply> {
  return showOrganizationSettings(request, data, { section: '/service-accounts', ...of })
}

function showServiceAccounts(request: OwnRequest, data: ServiceOrganization, state: FormState): Promise<FastifyReply> {
  const { t } = request
  return showOrganizationSettings(request, data, {
    section: '/service-accounts',
    heading: t('organizations.services.title'),
    text: t('organizations.services.text'),
    needs: may(data, 'MANAGE_INVITES') ? 'EDIT_MEMBER' : 'MANAGE_INVITES',
    form: state,
    body:
      data.isManager || state.isSubmitted
        ? html`${list(request, data)}${newAccount(request, data, state)}${data.accounts.length > 0 && newToken(request, data, state)}`
        : '',
  })
}

function list(request: OwnRequest, { accounts, settings }: ServiceOrganization): Part {
  const { page, t } = request
  const action = pathTo(page, `${settings}/service-accounts`)
  const items = accounts.map(
    ({ id, username, tokens }) => html`<li class="stack"><div class="row"><div class="grow">
<h3><a href="${pathTo(page, `/user/${username}`)}"><bdi>${username}</bdi></a> ${badge('good', t('organizations.services.badge'))}</h3>
<p class="hint">${t('organizations.services.tokens', { count: tokens.length })}</p></div>
${buttonForm(page, { action, text: t('organizations.services.remove'), kind: 'danger', isTight: true, label: t('organizations.services.remove.named', { name: username }), fields: { do: `remove.${id}` } })}</div>
${tokens.length > 0 && html`<ul class="items">${tokens.map((row) => tokenItem(request, row, `revoke.${id}.${row.id}`, action))}</ul>`}</li>`,
  )
  const content =
    items.length === 0
      ? html`<p class="soft">${t('organizations.services.none')}</p>`
      : html`<ul class="items">${items}</ul>`
  return sheetPart({ id: 'service-accounts', content })
}

function tokenItem({ page }: OwnRequest, row: AccessTokenRow, command: string, action: string): Markup {
  const { language, now } = page
  const { t, rich } = language
  const used =
    row.last_used === null ? t('never-used') : rich('last-used', { at: timeAgo(language, row.last_used, now) })
  return html`<li class="row"><div class="grow"><h4>${row.name} ${row.expires.getTime() <= now && badge('warn', t('tokens.expired'))}</h4>
<p class="hint">${rich('tokens.expires', { at: timeAgo(language, row.expires, now) })} ${used}</p>
${limitsLine(page, row)}</div>
${buttonForm(page, { action, text: t('revoke'), kind: 'danger', isTight: true, label: t('revoke.named', { name: row.name }), fields: { do: command } })}</li>`
}

function newAccount({ page }: OwnRequest, { settings }: ServiceOrganization, state: FormState): Part {
  const { t } = page.language
  const content = html`${textField(page, { name: 'username', label: t('organizations.services.username'), hint: t('organizations.services.username.hint'), value: state.text('username'), ...limitsOf(NewServiceAccount.properties.username), autocomplete: 'off', isName: true, errors: state.errors })}
<div class="line"><button class="main" name="do" value="add">${t('organizations.services.add')}</button></div>`
  return formPart(page, {
    id: 'new-service-account',
    title: t('organizations.services.new'),
    text: t('organizations.services.may'),
    path: `${settings}/service-accounts`,
    content,
  })
}

function newToken({ page }: OwnRequest, { accounts, settings }: ServiceOrganization, state: FormState): Part {
  const { t } = page.language
  const { errors } = state
  const choices = accounts.map(({ id, username }) => ({
    value: id,
    label: username,
    isChosen: id === state.text('account'),
  }))
  const lifetimes = LIFETIMES.map((days) => ({
    value: String(days),
    label: t('tokens.days', { days }),
    isChosen: String(days) === state.text('days', '90'),
  }))
  const limits = { resources: [], networks: state.text('networks'), known: [] }
  const content = html`${selectField(page, { name: 'account', label: t('organizations.services.account'), choices, errors })}
${textField(page, { name: 'name', label: t('field.name'), hint: t('tokens.name.hint'), value: state.text('name'), ...limitsOf(NewToken.properties.name), autocomplete: 'off', errors })}
${selectField(page, { name: 'days', label: t('tokens.lifetime'), choices: lifetimes, errors })}
${scopeChoice(page, { chosen: [...state.list('scope', DEFAULT_SCOPES)], name: 'scopes', legend: t('tokens.may'), offered: OFFERED_SCOPES, errors: state.errors })}
${limitChoice(page, { ...limits, errors: state.errors })}
<div class="line"><button class="main" name="do" value="token">${t('tokens.review')}</button></div>`
  const of = { id: 'new-token', title: t('tokens.new'), text: t('organizations.services.token.text') }
  return formPart(page, { ...of, path: `${settings}/service-accounts`, content })
}
