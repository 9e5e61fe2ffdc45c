// The job that sends notifications by email.
import { getSettings } from '#features/basics/settings/settings-cache.ts'
import type { Deps } from '#ports/deps.ts'
import { type MailContent, notificationMail } from '#ports/mail/messages.ts'
import { notificationText } from './notification-types.ts'
import { findNotification } from './queries.ts'

export const notificationJobs = (deps: Pick<Deps, 'db' | 'cache' | 'mail' | 'config'>) => ({
  /**
   * Sends one email per job, so that a failure does not repeat other emails. If a process dies before it records the
   * job as done, the email is sent twice.
   */
  'notifications.send-mail': async ({ notification_id }: { notification_id: string }): Promise<void> => {
    const message = await composeNotificationMail(deps, notification_id)
    if (message !== undefined) await deps.mail.send(message)
  },
})

/** Returns undefined if the notification was deleted or the account has no verified email address. */
async function composeNotificationMail(
  deps: Pick<Deps, 'db' | 'cache' | 'config'>,
  notificationId: string,
): Promise<({ to: string } & MailContent) | undefined> {
  const { db } = deps
  const { baseUrl } = deps.config.http
  const notification = await findNotification(db, notificationId)
  if (notification === undefined) return undefined
  const account = await db
    .selectFrom('account')
    .select(['username', 'email'])
    .where('id', '=', notification.account_id)
    .where('email_verified', '=', true)
    .where('deletion_due', 'is', null)
    .executeTakeFirst()
  if (account === undefined || account.email === null) return undefined
  const { name, text, link } = notificationText(notification.body, notification.account_id)
  const context = { siteName: (await getSettings(deps)).name, baseUrl, username: account.username }
  const page = link === '#' ? undefined : `${baseUrl}${link}`
  return { to: account.email, ...notificationMail({ ...context, title: name, text, link: page }) }
}
