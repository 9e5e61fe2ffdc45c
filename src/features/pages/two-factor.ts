// Two-factor sign-in: on in two steps, off with a code.
import type { FastifyReply } from 'fastify'
import Type from 'typebox'
import { CodeField, FlowField } from '#features/accounts/fields.ts'
import {
  disableTwoFactor,
  enableTwoFactor,
  findTwoFactorSetUp,
  startTwoFactor,
  type TwoFactorSetUp,
} from '#features/accounts/two-factor/switch-two-factor.ts'
import { checkValues } from './forms.ts'
import { attempt, type FormFault, type OwnVisit, type PageDeps, type Pages } from './page-kit.ts'
import { PATHS } from './paths.ts'
import { qrPicture } from './qr-picture.ts'
import { showSecurity } from './security.ts'

const Confirmation = Type.Object({ flow: FlowField, code: CodeField })
const Removal = Type.Object({ code: CodeField })
const LABELS = { code: 'The code' }
const TITLE = 'Two-factor sign-in'

export function twoFactorPages(pages: Pages, { accounts }: PageDeps): void {
  const path = `${PATHS.security}/two-factor`
  pages.own('POST', `${path}/start`, 'startTwoFactorSetUp', async (visit) => {
    const { value: setUp, fault } = await attempt(() => startTwoFactor(accounts, visit.viewer.id))
    return fault === undefined ? showSetUp(visit, setUp) : showSecurity(visit, { fault })
  })
  pages.own('POST', `${path}/enable`, 'finishTwoFactorSetUp', async (visit) => {
    const { viewer, field, show } = visit
    const [accountId, flow] = [viewer.id, field('flow')]
    const { value: codes, fault } = await attempt(async () => {
      const values = checkValues(Confirmation, { flow, code: field('code') })
      return enableTwoFactor(accounts, { accountId, ...values })
    }, LABELS)
    if (fault === undefined) return show('backup-codes', { title: 'Backup codes', codes })
    const setUp = await findTwoFactorSetUp(accounts, { accountId, flow })
    return setUp === undefined ? showSecurity(visit, { fault }) : showSetUp(visit, setUp, fault)
  })
  pages.own('POST', `${path}/disable`, 'turnTwoFactorOff', async (visit) => {
    const { viewer, field, lead } = visit
    const { fault } = await attempt(async () => {
      const { code } = checkValues(Removal, { code: field('code') })
      await disableTwoFactor(accounts, { accountId: viewer.id, code })
    }, LABELS)
    return fault === undefined ? lead(PATHS.security, 'two-factor-off') : showSecurity(visit, { fault })
  })
}

/** The secret is in the answer alone, which nobody keeps: not in an address, nor in a picture that has one. */
function showSetUp({ show }: OwnVisit, setUp: TwoFactorSetUp, fault?: FormFault): FastifyReply {
  const status = fault?.status ?? 200
  return show('two-factor', { title: TITLE, status, fault, setUp, picture: qrPicture(setUp.uri) })
}
