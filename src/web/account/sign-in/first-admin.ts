// The page behind the link that a first start prints: the account of the first admin.
import Type from 'typebox'
import { clientOf } from '#features/people/accounts/account-deps.ts'
import { FlowField } from '#features/people/accounts/requests.ts'
import { createFirstAdmin } from '#features/people/accounts/sign-up/create-first-admin.ts'
import { checkValues } from '#web/kit/forms.ts'
import { attempt, type FormRefusal, type PageDeps, type PageRequest, type Pages } from '#web/kit/page-request.ts'
import { PATHS } from '#web/kit/paths.ts'
import { firstAdminView } from './sign-in-views.ts'

const Link = Type.Object({ flow: FlowField })

export function firstAdminPages(pages: Pages, { accounts, cookie }: PageDeps): void {
  // Opening the link changes nothing: it may be opened twice before the form is sent.
  pages.open('GET', PATHS.firstAdmin, 'showFirstAdmin', async (request) =>
    showForm(request, { flow: request.query('flow'), username: '', email: '' }),
  )
  pages.open('POST', PATHS.firstAdmin, 'sendFirstAdmin', async (request) => {
    const { req, reply, field, redirect } = request
    const values = { flow: field('flow'), username: field('username'), email: field('email') }
    const { value: session, refusal } = await attempt(
      async () => {
        const { flow: secret } = checkValues(Link, { flow: values.flow })
        const fields = { username: values.username, email: values.email, password: field('password') }
        return createFirstAdmin(accounts, { secret, fields, client: clientOf(req) })
      },
      { username: 'The username', email: 'The e-mail address', password: 'The password' },
    )
    if (refusal !== undefined) return showForm(request, { ...values, refusal })
    cookie.write(reply, session)
    return redirect(PATHS.profile)
  })
}

type Shown = { flow: string; username: string; email: string; refusal?: FormRefusal }

function showForm({ page, show }: PageRequest, of: Shown) {
  return show({ title: page.language.t('first-admin'), body: firstAdminView(page, of), refusal: of.refusal })
}
