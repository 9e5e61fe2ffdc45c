// Backup codes: new ones, which the user copies or prints, and the number of unused ones.
import type { FastifyReply } from 'fastify'
import { hasSecondFactor } from '#features/basics/access/accounts.ts'
import { countBackupCodes } from '#features/people/accounts/two-factor/codes.ts'
import { renewBackupCodes } from '#features/people/accounts/two-factor/switch-two-factor.ts'
import type { Outcome } from '#web/kit/forms/form-page.ts'
import type { OwnRequest } from '#web/kit/pages.ts'
import { PATHS } from '#web/kit/paths.ts'
import { html, type Part } from '#web/ui/html.ts'
import type { MessageKey } from '#web/ui/languages.ts'
import { assetHref, pathTo } from '#web/ui/page-context.ts'
import { form } from '#web/ui/parts/fields.ts'
import { note } from '#web/ui/parts/lists.ts'
import { showSettings } from '../account-layout.ts'

/** Below this number, the page recommends new codes. */
const FEW = 3

export const BACKUP_CODES = {
  'renew-codes': async (request: OwnRequest): Promise<Outcome> => {
    const codes = await renewBackupCodes(request.accounts, request.viewer, {})
    return showBackupCodes(request, codes, 'backup-codes.renewed')
  },
}

/** Shows new codes in the response to a form, which is not stored, with buttons that copy and print them. */
export function showBackupCodes(request: OwnRequest, codes: readonly string[], done: MessageKey): FastifyReply {
  const { page, account, t } = request
  const body = html`<link rel="stylesheet" href="${assetHref(page, 'codes.css')}"><section class="section">
${note(page, 'good', html`<p>${t(done)}</p>`, { role: 'status' })}
<p>${t('backup-codes.text')}</p>
<p class="strong">${t('backup-codes.owner', { username: account.username, site: page.site.name })}</p>
<ul class="codes mono" id="codes" data-text="${codes.join('\n')}">${codes.map((code) => html`<li>${code}</li>`)}</ul>
<div class="row acts" data-script="${assetHref(page, 'account.js')}"><a class="button main" href="${pathTo(page, PATHS.security)}">${t('backup-codes.kept')}</a><button type="button" data-copy="codes" data-done="${t('copied')}" hidden>${t('copy')}</button><button type="button" data-print hidden>${t('backup-codes.print')}</button></div>
</section>`
  return showSettings(request, { title: t('backup-codes'), body })
}

/** Renders the number of unused codes with the button for new ones; nothing without two-factor sign-in. */
export async function backupCodesPart({ deps, account, page, t }: OwnRequest): Promise<Part> {
  if (!hasSecondFactor(account)) return null
  const count = await countBackupCodes(deps.db, account.id)
  const content = html`<div><button name="do" value="renew-codes">${t('backup-codes.renew')}</button></div>`
  const left = html`<p>${t('backup-codes.left', { count })}</p>`
  return html`<h3>${t('backup-codes')}</h3>
${count < FEW ? note(page, 'warn', left) : left}
<p class="soft">${t('backup-codes.renew.text')}</p>
${form(page, { action: pathTo(page, PATHS.security), content })}`
}
