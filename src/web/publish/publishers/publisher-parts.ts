// Trusted publishers in the settings of projects and organizations: the list, the form of a new one, and their commands.

import { addPublisher } from '#features/community/trusted-publishers/add-publisher.ts'
import type { PublisherOverview } from '#features/community/trusted-publishers/publisher-overview.ts'
import type { OwnerName } from '#features/community/trusted-publishers/publisher-owner.ts'
import type { PublisherFacts } from '#features/community/trusted-publishers/queries.ts'
import { removePublisher } from '#features/community/trusted-publishers/remove-publisher.ts'
import { NewPublisher } from '#features/community/trusted-publishers/requests.ts'
import { createConfirmOwner } from '#features/people/accounts/credentials/confirm-owner.ts'
import { parseId } from '#lib/ids.ts'
import { proofPart } from '#web/account/settings/settings-views.ts'
import { fields } from '#web/kit/forms/fields.ts'
import type { FormState, Outcome } from '#web/kit/forms/form-page.ts'
import type { OwnRequest } from '#web/kit/pages.ts'
import { timeAgo } from '#web/ui/format.ts'
import { html, type Markup, type Part } from '#web/ui/html.ts'
import { type PageContext, pathTo } from '#web/ui/page-context.ts'
import { formPart } from '#web/ui/parts/actions.ts'
import { buttonForm, selectField } from '#web/ui/parts/fields.ts'
import { sheetPart } from '#web/ui/parts/frame.ts'
import { note } from '#web/ui/parts/lists.ts'

const NAME = { autocomplete: 'off', isName: true } as const
const FIELDS = fields(NewPublisher, {
  repository: { ...NAME, label: 'publishers.repository', hint: 'publishers.repository.hint' },
  workflow: { ...NAME, label: 'publishers.workflow', hint: 'publishers.workflow.hint' },
  environment: { ...NAME, label: 'publishers.environment', hint: 'publishers.environment.hint', isOptional: true },
  ref_pattern: {
    ...NAME,
    label: 'publishers.ref_pattern',
    said: 'The branch or tag',
    hint: 'publishers.ref_pattern.hint',
    isOptional: true,
  },
})

/** Names of the fields in error messages. */
export const PUBLISHER_LABELS = {
  ...FIELDS.said,
  issuer: 'The build service',
  password: 'The password',
  code: 'The code',
}

export async function addFrom(request: OwnRequest, owner: OwnerName, state: FormState): Promise<Outcome> {
  const { deps, viewer, accounts } = request
  const [password, code] = [state.text('password'), state.text('code').trim()]
  const body = FIELDS.read(state, {
    issuer: state.text('issuer'),
    ...(password.trim() === '' ? {} : { password }),
    ...(code === '' ? {} : { code }),
  })
  await addPublisher({ ...deps, confirmOwner: createConfirmOwner(accounts) }, viewer, { ...owner, body })
  return { done: 'publisher-added' }
}

export async function removeFrom({ deps, viewer }: OwnRequest, owner: OwnerName, state: FormState): Promise<Outcome> {
  await removePublisher(deps, viewer, { ...owner, id: parseId(state.argument, 'id') })
  return { done: 'publisher-removed' }
}

type Shown = { overview: PublisherOverview; name: string; path: string; isEditable: boolean }

/** Shows the publishers, and for members who can change them the form of a new one. */
export async function publisherParts(request: OwnRequest, state: FormState, of: Shown): Promise<Part> {
  const { page, t } = request
  const { overview, isEditable } = of
  const list =
    overview.publishers.length === 0
      ? html`<p class="soft">${t('publishers.none')}</p>`
      : html`<ul class="items">${overview.publishers.map((row) => publisherItem(page, row, of))}</ul>`
  return [
    overview.isBlocked && note(page, 'warn', html`<p>${t('publishers.blocked')}</p>`),
    sheetPart({ id: 'publishers', content: list }),
    isEditable && overview.issuers.length > 0 && (await newPublisher(request, state, of)),
  ]
}

function publisherItem(page: PageContext, row: PublisherFacts, { overview, path, isEditable }: Shown): Markup {
  const { language, now } = page
  const { t, rich } = language
  const service = overview.issuers.find(({ issuer }) => issuer === row.issuer)?.name ?? row.issuer
  const used =
    row.last_used === null ? t('never-used') : rich('last-used', { at: timeAgo(language, row.last_used, now) })
  const conditions = [row.environment, row.ref_pattern].filter((text) => text !== null)
  return html`<li class="row"><div class="grow">
<h3><bdi>${row.repository}</bdi></h3>
<p class="hint">${service}, <code>${row.workflow}</code>${conditions.map((text) => html`, <code>${text}</code>`)}. ${used}</p>
${!row.works && html`<p class="hint">${t('publishers.stopped')}</p>`}
${row.works && row.proven === null && html`<p class="hint">${t('publishers.unproven')}</p>`}
</div>
${isEditable && buttonForm(page, { action: pathTo(page, path), text: t('publishers.remove'), kind: 'danger', isTight: true, label: t('publishers.remove.named', { name: row.repository }), fields: { do: `remove.${row.id}` } })}
</li>`
}

async function newPublisher(request: OwnRequest, state: FormState, { overview, name, path }: Shown): Promise<Markup> {
  const { page } = request
  const { t } = page.language
  const proof = await proofPart(request, state, t('publishers.password.hint'))
  const choices = overview.issuers.map(({ issuer, name: label }) => ({
    value: issuer,
    label,
    isChosen: issuer === state.text('issuer'),
  }))
  const content = html`${selectField(page, { name: 'issuer', label: t('publishers.issuer'), choices, errors: state.errors })}
${FIELDS.controls(page, state)}
${proof}
<div class="line"><button class="main" name="do" value="add">${t('publishers.add')}</button></div>`
  const of = { id: 'new-publisher', title: t('publishers.new'), text: t('publishers.may', { name }) }
  return formPart(page, { ...of, path, content })
}
