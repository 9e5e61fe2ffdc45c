// Schema of the file rules: file names, extensions and contents that each loader accepts. The rules are data
// (`taxonomy/file-rules.json`), so that operators can change them.
import Type, { type Static } from 'typebox'
import { Compile } from 'typebox/compile'
import { wildcardTest } from '#lib/text/linear-text.ts'

const Word = Type.String({ minLength: 1, maxLength: 100 })
const Words = Type.Array(Word, { maxItems: 100 })
/** Entry name in which `*` matches any characters. */
const Pattern = Type.String({ minLength: 1, maxLength: 200 })
/** Alternatives. All patterns of one alternative must match. */
const Alternatives = Type.Array(Type.Array(Pattern, { minItems: 1, maxItems: 20 }), { minItems: 1, maxItems: 20 })
const Day = Type.String({ pattern: '^\\d{4}-\\d{2}-\\d{2}$', maxLength: 10 })

const RuleData = Type.Object(
  {
    name: Word,
    loaders: Words,
    extensions: Words,
    /** The rule applies to game versions created on or after this day. */
    from: Type.Optional(Day),
    /** The rule applies to game versions created before this day. */
    until: Type.Optional(Day),
    contains: Alternatives,
    /** Message if the archive matches none of the alternatives. */
    warning: Type.String({ minLength: 1, maxLength: 500 }),
    /** The file must be a single mod: an archive that looks like a content pack causes a warning. */
    mod: Type.Optional(Type.Boolean()),
    /** Whether to check the index of the archive. */
    content_pack: Type.Optional(Type.Boolean()),
    /** A zip file that cannot be read passes if it contains this text, because publishers protect such packs. */
    tolerated_when_unreadable: Type.Optional(Word),
  },
  { additionalProperties: false },
)

const FileRulesData = Type.Object(
  {
    extensions: Type.Record(
      Type.String(),
      Type.Object({ content_type: Word, archive: Type.Boolean() }, { additionalProperties: false }),
    ),
    /** Extensions that cause only a warning if no rule of the loaders accepts them. */
    warned_extensions: Words,
    signatures: Type.Object({ file_types: Words, extensions: Words }, { additionalProperties: false }),
    /** Files of these types are checked only by the named rule. */
    resource_packs: Type.Object({ file_types: Words, rule: Word }, { additionalProperties: false }),
    looks_like_content_pack: Alternatives,
    rules: Type.Array(RuleData, { minItems: 1, maxItems: 500 }),
    content_packs: Type.Object(
      {
        /** The first existing entry counts. */
        index_names: Words,
        games: Words,
        dependencies: Words,
        download_hosts: Words,
        override_folders: Words,
        embedded_extensions: Words,
      },
      { additionalProperties: false },
    ),
  },
  { additionalProperties: false },
)

type FileRulesData = Static<typeof FileRulesData>

export type Alternative = readonly ((path: string) => boolean)[]

export type FileRule = Omit<Static<typeof RuleData>, 'contains' | 'from' | 'until'> & {
  readonly contains: readonly Alternative[]
  readonly from: Date | undefined
  readonly until: Date | undefined
}

export type ContentPackRules = FileRulesData['content_packs']

export type FileRules = Omit<FileRulesData, 'rules' | 'looks_like_content_pack' | 'resource_packs'> & {
  readonly rules: readonly FileRule[]
  readonly looksLikeContentPack: readonly Alternative[]
  readonly resourcePacks: { fileTypes: readonly string[]; rule: FileRule }
}

const validator = Compile(FileRulesData)

/**
 * Creates the rules from the parsed data file.
 * @throws Error with the first problem.
 */
export function parseFileRules(data: unknown): FileRules {
  if (!validator.Check(data)) {
    const [error] = validator.Errors(data)
    throw new Error(`File rules: ${error?.instancePath || '/'} ${error?.message ?? 'is not valid'}`)
  }
  const { rules, looks_like_content_pack, resource_packs, ...rest } = data
  const compiled = rules.map(compileRule)
  const packRule = compiled.find(({ name }) => name === resource_packs.rule)
  if (packRule === undefined) throw new Error(`File rules: there is no rule named ${resource_packs.rule}`)
  const unknown = compiled.flatMap(({ extensions }) => extensions).find((name) => !Object.hasOwn(rest.extensions, name))
  if (unknown !== undefined) throw new Error(`File rules: a rule names the unknown extension ${unknown}`)
  return {
    ...rest,
    rules: compiled,
    looksLikeContentPack: looks_like_content_pack.map(compileAlternative),
    resourcePacks: { fileTypes: resource_packs.file_types, rule: packRule },
  }
}

function compileRule({ contains, from, until, ...rule }: Static<typeof RuleData>): FileRule {
  return { ...rule, contains: contains.map(compileAlternative), from: startOfDay(from), until: startOfDay(until) }
}

function startOfDay(day: string | undefined): Date | undefined {
  if (day === undefined) return undefined
  const date = new Date(`${day}T00:00:00Z`)
  if (Number.isNaN(date.getTime())) throw new Error(`File rules: ${day} is not a day`)
  return date
}

function compileAlternative(patterns: readonly string[]): Alternative {
  return patterns.map(wildcardTest)
}
