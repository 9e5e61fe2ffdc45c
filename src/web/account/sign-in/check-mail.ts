// The page after sign-up: tells the user to open the emailed link, and sends it again.

import type { FastifyReply } from 'fastify'
import { resendVerification } from '#features/people/accounts/credentials/change-email.ts'
import { attempt, type FormRefusal } from '#web/kit/forms/read-form.ts'
import type { OwnRequest, Pages } from '#web/kit/pages.ts'
import { PATHS, returnPath, withQuery } from '#web/kit/paths.ts'
import { noticeOf } from '#web/kit/request.ts'
import { mailKey } from '#web/ui/mail-texts.ts'
import { checkMailView } from './sign-in-views.ts'

export function checkMailPages(pages: Pages): void {
  pages.own(
    'GET',
    PATHS.checkMail,
    'showCheckMail',
    async (request) => showCheckMail(request, request.query('return')),
    { shows: 'The emailed link after sign-up, sent again', api: 'resendVerification' },
  )
  pages.own('POST', PATHS.checkMail, 'sendCheckMail', async (request) => {
    const { accounts, viewer, field, redirect } = request
    const returnTo = field('return')
    const { refusal } = await attempt(() => resendVerification(accounts, viewer.id))
    if (refusal !== undefined) return showCheckMail(request, returnTo, refusal)
    return redirect(withQuery(PATHS.checkMail, { done: 'link-sent', return: returnTo }))
  })
}

function showCheckMail(request: OwnRequest, returnTo: string, refusal?: FormRefusal): FastifyReply {
  const { account, page, show, redirect } = request
  if (account.email_verified || account.email === null) return redirect(returnPath(returnTo))
  const body = checkMailView(page, { email: account.email, returnTo, notice: noticeOf(request), refusal })
  return show({ title: page.language.t(mailKey(page, 'check-mail')), body, refusal })
}
