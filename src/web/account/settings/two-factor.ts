// Turns two-factor sign-in on, in two steps, and off with a code.
import type { FastifyReply } from 'fastify'
import Type from 'typebox'
import { CodeField, FlowField } from '#features/people/accounts/requests.ts'
import {
  disableTwoFactor,
  enableTwoFactor,
  findTwoFactorSetUp,
  startTwoFactor,
  type TwoFactorSetUp,
} from '#features/people/accounts/two-factor/switch-two-factor.ts'
import { attempt, checkValues, type FormRefusal } from '#web/kit/forms/read-form.ts'
import type { OwnRequest, Pages } from '#web/kit/pages.ts'
import { PATHS } from '#web/kit/paths.ts'
import { html, type Markup } from '#web/ui/html.ts'
import { type PageContext, pathTo } from '#web/ui/page-context.ts'
import { form, hiddenField } from '#web/ui/parts/fields.ts'
import { note } from '#web/ui/parts/lists.ts'
import { showSettings } from '../account-layout.ts'
import { codeField } from '../sign-in/sign-in-views.ts'
import { qrCode } from './qr-code.ts'
import { showSecurity } from './security.ts'

const Confirmation = Type.Object({ flow: FlowField, code: CodeField })
const Removal = Type.Object({ code: CodeField })
const LABELS = { code: 'The code', password: 'The password' }

export function twoFactorPages(pages: Pages): void {
  const path = `${PATHS.security}/two-factor`
  pages.own('POST', `${path}/start`, 'startTwoFactorSetUp', async (request) => {
    const { value: setUp, refusal } = await attempt(() => startTwoFactor(request.accounts, request.viewer.id))
    return refusal === undefined ? showSetUp(request, setUp) : showSecurity(request, { refusal })
  })
  pages.own('POST', `${path}/enable`, 'finishTwoFactorSetUp', async (request) => {
    const { accounts, viewer, page, field } = request
    const [accountId, flow] = [viewer.id, field('flow')]
    const { value: codes, refusal } = await attempt(async () => {
      const values = checkValues(Confirmation, { flow, code: field('code') })
      return enableTwoFactor(accounts, { viewer, ...values })
    }, LABELS)
    if (refusal === undefined)
      return showSettings(request, { title: page.language.t('backup-codes'), body: backupCodesView(page, codes) })
    const setUp = await findTwoFactorSetUp(accounts, { accountId, flow })
    return setUp === undefined ? showSecurity(request, { refusal }) : showSetUp(request, setUp, refusal)
  })
  pages.own('POST', `${path}/disable`, 'turnTwoFactorOff', async (request) => {
    const { accounts, viewer, field, redirect } = request
    const { refusal } = await attempt(async () => {
      const { code } = checkValues(Removal, { code: field('code') })
      await disableTwoFactor(accounts, { viewer, code })
    }, LABELS)
    return refusal === undefined ? redirect(PATHS.security, 'two-factor-off') : showSecurity(request, { refusal })
  })
}

/** Shows the secret in the response to the form, which is not stored, and not at a URL. */
function showSetUp(request: OwnRequest, setUp: TwoFactorSetUp, refusal?: FormRefusal): FastifyReply {
  const { page, t, rich } = request
  const { side, path: darkPath } = qrCode(setUp.uri)
  const path = pathTo(page, PATHS.security)
  const content = html`${hiddenField('flow', setUp.flow)}
${codeField(page, t('two-factor.code'), { refusal })}
<div class="row"><button class="main">${t('two-factor.turn-on')}</button><a href="${path}">${t('two-factor.leave-off')}</a></div>`
  const link = (chunks: Parameters<typeof html>[1]) => html`<a href="${setUp.uri}">${chunks}</a>`
  const body = html`<section class="section">
<p>${t('two-factor.scan')}</p>
<div class="set-up">
<svg class="qr" role="img" aria-label="${t('two-factor.picture')}" viewBox="0 0 ${side} ${side}" shape-rendering="crispEdges"><path fill="#fff" d="M0 0h${side}v${side}H0z"/><path fill="#000" d="${darkPath}"/></svg>
<div class="stack">
<p>${rich('two-factor.by-hand', { link })}</p>
<div class="field">
<span class="strong" id="key-label">${t('two-factor.key')}</span>
<div class="with-button">
<output class="mono key" aria-labelledby="key-label" id="key" data-text="${setUp.secret}">${setUp.secret.match(/.{1,4}/g)?.join(' ')}</output>
<button type="button" data-copy="key" data-done="${t('copied')}" hidden>${t('copy')}</button>
</div>
<p class="hint">${t('two-factor.key.hint')}</p>
</div>
</div>
</div>
${form(page, { action: `${path}/two-factor/enable`, content })}
</section>`
  return showSettings(request, { title: t('two-factor'), body, refusal })
}

function backupCodesView(page: PageContext, codes: readonly string[]): Markup {
  const { t } = page.language
  return html`<section class="section">
${note(page, 'good', html`<p>${t('backup-codes.on')}</p>`, { role: 'status' })}
<p>${t('backup-codes.text')}</p>
<ul class="codes mono">${codes.map((code) => html`<li>${code}</li>`)}</ul>
<p><a class="button main" href="${pathTo(page, PATHS.security)}">${t('backup-codes.kept')}</a></p>
</section>`
}
