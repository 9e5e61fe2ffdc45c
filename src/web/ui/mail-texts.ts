// Texts about emails that Depot sends. Without a mail server, their variants `KEY.unsent` say what happens instead.
import type { MessageKey } from './languages.ts'
import type { PageContext } from './page-context.ts'

type WithoutSuffix<Key> = Key extends `${infer Name}.unsent` ? Name : never
/** Keys of texts that have a variant for instances without a mail server. */
export type MailKey = WithoutSuffix<MessageKey>

/** Returns the key of the text, or of its variant if the instance sends no emails. */
export function mailKey<Key extends MailKey>(page: Pick<PageContext, 'site'>, key: Key): Key | `${Key}.unsent` {
  return page.site.sendsMail ? key : `${key}.unsent`
}
