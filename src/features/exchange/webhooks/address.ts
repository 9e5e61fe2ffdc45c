// The addresses of webhooks.
import { validationError } from '#lib/errors.ts'
import type { Config } from '#platform/config/config.ts'
import { checkAddress } from '#platform/outgoing/call-address.ts'
import type { WebhookFormat } from './requests.ts'

const DISCORD_URL = /^https:\/\/(discord|discordapp)\.com\/api\/(v\d+\/)?webhooks\/\d+\/[\w-]+$/

/** @throws ApiError 400 naming `url`. */
export function checkUrl(
  { outgoing }: Pick<Config, 'outgoing'>,
  url: string,
  format: WebhookFormat,
): { url: string; host: string } {
  if (format === 'discord' && !DISCORD_URL.test(url))
    throw validationError('url', 'must be the URL of a Discord webhook: https://discord.com/api/webhooks/ID/TOKEN')
  const { href, host } = checkAddress(url, outgoing)
  return { url: href, host }
}

/** The token in the URL of a Discord webhook lets anyone write to the channel. */
export function maskDiscordUrl(url: string): string {
  return `${url.slice(0, url.lastIndexOf('/') + 1)}…`
}
