// Reads a version number and a release channel from the name of a file.

import { VERSION_NUMBER } from '#lib/text/text-rules.ts'

export type Channel = 'release' | 'beta' | 'alpha'

/** Length that is searched: longer names are cut. */
const NAME_LENGTH_MAX = 255

const ALPHA = /(^|[^a-z])(alpha|snapshot|nightly|dev|a\d+)([^a-z]|$)/i
const BETA = /(^|[^a-z])(beta|rc|pre|prerelease|b\d+)([^a-z]|$)|[^a-z](rc|pre|beta)\.?\d/i

/** Returns the channel that a version number or a file name mentions; undefined if it mentions none. */
export function channelIn(text: string): Channel | undefined {
  const searched = text.slice(0, NAME_LENGTH_MAX)
  if (ALPHA.test(searched)) return 'alpha'
  return BETA.test(searched) ? 'beta' : undefined
}

/** Text in front of a game version, such as `mc1.21` and `+1.21`, and names of loaders. */
const BEFORE_GAME_VERSION = /(mc|minecraft|fabric|forge|neoforge|quilt|paper|spigot|bukkit|folia|velocity)[-_+ ]?$/i

/**
 * Returns the version number in a file name, without game versions: 2.3.1 in `lantern-fabric-2.3.1+mc1.21.jar`.
 * @param isGameVersion whether a text is a version of the game, which is only a version number if there is no other.
 */
export function numberIn(filename: string, isGameVersion: (text: string) => boolean): string | undefined {
  const name = filename.slice(0, NAME_LENGTH_MAX).replace(/\.[a-z]{2,8}$/i, '')
  const found = [...name.matchAll(/\d{1,9}(?:\.\d{1,9}){1,4}(?:-(?:alpha|beta|rc|pre|snapshot)[.\d]{0,8})?/gi)].map(
    ({ 0: text, index }) => ({ text: text.replace(/\.$/, ''), before: name.slice(Math.max(0, index - 12), index) }),
  )
  const numbers = found.filter(
    ({ text, before }) => !(isGameVersion(text) && (BEFORE_GAME_VERSION.test(before) || found.length > 1)),
  )
  const [first] = numbers.length > 0 ? numbers : found
  return first !== undefined && VERSION_NUMBER.test(first.text) ? first.text : undefined
}

/** Returns whether a file name contains a version number as a whole. */
export function mentionsNumber(filename: string, number: string): boolean {
  const at = filename.indexOf(number)
  if (at < 0) return false
  return !/\d/.test(filename[at - 1] ?? '') && !/^\d|^\.\d/.test(filename.slice(at + number.length))
}
