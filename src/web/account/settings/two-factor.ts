// Two-factor sign-in: on in two steps, off with a code.
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
import { checkValues } from '#web/kit/forms.ts'
import { type AccountPageRequest, attempt, type FormRefusal, type PageDeps, type Pages } from '#web/kit/page-request.ts'
import { PATHS } from '#web/kit/paths.ts'
import { qrPicture } from './qr-code.ts'
import { showSecurity } from './security.ts'
import { backupCodesView, twoFactorView } from './settings-views.ts'

const Confirmation = Type.Object({ flow: FlowField, code: CodeField })
const Removal = Type.Object({ code: CodeField })
const LABELS = { code: 'The code', password: 'The password' }

export function twoFactorPages(pages: Pages, given: PageDeps): void {
  const { accounts } = given
  const path = `${PATHS.security}/two-factor`
  pages.own('POST', `${path}/start`, 'startTwoFactorSetUp', async (request) => {
    const { value: setUp, refusal } = await attempt(() => startTwoFactor(accounts, request.viewer.id))
    return refusal === undefined ? showSetUp(request, setUp) : showSecurity(request, given, { refusal })
  })
  pages.own('POST', `${path}/enable`, 'finishTwoFactorSetUp', async (request) => {
    const { viewer, page, field, showSettings } = request
    const [accountId, flow] = [viewer.id, field('flow')]
    const { value: codes, refusal } = await attempt(async () => {
      const values = checkValues(Confirmation, { flow, code: field('code') })
      return enableTwoFactor(accounts, { viewer, ...values })
    }, LABELS)
    if (refusal === undefined)
      return showSettings({ title: page.language.t('backup-codes'), body: backupCodesView(page, codes) })
    const setUp = await findTwoFactorSetUp(accounts, { accountId, flow })
    return setUp === undefined ? showSecurity(request, given, { refusal }) : showSetUp(request, setUp, refusal)
  })
  pages.own('POST', `${path}/disable`, 'turnTwoFactorOff', async (request) => {
    const { viewer, field, redirect } = request
    const { refusal } = await attempt(async () => {
      const { code } = checkValues(Removal, { code: field('code') })
      await disableTwoFactor(accounts, { viewer, code })
    }, LABELS)
    return refusal === undefined
      ? redirect(PATHS.security, 'two-factor-off')
      : showSecurity(request, given, { refusal })
  })
}

/** The secret is in the answer alone, which nobody keeps: not in an address, nor in a picture that has one. */
function showSetUp(
  { page, showSettings }: AccountPageRequest,
  setUp: TwoFactorSetUp,
  refusal?: FormRefusal,
): FastifyReply {
  const body = twoFactorView(page, { setUp, picture: qrPicture(setUp.uri), refusal })
  return showSettings({ title: page.language.t('two-factor'), body, refusal })
}
