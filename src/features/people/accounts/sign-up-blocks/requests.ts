// Requests of blocks of sign-ups.
import Type, { type Static } from 'typebox'
import { checkAddressRange } from '#lib/address-range.ts'
import { validationError } from '#lib/errors.ts'
import { Maybe, NamedObject } from '#lib/schema/schema-parts.ts'
import { checkText } from '#lib/text/text-rules.ts'

/** Maximum number of blocks of an instance. */
export const BLOCKS_MAX = 20_000
/** Maximum number of domains, and of ranges, of one request. */
const LIST_MAX = 5_000
const NOTE = { max: 500 }
const DOMAIN = /^(?=.{1,253}$)(?:[a-z0-9_](?:[a-z0-9_-]{0,61}[a-z0-9])?\.)+[a-z0-9-]{2,63}$/

export const SignUpBlocksInput = NamedObject('SignUpBlocksCreate', {
  email_domains: Type.Optional(
    Type.Array(Type.String({ minLength: 1, maxLength: 254 }), {
      maxItems: LIST_MAX,
      description: 'Domains of email addresses. A block includes the subdomains',
      examples: [['spam.example']],
    }),
  ),
  address_ranges: Type.Optional(
    Type.Array(Type.String({ minLength: 1, maxLength: 64 }), {
      maxItems: LIST_MAX,
      description: 'IP addresses or ranges, such as 192.0.2.0/24',
      examples: [['192.0.2.0/24']],
    }),
  ),
  note: Type.Optional(Type.String({ maxLength: NOTE.max, description: 'Note for operators' })),
  ends: Maybe(
    Type.String({
      maxLength: 64,
      format: 'date-time',
      description: 'When the blocks end. Default: they last until an operator removes them',
    }),
  ),
})

export type NewBlocks = { emailDomains: string[]; addressRanges: string[]; note: string; ends: Date | null }

/** @throws ApiError `validation_error` naming the field. */
export function toNewBlocks(input: Static<typeof SignUpBlocksInput>, nowMs: number): NewBlocks {
  const { email_domains = [], address_ranges = [], note = '', ends } = input
  const emailDomains = email_domains.map((domain, index) => {
    const folded = domain.trim().toLowerCase().replace(/^@/, '')
    if (!DOMAIN.test(folded))
      throw validationError(
        `email_domains.${index}`,
        `must be a domain such as spam.example, not “${domain.slice(0, 100)}”`,
      )
    return folded
  })
  const addressRanges = address_ranges.map((range, index) => checkAddressRange(range.trim(), `address_ranges.${index}`))
  if (emailDomains.length + addressRanges.length === 0)
    throw validationError('email_domains', 'must contain a domain if address_ranges is empty')
  const until = ends === undefined || ends === null ? null : new Date(ends)
  if (until !== null && !(until.getTime() > nowMs)) throw validationError('ends', 'must be a time in the future')
  return { emailDomains, addressRanges, note: checkText(note, 'note', NOTE).trim(), ends: until }
}
