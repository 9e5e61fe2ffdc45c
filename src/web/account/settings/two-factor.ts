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
import { attempt, checkValues, type FormRefusal } from '#web/kit/forms.ts'
import type { OwnRequest, Pages } from '#web/kit/pages.ts'
import { PATHS } from '#web/kit/paths.ts'
import { showSettings } from '../account-layout.ts'
import { qrCode } from './qr-code.ts'
import { showSecurity } from './security.ts'
import { backupCodesView, twoFactorView } from './settings-views.ts'

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
  const { page } = request
  const body = twoFactorView(page, { setUp, qrCode: qrCode(setUp.uri), refusal })
  return showSettings(request, { title: page.language.t('two-factor'), body, refusal })
}
