// Relative links and images lead to files of the project's repository. Without a known repository they lead nowhere.
import { fileInSource, isRelative, type SourceFiles } from '#lib/text/urls-in-text.ts'

/**
 * Attribute of the text that replaces a link or image that leads nowhere, with its target. Texts of users cannot set it, because
 * the sanitizer drops it.
 */
export const NOWHERE = 'data-nowhere'

/**
 * Returns the target of a link or image; null if it leads nowhere. `source`: null if the project has no known repository,
 * undefined if relative links of the text are paths of the site.
 */
export function targetIn(
  source: SourceFiles | null | undefined,
  kind: keyof SourceFiles,
  target: string,
): string | null {
  if (source === undefined || !isRelative(target)) return target
  return (source === null ? undefined : fileInSource(target, source)?.[kind]) ?? null
}
