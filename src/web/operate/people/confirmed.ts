// Decisions about another account: a page states the consequences and asks for the password of the operator.

import type { FastifyReply } from 'fastify'
import type { ConfirmOwner } from '#features/basics/access/confirm-owner.ts'
import { type AccountFigures, listAccountFigures } from '#features/people/accounts/administration/queries.ts'
import { createConfirmOwner } from '#features/people/accounts/credentials/confirm-owner.ts'
import { type AccountRow, getAccountByName } from '#features/people/users/queries.ts'
import { proofOf } from '#web/account/settings/settings-views.ts'
import { showConfirmation } from '#web/kit/forms/confirm.ts'
import { type FormState, formPage, type Outcome } from '#web/kit/forms/form-page.ts'
import type { OwnRequest, PageOptions, Pages } from '#web/kit/pages.ts'
import { PATHS } from '#web/kit/paths.ts'
import type { Part } from '#web/ui/html.ts'
import { errorSummary } from '#web/ui/parts/fields.ts'
import { accountPath } from './accounts.ts'

export type ManagedAccount = { account: AccountRow; figures: AccountFigures }

const NOTHING: AccountFigures = { sessions: 0, tokens: 0, projects: 0, publicProjects: 0, seen: null }

/** Loads the account that the path names. @throws ApiError 404 */
export async function loadAccount({ deps, param }: OwnRequest): Promise<ManagedAccount> {
  const account = await getAccountByName(deps.db, param('id'), { withLeaving: true })
  const figures = await listAccountFigures(deps.db, [account.id], new Date(deps.now()))
  return { account, figures: figures.get(account.id) ?? NOTHING }
}

export const confirmOwnerOf = ({ accounts }: OwnRequest): ConfirmOwner => createConfirmOwner(accounts)

/** Confirms the operator by the fields of the form, as the routes of the API do. */
export async function confirmOperator(request: OwnRequest, form: FormState): Promise<void> {
  await confirmOwnerOf(request)(
    request.viewer,
    proofOf((name) => form.text(name)),
  )
}

type Decision = Pick<PageOptions, 'shows' | 'api'> & {
  /** Last part of the path. */
  path: string
  name: string
  title(request: OwnRequest, data: ManagedAccount): string
  button(request: OwnRequest, data: ManagedAccount): string
  consequences(request: OwnRequest, data: ManagedAccount, form: FormState): readonly Part[]
  fields?(request: OwnRequest, data: ManagedAccount, form: FormState): Part
  decide(request: OwnRequest, data: ManagedAccount, form: FormState): Promise<Outcome>
  labels?: Readonly<Record<string, string>>
  isDanger?: boolean
}

/** Registers the confirmation page of a decision about an account. */
export function decisionPage(pages: Pages, of: Decision): void {
  formPage(pages, {
    path: `${PATHS.operatorUser}/:id/${of.path}`,
    name: of.name,
    shows: of.shows,
    api: of.api,
    options: { role: 'admin' },
    load: loadAccount,
    show: (request, data, form) => showDecision(request, data, { form, of }),
    commands: { confirm: of.decide },
    labels: { password: 'The password', code: 'The code', ...of.labels },
  })
}

function showDecision(
  request: OwnRequest,
  data: ManagedAccount,
  { form, of }: { form: FormState; of: Decision },
): FastifyReply {
  const back = accountPath(data.account.id)
  const question = {
    title: of.title(request, data),
    consequences: of.consequences(request, data, form),
    path: `${back}/${of.path}`,
    button: of.button(request, data),
    cancel: back,
    isDanger: of.isDanger ?? true,
    password: { hasCode: request.account.totp_secret !== null },
    fields: [errorSummary(request.page, form.errors), of.fields?.(request, data, form)],
  }
  return showConfirmation(request, question, form)
}
