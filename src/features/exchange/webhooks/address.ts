// The addresses of webhooks.
import { validationError } from '#lib/errors.ts'
import type { Config } from '#platform/config/config.ts'
import { checkAddress } from '#platform/outgoing/call-address.ts'
import type { WebhookFormat } from './requests.ts'

const DISCORD_HOSTS = /^https:\/\/(?:(?:ptb|canary)\.)?(?:discord|discordapp)\.com(?:\/|$)/
const DISCORD_PATH = /^https:\/\/[a-z.]+\/api\/(?:v\d+\/)?webhooks\/\d+\/[\w-]+$/
const MASK = '…'

/**
 * Other receivers understand messages for Discord, so the format accepts any host.
 * @throws ApiError 400 naming `url`.
 */
export function checkUrl(
  { outgoing }: Pick<Config, 'outgoing'>,
  url: string,
  format: WebhookFormat,
): { url: string; host: string } {
  if (format === 'discord' && isDiscord(url) && !DISCORD_PATH.test(url))
    throw validationError('url', 'must be the URL of a Discord webhook: https://discord.com/api/webhooks/ID/TOKEN')
  if (format === 'discord' && url.endsWith(MASK))
    throw validationError('url', 'must be the whole URL: Depot shows the URL without its token')
  const { href, host } = checkAddress(url, outgoing)
  return { url: href, host }
}

/** Whether Discord receives the messages, not another program that understands them. */
export const isDiscord = (url: string): boolean => DISCORD_HOSTS.test(url)

/** The token in the URL lets anyone write to the channel. Other receivers can have it in any part of the path. */
export function maskDiscordUrl(url: string): string {
  return `${isDiscord(url) ? url.slice(0, url.lastIndexOf('/') + 1) : `${new URL(url).origin}/`}${MASK}`
}

/** Returns the URL with which Discord confirms that the message was stored. */
export function waitingUrl(url: string): string {
  const address = new URL(url)
  address.searchParams.set('wait', 'true')
  return address.href
}
