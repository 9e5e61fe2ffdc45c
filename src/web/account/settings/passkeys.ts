// The passkeys of an account: list, add, rename and delete.
import type { FastifyReply } from 'fastify'
import Type from 'typebox'
import { hasSecondFactor } from '#features/basics/access/accounts.ts'
import { addPasskey, startPasskey } from '#features/people/accounts/passkeys/add-passkey.ts'
import { hasPasskeys } from '#features/people/accounts/passkeys/ceremonies.ts'
import { deletePasskey } from '#features/people/accounts/passkeys/delete-passkey.ts'
import { listPasskeys, PASSKEYS_MAX, type PasskeyRow } from '#features/people/accounts/passkeys/queries.ts'
import { renamePasskey } from '#features/people/accounts/passkeys/rename-passkey.ts'
import { PASSKEY_NAME_MAX, PasskeyName, parsePasskey } from '#features/people/accounts/passkeys/requests.ts'
import { describeUserAgent } from '#features/people/accounts/sessions/user-agent.ts'
import type { FormState, Outcome } from '#web/kit/forms/form-page.ts'
import { checkValues, errorsOf, type FormRefusal } from '#web/kit/forms/read-form.ts'
import type { OwnRequest } from '#web/kit/pages.ts'
import { PATHS } from '#web/kit/paths.ts'
import { timeAgo } from '#web/ui/format.ts'
import { html, type Markup, type Part } from '#web/ui/html.ts'
import { pathTo } from '#web/ui/page-context.ts'
import { form, hiddenField, textField } from '#web/ui/parts/fields.ts'
import { badge } from '#web/ui/parts/lists.ts'
import { createPasskeyButton } from '#web/ui/parts/passkey.ts'
import { showSettings } from '../account-layout.ts'
import { showBackupCodes } from './backup-codes.ts'

const Named = Type.Object({ name: PasskeyName })

/** The commands of passkeys. */
export const PASSKEYS = {
  'start-passkey': async (request: OwnRequest): Promise<Outcome> => showNewPasskey(request),
  'add-passkey': async (request: OwnRequest): Promise<Outcome> => {
    const { accounts, viewer, field } = request
    const { name } = checkValues(Named, { name: field('name') })
    const credential = parsePasskey('creation', field('passkey'))
    const { backupCodes } = await addPasskey(accounts, { viewer, name, credential, proof: {} })
    return backupCodes === null ? { done: 'passkey-added' } : showBackupCodes(request, backupCodes, 'passkeys.added')
  },
  'rename-passkey': async ({ accounts, viewer, field }: OwnRequest, _: unknown, form: FormState): Promise<Outcome> => {
    const { name } = checkValues(Named, { name: field('name') })
    await renamePasskey(accounts, viewer, { id: form.argument, name })
    return { done: 'passkey-renamed' }
  },
  'delete-passkey': async ({ accounts, viewer }: OwnRequest, _: unknown, form: FormState): Promise<Outcome> => {
    await deletePasskey(accounts, { viewer, id: form.argument, proof: {} })
    return { done: 'passkey-deleted' }
  },
}

/** Shows the form for a new passkey again after an error, with new options. */
export async function showRefusedPasskey(
  request: OwnRequest,
  { text, refusal }: FormState,
): Promise<FastifyReply | undefined> {
  if (refusal === undefined || text('do') !== 'add-passkey') return undefined
  return showNewPasskey(request, { name: text('name'), refusal })
}

/** Shows the options in the response to the form: they contain a challenge, which works once. */
async function showNewPasskey(
  request: OwnRequest,
  of: { name?: string; refusal?: FormRefusal } = {},
): Promise<FastifyReply> {
  const { accounts, account, page, viewer, req, t } = request
  const options = await startPasskey(accounts, viewer.id)
  const path = pathTo(page, PATHS.security)
  const { platform, os } = describeUserAgent(req.headers['user-agent'] ?? '')
  const device = platform && os ? t('sessions.program', { platform, os }) : t('passkeys.one')
  const content = html`${textField(page, { name: 'name', label: t('passkeys.name'), hint: t('passkeys.name.hint'), value: of.name ?? device, maxLength: PASSKEY_NAME_MAX, autocomplete: 'off', isName: true, errors: errorsOf(of) })}
${createPasskeyButton(page, { options, label: t('passkeys.create'), command: 'add-passkey' })}
<p><a href="${path}">${t('passkeys.cancel')}</a></p>`
  const body = html`<section class="section">
<p>${t('passkeys.new.text')}</p>
${!hasSecondFactor(account) && html`<p class="soft">${t('passkeys.new.second')}</p>`}
<noscript><p class="note warn">${t('passkeys.needs-scripts')}</p></noscript>
${form(page, { action: path, content })}
</section>`
  return showSettings(request, { title: t('passkeys.new'), body, refusal: of.refusal })
}

/** Renders the list of passkeys with the button for a new one; nothing if the site can have none. */
export async function passkeysSection(request: OwnRequest): Promise<Part> {
  const { deps, viewer, account, page, t } = request
  if (!hasPasskeys(deps.config)) return null
  const rows = account.passkey_count === 0 ? [] : await listPasskeys(deps.db, viewer.id)
  const start = html`<div><button name="do" value="start-passkey">${t('passkeys.add')}</button></div>`
  return html`<section class="section" id="passkeys"><h2>${t('passkeys')}</h2>
<p class="soft">${t('passkeys.text')}</p>
${rows.length > 0 && html`<ul class="items">${rows.map((row) => passkeyItem(request, row))}</ul>`}
${rows.length < PASSKEYS_MAX && form(page, { action: pathTo(page, PATHS.security), content: start })}
</section>`
}

function passkeyItem(
  { account, page, t, rich }: OwnRequest,
  { id, name, created, last_used, is_synced }: PasskeyRow,
): Markup {
  const { language, now } = page
  const facts =
    last_used === null
      ? rich('passkeys.facts.unused', { created: timeAgo(language, created, now) })
      : rich('passkeys.facts', { created: timeAgo(language, created, now), used: timeAgo(language, last_used, now) })
  const action = pathTo(page, PATHS.security)
  const rename = html`${textField(page, { id: `name-${id}`, name: 'name', label: t('passkeys.name'), value: name, maxLength: PASSKEY_NAME_MAX, autocomplete: 'off', isName: true })}
<div><button class="tight" name="do" value="rename-passkey.${id}">${t('passkeys.rename')}</button></div>`
  const isLastFactor = account.passkey_count === 1 && account.totp_secret === null
  const remove = html`${hiddenField('do', `delete-passkey.${id}`)}<p>${t(isLastFactor ? 'passkeys.delete.last' : 'passkeys.delete.text')}</p>
<div><button class="tight danger">${t('passkeys.delete.named', { name })}</button></div>`
  return html`<li class="row">
<div class="grow"><h3><bdi>${name}</bdi> ${is_synced && badge('good', t('passkeys.synced'))}</h3>
<p class="hint">${facts}</p>
<details><summary>${t('passkeys.rename.open')}</summary>${form(page, { action, content: rename })}</details>
<details><summary>${t('passkeys.delete')}</summary>${form(page, { action, content: remove })}</details></div>
</li>`
}
