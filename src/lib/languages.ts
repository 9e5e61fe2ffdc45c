// The languages that users can choose.

/** BCP 47 tags, in the order of lists. */
export const LANGUAGE_TAGS = ['en', 'de'] as const
export type OfferedTag = (typeof LANGUAGE_TAGS)[number]

/** Returns the tag if users can choose this language. */
export const offeredTag = (tag: string): OfferedTag | undefined => LANGUAGE_TAGS.find((offered) => offered === tag)

/** Returns the offered language that a header `Accept-Language` prefers; undefined if it names none. */
export function acceptedLanguage(header: string | undefined): OfferedTag | undefined {
  for (const tag of acceptedTags(header ?? '')) {
    const offered = LANGUAGE_TAGS.find((each) => tag === each || tag.startsWith(`${each}-`))
    if (offered !== undefined) return offered
  }
  return undefined
}

/** Maximum number of tags that are read; browsers send fewer. */
const ACCEPTED_MAX = 32

/** Returns the tags of `Accept-Language` in lower case, best first, without tags of weight 0 (RFC 9110, 12.5.4). */
function acceptedTags(header: string): string[] {
  return header
    .split(',', ACCEPTED_MAX)
    .map((entry) => {
      const [tag = '', ...parameters] = entry
        .trim()
        .toLowerCase()
        .split(';')
        .map((part) => part.trim())
      const weight = parameters.find((parameter) => parameter.startsWith('q='))?.slice(2)
      return { tag, weight: weight === undefined ? 1 : Number(weight) }
    })
    .filter(({ tag, weight }) => tag !== '' && weight > 0)
    .sort((a, b) => b.weight - a.weight)
    .map(({ tag }) => tag)
}
