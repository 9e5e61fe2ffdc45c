// The kind of a licence, which determines the summary of its conditions, and the page with its text.

export type LicenceKind = 'permissive' | 'files' | 'copyleft' | 'free' | 'reserved'

/** SPDX identifiers of licences that projects use most, without their version. */
const KINDS: readonly (readonly [LicenceKind, RegExp])[] = [
  ['permissive', /^(?:MIT|MIT-0|0BSD|ISC|Zlib|BSL|NCSA|Apache|BSD-[1-4]-Clause|CC-BY|Artistic|AFL|UPL|PostgreSQL)$/],
  ['files', /^(?:LGPL|MPL|EPL|CDDL|EUPL|OSL)$/],
  ['copyleft', /^(?:GPL|AGPL|CC-BY-SA)$/],
  ['free', /^(?:CC0|Unlicense|WTFPL)$/],
  ['reserved', /^LicenseRef-All-Rights-Reserved$/],
]

/** Returns the kind of a single licence; undefined for expressions and less common licences. */
export function licenceKind(id: string): LicenceKind | undefined {
  const name = id.replace(/-v?\d+(?:\.\d+)*(?:-only|-or-later)?\+?$/, '')
  return KINDS.find(([, pattern]) => pattern.test(name))?.[0]
}

/** Returns the page of a single SPDX licence; undefined for expressions and licences that are not in the list. */
export function licencePage(id: string): string | undefined {
  return /^(?!LicenseRef-)[\w.-]+$/.test(id) ? `https://spdx.org/licenses/${id}.html` : undefined
}
