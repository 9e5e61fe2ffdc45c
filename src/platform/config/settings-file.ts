// Checks a settings file (.env, /etc/depot.env) for lines that Node.js would ignore and for misspelled names.
import { OperatorError } from '#lib/operator-error.ts'
import { editDistance } from '#lib/text/edit-distance.ts'
import { VARIABLES } from './env.ts'

export type SettingsFile = {
  path: string
  text: string
  /** Variables that the file set. The environment takes precedence over other variables of the file. */
  names?: readonly string[]
}

/** Removed settings and their replacements. */
const REMOVED: ReadonlyMap<string, string> = new Map()

/** Variables that are similar to a setting, but have another meaning. */
const OTHERS = new Set(['HOME'])

/** Maximum number of edits between a misspelled name and the setting. */
const EDITS_MAX = 2

/** An assignment with an optional comment, a comment, or an empty line. Values in quotes can contain line breaks. */
const ENTRY =
  /[ \t]*(?:(?:export[ \t]+)?(?<name>[A-Za-z_]\w*)[ \t]*=[ \t]*(?:(?:"[^"]*"|'[^']*'|`[^`]*`)?[ \t]*(?:#.*)?|[^\s"'`#][^\n#]*(?:(?<=\s)#.*)?)|#.*)?\r?(?:\n|$)/y

/**
 * Returns warnings about removed settings.
 * @throws OperatorError that lists each line that is neither an assignment nor a comment, and each unknown name that is
 * similar to a setting. Does not contain values, because they can be secret.
 */
export function checkSettingsFile({ path, text }: SettingsFile, removed = REMOVED): string[] {
  const problems: string[] = []
  const warnings: string[] = []
  for (const { line, name } of entriesOf(text)) {
    if (name === undefined) {
      problems.push(`line ${line}: must be NAME=value or # comment; put a value with # or quotation marks in quotes`)
      continue
    }
    const replacement = removed.get(name)
    const similar = similarSetting(name)
    if (replacement !== undefined) {
      warnings.push(`${path}, line ${line}: ${name} was removed and has no effect; set ${replacement} instead`)
    } else if (similar !== undefined) {
      problems.push(`line ${line}: ${name} is not a setting; the nearest one is ${similar}`)
    }
  }
  if (problems.length === 0) return warnings
  throw new OperatorError(`Invalid settings in ${path}:\n${problems.map((problem) => `  ${problem}`).join('\n')}`)
}

type Entry = { line: number; name: string | undefined }

/** Returns the names that the text assigns; an unreadable line has none. */
function* entriesOf(text: string): Generator<Entry> {
  let line = 1
  for (let at = 0; at < text.length; ) {
    ENTRY.lastIndex = at
    const match = ENTRY.exec(text)
    const rest = text.slice(at)
    const used = match === null ? `${rest.split('\n')[0]}\n` : match[0]
    if (match === null) yield { line, name: undefined }
    else if (match.groups?.['name'] !== undefined) yield { line, name: match.groups['name'] }
    line += used.split('\n').length - 1
    at += used.length
  }
}

/** Returns the setting that the author of an unknown name probably meant. */
function similarSetting(name: string): string | undefined {
  const known = VARIABLES.map((variable) => variable.name)
  if (known.includes(name) || OTHERS.has(name)) return undefined
  const bare = (text: string): string => text.toUpperCase().replaceAll('_', '')
  const distances = known.map((setting) => ({
    setting,
    edits: bare(name) === bare(setting) ? 0 : editDistance(name.toUpperCase(), setting),
  }))
  const [nearest] = distances.sort((a, b) => a.edits - b.edits)
  return nearest !== undefined && nearest.edits <= EDITS_MAX ? nearest.setting : undefined
}
