// The secrets that a restore without the secrets of the instance loses, and their remedies.
import type { Client } from './rows.ts'

/** Tables with secrets that are encrypted with a secret of the instance. `mark` makes their rows unusable. */
const SEALED_TABLES = [
  {
    table: 'webhook',
    // Messages to Discord are not signed.
    mark: `update webhook set active = false, disabled_reason = 'secret_lost' where format <> 'discord'`,
    remedy: (count: number) =>
      `Secrets of webhooks: ${count}. These webhooks are switched off. Their owners must rotate the secret of each.`,
  },
]

const KEY =
  'The key of the instance. Depot creates a new one. If you have the output of `depot key export`, run `depot key import`; ' +
  'otherwise, receivers of webhooks and mirrors must accept the new key.'
const LINKS = 'Links to unsubscribe in emails that were already sent. New emails contain new links.'

/** Marks the rows whose secrets are lost, and returns a sentence for everything that must be renewed. */
export async function markLostSecrets(client: Pick<Client, 'query'>): Promise<string[]> {
  const lost = [KEY, LINKS]
  for (const { table, mark, remedy } of SEALED_TABLES) {
    const { rows } = await client.query<{ exists: boolean }>('select to_regclass($1) is not null as exists', [
      `public.${table}`,
    ])
    if (rows[0]?.exists !== true) continue
    const { rowCount } = await client.query(mark)
    if (rowCount !== null && rowCount > 0) lost.push(remedy(rowCount))
  }
  return lost
}
