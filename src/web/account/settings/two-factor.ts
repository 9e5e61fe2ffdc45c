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
import type { FormState, Outcome } from '#web/kit/forms/form-page.ts'
import { checkValues, type FormRefusal } from '#web/kit/forms/read-form.ts'
import type { OwnRequest } from '#web/kit/pages.ts'
import { PATHS } from '#web/kit/paths.ts'
import { html } from '#web/ui/html.ts'
import { assetHref, pathTo } from '#web/ui/page-context.ts'
import { form, hiddenField } from '#web/ui/parts/fields.ts'
import { showSettings } from '../account-layout.ts'
import { codeField } from '../sign-in/sign-in-views.ts'
import { showBackupCodes } from './backup-codes.ts'
import { qrCode } from './qr-code.ts'

const Confirmation = Type.Object({ flow: FlowField, code: CodeField })
const Removal = Type.Object({ code: CodeField })

/** The commands of two-factor sign-in. */
export const TWO_FACTOR = {
  start: async (request: OwnRequest): Promise<Outcome> =>
    showSetUp(request, await startTwoFactor(request.accounts, request.viewer.id)),
  enable: async (request: OwnRequest): Promise<Outcome> => {
    const { accounts, viewer, field } = request
    const values = checkValues(Confirmation, { flow: field('flow'), code: field('code') })
    const codes = await enableTwoFactor(accounts, { viewer, ...values })
    return showBackupCodes(request, codes, 'backup-codes.on')
  },
  disable: async ({ accounts, viewer, field }: OwnRequest): Promise<Outcome> => {
    await disableTwoFactor(accounts, { viewer, ...checkValues(Removal, { code: field('code') }) })
    return { done: 'two-factor-off' }
  },
}

/** Shows the secret again after a wrong code, if the set-up has not expired. */
export async function showRefusedSetUp(
  request: OwnRequest,
  { text, refusal }: FormState,
): Promise<FastifyReply | undefined> {
  if (refusal === undefined || text('do') !== 'enable') return undefined
  const { accounts, viewer } = request
  const setUp = await findTwoFactorSetUp(accounts, { accountId: viewer.id, flow: text('flow') })
  return setUp && showSetUp(request, setUp, refusal)
}

/** Shows the secret in the response to the form, which is not stored, and not at a URL. */
function showSetUp(request: OwnRequest, setUp: TwoFactorSetUp, refusal?: FormRefusal): FastifyReply {
  const { page, t, rich } = request
  const { side, path: darkPath } = qrCode(setUp.uri)
  const path = pathTo(page, PATHS.security)
  const content = html`${hiddenField('flow', setUp.flow)}
${codeField(page, t('two-factor.code'), { refusal })}
<div class="row"><button class="main" name="do" value="enable">${t('two-factor.turn-on')}</button><a href="${path}">${t('two-factor.leave-off')}</a></div>`
  const link = (chunks: Parameters<typeof html>[1]) => html`<a href="${setUp.uri}">${chunks}</a>`
  const body = html`<link rel="stylesheet" href="${assetHref(page, 'codes.css')}"><section class="section">
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
${form(page, { action: path, content })}
</section>`
  return showSettings(request, { title: t('two-factor'), body, refusal })
}
