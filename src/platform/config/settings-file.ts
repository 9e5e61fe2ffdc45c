// Checks a settings file (.env, /etc/depot.env) for lines that Node.js would ignore and for misspelled names. Warns about
// settings that a former release had.
import { OperatorError } from '#lib/operator-error.ts'
import { editDistance } from '#lib/text/edit-distance.ts'
import { VARIABLES } from './env.ts'

export type SettingsFile = {
  path: string
  text: string
  /** Variables that the file set. The environment takes precedence over other variables of the file. */
  names?: readonly string[]
}

/** Removed settings, and what to do instead. A setting stays here for one release. */
const REMOVED = {
  HTTP_PROCESSES:
    'start several processes with `depot serve --role api` that share PostgreSQL and Redis, as ' +
    'docs/operators/scaling.md#more-cores-of-one-machine describes',
}

/** Variables that are similar to a setting, but have another meaning. */
const OTHERS = new Set(['HOME'])

/** Maximum number of edits between a misspelled name and the setting. */
const EDITS_MAX = 2

/** An assignment with an optional comment, a comment, or an empty line. Values in quotes can contain line breaks. */
const ENTRY =
  /[ \t]*(?:(?:export[ \t]+)?(?<name>[A-Za-z_]\w*)[ \t]*=[ \t]*(?:(?:"[^"]*"|'[^']*'|`[^`]*`)?[ \t]*(?:#.*)?|[^\s"'`#][^\n#]*(?:(?<=\s)#.*)?)|#.*)?\r?(?:\n|$)/y

/** Returns a warning for each removed setting that is set, in a settings file or otherwise. */
export function removedSettings(env: Record<string, string | undefined>): string[] {
  const set = Object.entries(REMOVED).filter(([name]) => (env[name]?.trim() ?? '') !== '')
  return set.map(([name, instead]) => `${name} was removed and has no effect: ${instead}`)
}

/**
 * @throws OperatorError that lists each line that is neither an assignment nor a comment, and each unknown name that is
 * similar to a setting. Does not contain values, because they can be secret.
 */
export function checkSettingsFile({ path, text }: SettingsFile): void {
  const problems: string[] = []
  for (const { line, name } of entriesOf(text)) {
    if (name === undefined) {
      problems.push(`line ${line}: must be NAME=value or # comment; put a value with # or quotation marks in quotes`)
      continue
    }
    const similar = similarSetting(name)
    if (similar !== undefined) problems.push(`line ${line}: ${name} is not a setting; the nearest one is ${similar}`)
  }
  if (problems.length === 0) return
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
