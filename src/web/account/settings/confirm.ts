// Giving the password again, before what moves ownership of the account.
import Type from 'typebox'
import { confirmOwner } from '#features/people/accounts/credentials/confirm-owner.ts'
import { CodeField, PasswordField } from '#features/people/accounts/requests.ts'
import { checkValues } from '#web/kit/forms.ts'
import { attempt, type PageDeps, type Pages } from '#web/kit/page-request.ts'
import { PATHS } from '#web/kit/paths.ts'
import { showData } from './account-data.ts'
import { showSecurity } from './security.ts'

const Proof = Type.Object({ password: PasswordField, code: Type.Optional(CodeField) })
const LABELS = { password: 'The password', code: 'The code' }

export function confirmPages(pages: Pages, given: PageDeps): void {
  pages.own('POST', `${PATHS.security}/confirm`, 'sendConfirmation', async (request) => {
    const { viewer, field, redirect } = request
    const isForData = field('next') === 'data'
    const { refusal } = await attempt(async () => {
      const code = field('code')
      const proof = checkValues(Proof, { password: field('password'), ...(code === '' ? {} : { code }) })
      await confirmOwner(given.accounts, viewer, proof)
    }, LABELS)
    if (refusal === undefined) return redirect(isForData ? PATHS.data : PATHS.security)
    return isForData ? showData(request, given, refusal) : showSecurity(request, given, { refusal })
  })
}
