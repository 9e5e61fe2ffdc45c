// Code hosts that source links lead to, with the URLs of the files in a repository.
import Type, { type Static } from 'typebox'
import type { SourceFiles } from '#lib/text/urls-in-text.ts'

/** Placeholder for the path of the repository. */
const PLACE = '{repository}'
/** Maximum number of names in the path of a repository in nested groups. */
const NAMES_MAX = 20

const Prefix = Type.String({ pattern: '^https://[a-z0-9.:-]+/[!-z|~]*\\{repository\\}[!-z|~]*/$', maxLength: 256 })

/** Schema of `source-hosts.json`. */
export const SourceHostRows = Type.Array(
  Type.Object(
    {
      host: Type.String({ pattern: '^[a-z0-9.-]+(:[0-9]+)?$', maxLength: 256 }),
      page: Prefix,
      raw: Prefix,
      is_nested: Type.Boolean(),
    },
    { additionalProperties: false },
  ),
  { maxItems: 64 },
)
/**
 * `page`, `raw`: prefixes of the URLs of the page and of the content of a file. `is_nested`: whether groups contain groups, so that
 * `/-/` ends the path of a repository.
 */
export type SourceHost = Static<typeof SourceHostRows>[number]

/** Returns where the files of a repository are; undefined if the source link does not lead to a repository at one of the hosts. */
export function sourceFilesOf(link: string, hosts: readonly SourceHost[]): SourceFiles | undefined {
  const url = URL.parse(link)
  const name = url?.host.replace(/^www\./, '')
  const host = hosts.find((each) => each.host === name)
  if (url === null || host === undefined) return undefined
  const parts = url.pathname.split('/').filter((part) => part !== '')
  const end = host.is_nested ? (parts.includes('-') ? parts.indexOf('-') : parts.length) : 2
  const names = parts.slice(0, end)
  if (names.length < 2 || names.length > NAMES_MAX || !names.every((part) => /^[\w.-]+$/.test(part))) return undefined
  const repository = names.join('/').replace(/\.git$/, '')
  return { page: host.page.replace(PLACE, () => repository), raw: host.raw.replace(PLACE, () => repository) }
}
