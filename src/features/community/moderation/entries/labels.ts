// Labels of entries that need attention in a review.

export const LABELS = ['native_code', 'script', 'nested_archive', 'unusual_name'] as const
export type Label = (typeof LABELS)[number]

const ENDINGS: readonly (readonly [Label, RegExp])[] = [
  ['native_code', /\.(so|dll|dylib|jnilib|exe|com|msi|scr|sys|node|wasm|elf)(\.\d+)*$/i],
  ['script', /\.(sh|bash|zsh|bat|cmd|ps1|psm1|vbs|vbe|wsf|hta|py|pyc|rb|pl|lua|applescript|command|desktop|reg|lnk)$/i],
  ['nested_archive', /\.(jar|zip|mrpack|war|ear|7z|rar|tar|gz|tgz|bz2|xz|zst|lzma|cab|iso|dmg)$/i],
]

/** Control and format characters, private and unassigned ones, and spaces other than the ordinary one. */
const HIDDEN_CHARACTER = /[\p{Cc}\p{Cf}\p{Co}\p{Cn}\p{Cs}\p{Zl}\p{Zp}]|[^\S ]|\uFFFD/u
/** Names that Windows shortens, or takes for a device. */
const RENAMED_SEGMENT = /[. ]$|^ |[<>:"|?*]|^(con|prn|aux|nul|com\d|lpt\d)(\.|$)/i
/** A word with letters of two scripts that look alike. */
const MIXED_WORD =
  /\p{Script=Latin}[\p{Script=Cyrillic}\p{Script=Greek}]|[\p{Script=Cyrillic}\p{Script=Greek}]\p{Script=Latin}/u

/** Returns the labels of an entry by its path. */
export function labelsOf(path: string): Label[] {
  const labels = ENDINGS.filter(([, ending]) => ending.test(path)).map(([label]) => label)
  if (isUnusual(path)) labels.push('unusual_name')
  return labels
}

function isUnusual(path: string): boolean {
  if (HIDDEN_CHARACTER.test(path) || MIXED_WORD.test(path)) return true
  return path.split('/').some((segment) => segment === '' || RENAMED_SEGMENT.test(segment))
}
