// Links of projects in v2 requests: four links have separate fields, donation links are a list.
import Type, { type Static } from 'typebox'
import { validationError } from '#lib/errors.ts'
import { Maybe, NamedObject } from '#lib/schema/schema-parts.ts'
import { checkHttpsUrl, URL_LENGTH_MAX } from '#lib/text/text-rules.ts'
import type { Taxonomy } from '#taxonomy/taxonomy.ts'

const DONATIONS_MAX = 64

const Url = Maybe(Type.String({ maxLength: URL_LENGTH_MAX, description: 'https URL; null removes the link' }))
const Donation = NamedObject('DonationLinkCreate', {
  id: Maybe(Type.String({ maxLength: 64, description: 'Short name from `/v2/tag/donation_platform`' })),
  platform: Maybe(
    Type.String({ maxLength: 64, description: 'Name of the platform. Its lower-case form is the default of `id`' }),
  ),
  url: Type.String({ maxLength: URL_LENGTH_MAX }),
})
const Donations = (description: string) => Maybe(Type.Array(Donation, { maxItems: DONATIONS_MAX, description }))

/** Request fields for links. */
export const Link = {
  properties: { issues_url: Url, source_url: Url, wiki_url: Url, discord_url: Url },
  donations: Donations('Donation links'),
  replacement: Donations('New list of donation links, which replaces the old list'),
}

const Links = Type.Object({
  ...Link.properties,
  donation_urls: Link.replacement,
  add_donation_urls: Link.donations,
  remove_donation_urls: Link.donations,
})
type DonationKey = 'donation_urls' | 'add_donation_urls' | 'remove_donation_urls'

const PLATFORMS = { issues_url: 'issues', source_url: 'source', wiki_url: 'wiki', discord_url: 'discord' } as const

/**
 * Returns the changed links by platform; null removes a link. First `donation_urls` replaces all donation links, then
 * links are removed, then links are added.
 * @throws ApiError `validation_error` with the field and, in a list, the index.
 */
export function linkChanges(body: Static<typeof Links>, taxonomy: Taxonomy): Record<string, string | null> {
  const changes = new Map<string, string | null>()
  for (const [key, platform] of Object.entries(PLATFORMS) as [keyof typeof PLATFORMS, string][]) {
    const url = body[key]
    if (url !== undefined) changes.set(platform, url === null ? null : checkHttpsUrl(url, key))
  }
  if (body.donation_urls != null) {
    for (const { name, donation } of taxonomy.linkPlatforms.values()) if (donation) changes.set(name, null)
    addAll(changes, donationsOf(body, 'donation_urls', taxonomy))
  }
  for (const [platform] of donationsOf(body, 'remove_donation_urls', taxonomy)) changes.set(platform, null)
  addAll(changes, donationsOf(body, 'add_donation_urls', taxonomy))
  return Object.fromEntries(changes)
}

function addAll(changes: Map<string, string | null>, links: readonly (readonly [string, string])[]): void {
  for (const [platform, url] of links) changes.set(platform, url)
}

function donationsOf(body: Static<typeof Links>, key: DonationKey, taxonomy: Taxonomy): (readonly [string, string])[] {
  return (body[key] ?? []).map(({ id, platform, url }, index) => {
    const name = id ?? platform?.toLowerCase()
    if (name === undefined) throw validationError(`${key}.${index}.id`, 'is required')
    if (taxonomy.linkPlatforms.get(name)?.donation !== true) {
      throw validationError(
        `${key}.${index}.id`,
        'is not a known donation platform: GET /v2/tag/donation_platform lists them',
      )
    }
    return [name, key === 'remove_donation_urls' ? url : checkHttpsUrl(url, `${key}.${index}.url`)] as const
  })
}
