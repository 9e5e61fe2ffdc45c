// The job that sends notifications by email.
import { type DeliveryDeps, deliverMail } from '#features/basics/mail/deliver-mail.ts'
import { getSettings } from '#features/basics/settings/settings-cache.ts'
import type { Deps } from '#ports/deps.ts'
import { notificationMail } from '#ports/mail/messages.ts'
import { notificationText } from './notification-types.ts'
import { findNotification } from './queries.ts'

export const notificationJobs = (deps: DeliveryDeps & Pick<Deps, 'cache' | 'config'>) => ({
  /**
   * Sends one email per job, so that a failure does not repeat other emails. If a process dies before it records the
   * job as done, the email is sent twice. Sends nothing if the notification was deleted or the account has no verified
   * email address.
   */
  'notifications.send-mail': async ({ notification_id }: { notification_id: string }): Promise<void> => {
    const notification = await findNotification(deps.db, notification_id)
    if (notification === undefined) return
    const account = await deps.db
      .selectFrom('account')
      .select(['username', 'email'])
      .where('id', '=', notification.account_id)
      .where('email_verified', '=', true)
      .where('deletion_due', 'is', null)
      .executeTakeFirst()
    if (account === undefined || account.email === null) return
    const { baseUrl } = deps.config.http
    const { name: title, text, link: path } = notificationText(notification.body, notification.account_id)
    const context = { siteName: (await getSettings(deps)).name, baseUrl, username: account.username }
    const link = path === '#' ? undefined : `${baseUrl}${path}`
    const message = { to: account.email, ...notificationMail({ ...context, title, text, link }) }
    await deliverMail(deps, { kind: 'notification', accountId: notification.account_id, message })
  },
})
