// The job that sends notifications by email.
import { type DeliveryDeps, deliverMail } from '#features/basics/mail/deliver-mail.ts'
import { getSettings } from '#features/basics/settings/settings-cache.ts'
import type { Deps } from '#ports/deps.ts'
import { notificationMail } from '#ports/mail/messages.ts'
import { emailKindOf, isEmailed } from './emails/email-kinds.ts'
import { emailText } from './emails/email-text.ts'
import { unsubscribeLink } from './emails/unsubscribe.ts'
import { findNotification } from './queries.ts'

declare module '#platform/jobs/queue.ts' {
  interface Jobs {
    'notifications.send-mail': { notification_id: string }
  }
}

export const notificationJobs = (deps: DeliveryDeps & Pick<Deps, 'cache' | 'config'>) => ({
  /**
   * Sends one email per job, so that a failure does not repeat other emails. If a process dies before it records the
   * job as done, the email is sent twice. Sends nothing if the notification was deleted, the account has no verified
   * email address, or the user has turned these emails off in the meantime.
   */
  'notifications.send-mail': async ({ notification_id }: { notification_id: string }): Promise<void> => {
    const notification = await findNotification(deps.db, notification_id)
    if (notification === undefined) return
    const { body, account_id: user } = notification
    const kind = emailKindOf(body)
    if (kind === undefined) return
    const account = await deps.db
      .selectFrom('account')
      .leftJoin('email_setting', (join) =>
        join.onRef('email_setting.account_id', '=', 'account.id').on('email_setting.kind', '=', kind),
      )
      .select(['username', 'email', 'is_emailed'])
      .where('id', '=', user)
      .where('email_verified', '=', true)
      .where('deletion_due', 'is', null)
      .executeTakeFirst()
    if (account === undefined || account.email === null || !isEmailed(kind, account.is_emailed)) return
    const { baseUrl } = deps.config.http
    const { name: title, text, link: path } = await emailText(deps.db, body, user)
    const context = { siteName: (await getSettings(deps)).name, baseUrl, username: account.username }
    const link = path === '#' ? undefined : `${baseUrl}${path}`
    const unsubscribe = await unsubscribeLink(deps.db, { baseUrl, user, kind })
    const message = {
      to: account.email,
      unsubscribe,
      ...notificationMail({ ...context, title, text, link, unsubscribe }),
    }
    await deliverMail(deps, { kind: 'notification', accountId: user, message })
  },
})
