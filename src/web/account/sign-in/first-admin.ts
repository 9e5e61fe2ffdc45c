// Creates the first admin. The first start of the server prints the link to this page.
import Type from 'typebox'
import { clientOf } from '#features/people/accounts/account-deps.ts'
import { FlowField } from '#features/people/accounts/requests.ts'
import { createFirstAdmin } from '#features/people/accounts/sign-up/create-first-admin.ts'
import { attempt, checkValues, type FormRefusal } from '#web/kit/forms.ts'
import type { Pages } from '#web/kit/pages.ts'
import { PATHS } from '#web/kit/paths.ts'
import type { PageRequest } from '#web/kit/request.ts'
import { firstAdminView } from './sign-in-views.ts'

const Link = Type.Object({ flow: FlowField })

export function firstAdminPages(pages: Pages): void {
  // Opening the link changes nothing: the user can open it again before they send the form.
  pages.open('GET', PATHS.firstAdmin, 'showFirstAdmin', async (request) =>
    showForm(request, { flow: request.query('flow'), username: '', email: '' }),
  )
  pages.open('POST', PATHS.firstAdmin, 'sendFirstAdmin', async (request) => {
    const { accounts, cookie, req, reply, field, redirect } = request
    const values = { flow: field('flow'), username: field('username'), email: field('email') }
    const { value: session, refusal } = await attempt(
      async () => {
        const { flow: secret } = checkValues(Link, { flow: values.flow })
        const fields = { username: values.username, email: values.email, password: field('password') }
        return createFirstAdmin(accounts, { secret, fields, client: clientOf(req) })
      },
      { username: 'The username', email: 'The email address', password: 'The password' },
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
